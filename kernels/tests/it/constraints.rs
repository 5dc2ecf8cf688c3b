//! The assertions and constraints of exported programs.

use torch_library::prelude::*;
use torch_library_kernels::aten;

#[test]
fn a_tensor_is_what_a_program_was_exported_for() -> Result<()> {
    let x = Tensor::from([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]);
    let check = |size: &[i64], stride: &[i64], dtype| {
        aten::_assert_tensor_metadata::with(&x)
            .size(Some(size))
            .stride(Some(stride))
            .dtype(Some(dtype))
            .call()
    };
    check(&[2, 3], &[3, 1], DType::Float64)?;
    aten::_assert_tensor_metadata(&x)?;
    let error = check(&[2, 4], &[3, 1], DType::Float64).unwrap_err().to_string();
    assert_eq!(error, "aten::_assert_tensor_metadata: sizes [2, 3], expected [2, 4]");
    assert!(
        check(&[2, 3], &[1, 2], DType::Float64).is_err() && check(&[2, 3], &[3, 1], DType::Int64).is_err()
    );
    assert!(aten::_assert_tensor_metadata::with(&x).device(Some(Device::META)).call().is_err());
    Ok(())
}

#[test]
fn a_check_passes_unless_its_element_is_zero() -> Result<()> {
    let (one, zero) = (Tensor::from(1.5), Tensor::from([0i64]));
    aten::_assert_async(&one)?;
    let token = Tensor::from([7.0]);
    assert_eq!(aten::_functional_assert_async_msg(&one, "no", &token)?.to_vec::<f64>()?, [7.0]);
    aten::_assert_scalar(2.into(), "no")?;
    let message = |result: Result<()>| result.unwrap_err().to_string();
    assert!(message(aten::_assert_async(&zero)).contains("the only element is zero"));
    assert!(message(aten::_assert_async_msg(&zero, "empty batch")).contains("empty batch"));
    assert!(message(aten::_assert_scalar(0.into(), "empty batch")).contains("empty batch"));
    assert!(aten::_assert_async(&Tensor::from([1i64, 1])).is_err(), "two elements are not one");
    // Without data there is nothing to check.
    aten::_assert_async_msg(&Tensor::empty(&[3], DType::Float32, Device::META)?, "no")
}

#[test]
fn conditions_of_exported_programs_are_checked() -> Result<()> {
    let range = |size: i64, min, max| aten::sym_constrain_range::call(size.into(), min, max);
    assert!(range(3, Some(1), Some(5)).is_ok() && range(-7, None, None).is_ok());
    assert!(range(7, Some(1), Some(5)).is_err() && range(3, Some(5), Some(1)).is_err());
    let size = |size: i64, min, max| aten::sym_constrain_range_for_size::call(size.into(), min, max);
    assert!(size(3, None, Some(7)).is_ok() && size(0, None, None).is_ok());
    assert!(size(-1, None, None).is_err() && size(1, Some(1), Some(2)).is_err());
    let token = aten::_make_dep_token::with().dtype(Some(DType::Float64)).call()?;
    assert_eq!((token.sizes(), token.dtype()), (&[][..], DType::Float64));
    let token = Tensor::from(2.5);
    let kept = aten::_functional_sym_constrain_range(3.into(), Some(1), Some(5), &token)?;
    assert!(aten::equal(&kept, &token)? && !kept.shares_storage_with(&token));
    assert!(aten::_functional_sym_constrain_range(9.into(), Some(1), Some(5), &token).is_err());
    assert!(aten::_functional_sym_constrain_range_for_size((-1).into(), None, None, &token).is_err());
    assert!(aten::equal(&aten::_functional_assert_scalar(1.into(), "why", &token)?, &token)?);
    let error = aten::_functional_assert_scalar(0.into(), "why", &token).unwrap_err().to_string();
    assert!(error.ends_with("why"), "{error}");
    Ok(())
}
