//! Numbers to integers and back.

use torch_library::geometry::saturating_numel;
use torch_library::prelude::*;
use torch_library_aten::aten;

use crate::ops::quantized_decomposed as quantized;
use crate::parameters::{
    along, check_bounds, check_dtype, check_numbers, groups, is_readable, one, range, single,
};

#[torch_impl(quantized, CompositeImplicitAutograd)]
mod kernels {
    use super::*;

    fn quantize_per_tensor(
        input: &Tensor,
        scale: f64,
        zero_point: i64,
        quant_min: i64,
        quant_max: i64,
        dtype: DType,
    ) -> Result<Tensor> {
        const OPERATOR: &str = quantized::quantize_per_tensor::NAME;
        check_bounds(OPERATOR, [quant_min, quant_max], dtype)?;
        ensure!(scale != 0.0, Argument, "{OPERATOR}: the scale is zero");
        let rounded = aten::round(&aten::mul_Scalar(&single(OPERATOR, input)?, scale.recip().into())?)?;
        let moved = aten::add_Scalar(&rounded, zero_point.into())?;
        aten::to_dtype(&clamped(&moved, [quant_min, quant_max])?, dtype)
    }

    fn quantize_per_tensor_tensor(
        input: &Tensor,
        scale: &Tensor,
        zero_point: &Tensor,
        quant_min: i64,
        quant_max: i64,
        dtype: DType,
    ) -> Result<Tensor> {
        const OPERATOR: &str = quantized::quantize_per_tensor_tensor::NAME;
        check_bounds(OPERATOR, [quant_min, quant_max], dtype)?;
        let (scale, zero_point) = (one(OPERATOR, "scale", scale)?, one(OPERATOR, "zero_point", zero_point)?);
        let input = single(OPERATOR, input)?;
        ensure!(!is_zero(&scale)?, Argument, "{OPERATOR}: the scale is zero");
        // In single precision only now: the reciprocal of a 16-bit scale is not rounded to 16 bits.
        let [factor, zero_point] =
            [aten::reciprocal(&scale)?, zero_point].map(|x| aten::to_dtype(&x, DType::Float32));
        let rounded = aten::round(&aten::mul_Tensor(&input, &factor?)?)?;
        aten::to_dtype(&clamped(&aten::add_Tensor(&rounded, &zero_point?)?, [quant_min, quant_max])?, dtype)
    }

    fn quantize_per_tensor_tensor2(
        input: &Tensor,
        scale: &Tensor,
        zero_point: &Tensor,
        quant_min: &Tensor,
        quant_max: &Tensor,
        dtype: DType,
    ) -> Result<Tensor> {
        const OPERATOR: &str = quantized::quantize_per_tensor_tensor2::NAME;
        let [least, most] = bounds(OPERATOR, [quant_min, quant_max], dtype)?;
        quantized::quantize_per_tensor_tensor(input, scale, zero_point, least, most, dtype)
    }

    fn dequantize_per_tensor(
        input: &Tensor,
        scale: f64,
        zero_point: i64,
        _quant_min: i64,
        _quant_max: i64,
        dtype: DType,
        out_dtype: Option<DType>,
    ) -> Result<Tensor> {
        check_dtype(quantized::dequantize_per_tensor::NAME, input, dtype)?;
        let numbers = aten::to_dtype(input, out_dtype.unwrap_or(DType::Float32))?;
        aten::mul_Scalar(&aten::sub_Scalar(&numbers, zero_point.into())?, scale.into())
    }

    fn dequantize_per_tensor_tensor(
        input: &Tensor,
        scale: &Tensor,
        zero_point: &Tensor,
        _quant_min: i64,
        _quant_max: i64,
        dtype: DType,
        out_dtype: Option<DType>,
    ) -> Result<Tensor> {
        const OPERATOR: &str = quantized::dequantize_per_tensor_tensor::NAME;
        check_dtype(OPERATOR, input, dtype)?;
        let (scale, zero_point) = (one(OPERATOR, "scale", scale)?, one(OPERATOR, "zero_point", zero_point)?);
        let wanted = out_dtype.unwrap_or(DType::Float32);
        let numbers = aten::to_dtype(input, wanted)?;
        let numbers = aten::mul_Tensor(&aten::sub_Tensor(&numbers, &zero_point)?, &scale)?;
        // Without dimensions, the parameters would decide the dtype.
        aten::to_dtype(&numbers, if wanted.is_floating_point() { wanted } else { DType::Float32 })
    }

    fn dequantize_per_tensor_tensor2(
        input: &Tensor,
        scale: &Tensor,
        zero_point: &Tensor,
        quant_min: &Tensor,
        quant_max: &Tensor,
        dtype: DType,
        out_dtype: Option<DType>,
    ) -> Result<Tensor> {
        const OPERATOR: &str = quantized::dequantize_per_tensor_tensor2::NAME;
        let [least, most] = bounds(OPERATOR, [quant_min, quant_max], dtype)?;
        quantized::dequantize_per_tensor_tensor::call(input, scale, zero_point, least, most, dtype, out_dtype)
    }

    fn quantize_per_channel(
        input: &Tensor,
        scales: &Tensor,
        zero_points: &Tensor,
        axis: i64,
        quant_min: i64,
        quant_max: i64,
        dtype: DType,
    ) -> Result<Tensor> {
        const OPERATOR: &str = quantized::quantize_per_channel::NAME;
        check_bounds(OPERATOR, [quant_min, quant_max], dtype)?;
        let input = single(OPERATOR, input)?;
        let [scales, zero_points] = [scales, zero_points].map(|x| along(OPERATOR, x, &input, axis));
        let rounded = aten::round(&aten::mul_Tensor(&input, &aten::reciprocal(&scales?)?)?)?;
        aten::to_dtype(&clamped(&aten::add_Tensor(&rounded, &zero_points?)?, [quant_min, quant_max])?, dtype)
    }

    fn dequantize_per_channel(
        input: &Tensor,
        scales: &Tensor,
        zero_points: Option<&Tensor>,
        axis: i64,
        quant_min: i64,
        quant_max: i64,
        dtype: DType,
        out_dtype: Option<DType>,
    ) -> Result<Tensor> {
        const OPERATOR: &str = quantized::dequantize_per_channel::NAME;
        check_dtype(OPERATOR, input, dtype)?;
        check_bounds(OPERATOR, [quant_min, quant_max], dtype)?;
        let scales = along(OPERATOR, scales, input, axis)?;
        let moved = match zero_points {
            Some(points) => aten::sub_Tensor(input, &along(OPERATOR, points, input, axis)?)?,
            None => input.clone(),
        };
        aten::to_dtype(&aten::mul_Tensor(&moved, &scales)?, out_dtype.unwrap_or(DType::Float32))
    }

    fn quantize_per_token(
        input: &Tensor,
        scales: &Tensor,
        zero_points: &Tensor,
        quant_min: i64,
        quant_max: i64,
        dtype: DType,
    ) -> Result<Tensor> {
        const OPERATOR: &str = quantized::quantize_per_token::NAME;
        check_bounds(OPERATOR, [quant_min, quant_max], dtype)?;
        let tokens = saturating_numel(input.sizes().iter().rev().skip(1));
        for parameter in [scales, zero_points] {
            ensure!(
                parameter.numel() == tokens,
                Shape,
                "{OPERATOR}: parameters of sizes {:?} for {tokens} vectors, expected one for each",
                parameter.sizes()
            );
        }
        together(input, scales, zero_points, [quant_min, quant_max], dtype)
    }

    fn dequantize_per_token(
        input: &Tensor,
        scales: &Tensor,
        zero_points: &Tensor,
        _quant_min: i64,
        _quant_max: i64,
        _dtype: DType,
        output_dtype: DType,
    ) -> Result<Tensor> {
        aten::to_dtype(&aten::mul_Tensor(&aten::sub_Tensor(input, zero_points)?, scales)?, output_dtype)
    }

    fn quantize_per_channel_group(
        input: &Tensor,
        scales: &Tensor,
        zero_points: &Tensor,
        quant_min: i64,
        quant_max: i64,
        dtype: DType,
        group_size: i64,
    ) -> Result<Tensor> {
        const OPERATOR: &str = quantized::quantize_per_channel_group::NAME;
        let rows = groups(OPERATOR, input, scales, group_size)?;
        check_numbers(OPERATOR, &rows)?;
        let [scales, zero_points] = [scales, zero_points].map(|x| aten::reshape(x, &[-1, 1]));
        let integers = together(&rows, &scales?, &zero_points?, [quant_min, quant_max], dtype)?;
        aten::reshape(&integers, input.sizes())
    }

    fn dequantize_per_channel_group(
        input: &Tensor,
        scales: &Tensor,
        zero_points: Option<&Tensor>,
        _quant_min: i64,
        _quant_max: i64,
        _dtype: DType,
        group_size: i64,
        output_dtype: DType,
    ) -> Result<Tensor> {
        let rows = groups(quantized::dequantize_per_channel_group::NAME, input, scales, group_size)?;
        let moved = match zero_points {
            Some(points) => aten::sub_Tensor(&rows, &aten::reshape(points, &[-1, 1])?)?,
            None => rows,
        };
        let numbers = aten::mul_Tensor(&moved, &aten::reshape(scales, &[-1, 1])?)?;
        aten::to_dtype(&aten::reshape(&numbers, input.sizes())?, output_dtype)
    }

    fn convert_element_type_no_fuse(input: &Tensor, dtype: DType) -> Result<Tensor> {
        aten::to_dtype::with(input, dtype).copy(true).call()
    }
}

/// Scaled and moved, then rounded together, as for tokens and groups.
fn together(
    input: &Tensor,
    scales: &Tensor,
    zero_points: &Tensor,
    bounds: [i64; 2],
    dtype: DType,
) -> Result<Tensor> {
    let scaled = aten::mul_Tensor(input, &aten::reciprocal(scales)?)?;
    let rounded = aten::round(&aten::add_Tensor(&scaled, zero_points)?)?;
    aten::to_dtype(&clamped(&rounded, bounds)?, dtype)
}

/// Whether a number that can be read is zero.
fn is_zero(number: &Tensor) -> Result<bool> {
    Ok(is_readable(number) && number.item()?.to::<f64>()? == 0.0)
}

fn clamped(numbers: &Tensor, [least, most]: [i64; 2]) -> Result<Tensor> {
    aten::clamp::call(numbers, Some(least.into()), Some(most.into()))
}

/// Bounds from tensors of one element; without elements on `Meta`, those of the dtype.
fn bounds(operator: &str, bounds: [&Tensor; 2], dtype: DType) -> Result<[i64; 2]> {
    if bounds.iter().any(|bound| bound.device() == Device::META) {
        return range(operator, dtype);
    }
    let [least, most] =
        bounds.map(|bound| bound.item().and_then(Scalar::to).map_err(|error| error.context(operator)));
    Ok([least?, most?])
}
