//! Operators on images and bags of rows that are made of others: resizing, windows as columns, sampling at points, instance norm.

use torch_library::torch_library;

torch_library! {
    /// Images and bags, on top of what was declared before.
    pub mod aten extends super::order::aten {
        /// The sum (mode 0), mean (1) or maximum (2) of the rows of each bag; a bag starts at each offset into the
        /// indices. The bag of each index, the sizes of the bags and the rows of the maxima follow, as far as the mode
        /// has them.
        ///
        /// # Errors
        /// Indices or offsets that are no vectors of whole numbers, a first offset other than 0, weights of samples
        /// with another mode than the sum.
        ///
        /// PyTorch: `torch.nn.functional.embedding_bag`.
        embedding_bag(Tensor weight, Tensor indices, Tensor offsets, bool scale_grad_by_freq=False, int mode=0, bool sparse=False, Tensor? per_sample_weights=None, bool include_last_offset=False) -> (Tensor, Tensor, Tensor, Tensor);
        /// As [`embedding_bag`](fn@embedding_bag), without the row `padding_idx`.
        ///
        /// # Errors
        /// As [`embedding_bag`](fn@embedding_bag).
        ///
        /// PyTorch: `torch.nn.functional.embedding_bag`.
        embedding_bag.padding_idx(Tensor weight, Tensor indices, Tensor offsets, bool scale_grad_by_freq, int mode, bool sparse, Tensor? per_sample_weights, bool include_last_offset, int? padding_idx) -> (Tensor, Tensor, Tensor, Tensor);
        /// Each channel of each example with mean 0 and variance 1, or by running statistics, which are updated.
        ///
        /// # Errors
        /// Fewer than two dimensions, vectors that are not one number for each channel.
        ///
        /// PyTorch: `torch.nn.functional.instance_norm`.
        instance_norm(Tensor input, Tensor? weight, Tensor? bias, Tensor? running_mean, Tensor? running_var, bool use_input_stats, float momentum, float eps, bool cudnn_enabled) -> Tensor;

        /// Signals `[batch, channels, length]` of another length, each sample the nearest one.
        ///
        /// # Errors
        /// Other dimensions, no samples.
        ///
        /// PyTorch: `torch.nn.functional.interpolate`.
        upsample_nearest1d(Tensor self, SymInt[1] output_size, float? scales=None) -> Tensor;
        /// As [`upsample_nearest1d`](fn@upsample_nearest1d), by length or by factor.
        ///
        /// # Errors
        /// Both or neither.
        ///
        /// PyTorch: `torch.nn.functional.interpolate`.
        upsample_nearest1d.vec(Tensor input, SymInt[]? output_size, float[]? scale_factors) -> Tensor;
        /// Signals `[batch, channels, length]` of another length, each sample between two.
        ///
        /// # Errors
        /// Other dimensions, no samples, integers.
        ///
        /// PyTorch: `torch.nn.functional.interpolate`.
        upsample_linear1d(Tensor self, SymInt[1] output_size, bool align_corners, float? scales=None) -> Tensor;
        /// As [`upsample_linear1d`](fn@upsample_linear1d), by length or by factor.
        ///
        /// # Errors
        /// Both or neither.
        ///
        /// PyTorch: `torch.nn.functional.interpolate`.
        upsample_linear1d.vec(Tensor input, SymInt[]? output_size, bool align_corners, float[]? scale_factors) -> Tensor;
        /// As [`upsample_nearest2d`](fn@upsample_nearest2d), by sizes or by factors.
        ///
        /// # Errors
        /// Both or neither.
        ///
        /// PyTorch: `torch.nn.functional.interpolate`.
        upsample_nearest2d.vec(Tensor input, SymInt[]? output_size, float[]? scale_factors) -> Tensor;
        /// As [`upsample_bilinear2d`](fn@upsample_bilinear2d), by sizes or by factors.
        ///
        /// # Errors
        /// Both or neither.
        ///
        /// PyTorch: `torch.nn.functional.interpolate`.
        upsample_bilinear2d.vec(Tensor input, SymInt[]? output_size, bool align_corners, float[]? scale_factors) -> Tensor;

        /// The windows of images as columns: `[batch, channels · kernel, windows]`.
        ///
        /// # Errors
        /// Other dimensions than three or four, windows that fit nowhere.
        ///
        /// PyTorch: `torch.nn.functional.unfold`.
        im2col(Tensor self, int[2] kernel_size, int[2] dilation, int[2] padding, int[2] stride) -> Tensor;
        /// Images from windows as columns; where windows overlap, their pixels add up.
        ///
        /// # Errors
        /// Another number of columns or rows than the sizes ask for.
        ///
        /// PyTorch: `torch.nn.functional.fold`.
        col2im(Tensor self, SymInt[2] output_size, int[2] kernel_size, int[2] dilation, int[2] padding, int[2] stride) -> Tensor;
        /// The means of windows of signals.
        ///
        /// # Errors
        /// As [`avg_pool2d`](fn@avg_pool2d).
        ///
        /// PyTorch: `torch.nn.functional.avg_pool1d`.
        avg_pool1d(Tensor self, int[1] kernel_size, int[1] stride=[], int[1] padding=0, bool ceil_mode=False, bool count_include_pad=True) -> Tensor;
        /// The maxima of windows of signals.
        ///
        /// # Errors
        /// As [`max_pool2d`](fn@max_pool2d).
        ///
        /// PyTorch: `torch.nn.functional.max_pool1d`.
        max_pool1d(Tensor self, int[1] kernel_size, int[1] stride=[], int[1] padding=0, int[1] dilation=1, bool ceil_mode=False) -> Tensor;
        /// The means of so many windows that cover signals.
        ///
        /// # Errors
        /// As [`adaptive_avg_pool2d`](fn@adaptive_avg_pool2d).
        ///
        /// PyTorch: `torch.nn.functional.adaptive_avg_pool1d`.
        adaptive_avg_pool1d(Tensor self, int[1] output_size) -> Tensor;
        /// Images `[batch, channels, h, w]` at the points of a grid `[batch, h', w', 2]`, whose coordinates (x, then y)
        /// go from -1 to 1: between pixels (mode 0) or the nearest (1); outside, zeros (0), the border (1) or the
        /// reflection (2).
        ///
        /// # Errors
        /// Other sizes, two types, another mode.
        ///
        /// PyTorch: `torch.nn.functional.grid_sample`.
        grid_sampler_2d(Tensor input, Tensor grid, int interpolation_mode, int padding_mode, bool align_corners) -> Tensor;
        /// [`grid_sampler_2d`](fn@grid_sampler_2d) for four dimensions.
        ///
        /// # Errors
        /// As there, five dimensions.
        ///
        /// PyTorch: `torch.nn.functional.grid_sample`.
        grid_sampler(Tensor input, Tensor grid, int interpolation_mode, int padding_mode, bool align_corners) -> Tensor;
    }
}
