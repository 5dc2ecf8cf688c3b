//! A call on its way to a kernel: whether the kernel takes it, and what the result is to be.

use torch_library::backend::cpu_fallback;
use torch_library::prelude::*;
use torch_library::{DeviceType, Storage};
pub(crate) use torch_library_gpu::{Arguments, all_on_meta, on_meta};

use crate::gpu;
use crate::kernel::c_type;
use crate::memory::Memory;

/// Runs a kernel, or the CPU's where it does not take the call.
pub(crate) fn run<R: Returns>(
    kernel: fn(OperatorHandle, &[Value<'_>]) -> Result<Option<R>>,
    operator: OperatorHandle,
    keys: DispatchKeySet,
    stack: &mut Stack<'_>,
) -> Result<()> {
    let arguments = operator.arguments(stack)?;
    check_device(operator, arguments)?;
    match kernel(operator, arguments)? {
        Some(returns) => {
            let arguments = operator.take_arguments(stack)?;
            returns.leave(arguments, stack);
            Ok(())
        }
        None => cpu_fallback(operator, keys, stack),
    }
}

/// Whether all tensors of a call that are on devices of CUDA's are on one.
///
/// # Errors
/// They are not.
pub(crate) fn check_device(operator: OperatorHandle, arguments: &[Value<'_>]) -> Result<()> {
    let mut first = None;
    for tensor in arguments.iter().flat_map(Value::all_tensors) {
        let device = tensor.device();
        if device.kind == DeviceType::Cuda && *first.get_or_insert(device) != device {
            let one = first.unwrap_or(device);
            bail!(
                Device,
                "{operator} has tensors on {one} and on {device}\n  help: `to` brings them to one device"
            );
        }
    }
    Ok(())
}

/// What a kernel returns.
pub(crate) trait Returns {
    /// Leaves it on a stack from which the arguments were taken.
    fn leave<'v>(self, arguments: Vec<Value<'v>>, stack: &mut Stack<'v>);
}

impl Returns for Tensor {
    fn leave<'v>(self, _: Vec<Value<'v>>, stack: &mut Stack<'v>) {
        stack.push(self);
    }
}

impl<const N: usize> Returns for [Tensor; N] {
    fn leave<'v>(self, _: Vec<Value<'v>>, stack: &mut Stack<'v>) {
        stack.extend(self.into_iter().map(Value::Tensor));
    }
}

/// Of an operator that writes to its first argument and returns it.
pub(crate) struct First;

impl Returns for First {
    fn leave<'v>(self, arguments: Vec<Value<'v>>, stack: &mut Stack<'v>) {
        stack.extend(arguments.into_iter().take(1));
    }
}

/// Of an operator that returns nothing.
pub(crate) struct Nothing;

impl Returns for Nothing {
    fn leave<'v>(self, _: Vec<Value<'v>>, _: &mut Stack<'v>) {}
}

/// Whether a tensor is on a device of CUDA's, with elements that kernels know.
pub(crate) fn is_here(tensor: &Tensor) -> bool {
    tensor.device().kind == DeviceType::Cuda && c_type(tensor.dtype()).is_some()
}

/// Whether a tensor here has floats.
pub(crate) fn is_float(tensor: &Tensor) -> bool {
    is_here(tensor) && tensor.dtype().is_floating_point()
}

/// Whether tensors are here and have elements, which are floats of one type.
pub(crate) fn are_floats<'a>(tensors: impl IntoIterator<Item = &'a Tensor>) -> bool {
    let mut dtype = None;
    tensors.into_iter().all(|tensor| {
        is_float(tensor) && tensor.numel() > 0 && *dtype.get_or_insert(tensor.dtype()) == tensor.dtype()
    })
}

/// A tensor on a device, with nothing in it yet: a kernel writes all of it.
pub(crate) fn unwritten(like: &Tensor, index: u8) -> Result<Tensor> {
    let geometry = like.geometry();
    let nbytes = usize::try_from(geometry.end()?).unwrap_or(usize::MAX).saturating_mul(like.dtype().size());
    let memory = Storage::new(Memory::allocate(&gpu::opened(index)?, nbytes, false)?);
    let keys = match torch_library::guard::InferenceMode::is_enabled() {
        true => DispatchKeySet::of_inference_tensor(DispatchKey::CUDA),
        false => DispatchKeySet::of_tensor(DispatchKey::CUDA),
    };
    Tensor::from_storage(memory, geometry.sizes(), geometry.strides(), 0, like.dtype(), keys)
}

/// As [`unwritten`], with elements one behind the other.
pub(crate) fn compact(sizes: &[i64], dtype: DType, index: u8) -> Result<Tensor> {
    unwritten(&Tensor::empty(sizes, dtype, Device::META)?, index)
}

/// The number of a tensor's device.
pub(crate) fn index_of(tensor: &Tensor) -> u8 {
    tensor.device().index.unwrap_or(0)
}

/// Registers kernels for operators: each is handed the call as it is.
macro_rules! kernels {
    ($($kernel:path: $($operator:ident)+;)+) => {
        #[torch_impl(aten, CUDA, boxed)]
        mod registered {
            use super::*;
            $($(
                fn $operator(operator: OperatorHandle, keys: DispatchKeySet, stack: &mut Stack<'_>) -> Result<()> {
                    $crate::call::run($kernel, operator, keys, stack)
                }
            )+)+
        }
    };
}
pub(crate) use kernels;
