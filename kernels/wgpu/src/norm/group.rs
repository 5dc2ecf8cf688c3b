//! Group norm: groups of channels of each example by their own statistics.

use torch_library::prelude::*;
use torch_library_kernels::aten;

use super::{Backward, Norm, OfEqualNumbers, Rows, are_ours, compact};
use crate::call::{Arguments, all_on_meta, index_of, kernels};
use crate::copy::{contiguous, laid_out};

kernels! {
    super::native_group_norm: native_group_norm;
    super::native_group_norm_backward: native_group_norm_backward;
}

/// From the arguments that say how many examples, channels, pixels and groups there are.
fn norm(arguments: &Arguments<'_, '_>, first: usize) -> Result<Norm> {
    let [batch, channels, pixels, groups] = [0, 1, 2, 3].map(|at| arguments.int(first + at));
    let (batch, channels, pixels, groups) = (batch?, channels?, pixels?, groups?);
    Ok(Norm {
        statistics: Rows::lines(batch * groups, channels / groups.max(1) * pixels),
        affine: Rows::across(batch, channels, pixels),
        of_equal_numbers: OfEqualNumbers::Infinity,
    })
}

fn native_group_norm(operator: OperatorHandle, values: &[Value<'_>]) -> Result<Option<[Tensor; 3]>> {
    let arguments = Arguments::new(operator, values);
    let (x, weight, bias) = (arguments.tensor(0)?, arguments.optional(1), arguments.optional(2));
    if !are_ours(x, &[weight, bias]) {
        return Ok(None);
    }
    let metas: [Tensor; 3] = all_on_meta(operator, values)?;
    let norm = norm(&arguments, 3)?;
    let index = index_of(x);
    let (x, weight, bias) =
        (contiguous(x)?, weight.map(contiguous).transpose()?, bias.map(contiguous).transpose()?);
    let (y, mean, rstd) = (compact(&x, index)?, compact(&metas[1], index)?, compact(&metas[2], index)?);
    norm.statistics(&x, [&mean, &rstd], arguments.float(7)?, None)?;
    norm.normalise(&x, [&mean, &rstd], [weight.as_ref(), bias.as_ref()], &y)?;
    Ok(Some([laid_out(y, &metas[0])?, mean, rstd]))
}

fn native_group_norm_backward(operator: OperatorHandle, values: &[Value<'_>]) -> Result<Option<[Tensor; 3]>> {
    let arguments = Arguments::new(operator, values);
    let [grad, x, mean, rstd] =
        [arguments.tensor(0)?, arguments.tensor(1)?, arguments.tensor(2)?, arguments.tensor(3)?];
    let weight = arguments.optional(4);
    if !are_ours(x, &[Some(grad), Some(mean), Some(rstd), weight]) {
        return Ok(None);
    }
    let metas: [Tensor; 3] = all_on_meta(operator, values)?;
    let norm = norm(&arguments, 5)?;
    let weight = weight.map(contiguous).transpose()?;
    let of = Backward {
        grad: &contiguous(grad)?,
        x: &contiguous(x)?,
        mean: &contiguous(mean)?,
        rstd: &contiguous(rstd)?,
        weight: weight.as_ref(),
        is_training: true,
    };
    super::shaped(norm.backward(&of, arguments.mask(9)?)?, &metas).map(Some)
}
