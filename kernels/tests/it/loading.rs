//! Loading into expected tensors, and what happens to an existing file.

use torch_library::prelude::*;
use torch_library_kernels::loader::Batches;

#[test]
fn batches_say_how_many_are_to_come() -> Result<()> {
    let x = Tensor::from([0i64, 1, 2, 3, 4, 5, 6]);
    for (size, mut expected) in [(3, 3), (7, 1), (1, 7), (100, 1)] {
        let mut batches = Batches::new([&x], size)?;
        loop {
            assert_eq!((batches.size_hint(), batches.len()), ((expected, Some(expected)), expected));
            match batches.next() {
                Some(batch) => _ = batch?,
                None => break,
            }
            expected -= 1;
        }
        assert_eq!(expected, 0);
    }
    Ok(())
}

#[cfg(feature = "safetensors")]
#[test]
fn a_checkpoint_replaces_another_when_it_is_complete() -> Result<()> {
    use torch_library_kernels::checkpoint;

    let [path, link] = ["replaced.safetensors", "linked.safetensors"]
        .map(|name| std::path::PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name));
    let weights = |value: f32| [("weight".to_owned(), Tensor::from([value]))];
    let stored = |path: &std::path::Path| checkpoint::read(path)?["weight"].to_vec::<f32>();
    checkpoint::save(&path, &weights(1.0))?;
    _ = std::fs::remove_file(&link);
    std::fs::hard_link(&path, &link)?;
    checkpoint::save(&path, &weights(2.0))?;
    assert_eq!((stored(&path)?, stored(&link)?), (vec![2.0], vec![1.0]), "the old file was not written to");
    Ok(())
}

#[cfg(feature = "safetensors")]
#[test]
fn a_checkpoint_of_another_type_or_other_sizes_is_refused() -> Result<()> {
    use torch_library_kernels::checkpoint;
    use torch_library_kernels::prelude::*;

    let path = std::path::PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("other_types.safetensors");
    checkpoint::save(&path, &[("weight".to_owned(), Tensor::from([1f64]))])?;
    for wanted in [Tensor::from([0f32]), Tensor::from([0f64, 0.0]), Tensor::from(0f64), Tensor::from([0i64])]
    {
        let error = checkpoint::load(&path, &[("weight".to_owned(), wanted.clone())]).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Shape);
        assert!(wanted.to_dtype(DType::Float64)?.to_vec::<f64>()?.iter().all(|x| *x == 0.0));
    }
    Ok(())
}
