//! The checks in exported programs.

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
