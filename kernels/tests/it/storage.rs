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

#[test]
fn files_are_read_into_tensors() -> Result<()> {
    let name = std::env::temp_dir().join(format!("torch-library-from-file-{}", std::process::id()));
    std::fs::write(&name, (0..16).collect::<Vec<u8>>())?;
    let path = name.to_str().unwrap();
    let read = |size, dtype| aten::from_file::with(path).size(Some(size)).dtype(Some(dtype)).call();
    assert_eq!(read(16, DType::UInt8)?.to_vec::<u8>()?, (0..16).collect::<Vec<u8>>());
    let shorts: Vec<i16> = (0..8).map(|at| i16::from_ne_bytes([2 * at as u8, 2 * at as u8 + 1])).collect();
    assert_eq!(read(8, DType::Int16)?.to_vec::<i16>()?, shorts);
    assert_eq!(read(3, DType::Bool)?.to_vec::<bool>()?, [false, true, true], "any other byte than 0 is true");
    assert_eq!(aten::from_file(path)?.sizes(), [0]);
    let mut out = Tensor::empty(&[0], DType::Int32, Device::CPU)?;
    aten::from_file_out::with(path, &mut out).size(Some(4)).call()?;
    assert_eq!(out.to_vec::<i32>()?, read(4, DType::Int32)?.to_vec::<i32>()?);

    let refused = |size, dtype| read(size, dtype).unwrap_err().to_string();
    assert!(
        refused(5, DType::Float32).ends_with("has 16 bytes, expected 5 elements of float32, 4 bytes each")
    );
    assert!(refused(i64::MAX, DType::Float64).contains("has 16 bytes"));
    assert!(refused(-1, DType::Float32).ends_with("size is -1, expected zero or more"));
    let shared = aten::from_file::with(path).shared(Some(true)).call().unwrap_err().to_string();
    assert!(shared.contains("could change while it is read"), "{shared}");
    assert!(aten::from_file::with(path).device(Some(Device::META)).call().is_err());
    std::fs::remove_file(&name)?;
    let missing = refused(1, DType::Float32);
    assert!(missing.contains("aten::from_file") && missing.contains("torch-library-from-file"), "{missing}");
    Ok(())
}

#[test]
fn the_same_memory_has_other_handles() -> Result<()> {
    let x = Tensor::from([1.0f32, 2.0]);
    x.set_requires_grad(true)?;
    let data = aten::data(&x)?;
    assert!(data.shares_storage_with(&x) && !data.requires_grad());
    assert!(aten::to_dense(&x)?.shares_storage_with(&x));
    let double = aten::to_dense::with(&x).dtype(Some(DType::Float64)).call()?;
    assert_eq!((double.dtype(), double.requires_grad()), (DType::Float64, true));
    assert!(aten::_to_cpu(std::slice::from_ref(&x))?[0].shares_storage_with(&x));
    let meta = aten::_to_copy::with(&x).device(Some(Device::META)).call()?;
    assert!(aten::_has_compatible_shallow_copy_type(&x, &double)?);
    assert!(!aten::_has_compatible_shallow_copy_type(&x, &meta)?);
    Ok(())
}
