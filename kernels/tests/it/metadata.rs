//! Facts about tensors.

use torch_library::prelude::*;
use torch_library_kernels::aten;
use torch_library_kernels::prelude::*;

#[test]
fn facts_are_those_of_the_tensor() -> Result<()> {
    let x = Tensor::from([[0f32, 1.0, 2.0], [3.0, 4.0, 5.0]]);
    let turned = aten::t(&x)?;
    assert_eq!((aten::size_int(&turned, 0)?, aten::size_int(&turned, -1)?), (3, 2));
    assert_eq!((aten::sym_size_int(&turned, 0)?, aten::sym_stride_int(&turned, 0)?), (3, 1));
    assert_eq!((aten::stride_int(&turned, 1)?, aten::dim(&turned)?, aten::dense_dim(&turned)?), (3, 2, 2));
    let row = aten::select_int(&x, 0, 1)?;
    assert_eq!((aten::numel(&row)?, aten::sym_numel(&row)?), (3, 3));
    assert_eq!((aten::storage_offset(&row)?, aten::sym_storage_offset(&row)?), (3, 3));
    assert!(aten::is_floating_point(&x)? && aten::is_signed(&x)? && !aten::is_complex(&x)?);
    assert!(!aten::is_signed(&Tensor::from([1u8]))? && aten::is_complex(&Tensor::from([Complex64::I]))?);
    assert!(!aten::is_inference(&x)? && !aten::is_distributed(&x)? && !aten::is_pinned(&x)?);
    let on_meta = Tensor::empty(&[2], DType::Float32, Device::META)?;
    assert_eq!((aten::get_device(&x)?, aten::get_device(&on_meta)?), (-1, -1));
    assert!(aten::size_int(&x, 2).is_err() && aten::size_int(&x, -3).is_err());
    assert!(aten::size_int(&Tensor::from(1), 0).is_err() && aten::stride_int(&Tensor::from(1), 0).is_err());
    assert!(aten::is_set_to(&x, &aten::view(&x, &[2, 3])?)? && !aten::is_set_to(&x, &turned)?);
    assert!(!aten::is_set_to(&x, &aten::clone(&x)?)?);
    assert!(aten::_has_same_storage_numel(&x, &row)?);
    assert!(!aten::_has_same_storage_numel(&x, &aten::clone(&row)?)?);
    let overlap = |tensor: &Tensor| aten::_debug_has_internal_overlap(tensor).unwrap();
    let column = aten::narrow(&x, 1, 0, 1)?;
    let shifted = x.strided_view(&[2, 2], &[1, 1], 0)?;
    let found = [&x, &turned, &aten::expand(&column, &[2, 3])?, &shifted].map(overlap);
    assert_eq!(found, [0, 0, 1, 2]);
    Ok(())
}

#[test]
fn writes_and_results_are_known() -> Result<()> {
    let x = Tensor::from([1.0, 2.0]);
    x.set_requires_grad(true)?;
    let mut y = x.mul(2.0)?;
    assert!(aten::is_leaf(&x)? && !aten::is_leaf(&y)?);
    aten::add__Scalar(&mut y, 1.into())?;
    assert_eq!((aten::_version(&x)?, aten::_version(&y)?), (0, 1));
    Ok(())
}
