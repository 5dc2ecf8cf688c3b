//! The interface that a GPU backend implements: memory, copies, and kernels in its language.

use torch_library::DeviceType;
use torch_library::Storage;
use torch_library::prelude::*;
use torch_library_kernels::aten;

use crate::kernel::KernelBuilder;
use crate::language::Language;
use crate::returns::Returns;

/// A kernel for a boxed call; it returns `None` if it does not support the arguments.
pub type Kernel<R> = fn(OperatorHandle, &[Value<'_>]) -> Result<Option<R>>;

/// A backend for the shared kernels. The code of the kernels is in its [`Language`].
pub trait GpuBackend: Language + Sized + 'static {
    /// The builder that makes and launches kernels.
    type Builder: KernelBuilder;

    /// The type of its devices.
    const DEVICE: DeviceType;

    /// The dispatch key of its tensors.
    const KEY: DispatchKey;

    /// The largest integer that kernels count to.
    const LARGEST: i64;

    /// Whether kernels can compute with elements of a type.
    fn computes(dtype: DType) -> bool;

    /// Whether kernels can move elements of a type without computing with them.
    fn moves(dtype: DType) -> bool;

    /// The number of pieces in which an element is moved: 1, or its number of words if the language has no type of its
    /// size.
    fn pieces(_dtype: DType) -> i64 {
        1
    }

    /// Whether kernels can address the elements of a tensor of these sizes and this type.
    fn reaches(tensor: &Tensor) -> bool;

    /// New memory on a device, uninitialised.
    ///
    /// # Errors
    /// The device does not open, or does not have enough memory.
    fn memory(nbytes: usize, index: u8) -> Result<Storage>;

    /// Copies a tensor to another one on the same device, with other strides, another type, or broadcast. Returns whether
    /// there is a kernel that can.
    ///
    /// # Errors
    /// Those of the device.
    fn copy(to: &Tensor, from: &Tensor) -> Result<bool>;

    /// A contiguous copy of a tensor, converted to another type, or `None` if there is no kernel for that.
    ///
    /// # Errors
    /// Those of the device.
    fn converted(tensor: &Tensor, dtype: DType) -> Result<Option<Tensor>> {
        let result = Self::compact(tensor.sizes(), dtype, index_of(tensor))?;
        Ok(Self::copy(&result, tensor)?.then_some(result))
    }

    /// Tries another way for a call that a kernel does not support, before the CPU's kernel runs.
    ///
    /// # Errors
    /// Those of the kernel.
    fn otherwise<R: Returns>(_: Kernel<R>, _: OperatorHandle, _: &[Value<'_>]) -> Result<Option<R>> {
        Ok(None)
    }
}

/// Functions on tensors that follow from [`GpuBackend`].
pub trait Tensors: GpuBackend {
    /// Whether a tensor is on a device of this backend, and kernels can address its elements.
    fn is_here(tensor: &Tensor) -> bool {
        tensor.device().kind == Self::DEVICE && Self::reaches(tensor)
    }

    /// Whether a tensor is here and has floats that kernels compute with.
    fn is_float(tensor: &Tensor) -> bool {
        Self::is_here(tensor) && tensor.dtype().is_floating_point() && Self::computes(tensor.dtype())
    }

    /// Whether tensors are here, are not empty, and have floats of one type.
    fn are_floats<'a>(tensors: impl IntoIterator<Item = &'a Tensor>) -> bool {
        let mut dtype = None;
        tensors.into_iter().all(|tensor| {
            let is_one = *dtype.get_or_insert(tensor.dtype()) == tensor.dtype();
            Self::is_float(tensor) && tensor.numel() > 0 && is_one
        })
    }

    /// A new tensor on a device, like one on `meta`, uninitialised: a kernel has to write all of it.
    ///
    /// # Errors
    /// Those of [`memory`](GpuBackend::memory).
    fn unwritten(like: &Tensor, index: u8) -> Result<Tensor> {
        let geometry = like.geometry();
        let count = usize::try_from(geometry.end()?).unwrap_or(usize::MAX);
        let memory = Self::memory(count.saturating_mul(like.dtype().size()), index)?;
        let keys = match torch_library::guard::InferenceMode::is_enabled() {
            true => DispatchKeySet::of_inference_tensor(Self::KEY),
            false => DispatchKeySet::of_tensor(Self::KEY),
        };
        Tensor::from_storage(memory, geometry.sizes(), geometry.strides(), 0, like.dtype(), keys)
    }

    /// As [`unwritten`](Self::unwritten), but contiguous.
    ///
    /// # Errors
    /// Those of [`memory`](GpuBackend::memory).
    fn compact(sizes: &[i64], dtype: DType, index: u8) -> Result<Tensor> {
        Self::unwritten(&Tensor::empty(sizes, dtype, Device::META)?, index)
    }

    /// The tensor itself if it is contiguous, else a contiguous copy.
    ///
    /// # Errors
    /// Those of the device.
    fn contiguous(tensor: &Tensor) -> Result<Tensor> {
        if tensor.is_contiguous(MemoryFormat::Contiguous) {
            return Ok(tensor.clone());
        }
        Self::laid_out(tensor.clone(), &Tensor::empty(tensor.sizes(), tensor.dtype(), Device::META)?)
    }

    /// The tensor itself if it has the strides of `like`, which has its sizes, else a copy with those strides.
    ///
    /// # Errors
    /// Those of the device.
    fn laid_out(tensor: Tensor, like: &Tensor) -> Result<Tensor> {
        if tensor.strides() == like.strides() && tensor.sizes() == like.sizes() {
            return Ok(tensor);
        }
        let result = Self::unwritten(like, index_of(&tensor))?;
        if !Self::copy(&result, &tensor)? {
            aten::copy_(&mut result.clone(), &tensor)?; // through the host: it has more dimensions than kernels count
        }
        Ok(result)
    }
}

impl<B: GpuBackend> Tensors for B {}

/// The index of a tensor's device.
pub fn index_of(tensor: &Tensor) -> u8 {
    tensor.device().index.unwrap_or(0)
}
