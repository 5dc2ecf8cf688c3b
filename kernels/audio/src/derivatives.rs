//! The derivative of the transducer loss, which it computes itself. The other operators have none in torchaudio either:
//! its filters are differentiated as a whole.

use torch_library::derivatives;
use torch_library_aten::aten;

derivatives! {
    in crate::ops::torchaudio;

    forced_align(
        Tensor log_probs, Tensor targets, Tensor input_lengths, Tensor target_lengths, int blank
    ) -> (Tensor, Tensor) as non_differentiable;

    rnnt_loss_forward(
        Tensor logits, Tensor targets, Tensor logit_lengths, Tensor target_lengths, int blank, float clamp,
        bool fused_log_softmax
    ) -> (Tensor, Tensor) {
        logits => aten::mul_Tensor(result1, &aten::view(grad, &[-1, 1, 1, 1])?),
        targets => non_differentiable,
        logit_lengths => non_differentiable,
        target_lengths => non_differentiable,
        result1 => non_differentiable,
    }
}
