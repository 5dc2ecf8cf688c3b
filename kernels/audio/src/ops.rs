//! The operators: torchaudio's schemas.

use torch_library::torch_library;

torch_library! {
    /// Loops over the samples of a signal, each of which depends on the one before.
    ///
    /// PyTorch: `torch.ops.torchaudio`.
    pub mod torchaudio {
        /// The recursive part of a filter: `y[t] = x[t] - sum(a[k] y[t - k])` for `k` from 1. From `[N, C, T]` samples
        /// and, for each of `C` channels, `a_coeff_flipped`, which ends with `a[0]`, taken to be 1, it computes the
        /// last `T` of `padded_output_waveform`, `[N, C, T + K]`; the first `K` are those before.
        ///
        /// # Errors
        /// Sizes or dtypes that do not match; dtypes other than `float32` and `float64`.
        ///
        /// PyTorch: `torchaudio.functional.lfilter`.
        _lfilter_core_loop(Tensor input_signal_windows, Tensor a_coeff_flipped, Tensor(a!) padded_output_waveform) -> Tensor(a!);

        /// The end of an overdrive effect: removes the constant part of a distorted signal, and mixes it with the
        /// original one. `last_in` and `last_out` have a number for each channel, with which the next part of the
        /// signal goes on.
        ///
        /// # Errors
        /// Sizes or dtypes that do not match; dtypes other than `float32` and `float64`.
        ///
        /// PyTorch: `torchaudio.functional.overdrive`.
        _overdrive_core_loop(Tensor waveform, Tensor temp, Tensor(a!) last_in, Tensor(b!) last_out, Tensor(c!) output_waveform) -> (Tensor(a!), Tensor(b!), Tensor(c!));

        /// The most likely way to read `targets`, `[1, L]`, at the times of `log_probs`, `[1, T, C]`: the label of each
        /// time, which may be `blank`; and the logarithms of probabilities, unchanged.
        ///
        /// # Errors
        /// More than one sequence; more targets, and blanks between equal ones, than times; labels out of range;
        /// lengths other than those of the tensors.
        ///
        /// PyTorch: `torchaudio.functional.forced_align`.
        forced_align(Tensor log_probs, Tensor targets, Tensor input_lengths, Tensor target_lengths, int blank) -> (Tensor, Tensor);

        /// The loss of a transducer for each of `B` sequences, and its gradient with respect to `logits`,
        /// `[B, T, U + 1, V]`, each number of which is at most `clamp` from zero if that is positive. If
        /// `fused_log_softmax` is not set, `logits` are logarithms of probabilities.
        ///
        /// # Errors
        /// Sizes that do not match; lengths out of range, or none that is the whole one; labels out of range.
        ///
        /// PyTorch: `torchaudio.functional.rnnt_loss`.
        rnnt_loss_forward(Tensor logits, Tensor targets, Tensor logit_lengths, Tensor target_lengths, int blank, float clamp, bool fused_log_softmax) -> (Tensor, Tensor);
    }
}
