//! Calls that are refused before they reach a kernel: their result would arrive in a copy of the caller's tensor.

use torch_library::prelude::*;

/// Registers kernels for the devices of backends: otherwise the fallback would run the CPU's kernels, and copy the
/// results back before they have arrived.
macro_rules! refused_on_devices {
    ($($namespace:ident: $($operator:ident)+;)+) => {
        $(
            #[torch_impl(crate::ops::$namespace, CompositeExplicitAutograd, boxed)]
            mod $namespace {
                use super::*;
                $(
                    fn $operator(operator: OperatorHandle, _: DispatchKeySet, stack: &mut Stack<'_>) -> Result<()> {
                        refuse_device(operator, stack)
                    }
                )+
            }
        )+
    };
}

// Not `barrier`, which only looks at the tensor's device.
refused_on_devices! {
    _c10d_functional: all_reduce all_reduce_ all_reduce_coalesced all_reduce_coalesced_ all_gather_into_tensor
        all_gather_into_tensor_out all_gather_into_tensor_coalesced reduce_scatter_tensor reduce_scatter_tensor_out
        reduce_scatter_tensor_coalesced all_to_all_single broadcast broadcast_ wait_tensor wait_tensors;
    c10d: allreduce_ broadcast_ allgather_ _allgather_base_ reduce_scatter_ _reduce_scatter_base_ alltoall_ send recv_;
}

fn refuse_device(operator: OperatorHandle, stack: &Stack<'_>) -> Result<()> {
    let mut devices = operator.arguments(stack)?.iter().flat_map(Value::all_tensors).map(Tensor::device);
    match devices.find(|device| *device != Device::CPU) {
        Some(device) => bail!(
            Device,
            "{operator} of a tensor on {device}: ranks exchange tensors on the CPU only\n  \
             help: `to` copies the tensor to the CPU, and the result back"
        ),
        None => bail!(Argument, "{operator} has no dense tensor to exchange"),
    }
}
