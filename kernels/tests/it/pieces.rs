//! Resizing in place, reading numbers from tensors, and pieces of tensors; the numbers are PyTorch's.

use torch_library::prelude::*;
use torch_library_kernels::aten;
use torch_library_kernels::prelude::*;
use torch_library_kernels::vmap::vmap;

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
fn parts_are_no_views() -> Result<()> {
    let x = Tensor::from([0.0, 1.0, 2.0, 3.0, 4.0]);
    x.set_requires_grad(true)?;
    let parts = aten::unsafe_chunk(&x, 3)?;
    assert_eq!(parts.iter().map(Tensor::numel).collect::<Vec<_>>(), [2, 2, 1]);
    assert!(!parts[1].is_view() && parts[1].shares_storage_with(&x));
    assert_eq!(parts[1].grad_fn()?.map(|node| node.name()), Some("UnsafeSplitBackward0"));
    parts[1].sum()?.backward()?;
    assert_eq!(x.grad().map(|grad| grad.to_vec::<f64>()).transpose()?, Some(vec![0.0, 0.0, 1.0, 1.0, 0.0]));
    assert!(aten::unsafe_chunk(&x, 0).is_err() && aten::unsafe_split_Tensor(&x, 0).is_err());
    let halves = vmap([&matrix()], |[row]| Ok(aten::unsafe_split_with_sizes(&row, &[1, 2])?.remove(1)))?;
    assert_eq!(halves.to_vec::<f64>()?, [2.0, 3.0, 5.0, 6.0]);
    Ok(())
}

#[test]
fn chunks_are_filled_up_and_joined() -> Result<()> {
    let y = aten::arange(12.0.into())?.reshape(&[3, 4])?.to_dtype(DType::Float64)?;
    let joined = aten::_chunk_cat(&[matrix(), y], 0, 2)?;
    assert_eq!(joined.sizes(), [2, 11]);
    let expected = [1., 2., 3., 0., 1., 2., 3., 4., 5., 6., 7., 4., 5., 6., 8., 9., 10., 11., 0., 0., 0., 0.];
    assert_eq!(joined.to_vec::<f64>()?, expected);
    let columns = aten::_chunk_cat(&[matrix(), matrix()], -1, 2)?;
    assert_eq!(columns.to_vec::<f64>()?, [1., 2., 1., 2., 3., 0., 3., 0., 4., 5., 4., 5., 6., 0., 6., 0.]);
    assert!(aten::_chunk_cat(&[], 0, 2).is_err() && aten::_chunk_cat(&[matrix()], 0, 0).is_err());
    assert!(aten::_chunk_cat(&[matrix(), aten::zeros(&[2, 3])?], 0, 2).is_err());
    assert!(aten::_chunk_cat(&[Tensor::from(1.0)], 0, 2).is_err());
    Ok(())
}

#[test]
fn choices_of_elements() -> Result<()> {
    let x = Tensor::from([10i64, 11, 12]);
    assert_eq!(aten::combinations(&x)?.to_vec::<i64>()?, [10, 11, 10, 12, 11, 12]);
    let with = aten::combinations::with(&x).with_replacement(true).call()?;
    assert_eq!(with.to_vec::<i64>()?, [10, 10, 10, 11, 10, 12, 11, 11, 11, 12, 12, 12]);
    let sizes = |r: i64| Ok::<_, Error>(aten::combinations::with(&x).r(r).call()?.sizes().to_vec());
    assert_eq!((sizes(0)?, sizes(3)?, sizes(4)?), (vec![0], vec![1, 3], vec![0, 4]));
    assert!(sizes(-1).is_err() && aten::combinations(&matrix()).is_err());
    let many = aten::zeros(&[1000])?;
    let error = aten::combinations::with(&many).r(500).call().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::OutOfMemory, "{error}");
    let places =
        aten::nonzero_static::with(&Tensor::from([[0.0, 1.0], [2.0, 0.0]]), 3).fill_value(-9).call()?;
    assert_eq!(places.to_vec::<i64>()?, [0, 1, 1, 0, -9, -9]);
    assert!(aten::nonzero_static(&matrix(), -1).is_err());
    let (values, inverse) = aten::_unique::with(&Tensor::from([3i64, 1, 3])).return_inverse(true).call()?;
    assert_eq!((values.to_vec::<i64>()?, inverse.to_vec::<i64>()?), (vec![1, 3], vec![1, 0, 1]));
    Ok(())
}

#[test]
fn parts_of_numbers() -> Result<()> {
    let x = Tensor::from([1.5f32, -3.0, 0.0, f32::INFINITY, 1e-45]);
    let (mantissa, exponent) = aten::frexp_Tensor(&x)?;
    assert_eq!(mantissa.to_vec::<f32>()?, [0.75, -0.75, 0.0, f32::INFINITY, 0.5]);
    assert_eq!(exponent.to_vec::<i32>()?, [1, 2, 0, 0, -148]);
    assert!(aten::frexp_Tensor(&Tensor::from([1])).is_err());
    let complex = Tensor::from_vec(vec![Complex64::new(1.0, 1.0), Complex64::new(2.0, 0.0)], &[2])?;
    assert_eq!(aten::isreal(&complex)?.to_vec::<bool>()?, [false, true]);
    assert_eq!(aten::_conj_physical(&complex)?.to_vec::<Complex64>()?[0], Complex64::new(1.0, -1.0));
    assert_eq!(aten::chalf(&matrix())?.dtype(), DType::Complex32);
    Ok(())
}

#[test]
fn groups_of_matrices_are_multiplied() -> Result<()> {
    let ones = |sizes: &[i64]| aten::ones(sizes);
    let offsets = Tensor::from([4i32, 9]);
    let inner = aten::_grouped_mm::with(&ones(&[8, 16])?, &ones(&[16, 8])?).offs(Some(&offsets)).call()?;
    assert_eq!((inner.sizes(), inner.select(0, 1)?.to_vec::<f32>()?[0]), (&[2, 8, 8][..], 5.0));
    let rows = ones(&[6, 8])?;
    let groups = aten::cat(&[ones(&[1, 8, 8])?, ones(&[1, 8, 8])?.mul(2.0)?])?;
    let offsets = Tensor::from([2i32, 6]);
    rows.set_requires_grad(true)?;
    let product = aten::_grouped_mm::with(&rows, &groups).offs(Some(&offsets)).call()?;
    assert_eq!(product.select(1, 0)?.to_vec::<f32>()?, [8.0, 8.0, 16.0, 16.0, 16.0, 16.0]);
    assert_eq!(product.grad_fn()?.map(|node| node.name()), Some("GroupedMmBackward0"));
    product.sum()?.backward()?;
    let grad = rows.grad().ok_or_else(|| Error::new(ErrorKind::Internal, "no gradient"))?;
    assert_eq!(grad.select(1, 0)?.to_vec::<f32>()?, [8.0, 8.0, 16.0, 16.0, 16.0, 16.0]);
    assert!(aten::_grouped_mm(&rows, &groups).is_err());
    let beyond = Tensor::from([2i32, 9]);
    assert!(aten::_grouped_mm::with(&rows, &groups).offs(Some(&beyond)).call().is_err());
    assert!(aten::_grouped_mm(&ones(&[2, 3, 5])?, &ones(&[2, 5, 4])?).is_err()); // rows begin anywhere
    let wide = groups.to_dtype(DType::Float64)?;
    assert!(aten::_grouped_mm(&wide, &wide).is_err());
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
