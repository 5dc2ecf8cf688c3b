//! Resizing in place, numbers from tensors, and the dtypes of results; the numbers are PyTorch's.

use torch_library::prelude::*;
use torch_library_kernels::aten;
use torch_library_kernels::prelude::*;

fn matrix() -> Tensor {
    Tensor::from([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
}

#[test]
fn sizes_change_and_elements_stay() -> Result<()> {
    let mut x = Tensor::from([0i64, 1, 2, 3, 4, 5]);
    aten::resize_(&mut x, &[2, 2])?;
    assert_eq!(x.to_vec::<i64>()?, [0, 1, 2, 3]);
    let mut tail = Tensor::from([0i64, 1, 2, 3]).narrow(0, 2, 2)?;
    aten::resize_(&mut tail, &[5])?;
    assert_eq!((tail.storage_offset(), &tail.to_vec::<i64>()?[..2]), (2, &[2, 3][..]));
    let mut turned = matrix().t()?;
    aten::resize_(&mut turned, &[3, 2])?; // these are its sizes
    assert_eq!(turned.strides(), [1, 3]);
    let mut image = aten::zeros(&[16])?;
    aten::resize_::call(&mut image, &[1, 2, 2, 4], Some(MemoryFormat::ChannelsLast))?;
    assert_eq!(image.strides(), [16, 1, 8, 2]);
    let mut like = Tensor::from([0.0; 6]);
    aten::resize_as_(&mut like, &matrix())?;
    assert_eq!(like.sizes(), [2, 3]);
    assert_eq!(aten::resize(&matrix(), &[2])?.to_vec::<f64>()?, [1.0, 2.0]);
    assert!(aten::resize_(&mut like, &[-1]).is_err());
    assert!(aten::resize_(&mut like, &[i64::MAX, 3]).is_err());
    assert!(aten::resize_::call(&mut like, &[2], Some(MemoryFormat::Preserve)).is_err());
    like.set_requires_grad(true)?;
    let error = aten::resize_(&mut like, &[2]).unwrap_err().to_string();
    assert!(error.contains("a tensor that requires grad cannot be resized"), "{error}");
    Ok(())
}

#[test]
fn tensors_are_handed_on_and_made() -> Result<()> {
    let x = matrix();
    assert!(aten::lift(&x)?.is_same(&x));
    assert!(aten::lift_fresh(&x)?.is_same(&x));
    x.set_requires_grad(true)?;
    for (y, name) in [(aten::lift(&x)?, "LiftBackward0"), (aten::lift_fresh(&x)?, "LiftFreshBackward0")] {
        assert_eq!(y.grad_fn()?.map(|node| node.name()), Some(name));
    }
    assert!(x.grad_fn()?.is_none());
    assert_eq!(aten::empty_permuted(&[2, 3, 4], &[2, 0, 1])?.strides(), [3, 1, 6]);
    assert_eq!(aten::empty_permuted(&[2, 0, 3], &[2, 0, 1])?.strides(), [1, 1, 2]);
    for order in [&[0, 0][..], &[-1, 0], &[0], &[0, 2]] {
        assert!(aten::empty_permuted(&[2, 3], order).is_err(), "{order:?}");
    }
    assert!(aten::empty_permuted(&[2, -3], &[0, 1]).is_err());
    Ok(())
}

#[test]
fn numbers_come_out_of_tensors() -> Result<()> {
    assert_eq!(aten::item(&Tensor::from([[2i64]]))?, Scalar::Int(2));
    assert_eq!(aten::_local_scalar_dense(&Tensor::from([1.5, 2.0]))?, Scalar::Float(1.5));
    assert!(
        aten::item(&Tensor::from([1, 2])).is_err() && aten::_local_scalar_dense(&aten::zeros(&[0])?).is_err()
    );
    assert!(aten::is_nonzero(&Tensor::from([f64::NAN]))? && !aten::is_nonzero(&Tensor::from([false]))?);
    assert!(aten::is_nonzero(&Tensor::from([1, 2])).is_err());
    assert!(aten::can_cast(DType::Int32, DType::Float32)? && !aten::can_cast(DType::Float32, DType::Int32)?);
    assert!(aten::item(&Tensor::zeros(&[1], DType::Float32, Device::META)?).is_err());
    Ok(())
}

#[test]
fn dtypes_of_arithmetic_are_those_of_pytorch() -> Result<()> {
    assert_eq!(aten::promote_types(DType::Int8, DType::UInt8)?, DType::Int16);
    let (byte, flags) = (aten::ones(&[])?.to_dtype(DType::Int8)?, Tensor::from([true, false]));
    assert_eq!(aten::result_type_Tensor(&byte, &flags)?, DType::Int8);
    assert_eq!(aten::result_type_Scalar(&byte, 2.into())?, DType::Int8);
    assert_eq!(aten::result_type_Scalar_Tensor(3.5.into(), &byte)?, DType::Float32);
    assert_eq!(aten::result_type_Scalar_Scalar(1.into(), 2.5.into())?, DType::Float32);
    assert_eq!(aten::result_type_Scalar_Scalar(true.into(), false.into())?, DType::Bool);
    Ok(())
}
