//! A plug-in that does not name the shared runtime, and so has one of its own.

use torch_library::prelude::*;

torch_library! {
    mod alone {
        nothing(Tensor self) -> Tensor;
    }
}
