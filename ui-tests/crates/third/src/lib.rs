//! One more operator of the same namespace with its kernels, and a fallback.
#![forbid(unsafe_code)]
#![deny(warnings)]

use torch_library::prelude::*;

torch_library! {
    /// A third operator.
    mod more extends first::shared {
        /// Three.
        three(Tensor self) -> int;
    }
}

#[torch_fallback(Tracer)]
fn trace(operator: OperatorHandle, keys: DispatchKeySet, stack: &mut Stack<'_>) -> Result<()> {
    operator.redispatch_boxed(keys.remove(DispatchKey::Tracer), stack)
}

#[cfg(feature = "private_module")]
mod private {
    mod deeper {
        use crate::more;
        use torch_library::prelude::*;

        #[torch_impl(more, CPU)]
        fn three(_: &Tensor) -> Result<i64> {
            Ok(3)
        }

        #[torch_impl(more, "two", Meta)]
        fn two(_: &Tensor) -> Result<i64> {
            Ok(2)
        }
    }
}

#[cfg(feature = "block")]
mod blocks {
    use crate::more;

    #[torch_library::torch_impl(more, CPU)]
    mod cpu {
        use torch_library::prelude::*;

        fn three(_: &Tensor) -> Result<i64> {
            Ok(3)
        }
    }

    #[torch_library::torch_impl(more, Meta)]
    mod meta {
        use torch_library::prelude::*;

        fn two(_: &Tensor) -> Result<i64> {
            Ok(2)
        }
    }
}

#[cfg(feature = "function")]
#[torch_impl(more, CPU)]
fn three(_: &Tensor) -> Result<i64> {
    Ok(3)
}

#[cfg(feature = "function")]
#[torch_impl(more, Meta)]
fn two(_: &Tensor) -> Result<i64> {
    Ok(2)
}
