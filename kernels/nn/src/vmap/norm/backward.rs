//! Batching rules for the gradients of normalisations.

use torch_library::prelude::*;
use torch_library::vmap::Level;

use super::super::boxed::{aligned, expanded};
use super::super::folding::{channels_apart, channels_together, folded, unfolded};
use crate::aten;

/// The gradient of the input does not mix examples; those of the weights are sums over each example.
#[torch_impl(aten, FuncTorchBatched)]
fn native_layer_norm_backward(
    grad_out: &Tensor,
    input: &Tensor,
    normalized_shape: &[i64],
    mean: &Tensor,
    rstd: &Tensor,
    weight: Option<&Tensor>,
    _bias: Option<&Tensor>,
    output_mask: &[bool],
) -> Result<(Tensor, Tensor, Tensor)> {
    let level = Level::current()?;
    ensure!(
        input.sizes().ends_with(normalized_shape),
        Shape,
        "{}: sizes {:?} do not end with those that are normalised, {normalized_shape:?}",
        aten::native_layer_norm_backward::NAME,
        input.sizes()
    );
    let is_asked_for = |index: usize| output_mask.get(index).copied().unwrap_or(false);
    let (grad, value) = (expanded(level, grad_out)?, expanded(level, input)?);
    let (mean, rstd) = (expanded(level, mean)?, expanded(level, rstd)?);
    let outer = 1..(1 + input.dim() - normalized_shape.len()) as i64;
    let over_rows = |tensor: Tensor| match outer.is_empty() {
        true => Ok(tensor),
        false => aten::sum_dim_IntList(&tensor, Some(&outer.clone().collect::<Vec<_>>())),
    };
    let grad_weight = match is_asked_for(1) {
        true => {
            let scaled = aten::mul_Tensor(&aten::sub_Tensor(&value, &mean)?, &rstd)?;
            level.wrap(over_rows(aten::mul_Tensor(&grad, &scaled)?)?, 0)?
        }
        false => Tensor::undefined(),
    };
    let grad_bias = match is_asked_for(2) {
        true => level.wrap(over_rows(grad.clone())?, 0)?,
        false => Tensor::undefined(),
    };
    let grad_input = match is_asked_for(0) {
        true => {
            let weighted = match weight {
                Some(weight) => aten::mul_Tensor(&grad, &aligned(level, weight, input.dim())?)?,
                None => grad.clone(),
            };
            let mask = [true, false, false];
            let (grad_input, ..) = aten::native_layer_norm_backward(
                &weighted,
                &value,
                normalized_shape,
                &mean,
                &rstd,
                None,
                None,
                &mask,
            )?;
            level.wrap(grad_input, 0)?
        }
        false => Tensor::undefined(),
    };
    Ok((grad_input, grad_weight, grad_bias))
}

/// The rules of batch norm's gradient, with the channels of all examples in one dimension.
#[torch_impl(aten, FuncTorchBatched)]
fn native_batch_norm_backward(
    grad_out: &Tensor,
    input: &Tensor,
    weight: Option<&Tensor>,
    running_mean: Option<&Tensor>,
    running_var: Option<&Tensor>,
    save_mean: Option<&Tensor>,
    save_invstd: Option<&Tensor>,
    train: bool,
    eps: f64,
    output_mask: &[bool],
) -> Result<(Tensor, Tensor, Tensor)> {
    let level = Level::current()?;
    let batch = level.batch_size();
    let flat = |parameter: Option<&Tensor>| {
        parameter.map(|parameter| folded(&expanded(level, parameter)?)).transpose()
    };
    let (grad_input, grad_weight, grad_bias) = aten::native_batch_norm_backward(
        &channels_together(level, grad_out)?,
        &channels_together(level, input)?,
        flat(weight)?.as_ref(),
        flat(running_mean)?.as_ref(),
        flat(running_var)?.as_ref(),
        flat(save_mean)?.as_ref(),
        flat(save_invstd)?.as_ref(),
        train,
        eps,
        output_mask,
    )?;
    let is_asked_for = |index: usize| output_mask.get(index).copied().unwrap_or(false);
    let grad_input = match is_asked_for(0) {
        true => level.wrap(channels_apart(&grad_input, batch)?, 0)?,
        false => grad_input,
    };
    let of_parameter = |index: usize, grad: Tensor| match is_asked_for(index) {
        true => level.wrap(unfolded(&grad, 0, batch)?, 0),
        false => Ok(grad),
    };
    Ok((grad_input, of_parameter(1, grad_weight)?, of_parameter(2, grad_bias)?))
}
