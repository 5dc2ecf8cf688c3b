//! What PyTorch answers, for the numbers in `input`.

use torch_library::prelude::*;
use torch_library_aten::aten;
use torch_library_quantized::quantized_decomposed as quantized;

const INT8: (i64, i64, DType) = (-128, 127, DType::Int8);

fn input() -> Tensor {
    Tensor::from([[-1.3f32, 0.0, 0.26, 9.0], [0.05, -0.05, 0.15, 100.0]])
}

fn integers(values: [i8; 8]) -> Tensor {
    Tensor::from_vec(values.to_vec(), &[2, 4]).unwrap()
}

#[track_caller]
fn equal<T: torch_library::Element + PartialEq>(tensor: &Tensor, values: &[T]) {
    assert_eq!(tensor.to_vec::<T>().unwrap(), values);
}

const PER_TENSOR: [i8; 8] = [-3, 10, 13, 100, 10, 10, 12, 127];
const PER_TENSOR_BACK: [f32; 8] = [-1.3000001, 0.0, 0.3, 9.0, 0.0, 0.0, 0.2, 11.7];

#[test]
fn one_scale_for_all() -> Result<()> {
    let (least, most, dtype) = INT8;
    for x in [input(), aten::to_dtype(&input(), DType::Float16)?] {
        equal(&quantized::quantize_per_tensor(&x, 0.1, 10, least, most, dtype)?, &PER_TENSOR);
    }
    let q = integers(PER_TENSOR);
    let back = quantized::dequantize_per_tensor(&q, 0.1, 10, least, most, dtype)?;
    equal(&back, &PER_TENSOR_BACK);
    let half = quantized::dequantize_per_tensor::with(&q, 0.1, 10, least, most, dtype);
    assert_eq!(half.out_dtype(Some(DType::BFloat16)).call()?.dtype(), DType::BFloat16);
    assert!(quantized::quantize_per_tensor(&input(), 0.1, 10, -129, most, dtype).is_err());
    assert!(quantized::quantize_per_tensor(&q, 0.1, 10, least, most, dtype).is_err());
    assert!(quantized::quantize_per_tensor(&input(), 0.1, 10, least, most, DType::Float32).is_err());
    assert!(quantized::dequantize_per_tensor(&q, 0.1, 10, least, most, DType::UInt8).is_err());
    Ok(())
}

#[test]
fn parameters_in_tensors() -> Result<()> {
    let (scale, zero) = (Tensor::from([0.1f64]), Tensor::from([10i64]));
    let unsigned = quantized::quantize_per_tensor_tensor(&input(), &scale, &zero, 0, 255, DType::UInt8)?;
    equal(&unsigned, &[0u8, 10, 13, 100, 10, 10, 12, 255]);
    let (least, most) = (Tensor::from(0i64), Tensor::from(255i64));
    let same = quantized::quantize_per_tensor_tensor2(&input(), &scale, &zero, &least, &most, DType::UInt8)?;
    assert!(aten::equal(&same, &unsigned)?);
    let q = integers(PER_TENSOR);
    let back = quantized::dequantize_per_tensor_tensor(&q, &scale, &zero, -128, 127, DType::Int8)?;
    equal(&back, &PER_TENSOR_BACK);
    // The reciprocal of a 16-bit scale is not rounded to 16 bits.
    let scale = aten::to_dtype(&Tensor::from([0.0371f64]), DType::BFloat16)?;
    let x = aten::mul_Scalar(&Tensor::from([1f32, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0]), 1.005.into())?;
    let q = quantized::quantize_per_tensor_tensor(&x, &scale, &Tensor::from([3i64]), 0, 255, DType::UInt8)?;
    equal(&q, &[30u8, 57, 84, 111, 138, 165, 193, 220]);
    let two = Tensor::from([0.1f64, 0.2]);
    assert!(quantized::quantize_per_tensor_tensor(&input(), &two, &zero, 0, 255, DType::UInt8).is_err());
    Ok(())
}

#[test]
fn a_scale_for_each_channel() -> Result<()> {
    let (least, most, dtype) = INT8;
    let (scales, zeros) = (Tensor::from([0.1f32, 0.5]), Tensor::from([10i64, -3]));
    let q = quantized::quantize_per_channel(&input(), &scales, &zeros, 0, least, most, dtype)?;
    equal(&q, &[-3i8, 10, 13, 100, -3, -3, -3, 127]);
    let back = quantized::dequantize_per_channel(&q, &scales, Some(&zeros), 0, least, most, dtype)?;
    equal(&back, &[-1.3000001f32, 0.0, 0.3, 9.0, 0.0, 0.0, 0.0, 65.0]);
    let plain = quantized::dequantize_per_channel(&q, &scales, None, 0, least, most, dtype)?;
    equal(&plain, &[-0.3f32, 1.0, 1.3000001, 10.0, -1.5, -1.5, -1.5, 63.5]);
    let same = quantized::quantize_per_channel(&input(), &scales, &zeros, -2, least, most, dtype)?;
    assert!(aten::equal(&same, &q)?);
    for axis in [-1, 1, 2] {
        assert!(
            quantized::quantize_per_channel(&input(), &scales, &zeros, axis, least, most, dtype).is_err()
        );
    }
    let (scale, zero) = (Tensor::from([0.1f32]), Tensor::from([10i64]));
    let for_all = quantized::quantize_per_channel(&input(), &scale, &zero, 1, least, most, dtype)?;
    equal(&for_all, &PER_TENSOR);
    Ok(())
}

#[test]
fn a_scale_for_each_token() -> Result<()> {
    let (least, most, dtype) = INT8;
    let (scales, zeros) = quantized::choose_qparams_per_token_asymmetric(&input(), dtype)?;
    equal(&scales, &[0.040392156690359116f64, 0.3923529386520386]);
    equal(&zeros, &[-96i64, -128]);
    let q = quantized::quantize_per_token(&input(), &scales, &zeros, least, most, dtype)?;
    equal(&q, &[-128i8, -96, -90, 127, -128, -128, -128, 127]);
    let back = quantized::dequantize_per_token(&q, &scales, &zeros, least, most, dtype, DType::Float32)?;
    equal(&back, &[-1.292549f32, 0.0, 0.24235293, 9.007451, 0.0, 0.0, 0.0, 100.05]);
    let (scales, zeros) = quantized::choose_qparams_per_token(&input(), dtype)?;
    equal(&scales, &[0.070866145f32, 0.78740156]);
    equal(&zeros, &[0f32, 0.0]);
    let one = Tensor::from([1.0f32]);
    assert!(quantized::quantize_per_token(&input(), &one, &one, least, most, dtype).is_err());
    Ok(())
}

#[test]
fn a_scale_for_each_group() -> Result<()> {
    let (least, most, dtype) = INT8;
    let (scales, zeros) = (Tensor::from([[0.1f32, 0.2], [0.3, 0.4]]), Tensor::from([[1i64, 2], [3, 4]]));
    let q = quantized::quantize_per_channel_group(&input(), &scales, &zeros, least, most, dtype, 2)?;
    equal(&q, &[-12i8, 1, 3, 47, 3, 3, 4, 127]);
    let float = DType::Float32;
    let back = quantized::dequantize_per_channel_group(&q, &scales, None, least, most, dtype, 2, float)?;
    equal(&back, &[-1.2f32, 0.1, 0.6, 9.400001, 0.90000004, 0.90000004, 1.6, 50.8]);
    for size in [1, 3] {
        assert!(
            quantized::quantize_per_channel_group(&input(), &scales, &zeros, least, most, dtype, size)
                .is_err()
        );
    }
    Ok(())
}

#[test]
fn chosen_parameters_fill_the_range() -> Result<()> {
    let (least, most, dtype) = INT8;
    let (scale, zero) = quantized::choose_qparams_tensor(&input(), least, most, 1e-5, dtype)?;
    equal(&scale, &[0.39725491404533386f64]);
    equal(&zero, &[-125i64]);
    let (scale, zero) = quantized::choose_qparams_symmetric_tensor(&input(), 0, 255, 1e-5, DType::UInt8)?;
    equal(&scale, &[0.7843137383460999f64]);
    equal(&zero, &[128i64]);
    let nothing = Tensor::from([0f32, 0.0]);
    let (scale, zero) = quantized::choose_qparams_tensor(&nothing, least, most, 1e-5, dtype)?;
    equal(&scale, &[f64::from(1e-5f32)]);
    equal(&zero, &[-128i64]);
    assert!(quantized::choose_qparams_tensor(&input(), 1, most, 1e-5, dtype).is_err());
    assert!(quantized::choose_qparams_tensor(&Tensor::from([1i64]), least, most, 1e-5, dtype).is_err());
    Ok(())
}

#[test]
fn bounds_and_sizes_of_any_magnitude_are_accepted_or_refused() {
    let x = Tensor::from([-1.0f32, 0.0, 3.0]);
    let (scale, _) = quantized::choose_qparams_tensor(&x, -i64::MAX, i64::MAX, 1e-30, DType::Int8).unwrap();
    assert!(scale.item().unwrap().cast::<f64>() > 0.0);
    assert!(quantized::choose_qparams_symmetric_tensor(&x, -i64::MAX, i64::MAX, 1e-30, DType::Int8).is_ok());
    let none = Tensor::empty(&[0], DType::Float32, Device::CPU).unwrap();
    let many = none.strided_view(&[1 << 40, 1 << 40, 0], &[0, 0, 1], 0).unwrap();
    let refusal = quantized::quantize_per_token(&many, &x, &x, 0, 255, DType::UInt8).unwrap_err();
    assert!(refusal.to_string().contains("expected one for each"), "{refusal}");
}

#[test]
fn parameters_in_tensors_do_not_decide_the_dtype() -> Result<()> {
    let (scale, zero) = (Tensor::from(0.1f64), Tensor::from(3i64));
    let q =
        quantized::quantize_per_tensor_tensor(&Tensor::from(0.25f32), &scale, &zero, 0, 255, DType::UInt8)?;
    equal(&q, &[5u8]); // 0.25 * 10 in single precision, rounded to even
    for (out_dtype, expected) in [
        (None, DType::Float32),
        (Some(DType::BFloat16), DType::BFloat16),
        (Some(DType::Int32), DType::Float32),
    ] {
        for q in [q.clone(), aten::reshape(&q, &[1])?] {
            let back = quantized::dequantize_per_tensor_tensor::with(&q, &scale, &zero, 0, 255, DType::UInt8);
            assert_eq!(back.out_dtype(out_dtype).call()?.dtype(), expected);
        }
    }
    scale.set_requires_grad(true)?;
    let back = quantized::dequantize_per_tensor_tensor(&q, &scale, &zero, 0, 255, DType::UInt8)?;
    assert!(!back.requires_grad(), "the scale is a number, as if it were read");
    Ok(())
}

#[test]
fn bounds_in_tensors_need_no_elements_on_meta() -> Result<()> {
    let x = Tensor::empty(&[2, 3], DType::Float32, Device::META)?;
    let number = |dtype| Tensor::empty(&[1], dtype, Device::META);
    let (scale, zero) = (number(DType::Float64)?, number(DType::Int64)?);
    let q = quantized::quantize_per_tensor_tensor2(&x, &scale, &zero, &zero, &zero, DType::UInt8)?;
    assert_eq!((q.dtype(), q.sizes()), (DType::UInt8, &[2, 3][..]));
    let back = quantized::dequantize_per_tensor_tensor2(&q, &scale, &zero, &zero, &zero, DType::UInt8)?;
    assert_eq!((back.dtype(), back.sizes()), (DType::Float32, &[2, 3][..]));
    let none = Tensor::zeros(&[], DType::Float32, Device::CPU)?;
    let one = Tensor::from([1f32]);
    assert!(quantized::quantize_per_channel(&none, &one, &one, 0, 0, 255, DType::UInt8).is_err());
    Ok(())
}

#[test]
fn floats_of_eight_bits_are_quantised_types() -> Result<()> {
    let x = Tensor::from([1.5f32, -100.0, 30.0]);
    let q = quantized::quantize_per_tensor(&x, 0.1, 0, -448, 448, DType::Float8E4M3Fn)?;
    assert_eq!(q.dtype(), DType::Float8E4M3Fn);
    equal(&aten::to_dtype(&q, DType::Float32)?, &[15f32, -448.0, 288.0]);
    let back = quantized::dequantize_per_tensor(&q, 0.5, 0, -448, 448, DType::Float8E4M3Fn)?;
    equal(&back, &[7.5f32, -224.0, 144.0]);
    assert!(quantized::quantize_per_tensor(&x, 0.1, 0, -449, 448, DType::Float8E4M3Fn).is_err());
    assert!(quantized::quantize_per_tensor(&x, 0.1, 0, -57344, 57344, DType::Float8E5M2).is_ok());
    Ok(())
}

#[test]
fn types_and_numbers_that_have_no_integers_are_refused() {
    let (least, most, dtype) = INT8;
    let refused = |result: Result<(Tensor, Tensor)>, expected: &str| {
        let error = result.map(|_| ()).unwrap_err().to_string();
        assert!(error.contains(expected), "{error}");
    };
    let nan = Tensor::from([[f32::NAN, 1.0]]);
    refused(quantized::choose_qparams_tensor(&input(), least, most, 1e-5, DType::Float32), "float32 is not");
    refused(
        quantized::choose_qparams_symmetric_tensor(&input(), least, most, 1e-5, DType::Bool),
        "bool is not",
    );
    let (one, zero) = (Tensor::from([[1f32]]), Tensor::from([[0i64]]));
    let both = |result: Result<Tensor>| result.map(|x| (x.clone(), x));
    refused(both(quantized::quantize_per_channel_group(&nan, &one, &zero, least, most, dtype, 2)), "NaN");
    refused(both(quantized::quantize_per_tensor(&input(), 0.0, 0, least, most, dtype)), "scale is zero");
    let none = Tensor::from(0.0);
    let zero = Tensor::from(0i64);
    refused(
        both(quantized::quantize_per_tensor_tensor(&input(), &none, &zero, least, most, dtype)),
        "scale is zero",
    );
}
