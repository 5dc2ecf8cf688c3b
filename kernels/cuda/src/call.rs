//! The implementation of [`GpuBackend`] for the shared kernels.

use torch_library::prelude::*;
use torch_library::{DeviceType, Storage};
use torch_library_gpu::GpuBackend;
use torch_library_kernels::aten;

use crate::kernel::{Kernel, c_type};
use crate::memory::Memory;
use crate::{copy, gpu};

torch_library_gpu::shared_kernels!(Cuda, CUDA);

/// The backend.
pub(crate) struct Cuda;

impl GpuBackend for Cuda {
    type Builder = Kernel;

    const DEVICE: DeviceType = DeviceType::Cuda;
    const KEY: DispatchKey = DispatchKey::CUDA;
    const LARGEST: i64 = i64::MAX;

    fn computes(dtype: DType) -> bool {
        c_type(dtype).is_some()
    }

    fn moves(dtype: DType) -> bool {
        c_type(dtype).is_some()
    }

    /// CUDA C has no types for elements of other dtypes.
    fn reaches(tensor: &Tensor) -> bool {
        c_type(tensor.dtype()).is_some()
    }

    fn memory(nbytes: usize, index: u8) -> Result<Storage> {
        Ok(Storage::new(Memory::allocate(&gpu::opened(index)?, nbytes, false)?))
    }

    fn copy(to: &Tensor, from: &Tensor) -> Result<bool> {
        copy::copy(to, from)
    }
}

/// Registers kernels of this backend's own.
macro_rules! kernels {
    ($($rest:tt)+) => { torch_library_gpu::kernels! { $crate::call::Cuda, CUDA; $($rest)+ } };
}
pub(crate) use kernels;
