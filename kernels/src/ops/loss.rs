//! Operators that say how far predictions are from what was to be predicted.
//!
//! A reduction of 0 gives each element's loss, of 1 their mean, of 2 (or another number) their sum.

use torch_library::torch_library;

torch_library! {
    /// PyTorch's operators, their overloads flattened: `add.Tensor` is `add_Tensor`, `add_.Tensor` is `add__Tensor`.
    ///
    /// Each is a function that takes the arguments without default; a module of the same name has the rest, as in
    /// `sum_dim_IntList::with(&x, Some(&[0])).keepdim(true).call()`.
    pub mod aten extends super::window::aten {
        /// The negative log likelihood of classes, of log-probabilities `[batch, classes]` or `[classes]`.
        ///
        /// Targets equal to `ignore_index` do not count; `weight` has a factor for each class.
        ///
        /// # Errors
        /// Targets that are no classes, sizes that do not meet.
        ///
        /// PyTorch: `aten::nll_loss`.
        nll_loss(Tensor self, Tensor target, Tensor? weight=None, int reduction=Mean, SymInt ignore_index=-100) -> Tensor;
        /// As [`nll_loss`](fn@nll_loss), for any number of dimensions behind the classes.
        ///
        /// PyTorch: `torch.nn.functional.nll_loss`.
        nll_loss_nd(Tensor self, Tensor target, Tensor? weight=None, int reduction=Mean, SymInt ignore_index=-100) -> Tensor;
        /// As [`nll_loss`](fn@nll_loss), for images of log-probabilities `[batch, classes, height, width]`.
        ///
        /// PyTorch: `aten::nll_loss2d`.
        nll_loss2d(Tensor self, Tensor target, Tensor? weight=None, int reduction=Mean, SymInt ignore_index=-100) -> Tensor;
        /// The part of [`nll_loss`](fn@nll_loss) that computes: the loss, and the sum of the weights that count.
        ///
        /// PyTorch: `aten::nll_loss_forward`.
        nll_loss_forward(Tensor self, Tensor target, Tensor? weight, int reduction, SymInt ignore_index) -> (Tensor output, Tensor total_weight);
        /// The part of [`nll_loss2d`](fn@nll_loss2d) that computes: the loss, and the sum of the weights that count.
        ///
        /// PyTorch: `aten::nll_loss2d_forward`.
        nll_loss2d_forward(Tensor self, Tensor target, Tensor? weight, int reduction, SymInt ignore_index) -> (Tensor output, Tensor total_weight);

        /// The cross entropy of logits and classes, or of logits and probabilities of the same sizes.
        ///
        /// ```
        /// use torch_library::prelude::*;
        /// use torch_library_kernels::aten;
        ///
        /// let logits = Tensor::from([[10.0f32, 0.0], [0.0, 10.0]]);
        /// let loss: f32 = aten::cross_entropy_loss(&logits, &Tensor::from([0i64, 1]))?.item()?.to()?;
        /// assert!(loss < 1e-4);
        /// # Ok::<(), Error>(())
        /// ```
        ///
        /// # Errors
        /// As [`nll_loss_nd`](fn@nll_loss_nd); a label smoothing outside of `0..=1`.
        ///
        /// PyTorch: `torch.nn.functional.cross_entropy`.
        cross_entropy_loss(Tensor self, Tensor target, Tensor? weight=None, int reduction=Mean, SymInt ignore_index=-100, float label_smoothing=0.0) -> Tensor;

        /// The gradient of the input of [`nll_loss_forward`].
        ///
        /// PyTorch: `aten::nll_loss_backward`.
        nll_loss_backward(Tensor grad_output, Tensor self, Tensor target, Tensor? weight, int reduction, SymInt ignore_index, Tensor total_weight) -> Tensor;
        /// The gradient of the input of [`nll_loss2d_forward`].
        ///
        /// PyTorch: `aten::nll_loss2d_backward`.
        nll_loss2d_backward(Tensor grad_output, Tensor self, Tensor target, Tensor? weight, int reduction, SymInt ignore_index, Tensor total_weight) -> Tensor;
    }
}
