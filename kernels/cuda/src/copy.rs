//! Copies between strides and types, and filling.

use torch_library::prelude::*;
use torch_library_gpu::{First, Tensors};
use torch_library_kernels::aten;

use crate::call::{Cuda, kernels};
use crate::memory::Memory;
use crate::pointwise;

kernels! {
    super::fill: fill__Scalar;
}

#[torch_impl(aten, CUDA, boxed)]
mod kernels {
    use super::*;

    fn copy_(operator: OperatorHandle, _: DispatchKeySet, stack: &mut Stack<'_>) -> Result<()> {
        let arguments = operator.arguments(stack)?;
        let (Some(to), Some(from)) = (arguments[0].as_tensor(), arguments[1].as_tensor()) else {
            bail!(Internal, "{operator} of something other than tensors")
        };
        let leases = torch_library_gpu::held::<Cuda>(arguments)?;
        let is_copied = copy(to, from)?;
        drop(leases); // before another kernel takes its own
        if !is_copied {
            // The kernel that every backend has, which goes through the host if copying bytes is not enough.
            return operator.call_boxed_for_key(DispatchKey::CompositeExplicitAutograd, stack);
        }
        let arguments = operator.take_arguments(stack)?;
        stack.extend(arguments.into_iter().take(1));
        Ok(())
    }
}

fn fill(_: OperatorHandle, arguments: &[Value<'_>]) -> Result<Option<First>> {
    let (Some(to), Some(number)) = (arguments[0].as_tensor(), pointwise::number(&arguments[1])) else {
        return Ok(None);
    };
    let is_ours = Cuda::is_here(to) && !to.has_internal_overlap();
    let is_bool = to.dtype() == DType::Bool && matches!(number, Scalar::Int(_));
    if !is_ours || !(is_bool || pointwise::fits(number, to.dtype())) {
        return Ok(None);
    }
    Ok(pointwise::write_number(to, number)?.then_some(First))
}

/// Whether a tensor broadcasts to these sizes.
fn is_broadcast(from: &Tensor, sizes: &[i64]) -> bool {
    let ends = from.sizes().iter().rev().zip(sizes.iter().rev());
    from.dim() <= sizes.len() && ends.into_iter().all(|(size, wanted)| size == wanted || *size == 1)
}

/// Copies the elements of a tensor to another one on the same device, if a kernel can.
pub(crate) fn copy(to: &Tensor, from: &Tensor) -> Result<bool> {
    let are_here = Cuda::is_here(to) && Cuda::is_here(from) && to.device() == from.device();
    let is_apart = !to.storage().is_same(&from.storage()) && !to.has_internal_overlap();
    if !are_here || !is_apart || !is_broadcast(from, to.sizes()) {
        return Ok(false);
    }
    let is_plain = |tensor: &Tensor| tensor.is_contiguous(MemoryFormat::Contiguous);
    if to.dtype() == from.dtype() && to.sizes() == from.sizes() && is_plain(to) && is_plain(from) {
        let (target, source) = (to.storage().clone(), from.storage().clone());
        let bytes = |count: i64| usize::try_from(count).unwrap_or(0) * to.dtype().size();
        let (to_offset, from_offset) = (bytes(to.storage_offset()), bytes(from.storage_offset()));
        Memory::of(&target)?.copy_from(to_offset, Memory::of(&source)?, from_offset, bytes(to.numel()))?;
        return Ok(true);
    }
    pointwise::write(to, from)
}
