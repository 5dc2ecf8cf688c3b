//! Quantised and dequantised numbers, for training that takes quantisation into account.

use torch_library::prelude::*;

use crate::aten;

mod choice;
mod learnable;
mod moving_range;

#[torch_impl(aten, CompositeImplicitAutograd)]
mod names {
    use super::*;

    fn fake_quantize_per_tensor_affine(
        this: &Tensor,
        scale: f64,
        zero_point: i64,
        quant_min: i64,
        quant_max: i64,
    ) -> Result<Tensor> {
        let (output, _) =
            aten::fake_quantize_per_tensor_affine_cachemask(this, scale, zero_point, quant_min, quant_max)?;
        Ok(output)
    }

    fn fake_quantize_per_tensor_affine_tensor_qparams(
        this: &Tensor,
        scale: &Tensor,
        zero_point: &Tensor,
        quant_min: i64,
        quant_max: i64,
    ) -> Result<Tensor> {
        let enabled = aten::ones::with(&[]).dtype(DType::Int64).device(this.device()).call()?;
        let (output, _) = aten::_fake_quantize_per_tensor_affine_cachemask_tensor_qparams(
            this, scale, zero_point, &enabled, quant_min, quant_max,
        )?;
        Ok(output)
    }

    fn fake_quantize_per_channel_affine(
        this: &Tensor,
        scale: &Tensor,
        zero_point: &Tensor,
        axis: i64,
        quant_min: i64,
        quant_max: i64,
    ) -> Result<Tensor> {
        let (output, _) = aten::fake_quantize_per_channel_affine_cachemask(
            this, scale, zero_point, axis, quant_min, quant_max,
        )?;
        Ok(output)
    }

    fn fake_quantize_per_tensor_affine_cachemask_backward(grad: &Tensor, mask: &Tensor) -> Result<Tensor> {
        masked(aten::fake_quantize_per_tensor_affine_cachemask_backward::NAME, grad, mask)
    }

    fn fake_quantize_per_channel_affine_cachemask_backward(grad: &Tensor, mask: &Tensor) -> Result<Tensor> {
        masked(aten::fake_quantize_per_channel_affine_cachemask_backward::NAME, grad, mask)
    }
}

/// Operators with derivatives of their own.
#[torch_impl(aten, CompositeExplicitAutograd, FuncTorchBatchedDecomposition)]
mod derived {
    use super::*;

    fn fake_quantize_per_tensor_affine_cachemask(
        this: &Tensor,
        scale: f64,
        zero_point: i64,
        quant_min: i64,
        quant_max: i64,
    ) -> Result<(Tensor, Tensor)> {
        const OPERATOR: &str = aten::fake_quantize_per_tensor_affine_cachemask::NAME;
        check(OPERATOR, this, [quant_min, quant_max])?;
        ensure!(
            (quant_min..=quant_max).contains(&zero_point),
            Argument,
            "{OPERATOR}: the zero point is {zero_point}, expected one from {quant_min} to {quant_max}"
        );
        let number =
            |number: Scalar, dtype| aten::full::with(&[], number).dtype(dtype).device(this.device()).call();
        let (scale, zero_point) =
            (number(scale.into(), DType::Float32)?, number(zero_point.into(), DType::Int64)?);
        quantized(this, &scale, &zero_point, [quant_min, quant_max])
    }

    fn _fake_quantize_per_tensor_affine_cachemask_tensor_qparams(
        this: &Tensor,
        scale: &Tensor,
        zero_point: &Tensor,
        fake_quant_enabled: &Tensor,
        quant_min: i64,
        quant_max: i64,
    ) -> Result<(Tensor, Tensor)> {
        const OPERATOR: &str = aten::_fake_quantize_per_tensor_affine_cachemask_tensor_qparams::NAME;
        check(OPERATOR, this, [quant_min, quant_max])?;
        let one = |name: &str, tensor: &Tensor| {
            ensure!(
                tensor.numel() == 1,
                Shape,
                "{OPERATOR}: `{name}` has sizes {:?}, expected one element",
                tensor.sizes()
            );
            aten::reshape(tensor, &[])
        };
        let scale = aten::to_dtype(&one("scale", scale)?, DType::Float32)?;
        let zero_point = aten::to_dtype(&one("zero_point", zero_point)?, DType::Int64)?;
        let enabled = aten::ne_Scalar(&one("fake_quant_enabled", fake_quant_enabled)?, 0.into())?;
        let (output, mask) = quantized(this, &scale, &zero_point, [quant_min, quant_max])?;
        let mask = aten::logical_or(&mask, &aten::logical_not(&enabled)?)?;
        Ok((aten::where_self(&enabled, &output, this)?, mask))
    }

    fn fake_quantize_per_channel_affine_cachemask(
        this: &Tensor,
        scale: &Tensor,
        zero_point: &Tensor,
        axis: i64,
        quant_min: i64,
        quant_max: i64,
    ) -> Result<(Tensor, Tensor)> {
        const OPERATOR: &str = aten::fake_quantize_per_channel_affine_cachemask::NAME;
        check(OPERATOR, this, [quant_min, quant_max])?;
        let types = (scale.dtype(), zero_point.dtype());
        ensure!(
            matches!(
                types,
                (DType::Float32 | DType::BFloat16, DType::Int32 | DType::Float32 | DType::Float16)
            ),
            DType,
            "{OPERATOR}: scales of {} and zero points of {}, expected float32 and int32",
            types.0,
            types.1
        );
        let [scale, zero_point] = along(OPERATOR, this, axis, scale, zero_point)?;
        let scale = aten::to_dtype(&scale, DType::Float32)?;
        quantized(this, &scale, &zero_point, [quant_min, quant_max])
    }
}

/// # Errors
/// A tensor that is not floating-point, bounds in the wrong order.
fn check(operator: &str, this: &Tensor, [least, most]: [i64; 2]) -> Result<()> {
    let dtype = this.dtype();
    ensure!(
        dtype.is_floating_point(),
        DType,
        "{operator}: {dtype} is not supported, expected a floating-point type"
    );
    ensure!(least <= most, Argument, "{operator}: bounds from {least} to {most} are in the wrong order");
    Ok(())
}

/// A scale and a zero point for each slice along `axis`, in sizes that broadcast.
///
/// # Errors
/// An axis out of range; parameters that are not a vector with one number for each slice.
fn along(
    operator: &str,
    this: &Tensor,
    axis: i64,
    scale: &Tensor,
    zero_point: &Tensor,
) -> Result<[Tensor; 2]> {
    let axis = usize::try_from(axis).ok().filter(|axis| *axis < this.dim());
    let Some(axis) = axis else { bail!(Index, "{operator}: there is no such axis of {:?}", this.sizes()) };
    let mut sizes = vec![1; this.dim()];
    sizes[axis] = this.sizes()[axis];
    let [scale, zero_point] = [("scale", scale), ("zero_point", zero_point)].map(|(name, parameters)| {
        ensure!(
            parameters.sizes() == [sizes[axis]],
            Shape,
            "{operator}: `{name}` has sizes {:?}, expected a vector of {}",
            parameters.sizes(),
            sizes[axis]
        );
        aten::view(parameters, &sizes)
    });
    Ok([scale?, zero_point?])
}

/// The numbers that remain, and which were not clamped. Integers are computed in `float32`, or in `float64` for that;
/// what is made of them has the precision of the scale. NaN stays what it is.
fn quantized(
    this: &Tensor,
    scale: &Tensor,
    zero_point: &Tensor,
    [least, most]: [i64; 2],
) -> Result<(Tensor, Tensor)> {
    let wide = if this.dtype() == DType::Float64 { DType::Float64 } else { DType::Float32 };
    let scaled = aten::mul_Tensor(&aten::to_dtype(this, wide)?, &aten::reciprocal(scale)?)?;
    let integers = match zero_point.dtype().is_integer() {
        true => aten::add_Tensor(&aten::round(&scaled)?, zero_point)?,
        false => aten::round(&aten::add_Tensor(&scaled, zero_point)?)?,
    };
    let inside = aten::clamp::call(&integers, Some(least.into()), Some(most.into()))?;
    let numbers = aten::to_dtype(&aten::sub_Tensor(&inside, zero_point)?, DType::Float32)?;
    let output = aten::mul_Tensor(&numbers, scale)?;
    Ok((aten::to_dtype(&output, this.dtype())?, aten::eq_Tensor(&inside, &integers)?))
}

/// The gradients of the elements that were not clamped.
fn masked(operator: &str, grad: &Tensor, mask: &Tensor) -> Result<Tensor> {
    ensure!(
        mask.dtype() == DType::Bool && mask.sizes() == grad.sizes(),
        Argument,
        "{operator}: a mask of {} and sizes {:?} for a gradient of sizes {:?}, expected bool and the same sizes",
        mask.dtype(),
        mask.sizes(),
        grad.sizes()
    );
    aten::mul_Tensor(grad, mask)
}
