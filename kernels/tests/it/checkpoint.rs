//! Checkpoints: what goes in comes out, and what does not fit is refused whole.
#![cfg(feature = "safetensors")]

use std::path::PathBuf;

use torch_library::prelude::*;
use torch_library_kernels::checkpoint;
use torch_library_kernels::prelude::*;

fn file(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name)
}

#[test]
fn checkpoints_keep_every_type_and_shape() -> Result<()> {
    let path = file("types.safetensors");
    let dtypes = [DType::Bool, DType::UInt8, DType::Int16, DType::Int64, DType::BFloat16, DType::Float64];
    let mut saved = vec![
        ("transposed".to_owned(), Tensor::from([[1f32, 2.0], [3.0, 4.0]]).t()?),
        ("nothing".to_owned(), Tensor::zeros(&[0, 3], DType::Float32, Device::CPU)?),
        ("number".to_owned(), Tensor::from(7i64)),
    ];
    for dtype in dtypes {
        saved.push((dtype.to_string(), Tensor::from([0.0, 1.0, 1.0]).to_dtype(dtype)?));
    }
    checkpoint::save(&path, &saved)?;
    let found = checkpoint::read(&path)?;
    assert_eq!(found.len(), saved.len());
    for (name, tensor) in &saved {
        let found = &found[name];
        assert_eq!((found.sizes(), found.dtype()), (tensor.sizes(), tensor.dtype()), "{name}");
        let [ours, theirs] = [found, tensor].map(|tensor| tensor.to_dtype(DType::Float64)?.to_vec::<f64>());
        assert_eq!(ours?, theirs?, "{name}");
    }
    Ok(())
}

#[test]
fn what_does_not_fit_a_checkpoint_is_refused_whole() -> Result<()> {
    let path = file("refused.safetensors");
    let named = |name: &str, tensor: &Tensor| (name.to_owned(), tensor.clone());
    let (a, b) = (Tensor::from([1f32, 2.0]), Tensor::from([3f32]));
    checkpoint::save(&path, &[named("a", &a), named("b", &b)])?;
    let refusal = |wanted: &[(String, Tensor)]| {
        let error = checkpoint::load(&path, wanted).unwrap_err().to_string();
        error.replace(path.to_str().expect("a plain path"), "FILE")
    };
    let zero = Tensor::from([0f32, 0.0]);
    assert_eq!(
        refusal(&[named("a", &zero), named("b", &zero)]),
        "FILE: \"b\" is float32 of sizes [1], float32 of sizes [2] is wanted"
    );
    assert_eq!(zero.to_vec::<f32>()?, [0.0, 0.0], "not even what fits is written");
    assert_eq!(refusal(&[named("c", &zero)]), "FILE has no tensor \"c\", it has a, b");
    std::fs::write(&path, b"no such file")?;
    assert!(refusal(&[]).starts_with("FILE: safetensors: "), "{}", refusal(&[]));
    let error = checkpoint::save(&path, &[named("a", &a), named("a", &b)]).unwrap_err().to_string();
    assert_eq!(error, "two tensors of a checkpoint have the name \"a\"");
    let error = checkpoint::save(&path, &[named("c", &Tensor::from(Complex64::new(1.0, 0.0)))]).unwrap_err();
    assert!(error.to_string().starts_with("tensor \"c\": safetensors has no complex128"), "{error}");
    Ok(())
}
