//! The implementation of [`GpuBackend`] for the shared kernels.

use torch_library::prelude::*;
use torch_library::{DeviceType, Storage};
use torch_library_gpu::{GpuBackend, Kernel, Returns};
use torch_library_kernels::aten;

use crate::memory::{Memory, WORD};
use crate::shader::{Shader, words};
use crate::{copy, gpu, halves, pointwise};

torch_library_gpu::shared_kernels!(Wgpu, PrivateUse2);

/// The backend.
pub(crate) struct Wgpu;

impl GpuBackend for Wgpu {
    type Builder = Shader;

    const DEVICE: DeviceType = DeviceType::PrivateUse2;
    const KEY: DispatchKey = DispatchKey::PrivateUse2;
    const LARGEST: i64 = i32::MAX as i64;

    fn computes(dtype: DType) -> bool {
        is_native(dtype)
    }

    fn moves(dtype: DType) -> bool {
        dtype.size().is_multiple_of(WORD)
    }

    fn pieces(dtype: DType) -> i64 {
        words(dtype)
    }

    fn reaches(tensor: &Tensor) -> bool {
        is_small(tensor)
    }

    fn memory(nbytes: usize, index: u8) -> Result<Storage> {
        Ok(Storage::new(Memory::allocate(&gpu::opened(index)?, nbytes, false)?))
    }

    fn copy(to: &Tensor, from: &Tensor) -> Result<bool> {
        copy::copy(to, from)
    }

    fn converted(tensor: &Tensor, dtype: DType) -> Result<Option<Tensor>> {
        pointwise::of_type(tensor, dtype)
    }

    fn otherwise<R: Returns>(
        kernel: Kernel<R>,
        operator: OperatorHandle,
        arguments: &[Value<'_>],
    ) -> Result<Option<R>> {
        halves::run(kernel, operator, arguments)
    }
}

/// Whether kernels can compute with a type.
pub(crate) fn is_native(dtype: DType) -> bool {
    matches!(dtype, DType::Float32 | DType::Int32 | DType::Bool)
}

pub(crate) fn is_here(tensor: &Tensor) -> bool {
    tensor.device().kind == Wgpu::DEVICE
}

/// Whether indices into a tensor's memory fit into 32 bits, with room for sums of two.
pub(crate) fn is_small(tensor: &Tensor) -> bool {
    tensor.storage().nbytes() < 1 << 31 && tensor.numel() < 1 << 30
}

/// Registers kernels of this backend's own.
macro_rules! kernels {
    ($($rest:tt)+) => { torch_library_gpu::kernels! { $crate::call::Wgpu, PrivateUse2; $($rest)+ } };
}
pub(crate) use kernels;
