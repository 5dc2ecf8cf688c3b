//! Fake quantisation: tensors rounded to the numbers that a quantised tensor can hold, and observers of their ranges.

use torch_library::torch_library;

torch_library! {
    /// Fake quantisation.
    pub mod aten extends "aten" {
        /// The numbers that remain of a tensor that is quantised and dequantised: `round(x / scale) + zero_point`,
        /// clamped to `quant_min ..= quant_max`, then moved and scaled back. The gradient is that of the identity where
        /// nothing was clamped, and zero elsewhere.
        ///
        /// # Errors
        /// A tensor that is not floating-point, bounds in the wrong order, a zero point outside of the bounds.
        ///
        /// PyTorch: `torch.fake_quantize_per_tensor_affine`.
        fake_quantize_per_tensor_affine(Tensor self, float scale, int zero_point, int quant_min,
            int quant_max) -> Tensor;
        /// The operator behind [`fake_quantize_per_tensor_affine`](fn@fake_quantize_per_tensor_affine): also says which
        /// elements were not clamped.
        ///
        /// PyTorch: `aten::fake_quantize_per_tensor_affine_cachemask`.
        fake_quantize_per_tensor_affine_cachemask(Tensor self, float scale, int zero_point, int quant_min,
            int quant_max) -> (Tensor output, Tensor mask);
        /// The gradient of [`fake_quantize_per_tensor_affine_cachemask`](fn@fake_quantize_per_tensor_affine_cachemask).
        ///
        /// PyTorch: `aten::fake_quantize_per_tensor_affine_cachemask_backward`.
        fake_quantize_per_tensor_affine_cachemask_backward(Tensor grad, Tensor mask) -> Tensor;
        /// [`fake_quantize_per_tensor_affine`](fn@fake_quantize_per_tensor_affine) with a scale and a zero point for
        /// each slice along `axis`.
        ///
        /// # Errors
        /// Those of [`fake_quantize_per_tensor_affine`](fn@fake_quantize_per_tensor_affine); an axis out of range,
        /// parameters that are not a vector with one number for each slice.
        ///
        /// PyTorch: `torch.fake_quantize_per_channel_affine`.
        fake_quantize_per_channel_affine(Tensor self, Tensor scale, Tensor zero_point, int axis, int quant_min,
            int quant_max) -> Tensor;
        /// The operator behind [`fake_quantize_per_channel_affine`](fn@fake_quantize_per_channel_affine): also says
        /// which elements were not clamped.
        ///
        /// PyTorch: `aten::fake_quantize_per_channel_affine_cachemask`.
        fake_quantize_per_channel_affine_cachemask(Tensor self, Tensor scale, Tensor zero_point, int axis,
            int quant_min, int quant_max) -> (Tensor output, Tensor mask);
        /// The gradient of
        /// [`fake_quantize_per_channel_affine_cachemask`](fn@fake_quantize_per_channel_affine_cachemask).
        ///
        /// PyTorch: `aten::fake_quantize_per_channel_affine_cachemask_backward`.
        fake_quantize_per_channel_affine_cachemask_backward(Tensor grad, Tensor mask) -> Tensor;
        /// [`fake_quantize_per_tensor_affine`](fn@fake_quantize_per_tensor_affine) with the scale and the zero point in
        /// tensors of one element. The zero point may be outside of the bounds.
        ///
        /// # Errors
        /// A tensor that is not floating-point, bounds in the wrong order, parameters of several elements.
        ///
        /// PyTorch: `torch.fake_quantize_per_tensor_affine`.
        fake_quantize_per_tensor_affine.tensor_qparams(Tensor self, Tensor scale, Tensor zero_point, int quant_min,
            int quant_max) -> Tensor;
        /// The operator behind
        /// [`fake_quantize_per_tensor_affine_tensor_qparams`](fn@fake_quantize_per_tensor_affine_tensor_qparams): also
        /// says which elements were not clamped. If `fake_quant_enabled` is zero, nothing is quantised.
        ///
        /// PyTorch: `aten::_fake_quantize_per_tensor_affine_cachemask_tensor_qparams`.
        _fake_quantize_per_tensor_affine_cachemask_tensor_qparams(Tensor self, Tensor scale, Tensor zero_point,
            Tensor fake_quant_enabled, int quant_min, int quant_max) -> (Tensor output, Tensor mask);
        /// [`fake_quantize_per_tensor_affine`](fn@fake_quantize_per_tensor_affine) with a scale and a zero point that
        /// are learned: they have gradients, which are multiplied by `grad_factor`. The zero point is rounded and
        /// clamped to the bounds.
        ///
        /// # Errors
        /// A tensor that is not floating-point, bounds in the wrong order, parameters without elements.
        ///
        /// PyTorch: `torch._fake_quantize_learnable_per_tensor_affine`.
        #[variants(out)]
        _fake_quantize_learnable_per_tensor_affine(Tensor self, Tensor scale, Tensor zero_point, int quant_min,
            int quant_max, float grad_factor=1.) -> Tensor;
        /// The gradients of
        /// [`_fake_quantize_learnable_per_tensor_affine`](fn@_fake_quantize_learnable_per_tensor_affine).
        ///
        /// # Errors
        /// Tensors that are not `float32`, a gradient of other sizes.
        ///
        /// PyTorch: `torch._fake_quantize_learnable_per_tensor_affine_backward`.
        _fake_quantize_learnable_per_tensor_affine_backward(Tensor grad, Tensor self, Tensor scale,
            Tensor zero_point, int quant_min, int quant_max,
            float grad_factor=1.) -> (Tensor, Tensor, Tensor);
        /// [`_fake_quantize_learnable_per_tensor_affine`](fn@_fake_quantize_learnable_per_tensor_affine) with a scale
        /// and a zero point for each slice along `axis`.
        ///
        /// # Errors
        /// A tensor that is not floating-point, bounds in the wrong order, an axis out of range, parameters that are
        /// not a vector with one number for each slice.
        ///
        /// PyTorch: `torch._fake_quantize_learnable_per_channel_affine`.
        #[variants(out)]
        _fake_quantize_learnable_per_channel_affine(Tensor self, Tensor scale, Tensor zero_point, int axis,
            int quant_min, int quant_max, float grad_factor=1.) -> Tensor;
        /// The gradients of
        /// [`_fake_quantize_learnable_per_channel_affine`](fn@_fake_quantize_learnable_per_channel_affine).
        ///
        /// # Errors
        /// Tensors that are not `float32`, a gradient of other sizes; the errors of
        /// [`_fake_quantize_learnable_per_channel_affine`](fn@_fake_quantize_learnable_per_channel_affine).
        ///
        /// PyTorch: `torch._fake_quantize_learnable_per_channel_affine_backward`.
        _fake_quantize_learnable_per_channel_affine_backward(Tensor grad, Tensor self, Tensor scale,
            Tensor zero_point, int axis, int quant_min, int quant_max,
            float grad_factor=1.) -> (Tensor, Tensor, Tensor);
        /// Fake quantisation with a scale and a zero point that follow the range of the elements, or, with
        /// `per_row_fake_quant`, of each row. If `observer_on` is not zero, the range `running_min` to `running_max`
        /// moves towards that of this tensor by a share of `averaging_const`. If `fake_quant_on` is not zero, `scale`
        /// and `zero_point` are computed from the range, and the tensor is quantised and dequantised.
        ///
        /// # Errors
        /// A tensor that is not `float32`, bounds in the wrong order, a `ch_axis` other than 0 for rows, parameters of
        /// other lengths.
        ///
        /// PyTorch: `torch.fused_moving_avg_obs_fake_quant`.
        fused_moving_avg_obs_fake_quant(Tensor self, Tensor observer_on, Tensor fake_quant_on,
            Tensor(a!) running_min, Tensor(b!) running_max, Tensor(c!) scale, Tensor(d!) zero_point,
            float averaging_const, int quant_min, int quant_max, int ch_axis, bool per_row_fake_quant=False,
            bool symmetric_quant=False) -> Tensor;
        /// The operator behind [`fused_moving_avg_obs_fake_quant`](fn@fused_moving_avg_obs_fake_quant): also says which
        /// elements were not clamped.
        ///
        /// # Errors
        /// The errors of [`fused_moving_avg_obs_fake_quant`](fn@fused_moving_avg_obs_fake_quant); no elements.
        ///
        /// PyTorch: `aten::_fused_moving_avg_obs_fq_helper`.
        _fused_moving_avg_obs_fq_helper(Tensor self, Tensor observer_on, Tensor fake_quant_on,
            Tensor(a!) running_min, Tensor(b!) running_max, Tensor(c!) scale, Tensor(d!) zero_point,
            float averaging_const, int quant_min, int quant_max, int ch_axis, bool per_row_fake_quant=False,
            bool symmetric_quant=False) -> (Tensor output, Tensor mask);
        /// The functional form of [`_fused_moving_avg_obs_fq_helper`](fn@_fused_moving_avg_obs_fq_helper): it returns
        /// the range, the scale and the zero point, and writes to no argument.
        ///
        /// PyTorch: `aten::_fused_moving_avg_obs_fq_helper_functional`.
        _fused_moving_avg_obs_fq_helper_functional(Tensor self, Tensor observer_on, Tensor fake_quant_on,
            Tensor running_min, Tensor running_max, Tensor scale, Tensor zero_point, float averaging_const,
            int quant_min, int quant_max, int ch_axis, bool per_row_fake_quant=False,
            bool symmetric_quant=False) -> (Tensor output, Tensor mask, Tensor running_min_out,
            Tensor running_max_out, Tensor scale_out, Tensor zero_point_out);

        /// The scale and the zero point with which the integers from 0 to 255, or to 127 with `reduce_range`, represent
        /// the range of the elements and zero.
        ///
        /// ```
        /// use torch_library::prelude::*;
        /// use torch_library_kernels::aten;
        ///
        /// let x = Tensor::from([-1.0f32, 0.0, 4.1]);
        /// let (scale, zero_point) = aten::_choose_qparams_per_tensor(&x)?;
        /// assert!((scale - 5.1 / 255.0).abs() < 1e-8);
        /// assert_eq!(zero_point, 50);
        /// # Ok::<(), Error>(())
        /// ```
        ///
        /// # Errors
        /// A tensor without elements, complex numbers, NaN.
        ///
        /// PyTorch: `torch._choose_qparams_per_tensor`.
        _choose_qparams_per_tensor(Tensor self, bool reduce_range=False) -> (float, int);
        /// The largest and the least number of a range that represents the first `numel` elements in `bit_width` bits
        /// with a small error. The range of the elements is narrowed step by step, each step one of `n_bins`, at the
        /// end where the error is less after it, until a share of `ratio` is cut off. Of the ranges that a step at
        /// either end makes worse, the result is the one with the least error; if there is none, the whole range. The
        /// error is that of numbers with a scale and a least number in `float16`.
        ///
        /// # Errors
        /// A dtype other than `float32`, no elements, a `numel` that is negative or more than there are, negative
        /// `n_bins`, a `bit_width` outside of 1 to 31.
        ///
        /// PyTorch: `torch.choose_qparams_optimized`.
        choose_qparams_optimized(Tensor input, int numel, int n_bins, float ratio, int bit_width) -> (Tensor, Tensor);
    }
}
