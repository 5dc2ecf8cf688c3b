//! Sampling of images and volumes at the points of a grid, and affine grids.

use torch_library::torch_library;

torch_library! {
    /// Sampling.
    #[kernels_in(torch_library_nn)]
    pub mod aten extends "aten" {
        /// The sampling grid of affine maps, for [`grid_sampler`](fn@grid_sampler): `theta` is `[batch, 2, 3]` for
        /// images of sizes `[batch, channels, h, w]`, `[batch, 3, 4]` for volumes `[batch, channels, d, h, w]`. The
        /// grid has a location in the input for each point of the result, x first, from -1 to 1 in each dimension. -1
        /// and 1 are the centres of the corner pixels with `align_corners`, else their outer edges.
        ///
        /// ```
        /// use torch_library::prelude::*;
        /// use torch_library_kernels::aten;
        ///
        /// let mirrored = Tensor::from([[[-1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]]);
        /// let grid = aten::affine_grid_generator(&mirrored, &[1, 1, 1, 2], true)?;
        /// assert_eq!(grid.sizes(), [1, 1, 2, 2]);
        /// assert_eq!(grid.to_vec::<f64>()?, [1.0, 0.0, -1.0, 0.0]);
        /// # Ok::<(), Error>(())
        /// ```
        ///
        /// # Errors
        /// Other sizes, a boolean dtype.
        ///
        /// PyTorch: `torch.nn.functional.affine_grid`.
        #[variants(function)]
        affine_grid_generator(Tensor theta, SymInt[] size, bool align_corners) -> Tensor;
        /// The gradient of `theta` in [`affine_grid_generator`](fn@affine_grid_generator).
        ///
        /// # Errors
        /// A gradient whose sizes are not those of the grid.
        ///
        /// PyTorch: `aten::affine_grid_generator_backward`.
        #[variants(function)]
        affine_grid_generator_backward(Tensor grad, SymInt[] size, bool align_corners) -> Tensor;
        /// Samples images `[batch, channels, h, w]` at the points of a grid `[batch, h', w', 2]`, whose coordinates (x,
        /// then y) range from -1 to 1. `interpolation_mode` is 0 for bilinear, 1 for nearest, 2 for bicubic;
        /// `padding_mode`, for points outside, is 0 for zeros, 1 for the border, 2 for reflection. -1 and 1 are the
        /// centres of the corner pixels with `align_corners`, else their outer edges.
        ///
        /// ```
        /// use torch_library::prelude::*;
        /// use torch_library_kernels::aten;
        ///
        /// let image = Tensor::from([[[[0.0, 1.0], [2.0, 3.0]]]]);
        /// let grid = Tensor::from([[[[-1.0, -1.0], [0.0, 0.0], [0.0, 1.0]]]]);
        /// let points = aten::grid_sampler_2d(&image, &grid, 0, 0, true)?;
        /// assert_eq!(points.to_vec::<f64>()?, [0.0, 1.5, 2.5]);
        /// # Ok::<(), Error>(())
        /// ```
        ///
        /// # Errors
        /// Other sizes, different dtypes or one that is not floating-point, another mode.
        ///
        /// PyTorch: `torch.nn.functional.grid_sample`.
        grid_sampler_2d(Tensor input, Tensor grid, int interpolation_mode, int padding_mode,
            bool align_corners) -> Tensor;
        /// The gradients of the grid of [`grid_sampler_2d`](fn@grid_sampler_2d), and of its input, if the output mask
        /// asks for it.
        ///
        /// # Errors
        /// The errors of [`grid_sampler_2d`](fn@grid_sampler_2d); a gradient of other sizes than the result.
        ///
        /// PyTorch: `aten::grid_sampler_2d_backward`.
        grid_sampler_2d_backward(Tensor grad_output, Tensor input, Tensor grid, int interpolation_mode,
            int padding_mode, bool align_corners, bool[2] output_mask) -> (Tensor, Tensor);
        /// Computes the same as [`grid_sampler_2d`](fn@grid_sampler_2d).
        ///
        /// # Errors
        /// The errors of [`grid_sampler_2d`](fn@grid_sampler_2d).
        ///
        /// PyTorch: `aten::_grid_sampler_2d_cpu_fallback`.
        _grid_sampler_2d_cpu_fallback(Tensor input, Tensor grid, int interpolation_mode, int padding_mode,
            bool align_corners) -> Tensor;
        /// Like [`grid_sampler_2d_backward`](fn@grid_sampler_2d_backward); it always returns both gradients.
        ///
        /// # Errors
        /// The errors of [`grid_sampler_2d_backward`](fn@grid_sampler_2d_backward).
        ///
        /// PyTorch: `aten::_grid_sampler_2d_cpu_fallback_backward`.
        _grid_sampler_2d_cpu_fallback_backward(Tensor grad_output, Tensor input, Tensor grid,
            int interpolation_mode, int padding_mode, bool align_corners) -> (Tensor, Tensor);
        /// Samples volumes `[batch, channels, d, h, w]` at the points of a grid `[batch, d', h', w', 3]` of coordinates
        /// x, y and z, like [`grid_sampler_2d`](fn@grid_sampler_2d).
        ///
        /// # Errors
        /// The errors of [`grid_sampler_2d`](fn@grid_sampler_2d).
        ///
        /// PyTorch: `torch.nn.functional.grid_sample`.
        grid_sampler_3d(Tensor input, Tensor grid, int interpolation_mode, int padding_mode,
            bool align_corners) -> Tensor;
        /// The gradients of the grid of [`grid_sampler_3d`](fn@grid_sampler_3d), and of its input, if the output mask
        /// asks for it.
        ///
        /// # Errors
        /// The errors of [`grid_sampler_3d`](fn@grid_sampler_3d); a gradient of other sizes than the result.
        ///
        /// PyTorch: `aten::grid_sampler_3d_backward`.
        grid_sampler_3d_backward(Tensor grad_output, Tensor input, Tensor grid, int interpolation_mode,
            int padding_mode, bool align_corners, bool[2] output_mask) -> (Tensor, Tensor);
        /// [`grid_sampler_2d`](fn@grid_sampler_2d) or [`grid_sampler_3d`](fn@grid_sampler_3d), depending on the number
        /// of dimensions.
        ///
        /// # Errors
        /// The errors of these operators.
        ///
        /// PyTorch: `torch.nn.functional.grid_sample`.
        grid_sampler(Tensor input, Tensor grid, int interpolation_mode, int padding_mode, bool align_corners) -> Tensor;
    }
}
