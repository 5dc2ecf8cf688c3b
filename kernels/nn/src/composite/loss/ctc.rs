//! The CTC loss under the name that users call.

use torch_library::prelude::*;

use super::MEAN;
use crate::arguments::lengths;
use crate::aten;

#[torch_impl(aten, CompositeImplicitAutograd)]
mod kernels {
    use super::*;

    fn ctc_loss_IntList(
        log_probs: &Tensor,
        targets: &Tensor,
        input_lengths: &[i64],
        target_lengths: &[i64],
        blank: i64,
        reduction: i64,
        zero_infinity: bool,
    ) -> Result<Tensor> {
        let is_batch = log_probs.dim() == 3;
        let batch = if is_batch { log_probs.clone() } else { aten::unsqueeze(log_probs, 1)? };
        let (loss, _) =
            aten::_ctc_loss::call(&batch, targets, input_lengths, target_lengths, blank, zero_infinity)?;
        let loss = match zero_infinity {
            true => {
                let cannot_be = aten::eq_Scalar(&loss, f64::INFINITY.into())?;
                aten::where_ScalarSelf(&cannot_be, 0.into(), &loss)?
            }
            false => loss,
        };
        match reduction {
            MEAN => {
                let counts: Vec<i64> = target_lengths.iter().map(|length| (*length).max(1)).collect();
                let counts = Tensor::from_slice(&counts, &[counts.len() as i64])?;
                let counts = aten::_to_copy::with(&counts).device(loss.device()).call()?;
                aten::mean(&aten::div_Tensor(&loss, &counts)?)
            }
            2 => aten::sum(&loss),
            _ if is_batch => Ok(loss),
            _ => aten::squeeze_dim(&loss, 0),
        }
    }

    fn ctc_loss_Tensor(
        log_probs: &Tensor,
        targets: &Tensor,
        input_lengths: &Tensor,
        target_lengths: &Tensor,
        blank: i64,
        reduction: i64,
        zero_infinity: bool,
    ) -> Result<Tensor> {
        let [inputs, labels] = lengths([input_lengths, target_lengths])?;
        aten::ctc_loss_IntList::call(log_probs, targets, &inputs, &labels, blank, reduction, zero_infinity)
    }
}
