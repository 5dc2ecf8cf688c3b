//! Writes in place and their count.

use torch_library::guard::inference_mode;
use torch_library::prelude::*;
use torch_library_kernels::aten;
use torch_library_kernels::prelude::*;

#[test]
fn a_write_counts_once_for_all_views() -> Result<()> {
    let mut x = Tensor::from([[1.0, 2.0], [3.0, 4.0]]);
    let mut row = x.select(0, 0)?;
    row.mul_(2)?;
    aten::zero_(&mut x)?;
    assert_eq!((x.version(), row.version()), (2, 2));
    aten::transpose_(&mut row.unsqueeze(0)?, 0, 1)?;
    assert_eq!(x.version(), 3);
    Ok(())
}

#[test]
fn new_tensors_have_not_been_written() -> Result<()> {
    let x = Tensor::from([1.0, 2.0]);
    for new in [x.copy()?, aten::zeros(&[2])?, aten::ones_like(&x)?, x.to_dtype(DType::Int8)?, x.add(1)?] {
        assert_eq!(new.version(), 0);
    }
    Ok(())
}

#[test]
fn failed_writes_do_not_count() -> Result<()> {
    let mut x = Tensor::from([1, 2]);
    assert!(x.div_(2).is_err() && x.copy_(&Tensor::from([1, 2, 3])).is_err());
    assert_eq!(x.version(), 0);
    Ok(())
}

#[test]
fn tensors_from_outside_of_inference_mode_keep_their_count() -> Result<()> {
    let mut x = Tensor::from([1.0]);
    inference_mode(|| x.add_(1).map(drop))?;
    assert_eq!((x.to_vec::<f64>()?, x.version()), (vec![2.0], 1));
    Ok(())
}

#[test]
fn running_sums_stay_in_their_type() -> Result<()> {
    let mut x = Tensor::from([1i32, 2, 3]);
    aten::cumsum_(&mut x, 0)?;
    assert_eq!(x.to_vec::<i32>()?, [1, 3, 6]);
    assert!(aten::cumsum_::with(&mut x, 0).dtype(Some(DType::Int64)).call().is_err(), "would be of int64");
    assert!(aten::hardtanh(&Tensor::from([true])).is_err());
    Ok(())
}
