//! Kernels for the operators of another crate, and nothing else.
#![forbid(unsafe_code)]
#![deny(warnings)]

#[cfg(feature = "private_module")]
mod private {
    mod deeper {
        use first::shared;
        use torch_library::prelude::*;

        #[torch_impl(shared, CPU)]
        fn two(_: &Tensor) -> Result<i64> {
            Ok(2)
        }
    }
}

#[cfg(feature = "block")]
#[torch_library::torch_impl(first::shared, CPU)]
mod block {
    use torch_library::prelude::*;

    fn two(_: &Tensor) -> Result<i64> {
        Ok(2)
    }
}

#[cfg(feature = "function")]
#[torch_library::torch_impl(first::shared::two, CPU)]
fn two(_: &torch_library::Tensor) -> torch_library::Result<i64> {
    Ok(2)
}
