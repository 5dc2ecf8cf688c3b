//! Loss functions.
//!
//! A `reduction` of 0 gives each element's loss, 1 their mean, 2 (or another number) their sum.

use torch_library::torch_library;

torch_library! {
    /// PyTorch's operators, their overloads flattened: `add.Tensor` is `add_Tensor`, `add_.Tensor` is `add__Tensor`.
    ///
    /// Each is a function that takes the arguments without a default; a module of the same name has the rest, as in
    /// `sum_dim_IntList::with(&x, Some(&[0])).keepdim(true).call()`.
    #[methods(LossMethods)]
    #[kernels_in(torch_library_nn)]
    pub mod aten extends "aten" {
        /// The negative log likelihood of target classes, given log-probabilities `[batch, classes]` or `[classes]`.
        ///
        /// Targets equal to `ignore_index` do not count; `weight` has a factor for each class.
        ///
        /// # Errors
        /// Targets that are not valid classes, or neither `int64` nor `uint8`; sizes that do not match, a `weight` of
        /// another dtype or length.
        ///
        /// PyTorch: `aten::nll_loss`.
        nll_loss(Tensor self, Tensor target, Tensor? weight=None, int reduction=Mean,
            SymInt ignore_index=-100) -> Tensor;
        /// [`nll_loss`](fn@nll_loss) for any number of dimensions after the classes.
        ///
        /// PyTorch: `torch.nn.functional.nll_loss`.
        nll_loss_nd(Tensor self, Tensor target, Tensor? weight=None, int reduction=Mean,
            SymInt ignore_index=-100) -> Tensor;
        /// [`nll_loss`](fn@nll_loss) for images of log-probabilities `[batch, classes, height, width]`.
        ///
        /// PyTorch: `aten::nll_loss2d`.
        nll_loss2d(Tensor self, Tensor target, Tensor? weight=None, int reduction=Mean,
            SymInt ignore_index=-100) -> Tensor;
        /// The operator behind [`nll_loss`](fn@nll_loss): the loss, and the sum of the weights that count.
        ///
        /// PyTorch: `aten::nll_loss_forward`.
        nll_loss_forward(Tensor self, Tensor target, Tensor? weight, int reduction,
            SymInt ignore_index) -> (Tensor output, Tensor total_weight);
        /// The operator behind [`nll_loss2d`](fn@nll_loss2d): the loss, and the sum of the weights that count.
        ///
        /// PyTorch: `aten::nll_loss2d_forward`.
        nll_loss2d_forward(Tensor self, Tensor target, Tensor? weight, int reduction,
            SymInt ignore_index) -> (Tensor output, Tensor total_weight);

        /// The cross entropy between logits and target classes, or target probabilities of the same sizes.
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
        /// The errors of [`nll_loss_nd`](fn@nll_loss_nd); a label smoothing above 1 (a negative one counts as none);
        /// for probabilities, an `ignore_index` that is not negative, integer dtypes.
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

        /// The connectionist temporal classification loss: how unlikely the target sequences are under
        /// log-probabilities `[time, batch, classes]`, summed over all alignments, in which blanks may stand between
        /// labels. Targets are `[batch, labels]`, or those of all examples concatenated. A mean divides each loss by
        /// its target's length first. With `zero_infinity`, infinite losses, of impossible alignments, count as zero.
        ///
        /// # Errors
        /// Lengths that do not match, targets that are not valid classes, or neither `int64` nor `int32`, a `blank`
        /// that is no class, dtypes other than `float32` and `float64`.
        ///
        /// PyTorch: `torch.nn.functional.ctc_loss`.
        ctc_loss.IntList(Tensor log_probs, Tensor targets, int[] input_lengths, int[] target_lengths,
            int blank=0, int reduction=Mean, bool zero_infinity=False) -> Tensor;
        /// [`ctc_loss_IntList`](fn@ctc_loss_IntList) with the lengths in tensors.
        ///
        /// PyTorch: `torch.nn.functional.ctc_loss`.
        ctc_loss.Tensor(Tensor log_probs, Tensor targets, Tensor input_lengths, Tensor target_lengths,
            int blank=0, int reduction=Mean, bool zero_infinity=False) -> Tensor;
        /// The operator behind [`ctc_loss_IntList`](fn@ctc_loss_IntList): the losses, and `log_alpha`, the logarithm
        /// of the probability of reaching each position of the target at each time.
        ///
        /// PyTorch: `aten::_ctc_loss`.
        _ctc_loss(Tensor log_probs, Tensor targets, int[] input_lengths, int[] target_lengths, int blank=0,
            bool zero_infinity=False) -> (Tensor, Tensor);
        /// [`_ctc_loss`](fn@_ctc_loss) with the lengths in tensors.
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
        /// [`_ctc_loss_backward`](fn@_ctc_loss_backward) with the lengths in tensors.
        ///
        /// PyTorch: `aten::_ctc_loss_backward`.
        _ctc_loss_backward.Tensor(Tensor grad, Tensor log_probs, Tensor targets, Tensor input_lengths,
            Tensor target_lengths, Tensor neg_log_likelihood, Tensor log_alpha, int blank,
            bool zero_infinity=False) -> Tensor;

        /// The squared error: the squares of the differences.
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
        /// # Errors
        /// Sizes that do not broadcast, dtypes that are not floating-point.
        ///
        /// PyTorch: `torch.nn.functional.mse_loss`.
        mse_loss(Tensor self, Tensor target, int reduction=Mean) -> Tensor;
        /// The absolute error: the magnitudes of the differences.
        ///
        /// # Errors
        /// Sizes that do not broadcast, integer dtypes for the mean.
        ///
        /// PyTorch: `torch.nn.functional.l1_loss`.
        l1_loss(Tensor self, Tensor target, int reduction=Mean) -> Tensor;
        /// [`l1_loss`], but quadratic where differences are below `beta`.
        ///
        /// # Errors
        /// A negative `beta`, sizes that do not broadcast, dtypes that are not floating-point.
        ///
        /// PyTorch: `torch.nn.functional.smooth_l1_loss`.
        smooth_l1_loss(Tensor self, Tensor target, int reduction=Mean, float beta=1.0) -> Tensor;
        /// Half of [`mse_loss`] where differences are below `delta`, and linear beyond.
        ///
        /// # Errors
        /// A `delta` that is not positive, sizes that do not broadcast, dtypes that are not floating-point.
        ///
        /// PyTorch: `torch.nn.functional.huber_loss`.
        huber_loss(Tensor self, Tensor target, int reduction=Mean, float delta=1.0) -> Tensor;
        /// The binary cross entropy between probabilities and target probabilities, for each element. Logarithms are
        /// clamped to at least -100.
        ///
        /// # Errors
        /// Elements outside of `[0, 1]` (NaN among them) in input or target, a target of another dtype.
        ///
        /// PyTorch: `torch.nn.functional.binary_cross_entropy`.
        binary_cross_entropy(Tensor self, Tensor target, Tensor? weight=None, int reduction=Mean) -> Tensor;
        /// The gradient of the input of [`binary_cross_entropy`].
        ///
        /// PyTorch: `aten::binary_cross_entropy_backward`.
        binary_cross_entropy_backward(Tensor grad_output, Tensor self, Tensor target, Tensor? weight=None,
            int reduction=Mean) -> Tensor;
        /// [`binary_cross_entropy`] of the sigmoid of the input, computed without overflow.
        ///
        /// PyTorch: `torch.nn.functional.binary_cross_entropy_with_logits`.
        binary_cross_entropy_with_logits(Tensor self, Tensor target, Tensor? weight=None,
            Tensor? pos_weight=None, int reduction=Mean) -> Tensor;
        /// The Kullback–Leibler divergence of log-probabilities from the target distribution.
        ///
        /// PyTorch: `torch.nn.functional.kl_div`.
        kl_div(Tensor self, Tensor target, int reduction=Mean, *, bool log_target=False) -> Tensor;
        /// The input where the target is 1, and `max(0, margin - input)` where it is -1.
        ///
        /// PyTorch: `torch.nn.functional.hinge_embedding_loss`.
        hinge_embedding_loss(Tensor self, Tensor target, float margin=1.0, int reduction=Mean) -> Tensor;
        /// The margin ranking loss: `max(0, -target * (input1 - input2) + margin)`, for targets of 1 or -1.
        ///
        /// PyTorch: `torch.nn.functional.margin_ranking_loss`.
        margin_ranking_loss(Tensor input1, Tensor input2, Tensor target, float margin=0.0,
            int reduction=Mean) -> Tensor;
        /// `1 - cos(input1, input2)` where the target is 1, and `max(0, cos(input1, input2) - margin)` where it is -1.
        ///
        /// PyTorch: `torch.nn.functional.cosine_embedding_loss`.
        cosine_embedding_loss(Tensor input1, Tensor input2, Tensor target, float margin=0.0,
            int reduction=Mean) -> Tensor;
        /// The triplet margin loss: `max(d(anchor, positive) - d(anchor, negative) + margin, 0)`, where `d` is the
        /// distance of order `p`.
        ///
        /// # Errors
        /// Different numbers of dimensions.
        ///
        /// PyTorch: `torch.nn.functional.triplet_margin_loss`.
        triplet_margin_loss(Tensor anchor, Tensor positive, Tensor negative, float margin=1., float p=2.,
            float eps=1e-06, bool swap=False, int reduction=1) -> Tensor;
        /// The multi-class margin loss of scores `[n, classes]` or `[classes]`: by how much the scores of the other
        /// classes come within `margin` of that of the target class, to the power of `p`, summed and divided by the
        /// number of classes. `weight` has a factor for each target class.
        ///
        /// # Errors
        /// A `p` other than 1 and 2, targets that are not valid classes or not one for each row, a weight that does not
        /// have one element for each class, dtypes other than `float32` and `float64`.
        ///
        /// PyTorch: `torch.nn.functional.multi_margin_loss`.
        multi_margin_loss(Tensor self, Tensor target, Scalar p=1, Scalar margin=1, Tensor? weight=None,
            int reduction=Mean) -> Tensor;
        /// The gradient of the scores of [`multi_margin_loss`](fn@multi_margin_loss).
        ///
        /// # Errors
        /// The errors of the loss; a gradient whose sizes are not those of the loss.
        ///
        /// PyTorch: `aten::multi_margin_loss_backward`.
        multi_margin_loss_backward(Tensor grad_output, Tensor self, Tensor target, Scalar p, Scalar margin,
            Tensor? weight=None, int reduction=Mean) -> Tensor;
        /// The soft margin loss: `log(1 + exp(-target * input))`, for targets of 1 or -1.
        ///
        /// PyTorch: `torch.nn.functional.soft_margin_loss`.
        soft_margin_loss(Tensor self, Tensor target, int reduction=Mean) -> Tensor;
        /// The negative log likelihood of counts under a Poisson distribution with the rate `input`, or `exp(input)` if
        /// `log_input`.
        ///
        /// PyTorch: `torch.nn.functional.poisson_nll_loss`.
        poisson_nll_loss(Tensor input, Tensor target, bool log_input, bool full, float eps, int reduction) -> Tensor;

        /// The multi-label margin loss of scores `[n, classes]` or `[classes]`: by how much the scores of wrong classes
        /// come within 1 of those of the target classes, summed over all pairs and divided by the number of classes. A
        /// row of targets lists classes, up to the first -1.
        ///
        /// # Errors
        /// Targets that are not valid classes, or not of the sizes of the scores; dtypes other than `float32` and
        /// `float64`.
        ///
        /// PyTorch: `torch.nn.functional.multilabel_margin_loss`.
        multilabel_margin_loss(Tensor self, Tensor target, int reduction=Mean) -> Tensor;
        /// The operator behind [`multilabel_margin_loss`](fn@multilabel_margin_loss): the loss, and a mask with 1 for
        /// each target class.
        ///
        /// # Errors
        /// The errors of [`multilabel_margin_loss`](fn@multilabel_margin_loss).
        ///
        /// PyTorch: `aten::multilabel_margin_loss_forward`.
        multilabel_margin_loss_forward(Tensor self, Tensor target, int reduction) -> (Tensor output, Tensor is_target);
        /// The gradient of the scores of [`multilabel_margin_loss`](fn@multilabel_margin_loss).
        ///
        /// # Errors
        /// The errors of the loss; a gradient whose sizes are not those of the loss, an `is_target` of other sizes or
        /// of another dtype.
        ///
        /// PyTorch: `aten::multilabel_margin_loss_backward`.
        multilabel_margin_loss_backward(Tensor grad_output, Tensor self, Tensor target, int reduction,
            Tensor is_target) -> Tensor;

        /// The gradient of the input of [`mse_loss`](fn@mse_loss), in the dtype and memory layout of the input.
        ///
        /// # Errors
        /// An input to whose dtype the common dtype cannot be cast, boolean and complex dtypes.
        ///
        /// PyTorch: `aten::mse_loss_backward`.
        mse_loss_backward(Tensor grad_output, Tensor self, Tensor target, int reduction) -> Tensor;
        /// The gradient of the input of [`smooth_l1_loss`](fn@smooth_l1_loss), in the dtype and memory layout of the
        /// input.
        ///
        /// # Errors
        /// The errors of [`mse_loss_backward`](fn@mse_loss_backward).
        ///
        /// PyTorch: `aten::smooth_l1_loss_backward`.
        smooth_l1_loss_backward(Tensor grad_output, Tensor self, Tensor target, int reduction, float beta) -> Tensor;
        /// The gradient of the input of [`huber_loss`](fn@huber_loss).
        ///
        /// # Errors
        /// Tensors of different dtypes, dtypes that are not floating-point.
        ///
        /// PyTorch: `aten::huber_loss_backward`.
        huber_loss_backward(Tensor grad_output, Tensor self, Tensor target, int reduction, float delta) -> Tensor;
        /// The gradient of the input of [`soft_margin_loss`](fn@soft_margin_loss), in the dtype and memory layout of
        /// the input.
        ///
        /// # Errors
        /// A gradient that does not broadcast to the sizes of input and target; those of
        /// [`mse_loss_backward`](fn@mse_loss_backward), and integer dtypes.
        ///
        /// PyTorch: `aten::soft_margin_loss_backward`.
        soft_margin_loss_backward(Tensor grad_output, Tensor self, Tensor target, int reduction) -> Tensor;
    }
}
