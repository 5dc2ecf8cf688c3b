//! Kernels for `Meta`.

use torch_library::prelude::*;

use crate::alignment::of_alignment;
use crate::filters::{of_overdrive, of_recursion};
use crate::transducer::of_loss;

#[torch_impl(crate::ops::torchaudio, Meta)]
mod meta {
    use super::*;

    fn _lfilter_core_loop<'a>(
        input_signal_windows: &Tensor,
        a_coeff_flipped: &Tensor,
        padded_output_waveform: &'a mut Tensor,
    ) -> Result<&'a mut Tensor> {
        of_recursion(input_signal_windows, a_coeff_flipped, padded_output_waveform)?;
        Ok(padded_output_waveform)
    }

    fn _overdrive_core_loop<'a, 'b, 'c>(
        waveform: &Tensor,
        temp: &Tensor,
        last_in: &'a mut Tensor,
        last_out: &'b mut Tensor,
        output_waveform: &'c mut Tensor,
    ) -> Result<(&'a mut Tensor, &'b mut Tensor, &'c mut Tensor)> {
        of_overdrive(waveform, temp, [&*last_in, &*last_out, &*output_waveform])?;
        Ok((last_in, last_out, output_waveform))
    }

    fn forced_align(
        log_probs: &Tensor,
        targets: &Tensor,
        _input_lengths: &Tensor,
        _target_lengths: &Tensor,
        _blank: i64,
    ) -> Result<(Tensor, Tensor)> {
        of_alignment(log_probs, targets)?;
        let path = Tensor::empty(&log_probs.sizes()[..2], targets.dtype(), Device::META)?;
        Ok((path, Tensor::empty(log_probs.sizes(), log_probs.dtype(), Device::META)?))
    }

    fn rnnt_loss_forward(
        logits: &Tensor,
        targets: &Tensor,
        _logit_lengths: &Tensor,
        _target_lengths: &Tensor,
        _blank: i64,
        _clamp: f64,
        _fused_log_softmax: bool,
    ) -> Result<(Tensor, Tensor)> {
        of_loss(logits, targets)?;
        let losses = Tensor::empty(&logits.sizes()[..1], logits.dtype(), Device::META)?;
        Ok((losses, Tensor::empty(logits.sizes(), logits.dtype(), Device::META)?))
    }
}
