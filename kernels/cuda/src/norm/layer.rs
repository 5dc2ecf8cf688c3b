//! Layer norm: the last dimensions of each example by their own statistics.

use torch_library::prelude::*;
use torch_library_gpu::{Arguments, all_on_meta};
use torch_library_kernels::aten;

use super::{Norm, OfEqualNumbers, Rows, are_ours};
use crate::call::kernels;

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
    norm(x, arguments.ints(1)?).normalised(x, [weight, bias], arguments.float(4)?, &metas).map(Some)
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
    let of = [grad, x, mean, rstd];
    norm(x, arguments.ints(2)?).gradients(of, weight, arguments.mask(7)?, &metas).map(Some)
}
