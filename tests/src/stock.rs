//! A registry like that of a stock PyTorch process: empty except for its 38 fallbacks.

use torch_library::{
    DispatchKey, DispatchKeySet, Dispatcher, Error, ErrorKind, Library, LibraryKind, OperatorHandle, Result,
    RuntimeKernel, Stack,
};

use DispatchKey as Key;

const FALLTHROUGH: [DispatchKey; 10] = [
    Key::BackendSelect,
    Key::ADInplaceOrView,
    Key::AutocastCPU,
    Key::AutocastMTIA,
    Key::AutocastMAIA,
    Key::AutocastXPU,
    Key::AutocastMPS,
    Key::AutocastCUDA,
    Key::FuncTorchVmapMode,
    Key::VmapMode,
];

/// Keys whose fallbacks redispatch to the keys below their own.
const MATERIALIZE: [DispatchKey; 3] = [Key::Conjugate, Key::Negative, Key::ZeroTensor];

/// Keys whose fallbacks redispatch to the keys below all of autograd.
const AUTOGRAD: [DispatchKey; 12] = [
    Key::AutogradOther,
    Key::AutogradCPU,
    Key::AutogradCUDA,
    Key::AutogradXLA,
    Key::AutogradMPS,
    Key::AutogradXPU,
    Key::AutogradHPU,
    Key::AutogradLazy,
    Key::AutogradMTIA,
    Key::AutogradMAIA,
    Key::AutogradPrivateUse1,
    Key::AutogradMeta,
];

/// Keys whose fallbacks need more than a registry: here they fail.
const OTHERS: [DispatchKey; 13] = [
    Key::Meta,
    Key::Python,
    Key::FuncTorchDynamicLayerBackMode,
    Key::Functionalize,
    Key::Tracer,
    Key::FuncTorchBatched,
    Key::BatchedNestedTensor,
    Key::Batched,
    Key::FuncTorchGradWrapper,
    Key::PythonTLSSnapshot,
    Key::FuncTorchDynamicLayerFrontMode,
    Key::PreDispatch,
    Key::PythonDispatcher,
];

/// A registry with the fallbacks, and the library that holds them.
///
/// # Errors
/// A fallback is rejected, which would be a bug.
pub(crate) fn dispatcher() -> Result<(&'static Dispatcher, Library)> {
    let dispatcher = Dispatcher::leak_empty();
    let mut library = Library::open(dispatcher, LibraryKind::Implementation, "_", None)?;
    for key in FALLTHROUGH {
        library.fallback(key, RuntimeKernel::fallthrough())?;
    }
    for key in MATERIALIZE {
        library.fallback(key, RuntimeKernel::boxed(move |op, keys, stack| go_on(op, keys, key, stack)))?;
    }
    for key in AUTOGRAD {
        let kernel = |op, keys, stack: &mut Stack<'_>| go_on(op, keys, Key::AutogradOther, stack);
        library.fallback(key, RuntimeKernel::boxed(kernel))?;
    }
    for key in OTHERS {
        library.fallback(key, RuntimeKernel::boxed(fail))?;
    }
    Ok((dispatcher, library))
}

fn go_on(
    operator: OperatorHandle,
    keys: DispatchKeySet,
    after: DispatchKey,
    stack: &mut Stack<'_>,
) -> Result<()> {
    operator.redispatch_boxed(keys & DispatchKeySet::full_after(after), stack)
}

fn fail(operator: OperatorHandle, keys: DispatchKeySet, _: &mut Stack<'_>) -> Result<()> {
    Err(Error::new(
        ErrorKind::Kernel,
        format!("the fallback for {} refuses {operator}", keys.highest_priority()),
    ))
}
