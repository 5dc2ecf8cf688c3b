//! Kernels for the operators of another crate, in a private module, and nothing else.
#![forbid(unsafe_code)]
#![deny(warnings)]

mod private {
    mod deeper {
        use private_module_first::in_private_module;
        use torch_library::prelude::*;

        #[torch_impl(in_private_module, CPU)]
        fn two(_: &Tensor) -> Result<i64> {
            Ok(2)
        }
    }
}
