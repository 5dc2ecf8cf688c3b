//! Rust libraries that export their operators to PyTorch: the example in `examples/pytorch`, and the library with which
//! `torch-library-pytorch` is tested.
//!
//! They are built only if `PYTORCH_PYTHON` is set, as `.ci/pytorch` does, whose other tests build the same libraries:
//! each contains all kernels.
#![cfg(all(target_os = "linux", target_env = "gnu", any(target_arch = "x86_64", target_arch = "aarch64")))]
#![expect(unsafe_code, reason = "loads libraries")]

use std::path::{Path, PathBuf};
use std::process::Command;

use torch_library::autograd::gradcheck;
use torch_library::element::Complex64;
use torch_library::{Dispatcher, Error, FromReturn, Generator, Result, Scalar, Tensor, Value};
use torch_library_kernels::prelude::*;

/// Builds a library with the versions of this workspace: nothing is downloaded.
fn build(folder: &str, name: &str) -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let folder = root.join(folder);
    std::fs::copy(root.join("Cargo.lock"), folder.join("Cargo.lock")).expect("the workspace has a lock file");
    // The folder of this build, which has the same dependencies.
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).join("..");
    let mut cargo = Command::new(env!("CARGO"));
    cargo.args(["build", "--quiet", "--offline"]).current_dir(folder);
    let built = cargo.env("CARGO_TARGET_DIR", &target).env_remove("RUSTFLAGS").output().expect("cargo runs");
    assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
    target.join("debug").join(name)
}

/// Loads a library; returns `false` if it should not be built.
fn load(folder: &str, name: &str) -> bool {
    if std::env::var_os("PYTORCH_PYTHON").is_none() {
        println!("skipped: `PYTORCH_PYTHON` is not set, as `.ci/pytorch` does");
        return false;
    }
    // SAFETY: it keeps to the ABI, through the crate that exports it.
    let loaded = unsafe { torch_library_stable::load(build(folder, name)) }.unwrap();
    assert!(!loaded.operators().is_empty(), "{name}");
    true
}

fn call<T: FromReturn>(name: &str, arguments: Vec<Value<'_>>) -> Result<T> {
    Dispatcher::global().find(name)?.call_with(arguments, [])?.pop_as()
}

fn fail(name: &str, arguments: Vec<Value<'_>>) -> Error {
    Dispatcher::global().find(name).unwrap().call_with(arguments, []).map(drop).unwrap_err()
}

#[track_caller]
fn close(found: &Tensor, expected: &[f64]) {
    let found = found.to_vec::<f64>().unwrap();
    let is_close = found.iter().zip(expected).all(|(found, expected)| (found - expected).abs() < 1e-12);
    assert!(found.len() == expected.len() && is_close, "{found:?} instead of {expected:?}");
}

#[test]
fn the_example_is_called_from_here() {
    if !load("examples/pytorch", "libmine.so") {
        return;
    }
    let x = Tensor::from([0.5, 1.0, -1.0, 2.0]);
    let y: Tensor = call("mine::log_cosh", vec![(&x).into()]).unwrap();
    close(&y, &[0.5f64, 1.0, -1.0, 2.0].map(|x| x.cosh().ln()));

    let mut ramp = Tensor::from([0.0f32; 3]);
    let set = Dispatcher::global().find("mine::ramp_").unwrap();
    set.call_with([Value::TensorMut(&mut ramp), 0.5.into()], []).unwrap();
    assert_eq!(ramp.to_vec::<f32>().unwrap(), [0.0, 0.5, 1.0]);
    let mut wrong = Tensor::from([0.0; 3]);
    let error = fail("mine::ramp_", vec![Value::TensorMut(&mut wrong)]).to_string();
    assert!(
        error.contains("a ramp is of float32, not of float64") && error.ends_with("libmine.so"),
        "{error}"
    );

    // The operator is composed of `aten`'s operators, which are ours here; the derivative is the library's.
    let huber: Tensor = call("mine::huber", vec![(&x).into(), (&x).into()]).unwrap();
    close(&huber, &[0.0]);
    x.set_requires_grad(true).unwrap();
    let y: Tensor = call("mine::log_cosh", vec![(&x).into()]).unwrap();
    y.sum().unwrap().backward().unwrap();
    close(&x.grad().unwrap(), &[0.5f64, 1.0, -1.0, 2.0].map(f64::tanh));
}

#[test]
fn operators_of_all_types_pass() {
    if !load("runtime/pytorch/tests/operators", "libdoor.so") {
        return;
    }
    let (x, y) = (Tensor::from([3.0, 5.0]), Tensor::from([4.0, 12.0]));
    close(&call("door::hypotenuse", vec![(&x).into(), (&y).into()]).unwrap(), &[5.0, 13.0]);
    let numbers = Dispatcher::global().find("door::numbers").unwrap();
    let complex = ("c", Complex64::new(1.0, -2.0).into());
    let mut returns = numbers.call_with([(&x).into(), 2i64.into(), Value::None], [complex]).unwrap();
    let text: String = returns.pop_as().unwrap();
    assert_eq!(text, "Int(2) None 1-2i");
    let mut z = Tensor::from([1.0, 2.0]);
    let scaled: Tensor = call("door::scale_.Scalar", vec![Value::TensorMut(&mut z), 3i64.into()]).unwrap();
    assert!(scaled.is_same(&z));
    close(&z, &[3.0, 6.0]);
    let row: Tensor = call("door::row", vec![(&Tensor::from([[1.0], [2.0]])).into(), 1i64.into()]).unwrap();
    close(&row, &[2.0]);
    let generator = Generator::with_seed(3);
    let noise = Dispatcher::global().find("door::noise").unwrap();
    noise.call_with([(&x).into()], [("generator", Value::from(&generator))]).unwrap();
    let error = fail("door::fails", vec![(&x).into(), "panic".into()]).to_string();
    assert!(error.contains("panicked: it was too much for 2"), "{error}");
    let error = fail("door::fails", vec![(&x).into(), "error".into()]).to_string();
    assert!(error.contains("sizes [2] do not please"), "{error}");
}

#[test]
fn derivatives_pass() {
    if !load("runtime/pytorch/tests/operators", "libdoor.so") {
        return;
    }
    let inputs = || [Tensor::from([3.0, 5.0]), Tensor::from([4.0, 12.0])];
    let check = |name: &'static str, count: usize, run: &dyn Fn(&[Tensor]) -> Result<Vec<Tensor>>| {
        let inputs: Vec<Tensor> = inputs().into_iter().take(count).collect();
        inputs.iter().for_each(|input| input.set_requires_grad(true).unwrap());
        assert!(run(&inputs).unwrap().iter().all(Tensor::requires_grad), "{name}");
        gradcheck(run, &inputs, Default::default()).unwrap_or_else(|error| panic!("{name}: {error}"));
    };
    check("hypotenuse", 2, &|x| Ok(vec![call("door::hypotenuse", vec![(&x[0]).into(), (&x[1]).into()])?]));
    check("expm", 1, &|x| Ok(vec![call("door::expm", vec![(&x[0]).into()])?]));
    check("swish", 1, &|x| Ok(vec![call("door::swish", vec![(&x[0]).into()])?]));
    check("shifted", 1, &|x| Ok(vec![call("door::shifted", vec![(&x[0]).into(), 2.5.into()])?]));
    check("halves", 1, &|x| {
        let halves: Vec<Tensor> = call("door::halves", vec![(&x[0]).into()])?;
        Ok(vec![halves[0].add(&halves[1])?])
    });
    check("weighted", 2, &|x| {
        let arguments =
            vec![vec![x[0].clone(), x[0].clone()].into(), (&x[1]).into(), Scalar::Float(3.0).into()];
        Ok(vec![call("door::weighted", arguments)?])
    });
}
