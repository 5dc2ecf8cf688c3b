//! Group norm: groups of channels of each example by their own statistics.

use torch_library::prelude::*;
use torch_library_gpu::{Arguments, all_on_meta};
use torch_library_kernels::aten;

use super::{Norm, OfEqualNumbers, Rows, are_ours};
use crate::call::kernels;

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
    norm(&arguments, 3)?.normalised(x, [weight, bias], arguments.float(7)?, &metas).map(Some)
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
    let of = [grad, x, mean, rstd];
    norm(&arguments, 5)?.gradients(of, weight, arguments.mask(9)?, &metas).map(Some)
}
