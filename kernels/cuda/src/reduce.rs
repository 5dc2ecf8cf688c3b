//! `all` and `any`, which the wgpu backend computes by counting.

use torch_library::prelude::*;
use torch_library_kernels::aten;

use crate::call::{Cuda, kernels};

kernels! {
    torch_library_gpu::reduce::reduction::<Cuda>: all all_dim all_dims any any_dim any_dims;
}
