//! Fake quantisation with a scale and a zero point that are learned.

use torch_library::prelude::*;

use super::{along, check, quantized};
use crate::aten;

/// The gradients of the tensor, of the scale and of the zero point.
type Gradients = (Tensor, Tensor, Tensor);

/// Operators with derivatives of their own.
#[torch_impl(aten, CompositeExplicitAutograd, FuncTorchBatchedDecomposition)]
mod derived {
    use super::*;

    fn _fake_quantize_learnable_per_tensor_affine(
        this: &Tensor,
        scale: &Tensor,
        zero_point: &Tensor,
        quant_min: i64,
        quant_max: i64,
        _grad_factor: f64,
    ) -> Result<Tensor> {
        const OPERATOR: &str = aten::_fake_quantize_learnable_per_tensor_affine::NAME;
        check(OPERATOR, this, [quant_min, quant_max])?;
        let (scale, zero_point) = (first(OPERATOR, scale)?, first(OPERATOR, zero_point)?);
        // Half a number is added and the fraction cut off, which rounds a half up.
        let zero_point = clamped(&aten::add_Scalar(&zero_point, 0.5.into())?, [quant_min, quant_max])?;
        let zero_point = aten::to_dtype(&zero_point, DType::Int64)?;
        quantized(this, &scale, &zero_point, [quant_min, quant_max]).map(|(output, _)| output)
    }

    fn _fake_quantize_learnable_per_channel_affine(
        this: &Tensor,
        scale: &Tensor,
        zero_point: &Tensor,
        axis: i64,
        quant_min: i64,
        quant_max: i64,
        _grad_factor: f64,
    ) -> Result<Tensor> {
        const OPERATOR: &str = aten::_fake_quantize_learnable_per_channel_affine::NAME;
        check(OPERATOR, this, [quant_min, quant_max])?;
        let [scale, zero_point] = along(OPERATOR, this, axis, scale, zero_point)?;
        let zero_point = rounded(&zero_point, [quant_min, quant_max])?;
        let zero_point = aten::to_dtype(&zero_point, DType::Int32)?;
        let scale = aten::to_dtype(&scale, DType::Float32)?;
        quantized(this, &scale, &zero_point, [quant_min, quant_max]).map(|(output, _)| output)
    }
}

#[torch_impl(aten, CompositeImplicitAutograd)]
mod gradients {
    use super::*;

    fn _fake_quantize_learnable_per_tensor_affine_backward(
        grad: &Tensor,
        this: &Tensor,
        scale: &Tensor,
        zero_point: &Tensor,
        quant_min: i64,
        quant_max: i64,
        grad_factor: f64,
    ) -> Result<Gradients> {
        const OPERATOR: &str = aten::_fake_quantize_learnable_per_tensor_affine_backward::NAME;
        check(OPERATOR, this, [quant_min, quant_max])?;
        check_types(OPERATOR, grad, this, [scale, zero_point])?;
        if this.numel() == 0 {
            return Ok((this.clone(), scale.clone(), zero_point.clone()));
        }
        let (scale, zero_point) = (first(OPERATOR, scale)?, first(OPERATOR, zero_point)?);
        let zero_point = rounded(&zero_point, [quant_min, quant_max])?;
        let bounds = Bounds { quant_min, quant_max, grad_factor };
        let (of_this, of_scale, of_zero_point) = bounds.gradients(grad, this, &scale, &zero_point)?;
        let summed = |gradient: &Tensor| aten::view(&aten::sum(gradient)?, &[1]);
        Ok((of_this, summed(&of_scale)?, summed(&of_zero_point)?))
    }

    fn _fake_quantize_learnable_per_channel_affine_backward(
        grad: &Tensor,
        this: &Tensor,
        scale: &Tensor,
        zero_point: &Tensor,
        axis: i64,
        quant_min: i64,
        quant_max: i64,
        grad_factor: f64,
    ) -> Result<Gradients> {
        const OPERATOR: &str = aten::_fake_quantize_learnable_per_channel_affine_backward::NAME;
        check(OPERATOR, this, [quant_min, quant_max])?;
        check_types(OPERATOR, grad, this, [scale, zero_point])?;
        let [scales, zero_points] = along(OPERATOR, this, axis, scale, zero_point)?;
        if this.numel() == 0 {
            return Ok((this.clone(), scale.clone(), zero_point.clone()));
        }
        let zero_points = rounded(&zero_points, [quant_min, quant_max])?;
        let bounds = Bounds { quant_min, quant_max, grad_factor };
        let (of_this, of_scale, of_zero_point) = bounds.gradients(grad, this, &scales, &zero_points)?;
        let others: Vec<i64> = (0..this.dim() as i64).filter(|dim| *dim != axis).collect();
        let summed = |gradient: &Tensor| match others.is_empty() {
            true => Ok(gradient.clone()), // without dimensions, the sum would be over all of them
            false => aten::sum_dim_IntList(gradient, Some(&others)),
        };
        Ok((of_this, summed(&of_scale)?, summed(&of_zero_point)?))
    }
}

struct Bounds {
    quant_min: i64,
    quant_max: i64,
    grad_factor: f64,
}

impl Bounds {
    /// The gradients of each element, for parameters that broadcast.
    fn gradients(
        &self,
        grad: &Tensor,
        this: &Tensor,
        scale: &Tensor,
        zero_point: &Tensor,
    ) -> Result<Gradients> {
        let inverse = aten::reciprocal(scale)?;
        let integers = aten::add_Tensor(&aten::round(&aten::mul_Tensor(this, &inverse)?)?, zero_point)?;
        let inside = clamped(&integers, [self.quant_min, self.quant_max])?;
        let is_inside = aten::eq_Tensor(&inside, &integers)?;
        let moved = aten::sub_Tensor(&inside, zero_point)?;
        let error = aten::sub_Tensor(&aten::mul_Tensor(&moved, scale)?, this)?;
        let slope = aten::where_self(&is_inside, &aten::mul_Tensor(&error, &inverse)?, &moved)?;
        let scaled = aten::mul_Scalar(grad, self.grad_factor.into())?;
        let of_zero_point = aten::mul_Tensor(&aten::neg(&scaled)?, scale)?;
        Ok((
            aten::mul_Tensor(grad, &is_inside)?,
            aten::mul_Tensor(&scaled, &slope)?,
            aten::masked_fill_Scalar(&of_zero_point, &is_inside, 0.into())?,
        ))
    }
}

/// The first element, in `float32`.
fn first(operator: &str, parameter: &Tensor) -> Result<Tensor> {
    ensure!(
        parameter.dim() > 0 && parameter.numel() > 0,
        Shape,
        "{operator}: a parameter of sizes {:?}, expected a vector with an element",
        parameter.sizes()
    );
    aten::to_dtype(&aten::select_int(&aten::flatten_using_ints(parameter)?, 0, 0)?, DType::Float32)
}

fn clamped(numbers: &Tensor, [least, most]: [i64; 2]) -> Result<Tensor> {
    aten::clamp::call(numbers, Some(least.into()), Some(most.into()))
}

fn rounded(zero_point: &Tensor, bounds: [i64; 2]) -> Result<Tensor> {
    clamped(&aten::round(zero_point)?, bounds)
}

fn check_types(operator: &str, grad: &Tensor, this: &Tensor, parameters: [&Tensor; 2]) -> Result<()> {
    let all = [grad, this, parameters[0], parameters[1]];
    let other = all.into_iter().map(Tensor::dtype).find(|dtype| *dtype != DType::Float32);
    if let Some(other) = other {
        bail!(DType, "{operator}: {other} is not supported, only float32")
    }
    ensure!(
        grad.sizes() == this.sizes(),
        Shape,
        "{operator}: a gradient of sizes {:?} for a tensor of sizes {:?}",
        grad.sizes(),
        this.sizes()
    );
    Ok(())
}
