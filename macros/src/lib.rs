//! The procedural macros of torch-library. Their documentation stands where users find them: in `torch_library`.
//!
//! Each macro goes through four steps, a file each: *parse* the tokens, *model* what they say, *check* what rustc would
//! say worse, *expand*. The expansion is data and thin calls into `torch_library::__private`; no logic that the runtime
//! could hold is here, and no unsafe code.
#![forbid(unsafe_code)]

use proc_macro::TokenStream;

mod errors;
mod fallback;
mod kernel;
mod library;
mod pieces;
mod rust_type;

/// `torch_library!`, behind a shim that passes the path of the runtime crate first.
#[doc(hidden)]
#[proc_macro]
pub fn __torch_library(input: TokenStream) -> TokenStream {
    library::expand(input.into()).into()
}

/// `#[torch_impl]`; documented in `torch_library`.
#[proc_macro_attribute]
pub fn torch_impl(arguments: TokenStream, item: TokenStream) -> TokenStream {
    kernel::expand(arguments.into(), item.into()).into()
}

/// `#[torch_fallback]`; documented in `torch_library`.
#[proc_macro_attribute]
pub fn torch_fallback(arguments: TokenStream, item: TokenStream) -> TokenStream {
    fallback::expand(arguments.into(), item.into()).into()
}
