//! Calls that are refused before they reach a kernel: their result would arrive in a copy of the caller's tensor.

use torch_library::prelude::*;
use torch_library_kernels::aten;

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

/// Registers kernels for a lazy bit, for operators whose result may be written after they return. If they write to a
/// list, the runtime refuses them.
macro_rules! refused_with_a_bit {
    ($($bit:ident $module:ident $resolve:ident;)+) => {
        $(
            #[torch_impl(crate::ops::c10d, $bit, boxed)]
            mod $module {
                use super::*;

                fn _allgather_base_(
                    operator: OperatorHandle,
                    keys: DispatchKeySet,
                    stack: &mut Stack<'_>,
                ) -> Result<()> {
                    without_bit(operator, keys, stack, DispatchKey::$bit, aten::$resolve)
                }

                fn _reduce_scatter_base_(
                    operator: OperatorHandle,
                    keys: DispatchKeySet,
                    stack: &mut Stack<'_>,
                ) -> Result<()> {
                    without_bit(operator, keys, stack, DispatchKey::$bit, aten::$resolve)
                }
            }
        )+
    };
}

refused_with_a_bit! {
    Conjugate conjugated resolve_conj;
    Negative negated resolve_neg;
}

/// Resolves tensors that are read, and refuses those that are written.
fn without_bit(
    operator: OperatorHandle,
    keys: DispatchKeySet,
    stack: &mut Stack<'_>,
    bit: DispatchKey,
    resolve: fn(&Tensor) -> Result<Tensor>,
) -> Result<()> {
    let (schema, arguments) = (operator.schema()?, operator.take_arguments(stack)?);
    for (argument, value) in schema.arguments.iter().zip(arguments) {
        if !value.all_tensors().any(|tensor| tensor.key_set().has(bit)) {
            stack.push(value);
            continue;
        }
        ensure!(
            !argument.is_mutable(),
            NotSupported,
            "{operator} writes `{}` when the work is done, and that tensor is lazy: its {bit} bit is set\n  \
             help: write to the tensor that `{}` returns",
            argument.name,
            if bit == DispatchKey::Conjugate { "resolve_conj" } else { "resolve_neg" }
        );
        stack.push(value.map_tensors(resolve)?.into_owned());
    }
    operator.redispatch_boxed(keys & DispatchKeySet::full_after(bit), stack)
}
