//! The procedural macros of torch-library. Their documentation stands where users find them: in `torch_library`.
//!
//! Each macro goes through four steps: *parse* the tokens, *model* what they say, *check* what rustc would say worse,
//! *expand*. The expansion is data and thin calls into `torch_library::__private`; no logic that the runtime could hold
//! is here, and no unsafe code.
//!
//! Rules of the expansion:
//!
//! - What can fail carries the span of what the user wrote, so that rustc's own message points there.
//! - A path of the user is named once, in one `use`. A second mention would be a second error.
//! - Names of ours are out of the way (`__…`, or inside of `const _`), and no message shows them.
#![forbid(unsafe_code)]

use proc_macro::TokenStream;

// The modules are listed bottom-up: each uses only those above it.

mod errors;
mod key;
mod pieces;
mod rust_type;
mod schema_parts;

mod source;

mod library;

mod kernel;

mod derivatives;
mod native;

/// `torch_library!`, behind a shim that passes the path of the runtime crate first.
#[doc(hidden)]
#[proc_macro]
pub fn declare_library(input: TokenStream) -> TokenStream {
    library::expand(input.into()).into()
}

/// `native_functions!`, behind the same shim.
#[doc(hidden)]
#[proc_macro]
pub fn declare_native_functions(input: TokenStream) -> TokenStream {
    native::expand(input.into()).into()
}

/// `derivatives!`, behind a shim that passes the path of the runtime crate first.
#[doc(hidden)]
#[proc_macro]
pub fn declare_derivatives(input: TokenStream) -> TokenStream {
    derivatives::expand(input.into()).into()
}

#[expect(missing_docs, reason = "documented where `torch_library` re-exports it")]
#[proc_macro_attribute]
pub fn torch_impl(arguments: TokenStream, item: TokenStream) -> TokenStream {
    kernel::expand(arguments.into(), item.into()).into()
}

#[expect(missing_docs, reason = "documented where `torch_library` re-exports it")]
#[proc_macro_attribute]
pub fn torch_fallback(arguments: TokenStream, item: TokenStream) -> TokenStream {
    kernel::expand_fallback(arguments.into(), item.into()).into()
}
