//! A call on its way to a kernel: whether the kernel takes it, and what the result is to be.

use torch_library::backend::cpu_fallback;
use torch_library::prelude::*;
use torch_library::{DeviceType, Storage};

pub(crate) use torch_library_gpu::{Arguments, all_on_meta, on_meta};

use crate::gpu;
use crate::halves;
use crate::memory::Memory;
use crate::pointwise::narrowed;

/// Runs a kernel, or the CPU's where it does not take the call.
pub(crate) fn run<R: Returns>(
    kernel: fn(OperatorHandle, &[Value<'_>]) -> Result<Option<R>>,
    operator: OperatorHandle,
    keys: DispatchKeySet,
    stack: &mut Stack<'_>,
) -> Result<()> {
    let arguments = operator.arguments(stack)?;
    let returns = match kernel(operator, arguments)? {
        None => halves::run(kernel, operator, arguments)?,
        found => found,
    };
    match returns {
        Some(returns) => {
            let arguments = operator.take_arguments(stack)?;
            returns.leave(arguments, stack);
            Ok(())
        }
        None => cpu_fallback(operator, keys, stack),
    }
}

/// What a kernel returns.
pub(crate) trait Returns: Sized {
    /// The same, as an operator gives it for such arguments, whose kernel took wider ones; nothing where that is not what
    /// it returns.
    fn narrowed(self, _: OperatorHandle, _: &[Value<'_>]) -> Result<Option<Self>> {
        Ok(None)
    }

    /// Leaves it on a stack from which the arguments were taken.
    fn leave<'v>(self, arguments: Vec<Value<'v>>, stack: &mut Stack<'v>);
}

impl Returns for Tensor {
    fn narrowed(self, operator: OperatorHandle, arguments: &[Value<'_>]) -> Result<Option<Self>> {
        Ok([self].narrowed(operator, arguments)?.map(|[result]| result))
    }

    fn leave<'v>(self, _: Vec<Value<'v>>, stack: &mut Stack<'v>) {
        stack.push(self);
    }
}

impl<const N: usize> Returns for [Tensor; N] {
    fn narrowed(self, operator: OperatorHandle, arguments: &[Value<'_>]) -> Result<Option<Self>> {
        let metas: [Tensor; N] = all_on_meta(operator, arguments)?;
        let mut results = self;
        for (result, meta) in results.iter_mut().zip(metas).filter(|(result, _)| result.is_defined()) {
            let Some(narrow) = narrowed(result.clone(), meta)? else { return Ok(None) };
            *result = narrow;
        }
        Ok(Some(results))
    }

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

/// Whether kernels of floats can take a tensor.
pub(crate) fn is_float(tensor: &Tensor) -> bool {
    is_here(tensor) && is_small(tensor) && tensor.dtype() == DType::Float32
}

/// Whether kernels of floats can take tensors that have elements.
pub(crate) fn are_floats<'a>(tensors: impl IntoIterator<Item = &'a Tensor>) -> bool {
    tensors.into_iter().all(|tensor| is_float(tensor) && tensor.numel() > 0)
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
