//! The gradients of softmax and of its logarithm.

use torch_library::Element;
use torch_library::geometry::wrap_dim;
use torch_library::prelude::*;

use crate::aten;
use crate::cpu::norm::backward::{line_length, sums};
use crate::cpu::norm::rounded;
use crate::cpu::softmax::strips;
use crate::functions::Functions;
use crate::loops::pointwise::unsupported;
use crate::loops::{self, match_opmath};

mod lines;

#[torch_impl(aten, CPU, Meta)]
mod kernels {
    use super::*;

    fn _softmax_backward_data(
        grad_output: &Tensor,
        output: &Tensor,
        dim: i64,
        input_dtype: DType,
    ) -> Result<Tensor> {
        let _lease = loops::frozen([grad_output, output])?;
        const OPERATOR: &str = aten::_softmax_backward_data::NAME;
        let is_reduced = reduced(OPERATOR, grad_output, output, dim, input_dtype)?;
        if let Some(len) = line_length(output, &is_reduced) {
            return match_opmath!(output.dtype(), T: Float => {
                rounded(lines::softmax::<T>(grad_output, output, len, false)?, output.dtype())
            }, else => Err(unsupported(OPERATOR, output.dtype())));
        }
        if let Some(gradient) = by_strips(grad_output, output, &is_reduced, false)? {
            return Ok(gradient);
        }
        let out = Tensor::empty(output.sizes(), output.dtype(), output.device())?;
        match_opmath!(output.dtype(), T: Float => {
            let products = Tensor::empty(output.sizes(), T::DTYPE, output.device())?;
            loops::map(&products, [grad_output, output], |[grad, y]: [T; 2]| grad * y)?;
            let sum = sums::<T>(&products, &is_reduced)?;
            loops::map(&out, [&products, output, &sum], |[product, y, sum]: [T; 3]| product - y * sum)?;
        }, else => return Err(unsupported(OPERATOR, output.dtype())));
        Ok(out)
    }

    fn _log_softmax_backward_data(
        grad_output: &Tensor,
        output: &Tensor,
        dim: i64,
        input_dtype: DType,
    ) -> Result<Tensor> {
        let _lease = loops::frozen([grad_output, output])?;
        const OPERATOR: &str = aten::_log_softmax_backward_data::NAME;
        let is_reduced = reduced(OPERATOR, grad_output, output, dim, input_dtype)?;
        if let Some(len) = line_length(output, &is_reduced) {
            return match_opmath!(output.dtype(), T: Float => {
                rounded(lines::softmax::<T>(grad_output, output, len, true)?, output.dtype())
            }, else => Err(unsupported(OPERATOR, output.dtype())));
        }
        if let Some(gradient) = by_strips(grad_output, output, &is_reduced, true)? {
            return Ok(gradient);
        }
        let out = Tensor::empty(output.sizes(), output.dtype(), output.device())?;
        match_opmath!(output.dtype(), T: Float => {
            let sum = sums::<T>(grad_output, &is_reduced)?;
            let inputs = [grad_output, output, &sum];
            loops::map(&out, inputs, |[grad, y, sum]: [T; 3]| grad - y.exponential() * sum)?;
        }, else => return Err(unsupported(OPERATOR, output.dtype())));
        Ok(out)
    }
}

/// The gradient along another dimension than the last, if enough columns are adjacent.
fn by_strips(grad: &Tensor, output: &Tensor, is_reduced: &[bool], is_log: bool) -> Result<Option<Tensor>> {
    let Some(dim) = is_reduced.iter().position(|is_reduced| *is_reduced) else { return Ok(None) };
    if output.numel() == 0 {
        return Ok(None);
    }
    let gradient = match_opmath!(output.dtype(), T: Float => {
        strips::backward::<T>(grad, output, dim, is_log)?
    }, else => None);
    gradient.map(|gradient| rounded(gradient, output.dtype())).transpose()
}

/// Marks the dimension that is reduced.
fn reduced(
    operator: &str,
    grad_output: &Tensor,
    output: &Tensor,
    dim: i64,
    input_dtype: DType,
) -> Result<Vec<bool>> {
    let dim = wrap_dim(dim, output.dim()).map_err(|error| error.context(operator))?;
    ensure!(
        grad_output.sizes() == output.sizes(),
        Shape,
        "{operator}: a gradient of sizes {:?} for a result of {:?}",
        grad_output.sizes(),
        output.sizes()
    );
    ensure!(
        grad_output.dtype() == output.dtype(),
        DType,
        "{operator}: a gradient of {} for a result of {}, expected one type",
        grad_output.dtype(),
        output.dtype()
    );
    ensure!(
        output.dtype() != DType::Float32 || input_dtype != DType::Float16,
        NotSupported,
        "{operator}: a gradient of float32 for an input of float16 is not supported on the CPU"
    );
    Ok((0..output.dim()).map(|other| other == dim).collect())
}
