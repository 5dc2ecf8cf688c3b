//! One more operator of the same namespace with its kernels, as single functions, and a fallback.
#![forbid(unsafe_code)]
#![deny(warnings)]

use torch_library::prelude::*;

torch_library! {
    /// A third operator.
    mod more extends function_first::in_function {
        /// Three.
        three(Tensor self) -> int;
    }
}

#[torch_fallback(TESTING_ONLY_GenericMode)]
fn trace(operator: OperatorHandle, keys: DispatchKeySet, stack: &mut Stack<'_>) -> Result<()> {
    operator.redispatch_boxed(keys.remove(DispatchKey::TESTING_ONLY_GenericMode), stack)
}

#[torch_impl(more, CPU)]
fn three(_: &Tensor) -> Result<i64> {
    Ok(3)
}

#[torch_impl(more, Meta)]
fn two(_: &Tensor) -> Result<i64> {
    Ok(2)
}
