//! A call on its way to a kernel: whether the kernel takes it, and what the result is to be.

use torch_library::backend::cpu_fallback;
use torch_library::prelude::*;
use torch_library::{DeviceType, Storage};

use crate::gpu;
use crate::memory::Memory;

/// A kernel: the results of a call, or nothing where it does not take that.
pub(crate) type Kernel = fn(OperatorHandle, &[Value<'_>]) -> Result<Option<Tensor>>;

/// Runs a kernel, or the CPU's where it does not take the call.
pub(crate) fn run(
    kernel: Kernel,
    operator: OperatorHandle,
    keys: DispatchKeySet,
    stack: &mut Stack<'_>,
) -> Result<()> {
    match kernel(operator, operator.arguments(stack)?)? {
        Some(result) => {
            let arity = operator.arguments(stack)?.len();
            stack.drop_last(arity);
            stack.push(result);
            Ok(())
        }
        None => cpu_fallback(operator, keys, stack),
    }
}

/// Whether kernels compute with a type.
pub(crate) fn is_native(dtype: DType) -> bool {
    matches!(dtype, DType::Float32 | DType::Int32 | DType::Bool)
}

pub(crate) fn is_here(tensor: &Tensor) -> bool {
    tensor.device().kind == DeviceType::PrivateUse2
}

/// Whether indices into a tensor's memory fit into 32 bits with room for sums.
pub(crate) fn is_small(tensor: &Tensor) -> bool {
    tensor.storage().nbytes() < 1 << 31 && tensor.numel() < 1 << 30
}

/// What an operator gives on `meta` for such arguments: sizes, strides and type of its result; and the errors that it has
/// for arguments that do not fit.
pub(crate) fn on_meta(operator: OperatorHandle, arguments: &[Value<'_>]) -> Result<Tensor> {
    let mut stack = Stack::new();
    for argument in arguments {
        let twin = |tensor: &Tensor| match is_here(tensor) {
            true => Tensor::empty_strided(tensor.sizes(), tensor.strides(), tensor.dtype(), Device::META),
            false => Ok(tensor.clone()),
        };
        stack.push(argument.map_tensors(twin)?.into_owned());
    }
    operator.redispatch_boxed(DispatchKeySet::from_key(DispatchKey::Meta), &mut stack)?;
    stack.pop_as()
}

/// A tensor on a device, with nothing in it yet: a kernel writes all of it.
pub(crate) fn unwritten(like: &Tensor, index: u8) -> Result<Tensor> {
    let geometry = like.geometry();
    let nbytes = usize::try_from(geometry.end()?).unwrap_or(usize::MAX).saturating_mul(like.dtype().size());
    let memory = Storage::new(Memory::allocate(&gpu::opened(index)?, nbytes, false)?);
    let keys = match torch_library::guard::InferenceMode::is_enabled() {
        true => DispatchKeySet::of_inference_tensor(DispatchKey::PrivateUse2),
        false => DispatchKeySet::of_tensor(DispatchKey::PrivateUse2),
    };
    Tensor::from_storage(memory, geometry.sizes(), geometry.strides(), 0, like.dtype(), keys)
}

/// The number of a tensor's device.
pub(crate) fn index_of(tensor: &Tensor) -> u8 {
    tensor.device().index.unwrap_or(0)
}

/// Registers kernels for operators: each is handed the call as it is.
macro_rules! kernels {
    ($($kernel:path: $($operator:ident)+;)+) => {
        #[torch_impl(aten, PrivateUse2, boxed)]
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
