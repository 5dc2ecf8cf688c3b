//! Operators that mainly exported programs call: Python's operators, checks, norms, masks, pooling, random
//! numbers.

use torch_library::prelude::*;
use torch_library_kernels::aten;
use torch_library_kernels::prelude::*;

fn seeded() -> Generator {
    Generator::with_seed(3)
}

fn close(got: &Tensor, want: &[f64]) -> Result<()> {
    let got = got.to_dtype(DType::Float64)?.to_vec::<f64>()?;
    let is_close = |(got, want): (&f64, &f64)| (got - want).abs() <= 1e-6 * want.abs().max(1.0);
    assert!(got.len() == want.len() && got.iter().zip(want).all(is_close), "{got:?} instead of {want:?}");
    Ok(())
}

#[test]
fn operators_of_python_are_those_of_bits() -> Result<()> {
    let (mut x, y) = (Tensor::from([6i64, 5, 1]), Tensor::from([3i64, 4, 1]));
    assert_eq!(aten::__and___Tensor(&x, &y)?.to_vec::<i64>()?, [2, 4, 1]);
    assert_eq!(aten::__or___Scalar(&x, 8.into())?.to_vec::<i64>()?, [14, 13, 9]);
    assert_eq!(aten::__xor___Tensor(&x, &y)?.to_vec::<i64>()?, [5, 1, 0]);
    assert_eq!(aten::__lshift___Scalar(&x, 1.into())?.to_vec::<i64>()?, [12, 10, 2]);
    assert_eq!(aten::__rshift___Tensor(&x, &y)?.to_vec::<i64>()?, [0, 0, 0]);
    aten::__ilshift___Scalar(&mut x, 2.into())?;
    aten::__iand___Tensor(&mut x, &Tensor::from([16i64, 16, 16]))?;
    assert_eq!(x.to_vec::<i64>()?, [16, 16, 0]);
    assert!(aten::__and___Scalar(&Tensor::from([1.0]), 1.into()).is_err(), "fractions have no bits");
    assert!(aten::__lshift___Scalar(&x, 1.5.into()).is_err());
    Ok(())
}

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
fn masked_indices_may_be_any() -> Result<()> {
    let x = Tensor::from([[0.0, 1.0, 2.0], [3.0, 4.0, 5.0]]);
    let mask = Tensor::from([true, false, true]);
    let indices = [None, Some(Tensor::from([1i64, 9, -1]))];
    let picked = aten::_unsafe_masked_index(&x, &mask, &indices, 7.into())?;
    assert_eq!(picked.to_vec::<f64>()?, [1.0, 7.0, 2.0, 4.0, 7.0, 5.0]);
    let ones = aten::ones_like(&x)?;
    let added = aten::_unsafe_masked_index_put_accumulate(&x, &mask, &indices, &ones)?;
    assert_eq!(added.to_vec::<f64>()?, [0.0, 2.0, 3.0, 3.0, 5.0, 6.0]);
    let by_mask = [None, Some(mask.clone())];
    assert!(aten::_unsafe_masked_index(&x, &mask, &by_mask, 7.into()).is_err());
    Ok(())
}

#[test]
fn statistics_move_and_are_named_in_the_schema() -> Result<()> {
    let x = Tensor::from([[1.0, 2.0], [3.0, 5.0]]);
    x.set_requires_grad(true)?;
    let (mut mean, mut var) = (Tensor::from([0.0, 0.0]), Tensor::from([1.0, 1.0]));
    let (out, save_mean, save_invstd) =
        aten::_native_batch_norm_legit(&x, None, None, &mut mean, &mut var, true, 0.1, 0.0)?;
    close(&out, &[-1.0, -1.0, 1.0, 1.0])?;
    close(&save_mean, &[2.0, 3.5])?;
    close(&save_invstd, &[1.0, 2.0 / 3.0])?;
    close(&mean, &[0.2, 0.35])?;
    close(&var, &[1.1, 1.35])?;
    assert_eq!(out.grad_fn()?.map(|node| node.name()), Some("NativeBatchNormLegitBackward0"));
    let (out, ..) = aten::_batch_norm_with_update(&x, None, None, &mut mean, &mut var, 0.1, 0.0)?;
    assert_eq!(out.grad_fn()?.map(|node| node.name()), Some("BatchNormWithUpdateBackward0"));
    close(&mean, &[0.38, 0.665])?;
    let outside = aten::_native_batch_norm_legit_no_stats(&x, None, None, false, 0.1, 0.0);
    assert!(outside.is_err(), "outside of training there must be statistics");
    Ok(())
}

#[test]
fn a_row_of_nothing_has_no_weights() -> Result<()> {
    let x = Tensor::from([[1.0, 2.0], [f64::NEG_INFINITY, f64::NEG_INFINITY]]);
    close(&aten::_safe_softmax(&x, -1)?, &[0.26894142, 0.73105858, 0.0, 0.0])?;
    assert!(aten::_safe_softmax(&Tensor::from([1i64, 2]), 0).is_err());
    Ok(())
}

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

#[test]
fn smaller_images_are_means() -> Result<()> {
    let squares: Vec<f64> = (0..7).map(|x| f64::from(x * x)).collect();
    let x = Tensor::from_vec(squares, &[1, 1, 1, 7])?;
    close(&aten::_upsample_bilinear2d_aa(&x, &[1, 3], false)?, &[1.28571429, 9.94117647, 27.0])?;
    close(&aten::_upsample_bicubic2d_aa(&x, &[1, 3], false)?, &[0.67741935, 9.36385836, 28.06451613])?;
    assert!(aten::_upsample_bilinear2d_aa(&x, &[0, 3], false).is_err());
    assert!(aten::_upsample_bicubic2d_aa(&x.to_dtype(DType::Float16)?, &[1, 3], false).is_err());
    assert!(aten::_upsample_bilinear2d_aa_backward(&x, &[1, 3], &[1, 1, 1, 9], false).is_err());
    Ok(())
}

#[test]
fn slopes_by_chance_are_pytorchs() -> Result<()> {
    let (x, mut noise) = (Tensor::from([-1f32, 2.0, -3.0, 0.0]), Tensor::from([0f32; 4]));
    x.set_requires_grad(true)?;
    let (generator, lower, upper) = (seeded(), Scalar::from(0.1), Scalar::from(0.3));
    let out = aten::rrelu_with_noise::call(&x, &mut noise, lower, upper, true, Some(&generator))?;
    close(&out, &[-0.10682164, 2.0, -0.47204417, 0.0])?;
    close(&noise.narrow(0, 0, 3)?, &[0.10682164, 1.0, 0.15734806])?;
    assert_eq!(out.grad_fn()?.map(|node| node.name()), Some("RreluWithNoiseBackward0"));
    let fixed = aten::rrelu::call(&x, lower, upper, false, None)?;
    close(&fixed, &[-0.2, 2.0, -0.6, 0.0])?;
    assert!(aten::rrelu::call(&x, upper, lower, true, None).is_err(), "bounds in the wrong order");
    assert!(aten::rrelu_with_noise::call(&x, &mut Tensor::from([0f32]), lower, upper, true, None).is_err());
    let halves = x.to_dtype(DType::Float16)?;
    assert!(aten::rrelu::call(&halves, lower, upper, true, None).is_err(), "as in PyTorch");
    Ok(())
}

#[test]
fn channels_are_dropped_as_one_and_variance_may_stay() -> Result<()> {
    let ones = aten::ones(&[4, 8, 3])?;
    let dropped = aten::feature_dropout(&ones, 0.5, true)?.to_vec::<f32>()?;
    assert!(dropped.chunks(3).all(|channel| channel == [0.0; 3] || channel == [2.0; 3]), "{dropped:?}");
    // From ones, kept and dropped elements become these two numbers, as in PyTorch.
    let (kept, lost) = (1.470_377_2, -0.910_642);
    for alpha in [aten::alpha_dropout(&ones, 0.4, true)?, aten::feature_alpha_dropout(&ones, 0.4, true)?] {
        let is_either = |x: &f32| (x - kept).abs() < 1e-6 || (x - lost).abs() < 1e-6;
        assert!(alpha.to_vec::<f32>()?.iter().all(is_either), "{alpha}");
    }
    let (out, mask) = aten::native_dropout(&ones, 0.5, Some(true))?;
    let pairs = out.to_vec::<f32>()?.into_iter().zip(mask.to_vec::<bool>()?);
    assert!(pairs.into_iter().all(|(x, is_kept)| x == if is_kept { 2.0 } else { 0.0 }));
    assert_eq!(aten::alpha_dropout(&ones, 1.0, true)?.sum()?.item()?.to::<f64>()?, 0.0);
    assert!(aten::feature_dropout(&Tensor::from([1.0]), 0.5, true).is_err(), "a vector has no channels");
    assert!(aten::alpha_dropout(&ones, 1.5, true).is_err());
    assert!(aten::native_dropout(&Tensor::from([1i64]), 0.5, None).is_err());
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
