//! Layer norm: the last dimensions of each example by their own statistics.

use torch_library::prelude::*;
use torch_library_kernels::aten;

use super::{Backward, Norm, OfEqualNumbers, Rows, are_ours, compact};
use crate::call::{Arguments, all_on_meta, index_of, kernels};
use crate::copy::{contiguous, laid_out};

kernels! {
    super::native_layer_norm: native_layer_norm;
    super::native_layer_norm_backward: native_layer_norm_backward;
}

fn norm(x: &Tensor, normalized_shape: &[i64]) -> Norm {
    let count: i64 = normalized_shape.iter().product();
    let rows = x.numel() / count.max(1);
    Norm {
        statistics: Rows::lines(rows, count),
        affine: Rows::across(rows, count, 1),
        of_equal_numbers: OfEqualNumbers::Infinity,
    }
}

fn native_layer_norm(operator: OperatorHandle, values: &[Value<'_>]) -> Result<Option<[Tensor; 3]>> {
    let arguments = Arguments::new(operator, values);
    let (x, weight, bias) = (arguments.tensor(0)?, arguments.optional(2), arguments.optional(3));
    if !are_ours(x, &[weight, bias]) {
        return Ok(None);
    }
    let metas: [Tensor; 3] = all_on_meta(operator, values)?;
    let norm = norm(x, arguments.ints(1)?);
    let index = index_of(x);
    let (x, weight, bias) =
        (contiguous(x)?, weight.map(contiguous).transpose()?, bias.map(contiguous).transpose()?);
    let (y, mean, rstd) = (compact(&x, index)?, compact(&metas[1], index)?, compact(&metas[2], index)?);
    norm.statistics(&x, [&mean, &rstd], arguments.float(4)?, None)?;
    norm.normalise(&x, [&mean, &rstd], [weight.as_ref(), bias.as_ref()], &y)?;
    Ok(Some([laid_out(y, &metas[0])?, mean, rstd]))
}

fn native_layer_norm_backward(operator: OperatorHandle, values: &[Value<'_>]) -> Result<Option<[Tensor; 3]>> {
    let arguments = Arguments::new(operator, values);
    let [grad, x, mean, rstd] =
        [arguments.tensor(0)?, arguments.tensor(1)?, arguments.tensor(3)?, arguments.tensor(4)?];
    let weight = arguments.optional(5);
    if !are_ours(x, &[Some(grad), Some(mean), Some(rstd), weight]) {
        return Ok(None);
    }
    let metas: [Tensor; 3] = all_on_meta(operator, values)?;
    let norm = norm(x, arguments.ints(2)?);
    let weight = weight.map(contiguous).transpose()?;
    let of = Backward {
        grad: &contiguous(grad)?,
        x: &contiguous(x)?,
        mean: &contiguous(mean)?,
        rstd: &contiguous(rstd)?,
        weight: weight.as_ref(),
        is_training: true,
    };
    super::shaped(norm.backward(&of, arguments.mask(7)?)?, &metas).map(Some)
}
