//! Group norm: groups of channels of each example are normalised by their own statistics.

use super::{OfEqualNumbers, Rows, Way, are_ours};
use crate::arguments::{Arguments, all_on_meta};
use crate::backend::GpuBackend;
use torch_library::prelude::*;

/// The normalisation, from the arguments with the numbers of examples, channels, pixels and groups.
fn norm(arguments: &Arguments<'_, '_>, first: usize) -> Result<Way> {
    let [batch, channels, pixels, groups] = [0, 1, 2, 3].map(|at| arguments.int(first + at));
    let (batch, channels, pixels, groups) = (batch?, channels?, pixels?, groups?);
    Ok(Way {
        statistics: Rows::lines(batch * groups, channels / groups.max(1) * pixels),
        affine: Rows::across(batch, channels, pixels),
        of_equal_numbers: OfEqualNumbers::Infinity,
    })
}

pub fn native_group_norm<B: GpuBackend>(
    operator: OperatorHandle,
    values: &[Value<'_>],
) -> Result<Option<[Tensor; 3]>> {
    let arguments = Arguments::new(operator, values);
    let (x, weight, bias) = (arguments.tensor(0)?, arguments.optional(1), arguments.optional(2));
    if !are_ours::<B>(x, &[weight, bias]) {
        return Ok(None);
    }
    let metas: [Tensor; 3] = all_on_meta(operator, values)?;
    norm(&arguments, 3)?.normalised::<B>(x, [weight, bias], arguments.float(7)?, &metas).map(Some)
}

pub fn native_group_norm_backward<B: GpuBackend>(
    operator: OperatorHandle,
    values: &[Value<'_>],
) -> Result<Option<[Tensor; 3]>> {
    let arguments = Arguments::new(operator, values);
    let [grad, x, mean, rstd] =
        [arguments.tensor(0)?, arguments.tensor(1)?, arguments.tensor(2)?, arguments.tensor(3)?];
    let weight = arguments.optional(4);
    if !are_ours::<B>(x, &[Some(grad), Some(mean), Some(rstd), weight]) {
        return Ok(None);
    }
    let metas: [Tensor; 3] = all_on_meta(operator, values)?;
    let of = [grad, x, mean, rstd];
    norm(&arguments, 5)?.gradients::<B>(of, weight, arguments.mask(9)?, &metas).map(Some)
}
