//! What a backend for GPUs brings: memory, copies, and kernels in its language.

use torch_library::DeviceType;
use torch_library::Storage;
use torch_library::prelude::*;
use torch_library_kernels::aten;

use crate::kernel::KernelBuilder;
use crate::language::Language;
use crate::returns::Returns;

/// A kernel of a call that comes boxed: nothing where it does not take such arguments.
pub type Kernel<R> = fn(OperatorHandle, &[Value<'_>]) -> Result<Option<R>>;

/// A backend, for kernels that are written once. What they compute is in its [`Language`].
pub trait GpuBackend: Language + Sized + 'static {
    /// How kernels are made.
    type Builder: KernelBuilder;

    /// The kind of its devices.
    const DEVICE: DeviceType;

    /// The key of its tensors.
    const KEY: DispatchKey;

    /// The largest whole number that kernels count to.
    const LARGEST: i64;

    /// Whether kernels compute with elements of a type.
    fn computes(dtype: DType) -> bool;

    /// Whether kernels move elements of a type from one place to another.
    fn moves(dtype: DType) -> bool;

    /// In how many pieces an element is moved: 1, or words where a language has no other types.
    fn pieces(_dtype: DType) -> i64 {
        1
    }

    /// Whether kernels can get at the elements of a tensor of such sizes and of such a type.
    fn reaches(tensor: &Tensor) -> bool;

    /// New memory on a device, with anything in it.
    ///
    /// # Errors
    /// The device does not open, or has not so much.
    fn memory(nbytes: usize, index: u8) -> Result<Storage>;

    /// Writes the elements of a tensor to another one on the same device, where a kernel can: of other strides or another
    /// type, and broadcast.
    ///
    /// # Errors
    /// Those of the device.
    fn copy(to: &Tensor, from: &Tensor) -> Result<bool>;

    /// A tensor as one of another type, with elements one behind the other, where a kernel can.
    ///
    /// # Errors
    /// Those of the device.
    fn converted(tensor: &Tensor, dtype: DType) -> Result<Option<Tensor>> {
        let result = Self::compact(tensor.sizes(), dtype, index_of(tensor))?;
        Ok(Self::copy(&result, tensor)?.then_some(result))
    }

    /// What else is tried where a kernel does not take a call, before the CPU's is run.
    ///
    /// # Errors
    /// Those of the kernel.
    fn otherwise<R: Returns>(_: Kernel<R>, _: OperatorHandle, _: &[Value<'_>]) -> Result<Option<R>> {
        Ok(None)
    }
}

/// What follows from that for tensors.
pub trait Tensors: GpuBackend {
    /// Whether a tensor is on a device of this backend, where kernels can get at it.
    fn is_here(tensor: &Tensor) -> bool {
        tensor.device().kind == Self::DEVICE && Self::reaches(tensor)
    }

    /// Whether a tensor here has floats that kernels compute with.
    fn is_float(tensor: &Tensor) -> bool {
        Self::is_here(tensor) && tensor.dtype().is_floating_point() && Self::computes(tensor.dtype())
    }

    /// Whether tensors are here and have elements, which are floats of one type.
    fn are_floats<'a>(tensors: impl IntoIterator<Item = &'a Tensor>) -> bool {
        let mut dtype = None;
        tensors.into_iter().all(|tensor| {
            let is_one = *dtype.get_or_insert(tensor.dtype()) == tensor.dtype();
            Self::is_float(tensor) && tensor.numel() > 0 && is_one
        })
    }

    /// A tensor on a device, like one on `meta`, with nothing in it yet: a kernel writes all of it.
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

    /// As [`unwritten`](Self::unwritten), with elements one behind the other.
    ///
    /// # Errors
    /// Those of [`memory`](GpuBackend::memory).
    fn compact(sizes: &[i64], dtype: DType, index: u8) -> Result<Tensor> {
        Self::unwritten(&Tensor::empty(sizes, dtype, Device::META)?, index)
    }

    /// The tensor, or a copy of it, with one element behind the other in memory.
    ///
    /// # Errors
    /// Those of the device.
    fn contiguous(tensor: &Tensor) -> Result<Tensor> {
        if tensor.is_contiguous(MemoryFormat::Contiguous) {
            return Ok(tensor.clone());
        }
        Self::laid_out(tensor.clone(), &Tensor::empty(tensor.sizes(), tensor.dtype(), Device::META)?)
    }

    /// The tensor, or a copy of it, with the strides of another one of its sizes.
    ///
    /// # Errors
    /// Those of the device.
    fn laid_out(tensor: Tensor, like: &Tensor) -> Result<Tensor> {
        if tensor.strides() == like.strides() && tensor.sizes() == like.sizes() {
            return Ok(tensor);
        }
        let result = Self::unwritten(like, index_of(&tensor))?;
        if !Self::copy(&result, &tensor)? {
            aten::copy_(&mut result.clone(), &tensor)?; // by way of the host: it has more dimensions than kernels count
        }
        Ok(result)
    }
}

impl<B: GpuBackend> Tensors for B {}

/// The number of a tensor's device.
pub fn index_of(tensor: &Tensor) -> u8 {
    tensor.device().index.unwrap_or(0)
}
