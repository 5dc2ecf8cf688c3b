//! Exported models of the repository, run on the device and compared with PyTorch's results.

use std::path::Path;

use torch_library::functionalize::functionalize;
use torch_library::guard::inference_mode;
use torch_library::prelude::*;
use torch_library::tracer::trace;
use torch_library_export::Loader;
use torch_library_kernels::aten;
use torch_library_kernels::data::safetensors;
use torch_library_kernels::prelude::*;
use torch_library_wgpu::fuse;

use crate::{device, falls};

/// Models, and the tolerated difference of each number from PyTorch's, relative to the largest of its tensor.
const MODELS: [(&str, &str, f64); 8] = [
    ("examples/models", "digits", 1e-5),
    ("runtime/export/tests/archives", "block", 1e-5),
    ("runtime/export/tests/archives", "bfloat16", 0.02),
    ("runtime/export/tests/archives", "functional", 1e-5),
    ("runtime/export/tests/archives", "joint", 1e-5),
    ("runtime/export/tests/archives", "loops", 1e-5),
    ("runtime/export/tests/archives", "branches", 1e-5),
    ("runtime/export/tests/archives", "ties", 1e-5),
];

/// Models that have to run without falling back to the CPU.
const WITHOUT_FALLING_BACK: [&str; 3] = ["digits", "joint", "ties"];

fn recorded(folder: &Path, name: &str, which: &str) -> Vec<Tensor> {
    let file = std::fs::read(folder.join(format!("{name}.{which}.safetensors"))).unwrap();
    safetensors::from_bytes(&file).unwrap().into_values().collect()
}

fn numbers(tensor: &Tensor) -> Vec<f64> {
    let tensor = tensor.to(Device::CPU).unwrap();
    aten::_to_copy::with(&tensor).dtype(Some(DType::Float64)).call().unwrap().to_vec().unwrap()
}

#[test]
fn models_compute_what_they_do_in_pytorch() {
    let Some(device) = device() else { return };
    for (folder, name, tolerance) in MODELS {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(folder);
        let program = Loader::new().device(device).load(folder.join(format!("{name}.pt2"))).unwrap();
        let inputs = recorded(&folder, name, "inputs");
        let inputs: Vec<_> = inputs.iter().map(|input| input.to(device).unwrap()).collect();
        let before = falls();
        let found = program.run(&inputs).unwrap();
        if WITHOUT_FALLING_BACK.contains(&name) {
            assert_eq!(before, falls(), "{name} fell back to the CPU");
        }
        compare(&folder, name, &found, tolerance);
    }
}

/// Fails unless a model's results are PyTorch's, up to a fraction of the largest number.
fn compare(folder: &Path, name: &str, found: &[Tensor], tolerance: f64) {
    let wanted = recorded(folder, name, "outputs");
    assert_eq!(found.len(), wanted.len(), "{name}");
    for (found, wanted) in found.iter().zip(&wanted) {
        assert_eq!((found.sizes(), found.dtype()), (wanted.sizes(), wanted.dtype()), "{name}");
        let (found, wanted) = (numbers(found), numbers(wanted));
        let largest = wanted.iter().fold(1e-3f64, |largest, number| largest.max(number.abs()));
        let worst = found.iter().zip(&wanted).fold(0f64, |worst, (a, b)| worst.max((a - b).abs()));
        assert!(worst <= tolerance * largest, "{name} is {worst} from PyTorch");
    }
}

#[test]
fn models_compute_the_same_fused() {
    let Some(device) = device() else { return };
    // The number of fused chains in each model.
    for (folder, name, chains) in [
        ("examples/models", "digits", 0),
        ("runtime/export/tests/archives", "block", 0),
        ("runtime/export/tests/archives", "joint", 3),
    ] {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(folder);
        let program = Loader::new().device(device).load(folder.join(format!("{name}.pt2"))).unwrap();
        let inputs = recorded(&folder, name, "inputs");
        let inputs: Vec<_> = inputs.iter().map(|input| input.to(device).unwrap()).collect();
        let (_, mut graph) =
            trace(&inputs, |inputs| functionalize(inputs, |inputs| program.run(inputs))).unwrap();
        graph.eliminate_dead_code();
        let fused = fuse(graph);
        assert_eq!(fused.groups().count(), chains, "{name}: {fused}");
        compare(&folder, name, &inference_mode(|| fused.run(&inputs)).unwrap(), 1e-5);
        assert_eq!(fused.refusals(), [], "{name}");
    }
}
