//! Running a boxed call by a backend's kernel or by the CPU's, and registering kernels for that.

use torch_library::ListLease;
use torch_library::backend::cpu_fallback;
use torch_library::prelude::*;

use crate::backend::{GpuBackend, Kernel};
use crate::returns::Returns;

/// Runs a kernel, or the CPU's kernel if it does not support the call.
///
/// # Errors
/// Those of the kernel; tensors on two devices of the backend; memory that somebody has an exclusive lease on.
pub fn run<B: GpuBackend, R: Returns>(
    kernel: Kernel<R>,
    operator: OperatorHandle,
    keys: DispatchKeySet,
    stack: &mut Stack<'_>,
) -> Result<()> {
    let arguments = operator.arguments(stack)?;
    match launched::<B, R>(kernel, operator, arguments)? {
        Some(returns) => {
            let arguments = operator.take_arguments(stack)?;
            returns.leave(arguments, stack);
            Ok(())
        }
        None => cpu_fallback(operator, keys, stack),
    }
}

/// Runs a kernel under leases, which end before the CPU's kernel takes its own.
fn launched<B: GpuBackend, R: Returns>(
    kernel: Kernel<R>,
    operator: OperatorHandle,
    arguments: &[Value<'_>],
) -> Result<Option<R>> {
    let _leases = held::<B>(arguments)?;
    check_device::<B>(operator, arguments)?;
    match kernel(operator, arguments)? {
        None => B::otherwise(kernel, operator, arguments),
        found => Ok(found),
    }
}

/// Leases on all tensors of a call that are on the backend's devices: their sizes, strides and storages stay as they
/// are from the kernel's checks to its launch.
///
/// The leases are shared, on written tensors too: the device accesses elements later, and the order of its streams
/// decides which elements it finds. So a kernel must not follow an index because the index was checked before.
///
/// # Errors
/// Memory that somebody has an exclusive lease on.
#[track_caller]
pub fn held<'a, B: GpuBackend>(arguments: &'a [Value<'_>]) -> Result<ListLease<'a, 0>> {
    let is_here = |tensor: &&Tensor| tensor.device().kind == B::DEVICE;
    ListLease::new([], arguments.iter().flat_map(Value::all_tensors).filter(is_here))
}

/// The fallback that a backend registers for all operators without a kernel: it runs the CPU's kernel.
///
/// # Errors
/// Those of the kernel; or tensors on two devices of the backend.
pub fn on_the_cpu<B: GpuBackend>(
    operator: OperatorHandle,
    keys: DispatchKeySet,
    stack: &mut Stack<'_>,
) -> Result<()> {
    check_device::<B>(operator, operator.arguments(stack)?)?;
    cpu_fallback(operator, keys, stack)
}

/// Checks that all tensors of a call that are on devices of the backend are on the same one.
fn check_device<B: GpuBackend>(operator: OperatorHandle, arguments: &[Value<'_>]) -> Result<()> {
    let mut first = None;
    for tensor in arguments.iter().flat_map(Value::all_tensors) {
        let device = tensor.device();
        if device.kind == B::DEVICE && *first.get_or_insert(device) != device {
            let one = first.unwrap_or(device);
            bail!(
                Device,
                "{operator} has tensors on {one} and on {device}\n  help: `to` brings them to one device"
            );
        }
    }
    Ok(())
}

/// Registers a backend's own boxed kernels for operators of `aten`: `kernels! { Mine, PrivateUse1; super::product: mm
/// bmm; }` registers one [kernel](crate::Kernel) for two operators.
///
/// It makes a module called `registered`; `aten` of the kernels and the runtime's prelude have to be in scope.
#[macro_export]
macro_rules! kernels {
    ($backend:ty, $key:ident; $($kernel:path: $($operator:ident)+;)+) => {
        #[torch_impl(aten, $key, boxed)]
        mod registered {
            use super::*;
            $($(
                fn $operator(operator: OperatorHandle, keys: DispatchKeySet, stack: &mut Stack<'_>) -> Result<()> {
                    $crate::run::<$backend, _>($kernel, operator, keys, stack)
                }
            )+)+
        }
    };
}
