//! Scales and zero points for the numbers of a tensor.

use torch_library::prelude::*;
use torch_library_aten::aten;

use crate::ops::quantized_decomposed as quantized;
use crate::parameters::range;

#[torch_impl(quantized, CompositeImplicitAutograd)]
mod kernels {
    use super::*;

    fn choose_qparams_tensor(
        input: &Tensor,
        quant_min: i64,
        quant_max: i64,
        eps: f64,
        dtype: DType,
    ) -> Result<(Tensor, Tensor)> {
        const OPERATOR: &str = quantized::choose_qparams_tensor::NAME;
        range(OPERATOR, dtype)?;
        let [least, most] = extremes(OPERATOR, input, [quant_min, quant_max])?;
        let width = quant_max as f64 - quant_min as f64;
        let scale = at_least(&aten::div_Scalar(&aten::sub_Tensor(&most, &least)?, width.into())?, eps)?;
        let steps = aten::to_dtype(&aten::round(&aten::div_Tensor(&least, &scale)?)?, DType::Int32)?;
        let zero_point = aten::clamp::call(
            &aten::rsub_Scalar(&steps, quant_min.into())?,
            Some(quant_min.into()),
            Some(quant_max.into()),
        )?;
        Ok((in_vector(&scale, DType::Float64)?, in_vector(&zero_point, DType::Int64)?))
    }

    fn choose_qparams_symmetric_tensor(
        input: &Tensor,
        quant_min: i64,
        quant_max: i64,
        eps: f64,
        dtype: DType,
    ) -> Result<(Tensor, Tensor)> {
        const OPERATOR: &str = quantized::choose_qparams_symmetric_tensor::NAME;
        range(OPERATOR, dtype)?;
        let [least, most] = extremes(OPERATOR, input, [quant_min, quant_max])?;
        let half = (quant_max as f64 - quant_min as f64) / 2.0;
        let largest = aten::maximum(&aten::neg(&least)?, &most)?;
        let scale = at_least(&aten::div_Scalar(&largest, half.into())?, eps)?;
        let middle = if dtype == DType::UInt8 { 128 } else { 0 };
        let zero_point = aten::full_like(&scale, middle.into())?;
        Ok((in_vector(&scale, DType::Float64)?, in_vector(&zero_point, DType::Int64)?))
    }

    fn choose_qparams_per_token(input: &Tensor, dtype: DType) -> Result<(Tensor, Tensor)> {
        const OPERATOR: &str = quantized::choose_qparams_per_token::NAME;
        ensure!(dtype == DType::Int8, DType, "{OPERATOR}: parameters for {dtype}, expected int8");
        let mut largest = aten::amax::call(&aten::abs(input)?, &[-1], true)?;
        if largest.dtype() == DType::Float16 {
            largest = aten::to_dtype(&largest, DType::Float32)?; // where the scales of small numbers are not zero
        }
        let scales = aten::div_Scalar(&aten::clamp_min(&largest, 1e-5.into())?, 127.into())?;
        let zero_points = aten::zeros_like(&scales)?;
        Ok((scales, zero_points))
    }

    fn choose_qparams_per_token_asymmetric(input: &Tensor, dtype: DType) -> Result<(Tensor, Tensor)> {
        quantized::_choose_qparams_per_token_asymmetric_impl(input, dtype)
    }

    fn _choose_qparams_per_token_asymmetric_impl(input: &Tensor, _dtype: DType) -> Result<(Tensor, Tensor)> {
        let (lowest, highest) = (f64::from(i8::MIN), f64::from(i8::MAX));
        let least = aten::clamp_max(&aten::amin::call(input, &[-1], true)?, 0.into())?;
        let most = aten::clamp_min(&aten::amax::call(input, &[-1], true)?, 0.into())?;
        let width = aten::div_Scalar(&aten::sub_Tensor(&most, &least)?, (highest - lowest).into())?;
        let scale = aten::clamp_min(&width, f64::from(f32::EPSILON).into())?;
        let [below, above] = [&least, &most].map(|end| aten::div_Tensor(end, &scale));
        let (below, above) = (below?, above?);
        // The zero point is counted from the end that rounding moves less.
        let [from_least, from_most] =
            [aten::add_Scalar(&below, lowest.into())?, aten::add_Scalar(&above, highest.into())?];
        let is_least = aten::gt_Scalar(&aten::add_Tensor(&from_least, &from_most)?, 0.into())?;
        let zero_point = aten::where_self(
            &is_least,
            &aten::rsub_Scalar(&below, lowest.into())?,
            &aten::rsub_Scalar(&above, highest.into())?,
        )?;
        let zero_point = aten::clamp::call(&zero_point, Some(lowest.into()), Some(highest.into()))?;
        Ok((
            aten::to_dtype(&scale, DType::Float64)?,
            aten::to_dtype(&aten::round(&zero_point)?, DType::Int64)?,
        ))
    }
}

/// The least and the largest number, or zero.
fn extremes(operator: &str, input: &Tensor, [least, most]: [i64; 2]) -> Result<[Tensor; 2]> {
    ensure!(
        matches!(input.dtype(), DType::Float32 | DType::Float16 | DType::BFloat16) && input.numel() > 0,
        DType,
        "{operator}: a tensor of {} and sizes {:?}, expected elements of float32, float16 or bfloat16",
        input.dtype(),
        input.sizes()
    );
    ensure!(
        least <= 0 && most >= 0 && least < most,
        Argument,
        "{operator}: bounds from {least} to {most}, expected zero between them"
    );
    let (lowest, highest) = aten::aminmax(input)?;
    Ok([aten::clamp_max(&lowest, 0.into())?, aten::clamp_min(&highest, 0.into())?])
}

/// A scale, or `eps` in `float32` if that is more.
fn at_least(scale: &Tensor, eps: f64) -> Result<Tensor> {
    let eps = aten::full::with(&[1], eps.into()).dtype(DType::Float32).device(scale.device()).call()?;
    aten::maximum(scale, &eps)
}

/// A number as a vector of one element.
fn in_vector(number: &Tensor, dtype: DType) -> Result<Tensor> {
    aten::to_dtype(&aten::reshape(number, &[1])?, dtype)
}
