//! Declares the operators, and has kernels of its own, in a private module.
#![forbid(unsafe_code)]
#![deny(warnings)]

torch_library::torch_library! {
    /// Operators of three crates.
    pub mod in_private_module {
        /// One.
        one(Tensor self) -> int;
        /// Two.
        two(Tensor self) -> int;
    }
}

mod private {
    mod deeper {
        use crate::in_private_module;
        use torch_library::prelude::*;

        #[torch_impl(in_private_module, CPU, Meta)]
        fn one(_: &Tensor) -> Result<i64> {
            Ok(1)
        }
    }
}
