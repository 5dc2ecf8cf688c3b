//! A kernel is forged from an operator and code that is never called.
#![forbid(unsafe_code)]

use torch_library::__private::ErasedCode;
use torch_library::prelude::*;
use torch_library::{DispatchKey, Library, RuntimeKernel};

torch_library! {
    pub mod numbers {
        takes(int x) -> int;
    }
}

fn main() {
    let kernel = RuntimeKernel::typed(&numbers::takes::OPERATOR, ErasedCode::never_called(), ());
    let mut library = Library::fragment("numbers").expect("a name");
    if library.implement("takes", DispatchKey::CompositeExplicitAutograd, kernel).is_ok() {
        let end = numbers::takes(0x4141_4141);
        assert!(end.is_err(), "code that is never called was called: {end:?}");
    }
}
