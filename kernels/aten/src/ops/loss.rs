//! Operators that say how far predictions are from what was to be predicted.
//!
//! A reduction of 0 gives each element's loss, of 1 their mean, of 2 (or another number) their sum.

use torch_library::torch_library;

torch_library! {
    /// PyTorch's operators, their overloads flattened: `add.Tensor` is `add_Tensor`, `add_.Tensor` is `add__Tensor`.
    ///
    /// Each is a function that takes the arguments without default; a module of the same name has the rest, as in
    /// `sum_dim_IntList::with(&x, Some(&[0])).keepdim(true).call()`.
    #[methods(LossMethods)]
    #[kernels_in(torch_library_nn)]
    pub mod aten extends super::window::aten {
        /// The negative log likelihood of classes, of log-probabilities `[batch, classes]` or `[classes]`.
        ///
        /// Targets equal to `ignore_index` do not count; `weight` has a factor for each class.
        ///
        /// # Errors
        /// Targets that are no classes, sizes that do not meet.
        ///
        /// PyTorch: `aten::nll_loss`.
        nll_loss(Tensor self, Tensor target, Tensor? weight=None, int reduction=Mean,
            SymInt ignore_index=-100) -> Tensor;
        /// As [`nll_loss`](fn@nll_loss), for any number of dimensions behind the classes.
        ///
        /// PyTorch: `torch.nn.functional.nll_loss`.
        nll_loss_nd(Tensor self, Tensor target, Tensor? weight=None, int reduction=Mean,
            SymInt ignore_index=-100) -> Tensor;
        /// As [`nll_loss`](fn@nll_loss), for images of log-probabilities `[batch, classes, height, width]`.
        ///
        /// PyTorch: `aten::nll_loss2d`.
        nll_loss2d(Tensor self, Tensor target, Tensor? weight=None, int reduction=Mean,
            SymInt ignore_index=-100) -> Tensor;
        /// The part of [`nll_loss`](fn@nll_loss) that computes: the loss, and the sum of the weights that count.
        ///
        /// PyTorch: `aten::nll_loss_forward`.
        nll_loss_forward(Tensor self, Tensor target, Tensor? weight, int reduction,
            SymInt ignore_index) -> (Tensor output, Tensor total_weight);
        /// The part of [`nll_loss2d`](fn@nll_loss2d) that computes: the loss, and the sum of the weights that count.
        ///
        /// PyTorch: `aten::nll_loss2d_forward`.
        nll_loss2d_forward(Tensor self, Tensor target, Tensor? weight, int reduction,
            SymInt ignore_index) -> (Tensor output, Tensor total_weight);

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
        /// As [`nll_loss_nd`](fn@nll_loss_nd); a label smoothing above 1; one that is not positive is none.
        ///
        /// PyTorch: `torch.nn.functional.cross_entropy`.
        cross_entropy_loss(Tensor self, Tensor target, Tensor? weight=None, int reduction=Mean,
            SymInt ignore_index=-100, float label_smoothing=0.0) -> Tensor;

        /// The gradient of the input of [`nll_loss_forward`].
        ///
        /// PyTorch: `aten::nll_loss_backward`.
        nll_loss_backward(Tensor grad_output, Tensor self, Tensor target, Tensor? weight, int reduction,
            SymInt ignore_index, Tensor total_weight) -> Tensor;
        /// The gradient of the input of [`nll_loss2d_forward`].
        ///
        /// PyTorch: `aten::nll_loss2d_backward`.
        nll_loss2d_backward(Tensor grad_output, Tensor self, Tensor target, Tensor? weight, int reduction,
            SymInt ignore_index, Tensor total_weight) -> Tensor;

        /// How unlikely sequences of labels are, of log-probabilities `[time, batch, classes]`, whatever the times
        /// at which labels show; between them there may be blanks. Targets are `[batch, labels]`, or those of all
        /// examples in one vector. A mean is one of losses by label. With `zero_infinity`, sequences that cannot be
        /// do not count.
        ///
        /// # Errors
        /// Lengths that do not fit, targets that are no classes.
        ///
        /// PyTorch: `torch.nn.functional.ctc_loss`.
        ctc_loss.IntList(Tensor log_probs, Tensor targets, int[] input_lengths, int[] target_lengths,
            int blank=0, int reduction=Mean, bool zero_infinity=False) -> Tensor;
        /// As [`ctc_loss_IntList`](fn@ctc_loss_IntList), with lengths in tensors.
        ///
        /// PyTorch: `torch.nn.functional.ctc_loss`.
        ctc_loss.Tensor(Tensor log_probs, Tensor targets, Tensor input_lengths, Tensor target_lengths,
            int blank=0, int reduction=Mean, bool zero_infinity=False) -> Tensor;
        /// The part of [`ctc_loss_IntList`](fn@ctc_loss_IntList) that computes: the losses, and for each time and
        /// place the logarithm of what leads there.
        ///
        /// PyTorch: `aten::_ctc_loss`.
        _ctc_loss(Tensor log_probs, Tensor targets, int[] input_lengths, int[] target_lengths, int blank=0,
            bool zero_infinity=False) -> (Tensor, Tensor);
        /// As [`_ctc_loss`](fn@_ctc_loss), with lengths in tensors.
        ///
        /// PyTorch: `aten::_ctc_loss`.
        #[tags(dynamic_output_shape)]
        _ctc_loss.Tensor(Tensor log_probs, Tensor targets, Tensor input_lengths, Tensor target_lengths,
            int blank=0, bool zero_infinity=False) -> (Tensor, Tensor);
        /// The gradient of the log-probabilities of [`_ctc_loss`](fn@_ctc_loss).
        ///
        /// PyTorch: `aten::_ctc_loss_backward`.
        _ctc_loss_backward(Tensor grad, Tensor log_probs, Tensor targets, int[] input_lengths,
            int[] target_lengths, Tensor neg_log_likelihood, Tensor log_alpha, int blank,
            bool zero_infinity=False) -> Tensor;
        /// As [`_ctc_loss_backward`](fn@_ctc_loss_backward), with lengths in tensors.
        ///
        /// PyTorch: `aten::_ctc_loss_backward`.
        _ctc_loss_backward.Tensor(Tensor grad, Tensor log_probs, Tensor targets, Tensor input_lengths,
            Tensor target_lengths, Tensor neg_log_likelihood, Tensor log_alpha, int blank,
            bool zero_infinity=False) -> Tensor;

        /// The squares of the differences.
        ///
        /// ```
        /// use torch_library::prelude::*;
        /// use torch_library_kernels::aten;
        ///
        /// let loss = aten::mse_loss(&Tensor::from([1.0, 5.0]), &Tensor::from([2.0, 2.0]))?;
        /// assert_eq!(loss.item()?, Scalar::Float(5.0));
        /// # Ok::<(), Error>(())
        /// ```
        ///
        /// PyTorch: `torch.nn.functional.mse_loss`.
        mse_loss(Tensor self, Tensor target, int reduction=Mean) -> Tensor;
        /// The differences without their signs.
        ///
        /// PyTorch: `torch.nn.functional.l1_loss`.
        l1_loss(Tensor self, Tensor target, int reduction=Mean) -> Tensor;
        /// [`l1_loss`] that is a parabola where differences are below `beta`.
        ///
        /// PyTorch: `torch.nn.functional.smooth_l1_loss`.
        smooth_l1_loss(Tensor self, Tensor target, int reduction=Mean, float beta=1.0) -> Tensor;
        /// Half of [`mse_loss`] where differences are below `delta`, and a line beyond.
        ///
        /// PyTorch: `torch.nn.functional.huber_loss`.
        huber_loss(Tensor self, Tensor target, int reduction=Mean, float delta=1.0) -> Tensor;
        /// How far probabilities are from those of the target, each for itself. Logarithms end at -100.
        ///
        /// # Errors
        /// Elements outside of `[0, 1]`, targets of another type.
        ///
        /// PyTorch: `torch.nn.functional.binary_cross_entropy`.
        binary_cross_entropy(Tensor self, Tensor target, Tensor? weight=None, int reduction=Mean) -> Tensor;
        /// The gradient of the probabilities of [`binary_cross_entropy`].
        ///
        /// PyTorch: `aten::binary_cross_entropy_backward`.
        binary_cross_entropy_backward(Tensor grad_output, Tensor self, Tensor target, Tensor? weight=None,
            int reduction=Mean) -> Tensor;
        /// [`binary_cross_entropy`] of the logistic function of numbers, without overflow.
        ///
        /// PyTorch: `torch.nn.functional.binary_cross_entropy_with_logits`.
        binary_cross_entropy_with_logits(Tensor self, Tensor target, Tensor? weight=None,
            Tensor? pos_weight=None, int reduction=Mean) -> Tensor;
        /// How far logarithms of probabilities are from the target's, weighted by the target.
        ///
        /// PyTorch: `torch.nn.functional.kl_div`.
        kl_div(Tensor self, Tensor target, int reduction=Mean, *, bool log_target=False) -> Tensor;
        /// How much smaller than the margin the distances are where the target is -1, and the distances where it is 1.
        ///
        /// PyTorch: `torch.nn.functional.hinge_embedding_loss`.
        hinge_embedding_loss(Tensor self, Tensor target, float margin=1.0, int reduction=Mean) -> Tensor;
        /// How far the order of two inputs is from the one that the target (1 or -1) wants.
        ///
        /// PyTorch: `torch.nn.functional.margin_ranking_loss`.
        margin_ranking_loss(Tensor input1, Tensor input2, Tensor target, float margin=0.0,
            int reduction=Mean) -> Tensor;
        /// How far the directions of two vectors are apart where the target is 1, and how near where it is -1.
        ///
        /// PyTorch: `torch.nn.functional.cosine_embedding_loss`.
        cosine_embedding_loss(Tensor input1, Tensor input2, Tensor target, float margin=0.0,
            int reduction=Mean) -> Tensor;
        /// By how much the scores of other classes, `[n, classes]` or `[classes]`, are not below that of the right
        /// one by a margin: for each row the sum of these numbers, to the power of `p`, over the count of classes.
        /// `weight` has a factor for each right class.
        ///
        /// # Errors
        /// Another `p` than 1 and 2, targets that are no classes or not one for each row, a weight that has not one
        /// number for each class, other types than `float32` and `float64`.
        ///
        /// PyTorch: `torch.nn.functional.multi_margin_loss`.
        multi_margin_loss(Tensor self, Tensor target, Scalar p=1, Scalar margin=1, Tensor? weight=None,
            int reduction=Mean) -> Tensor;
        /// The gradient of the scores of [`multi_margin_loss`](fn@multi_margin_loss).
        ///
        /// # Errors
        /// Those of the loss; a gradient that is not one of it.
        ///
        /// PyTorch: `aten::multi_margin_loss_backward`.
        multi_margin_loss_backward(Tensor grad_output, Tensor self, Tensor target, Scalar p, Scalar margin,
            Tensor? weight=None, int reduction=Mean) -> Tensor;
        /// The logarithm of one and the exponential of minus the input times the target (1 or -1).
        ///
        /// PyTorch: `torch.nn.functional.soft_margin_loss`.
        soft_margin_loss(Tensor self, Tensor target, int reduction=Mean) -> Tensor;
        /// The negative log likelihood of counts whose rate is the input, or its exponential if `log_input`.
        ///
        /// PyTorch: `torch.nn.functional.poisson_nll_loss`.
        poisson_nll_loss(Tensor input, Tensor target, bool log_input, bool full, float eps, int reduction) -> Tensor;

        /// How far the scores of wrong classes, `[n, classes]` or `[classes]`, are from being one below those of
        /// the right ones: the sum over all pairs, over the count of classes. The targets of a row are classes, up
        /// to the first -1.
        ///
        /// # Errors
        /// Targets that are no classes, or not of the sizes of the scores; other types than `float32` and `float64`.
        ///
        /// PyTorch: `torch.nn.functional.multilabel_margin_loss`.
        multilabel_margin_loss(Tensor self, Tensor target, int reduction=Mean) -> Tensor;
        /// The part of [`multilabel_margin_loss`](fn@multilabel_margin_loss) that computes: the loss, and 1 for
        /// each class that is right.
        ///
        /// # Errors
        /// As there.
        ///
        /// PyTorch: `aten::multilabel_margin_loss_forward`.
        multilabel_margin_loss_forward(Tensor self, Tensor target, int reduction) -> (Tensor output, Tensor is_target);
        /// The gradient of the scores of [`multilabel_margin_loss`](fn@multilabel_margin_loss).
        ///
        /// # Errors
        /// Those of the loss; a gradient that is not one of it, marks of other sizes or of another type.
        ///
        /// PyTorch: `aten::multilabel_margin_loss_backward`.
        multilabel_margin_loss_backward(Tensor grad_output, Tensor self, Tensor target, int reduction,
            Tensor is_target) -> Tensor;

        /// The gradient of the input of [`mse_loss`](fn@mse_loss), whose type and layout the result has.
        ///
        /// # Errors
        /// An input whose type the common one cannot be converted to, booleans and complex numbers.
        ///
        /// PyTorch: `aten::mse_loss_backward`.
        mse_loss_backward(Tensor grad_output, Tensor self, Tensor target, int reduction) -> Tensor;
        /// The gradient of the input of [`smooth_l1_loss`](fn@smooth_l1_loss), whose type and layout the result has.
        ///
        /// # Errors
        /// As [`mse_loss_backward`](fn@mse_loss_backward).
        ///
        /// PyTorch: `aten::smooth_l1_loss_backward`.
        smooth_l1_loss_backward(Tensor grad_output, Tensor self, Tensor target, int reduction, float beta) -> Tensor;
        /// The gradient of the input of [`huber_loss`](fn@huber_loss).
        ///
        /// # Errors
        /// Tensors of several types, types that are not floating point.
        ///
        /// PyTorch: `aten::huber_loss_backward`.
        huber_loss_backward(Tensor grad_output, Tensor self, Tensor target, int reduction, float delta) -> Tensor;
        /// The gradient of the input of [`soft_margin_loss`](fn@soft_margin_loss), whose type and layout the result
        /// has.
        ///
        /// # Errors
        /// A target or gradient that does not broadcast to the input; as
        /// [`mse_loss_backward`](fn@mse_loss_backward), and integers.
        ///
        /// PyTorch: `aten::soft_margin_loss_backward`.
        soft_margin_loss_backward(Tensor grad_output, Tensor self, Tensor target, int reduction) -> Tensor;
    }
}
