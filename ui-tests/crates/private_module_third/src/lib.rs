//! One more operator of the same namespace with its kernels, in a private module, and a fallback.
#![forbid(unsafe_code)]
#![deny(warnings)]

use torch_library::prelude::*;

torch_library! {
    /// A third operator.
    mod more extends private_module_first::in_private_module {
        /// Three.
        three(Tensor self) -> int;
    }
}

#[torch_fallback(Tracer)]
fn trace(operator: OperatorHandle, keys: DispatchKeySet, stack: &mut Stack<'_>) -> Result<()> {
    operator.redispatch_boxed(keys.remove(DispatchKey::Tracer), stack)
}

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
