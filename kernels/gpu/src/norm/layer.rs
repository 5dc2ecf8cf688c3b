//! Layer norm: the last dimensions of each example are normalised by their own statistics.

use super::{OfEqualNumbers, Rows, Way, are_ours};
use crate::arguments::{Arguments, all_on_meta};
use crate::backend::GpuBackend;
use torch_library::prelude::*;

fn norm(x: &Tensor, normalized_shape: &[i64]) -> Way {
    let count: i64 = normalized_shape.iter().product();
    let rows = x.numel() / count.max(1);
    Way {
        statistics: Rows::lines(rows, count),
        affine: Rows::across(rows, count, 1),
        of_equal_numbers: OfEqualNumbers::Infinity,
    }
}

pub fn native_layer_norm<B: GpuBackend>(
    operator: OperatorHandle,
    values: &[Value<'_>],
) -> Result<Option<[Tensor; 3]>> {
    let arguments = Arguments::new(operator, values);
    let (x, weight, bias) = (arguments.tensor(0)?, arguments.optional(2), arguments.optional(3));
    if !are_ours::<B>(x, &[weight, bias]) {
        return Ok(None);
    }
    let metas: [Tensor; 3] = all_on_meta(operator, values)?;
    norm(x, arguments.ints(1)?).normalised::<B>(x, [weight, bias], arguments.float(4)?, &metas).map(Some)
}

pub fn native_layer_norm_backward<B: GpuBackend>(
    operator: OperatorHandle,
    values: &[Value<'_>],
) -> Result<Option<[Tensor; 3]>> {
    let arguments = Arguments::new(operator, values);
    let [grad, x, mean, rstd] =
        [arguments.tensor(0)?, arguments.tensor(1)?, arguments.tensor(3)?, arguments.tensor(4)?];
    let weight = arguments.optional(5);
    if !are_ours::<B>(x, &[Some(grad), Some(mean), Some(rstd), weight]) {
        return Ok(None);
    }
    let metas: [Tensor; 3] = all_on_meta(operator, values)?;
    let of = [grad, x, mean, rstd];
    norm(x, arguments.ints(2)?).gradients::<B>(of, weight, arguments.mask(7)?, &metas).map(Some)
}
