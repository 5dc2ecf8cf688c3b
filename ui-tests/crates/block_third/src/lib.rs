//! One more operator of the same namespace with its kernels, in a block, and a fallback.
#![forbid(unsafe_code)]
#![deny(warnings)]

use torch_library::prelude::*;

torch_library! {
    /// A third operator.
    mod more extends block_first::in_block {
        /// Three.
        three(Tensor self) -> int;
    }
}

#[torch_fallback(TESTING_ONLY_GenericWrapper)]
fn trace(operator: OperatorHandle, keys: DispatchKeySet, stack: &mut Stack<'_>) -> Result<()> {
    operator.redispatch_boxed(keys.remove(DispatchKey::TESTING_ONLY_GenericWrapper), stack)
}

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
