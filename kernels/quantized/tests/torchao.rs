//! What torchao answers, for the numbers in `input`.

use torch_library::opcheck::opcheck;
use torch_library::prelude::*;
use torch_library_aten::aten;
use torch_library_quantized::torchao;

fn input() -> Tensor {
    Tensor::from([[-1.3f32, 0.0, 0.26, 9.0], [0.05, -0.05, 0.15, 100.0]])
}

/// A scale for each two elements of a row.
fn scales() -> Tensor {
    Tensor::from([[0.1f32, 0.5], [0.01, 1.0]])
}

fn zeros() -> Tensor {
    Tensor::from([[10i64, -3], [0, 1]])
}

#[track_caller]
fn equal<T: torch_library::Element + PartialEq>(tensor: &Tensor, sizes: &[i64], values: &[T]) {
    assert_eq!((tensor.sizes(), tensor.to_vec::<T>().unwrap().as_slice()), (sizes, values));
}

#[test]
fn a_scale_for_each_block() -> Result<()> {
    let (scales, zeros) = (scales(), zeros());
    for x in [input(), aten::to_dtype(&input(), DType::Float16)?] {
        let q = torchao::quantize_affine(&x, &[1, 2], &scales, Some(&zeros), DType::Int8)?;
        equal(&q, &[2, 4], &[-3i8, 10, -2, 15, 5, -5, 1, 101]);
        let back = torchao::dequantize_affine(&q, &[1, 2], &scales, Some(&zeros), DType::Int8)?;
        equal(&back, &[2, 4], &[-1.3000001f32, 0.0, 0.5, 9.0, 0.049999997, -0.049999997, 0.0, 100.0]);
    }
    let x = input();
    let few = torchao::quantize_affine::with(&x, &[1, 2], &scales, Some(&zeros), DType::Int8);
    let few = few.quant_min(Some((-5).into())).quant_max(Some(5.into())).call()?;
    equal(&few, &[2, 4], &[-3i8, 5, -2, 5, 5, -5, 1, 5]);
    let plain = torchao::dequantize_affine::with(&few, &[1, 2], &scales, None, DType::Int8);
    let plain = plain.output_dtype(DType::BFloat16).call()?;
    assert_eq!(plain.dtype(), DType::BFloat16);
    let wide = aten::to_dtype(&plain, DType::Float32)?;
    equal(&wide, &[2, 4], &[-0.30078125f32, 0.5, -1.0, 2.5, 0.050048828, -0.050048828, 1.0, 5.0]);
    Ok(())
}

#[test]
fn one_block_is_the_whole_tensor() -> Result<()> {
    let (scale, zero) = (Tensor::from(0.1f32), Tensor::from([10i64]));
    let q = torchao::quantize_affine(&input(), &[2, 4], &scale, Some(&zero), DType::UInt8)?;
    equal(&q, &[2, 4], &[0u8, 10, 13, 100, 10, 10, 12, 255]);
    let rows = Tensor::from([0.1f32, 1.0]);
    let zeros = Tensor::from([0i64, 0]);
    let small = torchao::quantize_affine(&input(), &[1, 4], &rows, Some(&zeros), DType::Float8E4M3Fn)?;
    let small = aten::to_dtype(&small, DType::Float32)?;
    equal(&small, &[2, 4], &[-13f32, 0.0, 3.0, 88.0, 0.0, 0.0, 0.0, 96.0]);
    Ok(())
}

#[test]
fn parameters_are_chosen_for_each_block() -> Result<()> {
    let x = input();
    let choose = |mapping: &str, block: &[i64], keepdim: bool| {
        let least = (mapping == "SYMMETRIC").then(|| Scalar::from(-127));
        let call = torchao::choose_qparams_affine::with(Some(&x), mapping, block, DType::Int8);
        call.quant_min(least).keepdim(keepdim).call()
    };
    for (keepdim, sizes) in [(false, &[2i64][..]), (true, &[2, 1])] {
        let (scale, zero) = choose("SYMMETRIC", &[1, 4], keepdim)?;
        equal(&scale, sizes, &[0.070866145f32, 0.78740156]);
        equal(&zero, sizes, &[0f32, 0.0]);
        let (scale, zero) = choose("ASYMMETRIC", &[1, 4], keepdim)?;
        equal(&scale, sizes, &[0.040392157f32, 0.39235294]);
        equal(&zero, sizes, &[-96i32, -128]);
    }
    let (scale, zero) = choose("ASYMMETRIC", &[1, 2], false)?;
    equal(&scale, &[2, 2], &[0.005098039f32, 0.03529412, 0.00039215686, 0.39215687]);
    equal(&zero, &[2, 2], &[127i32, -128, 0, -128]);
    let (scale, _) = choose("SYMMETRIC_NO_CLIPPING_ERR", &[1, 2], true)?;
    equal(&scale, &[2, 2], &[0.01015625f32, 0.070866145, 0.0003937008, 0.78740156]);
    let (scale, zero) = choose("ASYMMETRIC", &[2, 4], false)?;
    equal(&scale, &[], &[0.3972549f32]);
    equal(&zero, &[], &[-125i32]);
    let call = torchao::choose_qparams_affine::with(Some(&x), "ASYMMETRIC", &[1, 2], DType::UInt8);
    let call = call.scale_dtype(Some(DType::Float64)).zero_point_dtype(Some(DType::Int64));
    let (scale, zero) = call.eps(Some(0.1)).call()?;
    equal(&scale, &[2, 2], &[f64::from(0.1f32), f64::from(0.1f32), f64::from(0.1f32), 0.3921568691730499]);
    equal(&zero, &[2, 2], &[13i64, 0, 0, 0]);
    Ok(())
}

#[test]
fn what_torchao_refuses_is_refused() -> Result<()> {
    let (x, scales, zeros) = (input(), scales(), zeros());
    let quantize = |x: &Tensor, block: &[i64], scale: &Tensor, dtype: DType, least: Option<Scalar>| {
        torchao::quantize_affine::with(x, block, scale, Some(&zeros), dtype).quant_min(least).call()
    };
    assert!(quantize(&x, &[1, 2], &scales, DType::Int8, None).is_ok());
    for block in [&[1, 3][..], &[2], &[1, 0], &[1, -1], &[], &[1, 8]] {
        assert!(quantize(&x, block, &scales, DType::Int8, None).is_err(), "{block:?}");
    }
    let first = aten::select_int(&scales, 0, 0)?;
    assert!(quantize(&x, &[1, 2], &first, DType::Int8, None).is_err());
    assert!(quantize(&x, &[1, 2], &scales, DType::Int64, None).is_err());
    assert!(quantize(&x, &[1, 2], &scales, DType::Int8, Some((-129).into())).is_err());
    let double = aten::to_dtype(&x, DType::Float64)?;
    assert!(quantize(&double, &[1, 2], &scales, DType::Int8, None).is_err());
    assert!(torchao::quantize_affine(&x, &[1, 2], &scales, None, DType::Int8).is_err());
    // More blocks than can be counted, of no elements.
    let many = aten::expand(&aten::zeros(&[1, 1, 0])?, &[1 << 40, 1 << 40, 0])?;
    assert!(quantize(&many, &[1, 1, 0], &scales, DType::Int8, None).is_err());

    let q = quantize(&x, &[1, 2], &scales, DType::Int8, None)?;
    assert!(torchao::dequantize_affine(&q, &[1, 2], &scales, Some(&zeros), DType::UInt8).is_err());
    let call = torchao::dequantize_affine::with(&q, &[1, 2], &scales, Some(&zeros), DType::Int8);
    assert!(call.output_dtype(DType::Float64).call().is_err());

    let choose =
        |x: Option<&Tensor>, mapping| torchao::choose_qparams_affine(x, mapping, &[1, 2], DType::Int8);
    assert!(choose(Some(&x), "SYMMETRIC").is_ok());
    assert!(choose(Some(&x), "OTHER").is_err());
    assert!(choose(None, "SYMMETRIC").is_err());
    assert!(choose(Some(&q), "SYMMETRIC").is_err());
    Ok(())
}

#[test]
fn operators_keep_the_rules_of_all_layers() -> Result<()> {
    let (x, scales, zeros) = (input(), scales(), zeros());
    let block = || Value::from(vec![1i64, 2]);
    let q = torchao::quantize_affine(&x, &[1, 2], &scales, Some(&zeros), DType::Int8)?;
    let parameters = || [Value::from(scales.clone()), Value::from(zeros.clone())];
    for (operator, start) in
        [(torchao::quantize_affine::handle(), x.clone()), (torchao::dequantize_affine::handle(), q)]
    {
        let mut sample = vec![Value::from(start), block()];
        sample.extend(parameters());
        sample.extend([DType::Int8.into(), Value::None, Value::None]);
        if sample.len() < operator.schema()?.arguments.len() {
            sample.push(DType::Float32.into());
        }
        opcheck(operator, [sample])?;
    }
    let mut sample = vec![Value::from(x), "ASYMMETRIC".to_owned().into(), block(), DType::Int8.into()];
    sample.extend([Value::None, Value::None, Value::None, Value::None, Value::None, Value::from(true)]);
    opcheck(torchao::choose_qparams_affine::handle(), [sample])?;
    Ok(())
}
