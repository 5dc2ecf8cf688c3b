//! Pooling in regions whose borders are drawn, and its inverse.

use torch_library::prelude::*;
use torch_library_kernels::aten;
use torch_library_kernels::prelude::*;

#[test]
fn elements_go_back_to_where_they_were_taken() -> Result<()> {
    let x = Tensor::from([[[0.0, 1.0], [2.0, 3.0]]]);
    let places = Tensor::from([[[0i64, 1], [2, 3]]]);
    let out = aten::max_unpool2d(&x, &places, &[2, 3])?;
    assert_eq!((out.sizes(), out.to_vec::<f64>()?), (&[1, 2, 3][..], vec![0.0, 1.0, 2.0, 3.0, 0.0, 0.0]));
    assert!(aten::max_unpool2d(&x, &places.add(1)?, &[2, 2]).is_err(), "4 is not in an image of four");
    assert!(aten::max_unpool2d(&x, &places.sub(1)?, &[2, 2]).is_err());
    assert!(aten::max_unpool2d(&x, &places.to_dtype(DType::Int32)?, &[2, 2]).is_err());
    let volumes = (x.unsqueeze(0)?, places.unsqueeze(0)?);
    let unpool = |stride: &[i64]| aten::max_unpool3d(&volumes.0, &volumes.1, &[1, 2, 2], stride, &[0, 0, 0]);
    assert_eq!(unpool(&[1, 1, 1])?.to_vec::<f64>()?, [0.0, 1.0, 2.0, 3.0]);
    assert!(unpool(&[0, 1, 1]).is_err());
    let (largest, where_from) = aten::max_pool1d_with_indices(&Tensor::from([[1.0, 3.0, 2.0, 0.0]]), &[2])?;
    assert_eq!((largest.to_vec::<f64>()?, where_from.to_vec::<i64>()?), (vec![3.0, 2.0], vec![1, 2]));
    Ok(())
}

#[test]
fn regions_with_drawn_borders_are_pytorchs() -> Result<()> {
    let digits = [3.0, 1.0, 4.0, 1.0, 5.0, 9.0, 2.0, 6.0, 5.0, 3.0, 5.0, 8.0, 9.0, 7.0, 9.0, 3.0];
    let x = Tensor::from_slice(&digits, &[1, 4, 4])?;
    let pool =
        |kernel, samples: &Tensor| aten::fractional_max_pool2d(&x, &[kernel, kernel], &[2, 2], samples);
    let half = Tensor::from([[[0.5, 0.5]]]);
    let (largest, places) = pool(2, &half)?;
    assert_eq!(largest.to_vec::<f64>()?, [9.0, 6.0, 9.0, 9.0]);
    assert_eq!(places.to_vec::<i64>()?, [5, 7, 12, 14]);
    let back = aten::fractional_max_pool2d_backward(&largest, &x, &[2, 2], &[2, 2], &places)?;
    assert_eq!(back.to_vec::<f64>()?[5], 9.0);
    assert!(pool(4, &half).is_err(), "two windows of four do not fit into four");
    assert!(pool(2, &half.to_dtype(DType::Float32)?).is_err() && pool(2, &Tensor::from([[[0.5]]])).is_err());
    Ok(())
}
