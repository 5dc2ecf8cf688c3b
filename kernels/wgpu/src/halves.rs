//! Operators of 16-bit floats by float32 kernels: arguments are widened, which is exact, and results are rounded once.

use torch_library::prelude::*;
use torch_library_gpu::{Kernel, Returns};

use crate::call::is_here;
use crate::pointwise::{is_half, narrowed, of_type};

/// Operators that write to no argument, and whose CPU kernels do not round intermediate results either.
const WIDENED: [&str; 23] = [
    "sum",
    "sum.dim_IntList",
    "mean",
    "mean.dim",
    "amax",
    "amin",
    "argmax",
    "argmin",
    "mm",
    "bmm",
    "addmm",
    "baddbmm",
    "_softmax",
    "_log_softmax",
    "convolution",
    "max_pool2d_with_indices",
    "avg_pool2d",
    "_adaptive_avg_pool2d",
    "native_layer_norm",
    "native_group_norm",
    "embedding",
    "index_select",
    "gather",
];

/// Runs a float32 kernel for 16-bit floats, if it supports the call.
pub(crate) fn run<R: Returns>(
    kernel: Kernel<R>,
    operator: OperatorHandle,
    arguments: &[Value<'_>],
) -> Result<Option<R>> {
    let is_ours = |tensor: &Tensor| tensor.is_defined() && is_here(tensor) && is_half(tensor.dtype());
    let has_halves = arguments.iter().flat_map(Value::all_tensors).any(is_ours);
    if !has_halves || !operator.to_string().strip_prefix("aten::").is_some_and(|name| WIDENED.contains(&name))
    {
        return Ok(None);
    }
    let mut is_widened = true;
    let wide = |tensor: &Tensor| match is_ours(tensor) {
        true => match of_type(tensor, DType::Float32)? {
            Some(wide) => Ok(wide),
            None => {
                is_widened = false;
                Ok(tensor.clone())
            }
        },
        false => Ok(tensor.clone()),
    };
    let mut wide = wide;
    let widened = arguments
        .iter()
        .map(|argument| Ok(argument.map_tensors(&mut wide)?.into_owned()))
        .collect::<Result<Vec<_>>>()?;
    if !is_widened {
        return Ok(None);
    }
    match kernel(operator, &widened)? {
        Some(returns) => returns.converted(operator, arguments, narrowed),
        None => Ok(None),
    }
}
