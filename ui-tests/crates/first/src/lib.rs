//! Declares the operators, and has kernels of its own.
#![forbid(unsafe_code)]
#![deny(warnings)]

torch_library::torch_library! {
    /// Operators of three crates.
    pub mod shared {
        /// One.
        one(Tensor self) -> int;
        /// Two.
        two(Tensor self) -> int;
    }
}

#[cfg(feature = "private_module")]
mod private {
    mod deeper {
        use crate::shared;
        use torch_library::prelude::*;

        #[torch_impl(shared, CPU, Meta)]
        fn one(_: &Tensor) -> Result<i64> {
            Ok(1)
        }
    }
}

#[cfg(feature = "block")]
#[torch_library::torch_impl(shared, CPU, Meta)]
mod block {
    use torch_library::prelude::*;

    fn one(_: &Tensor) -> Result<i64> {
        Ok(1)
    }
}

#[cfg(feature = "function")]
#[torch_library::torch_impl(shared, CPU, Meta)]
fn one(_: &torch_library::Tensor) -> torch_library::Result<i64> {
    Ok(1)
}
