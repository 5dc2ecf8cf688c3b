//! Derivatives of sampling images and volumes at the points of a grid (`grid_sampler`).

use torch_library::derivatives;

use crate::aten;
use second::Sampling;

mod second;

derivatives! {
    in aten;

    affine_grid_generator(
        Tensor theta, SymInt[] size, bool align_corners
    ) -> Tensor as AffineGridGeneratorBackward0 {
        theta => aten::affine_grid_generator_backward(grad, size, align_corners),
    }

    grid_sampler_2d(
        Tensor input, Tensor grid, int interpolation_mode, int padding_mode, bool align_corners
    ) -> Tensor as GridSampler2DBackward0 {
        (input, grid) => aten::grid_sampler_2d_backward(
            grad, input, grid, interpolation_mode, padding_mode, align_corners, &mask,
        ),
    }
    grid_sampler_2d_backward(
        Tensor grad_output, Tensor input, Tensor grid, int interpolation_mode, int padding_mode, bool align_corners,
        bool[2] output_mask
    ) -> (Tensor, Tensor) as GridSampler2DBackwardBackward0 {
        (grad_output, input, grid) => {
            let sampling = Sampling { input, grid, interpolation_mode, padding_mode, align_corners };
            sampling.second(grads, grad_output, mask)
        },
    }
    _grid_sampler_2d_cpu_fallback(
        Tensor input, Tensor grid, int interpolation_mode, int padding_mode, bool align_corners
    ) -> Tensor as GridSampler2DCpuFallbackBackward0 {
        (input, grid) => aten::_grid_sampler_2d_cpu_fallback_backward(
            grad, input, grid, interpolation_mode, padding_mode, align_corners,
        ),
    }
    grid_sampler_3d(
        Tensor input, Tensor grid, int interpolation_mode, int padding_mode, bool align_corners
    ) -> Tensor as GridSampler3DBackward0 {
        (input, grid) => aten::grid_sampler_3d_backward(
            grad, input, grid, interpolation_mode, padding_mode, align_corners, &mask,
        ),
    }
    grid_sampler_3d_backward(
        Tensor grad_output, Tensor input, Tensor grid, int interpolation_mode, int padding_mode, bool align_corners,
        bool[2] output_mask
    ) -> (Tensor, Tensor) as GridSampler3DBackwardBackward0 {
        (grad_output, input, grid) => {
            let sampling = Sampling { input, grid, interpolation_mode, padding_mode, align_corners };
            sampling.second(grads, grad_output, mask)
        },
    }
}
