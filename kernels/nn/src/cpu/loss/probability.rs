//! The binary cross entropy of probabilities.

use std::hint::select_unpredictable;

use torch_library::Element;
use torch_library::geometry::infer_size;
use torch_library::prelude::*;

use crate::aten;
use crate::composite::loss::reduced_or_not;
use crate::functions::{Functions, NearOne};
use crate::loops::pointwise::unsupported;
use crate::loops::{self, match_opmath};
use crate::number::Number;

#[torch_impl(aten, CPU, Meta)]
mod kernels {
    use super::*;

    fn binary_cross_entropy(
        this: &Tensor,
        target: &Tensor,
        weight: Option<&Tensor>,
        reduction: i64,
    ) -> Result<Tensor> {
        let _lease = loops::all_frozen([this, target].into_iter().chain(weight))?;
        const OPERATOR: &str = aten::binary_cross_entropy::NAME;
        check_type(OPERATOR, this, "targets", target)?;
        let losses = this.empty_like(this.dtype(), MemoryFormat::Preserve)?;
        let [out, this, target] = &squeezed(OPERATOR, [&losses, this, target])?;
        match_opmath!(this.dtype(), T: Float => {
            let (least, nan): (T, T) = ((-100_f64).cast(), f64::NAN.cast());
            loops::map(out, [this, target], |[x, y]: [T; 2]| {
                let (yes, no) = (x.natural_logarithm(), (-x).logarithm_of_one_more());
                // Not `max`, so that a number that is not a probability gives NaN.
                let (yes, no) = (if yes < least { least } else { yes }, if no < least { least } else { no });
                // Branches, as which `contains` and `if` would be compiled, would keep the loop from using vectors.
                #[expect(clippy::manual_range_contains, reason = "as above")]
                let is_probability = (y >= T::ZERO) & (y <= T::ONE);
                select_unpredictable(is_probability, (y - T::ONE) * no - y * yes, nan)
            })?;
        }, else => return Err(unsupported(OPERATOR, this.dtype())));
        check_probabilities(OPERATOR, [this, target], &losses)?;
        reduced_or_not(weighted(losses, weight)?, reduction)
    }

    fn binary_cross_entropy_backward(
        grad_output: &Tensor,
        this: &Tensor,
        target: &Tensor,
        weight: Option<&Tensor>,
        reduction: i64,
    ) -> Result<Tensor> {
        let _lease = loops::all_frozen([grad_output, this, target].into_iter().chain(weight))?;
        const OPERATOR: &str = aten::binary_cross_entropy_backward::NAME;
        check_type(OPERATOR, this, "targets", target)?;
        check_type(OPERATOR, this, "a gradient", grad_output)?;
        let grads = this.empty_like(this.dtype(), MemoryFormat::Preserve)?;
        let [out, _, y] = &squeezed(OPERATOR, [&grads, this, target])?;
        let [x, grad_output] = [aten::squeeze(this)?, aten::squeeze(grad_output)?];
        match_opmath!(this.dtype(), T: Float => {
            let least: T = 1e-12_f32.cast(); // the lower bound of the divisor
            loops::map(out, [&grad_output, &x, y], |[grad, x, y]: [T; 3]| {
                grad * (x - y) / ((T::ONE - x) * x).max(least)
            })?;
        }, else => return Err(unsupported(OPERATOR, this.dtype())));
        let mut grads = weighted(grads, weight)?;
        if reduction == 1 {
            aten::div__Scalar(&mut grads, this.numel().into())?;
        }
        Ok(grads)
    }
}

/// Squeezes results, probabilities and targets (removes dimensions of size 1), as PyTorch does before it broadcasts.
///
/// # Errors
/// The targets do not broadcast to the sizes of the probabilities.
fn squeezed(operator: &str, tensors: [&Tensor; 3]) -> Result<[Tensor; 3]> {
    let [out, this, target] = tensors.map(aten::squeeze);
    let (out, this, target) = (out?, this?, target?);
    let sizes = infer_size(this.sizes(), target.sizes()).map_err(|error| error.context(operator))?;
    ensure!(
        &*sizes == this.sizes(),
        Shape,
        "{operator}: targets of sizes {:?} do not broadcast to those of the probabilities, {:?}",
        tensors[2].sizes(),
        tensors[1].sizes()
    );
    Ok([out, this, target])
}

/// Checks the probabilities if a loss is NaN, as it is for every number that is not a probability.
fn check_probabilities(operator: &str, tensors: [&Tensor; 2], losses: &Tensor) -> Result<()> {
    if !loops::has_elements(losses) || !aten::sum(losses)?.item()?.to::<f64>()?.is_nan() {
        return Ok(());
    }
    for tensor in tensors {
        let inside =
            aten::logical_and(&aten::ge_Scalar(tensor, 0.into())?, &aten::le_Scalar(tensor, 1.into())?)?;
        ensure!(
            aten::all(&inside)?.item()?.to()?,
            Argument,
            "{operator}: some elements or targets are not probabilities, expected numbers from 0 to 1"
        );
    }
    Ok(())
}

fn check_type(operator: &str, this: &Tensor, name: &str, other: &Tensor) -> Result<()> {
    ensure!(
        other.dtype() == this.dtype(),
        DType,
        "{operator}: {name} of {} for probabilities of {}, expected one type",
        other.dtype(),
        this.dtype()
    );
    Ok(())
}

fn weighted(mut losses: Tensor, weight: Option<&Tensor>) -> Result<Tensor> {
    if let Some(weight) = weight {
        aten::mul__Tensor(&mut losses, weight)?;
    }
    Ok(losses)
}
