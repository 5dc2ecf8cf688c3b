//! Reductions that the backend on wgpu makes of sums: whether all or any of a row are true.

use torch_library::prelude::*;
use torch_library_kernels::aten;

use crate::call::{Cuda, kernels};

kernels! {
    torch_library_gpu::reduce::reduction::<Cuda>: all all_dim all_dims any any_dim any_dims;
}
