//! The derivative of group norm, by the derivative of layer norm on rows.

use torch_library::prelude::*;

use super::second;
use crate::aten;
use crate::loops::opmath_type;
use crate::prelude::*;

/// The gradients of input, weight and bias, from those of the result, of the means and of the reciprocal standard
/// deviations.
pub(super) fn gradients(
    grads: &[Option<Tensor>],
    input: &Tensor,
    weight: Option<&Tensor>,
    [mean, rstd]: [&Tensor; 2],
    [items, channels, pixels, groups]: [i64; 4],
    eps: f64,
    mask: [bool; 3],
) -> Result<second::Three> {
    // 16-bit floats are rounded once, at the end.
    let dtype = opmath_type(input.dtype());
    let as_channels = |tensor: &Tensor| tensor.to_dtype(dtype)?.reshape(&[items, channels, pixels]);
    let as_groups = |tensor: &Tensor| tensor.reshape(&[items, groups, channels / groups * pixels]);
    let rows = as_groups(&as_channels(input)?)?;
    let grad = grads[0].as_ref().map(as_channels).transpose()?;
    let size = rows.size(-1)?;
    let note = |notes: &Tensor| notes.to_dtype(dtype)?.reshape(&[items, groups, 1]);
    let of_result = |grad: &Tensor| {
        let grad = match weight {
            Some(weight) => grad.mul(&weight.reshape(&[channels, 1])?)?,
            None => grad.clone(),
        };
        let (of_rows, _, _) = aten::native_layer_norm_backward(
            &as_groups(&grad)?,
            &rows,
            &[size],
            &note(mean)?.detach()?, // it computes them again, for its own derivative
            &note(rstd)?.detach()?,
            None,
            None,
            &[true, false, false],
        )?;
        Ok::<_, Error>(of_rows)
    };
    let of_mean = |grad: &Tensor| note(grad)?.div(size as f64)?.expand(rows.sizes());
    let of_rstd = |grad: &Tensor| {
        let cube = aten::pow_Tensor_Scalar(&note(rstd)?, 3.into())?;
        let distance = rows.sub(&note(mean)?)?;
        distance.mul(&note(grad)?.mul(&cube)?.div(-(size as f64))?)
    };
    let of_input = match mask[0] {
        true => {
            let parts = [
                grad.as_ref().map(of_result),
                grads[1].as_ref().map(of_mean),
                grads[2].as_ref().map(of_rstd),
            ];
            let sum = parts.into_iter().flatten().reduce(|sum, part| sum?.add(&part?)).transpose()?;
            sum.map(|sum| sum.reshape(input.sizes())?.to_dtype(input.dtype())).transpose()?
        }
        false => None,
    };
    let of_weight = grad.as_ref().filter(|_| mask[1]).map(|grad| {
        // Computed again, so that this gradient has a derivative itself.
        let (normal, _, _) = aten::native_layer_norm(&rows, &[size], None, None, eps)?;
        grad.mul(&normal.reshape(grad.sizes())?)?.sum_dim(&[0, 2], false)
    });
    let of_bias = grad.as_ref().filter(|_| mask[2]).map(|grad| grad.sum_dim(&[0, 2], false));
    Ok((of_input, of_weight.transpose()?, of_bias.transpose()?))
}
