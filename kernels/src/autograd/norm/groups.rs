//! The derivative of normalising groups of channels, by that of normalising rows.

use torch_library::prelude::*;

use super::second;
use crate::aten;
use crate::cpu::loops::computing_type;
use crate::prelude::*;

/// The gradients of input, weight and bias.
pub(super) fn gradients(
    grad: &Tensor,
    input: &Tensor,
    weight: Option<&Tensor>,
    [mean, rstd]: [&Tensor; 2],
    [items, channels, pixels, groups]: [i64; 4],
    eps: f64,
    mask: [bool; 3],
) -> Result<second::Three> {
    // Halves are rounded once, at the end.
    let dtype = computing_type(input.dtype());
    let as_channels = |tensor: &Tensor| tensor.to_dtype(dtype)?.reshape(&[items, channels, pixels]);
    let as_groups = |tensor: &Tensor| tensor.reshape(&[items, groups, channels / groups * pixels]);
    let (grad, rows) = (as_channels(grad)?, as_groups(&as_channels(input)?)?);
    let size = rows.size(-1)?;
    let of_input = mask[0].then(|| {
        let grad = match weight {
            Some(weight) => grad.mul(&weight.reshape(&[channels, 1])?)?,
            None => grad.clone(),
        };
        let note = |notes: &Tensor| notes.to_dtype(dtype)?.reshape(&[items, groups, 1]);
        let (of_rows, _, _) = aten::native_layer_norm_backward(
            &as_groups(&grad)?,
            &rows,
            &[size],
            &note(mean)?,
            &note(rstd)?,
            None,
            None,
            &[true, false, false],
        )?;
        of_rows.reshape(input.sizes())?.to_dtype(input.dtype())
    });
    let of_weight = mask[1].then(|| {
        // Computed again, for the derivative of this one.
        let (normal, _, _) = aten::native_layer_norm(&rows, &[size], None, None, eps)?;
        grad.mul(&normal.reshape(grad.sizes())?)?.sum_dim(&[0, 2], false)
    });
    let of_bias = mask[2].then(|| grad.sum_dim(&[0, 2], false));
    Ok((of_input.transpose()?, of_weight.transpose()?, of_bias.transpose()?))
}
