//! The procedural macros of torch-library. Their documentation is where users find them, in `torch_library`.
//!
//! Each macro takes four steps: *parse* the tokens, *model* what they mean, *check* what rustc would report less
//! clearly, *expand*. The expansion is data and thin calls into `torch_library::__private`; it contains no logic that
//! could be in the runtime, and no unsafe code: `__operator!` of the runtime has that, and trusts nothing that a macro
//! passes to it.
//!
//! Rules of the expansion:
//!
//! - Whatever can fail to compile carries the span of the user's tokens, so that rustc's own message points there.
//! - A user's path is emitted once, in one `use`. A second mention would cause a second error.
//! - Generated names are kept out of the way (`__…`, or inside of `const _`), and do not show up in messages.
#![forbid(unsafe_code)]

use proc_macro::TokenStream;

// The modules are listed bottom-up: each uses only those above it.

mod error_at;
mod errors;
mod hash_of_sources;
mod key;
mod lints;
mod pieces;
mod rust_type;
mod schema_parts;

mod source;

mod library;

mod kernel;

mod derivatives;
mod native;

/// `torch_library!`, called through a shim that passes the path of the runtime crate first.
#[doc(hidden)]
#[proc_macro]
pub fn declare_library(input: TokenStream) -> TokenStream {
    library::expand(input.into()).into()
}

/// `native_functions!`, called through the same kind of shim.
#[doc(hidden)]
#[proc_macro]
pub fn declare_native_functions(input: TokenStream) -> TokenStream {
    native::expand(input.into()).into()
}

/// `derivatives!`, called through a shim that passes the path of the runtime crate first.
#[doc(hidden)]
#[proc_macro]
pub fn declare_derivatives(input: TokenStream) -> TokenStream {
    derivatives::expand(input.into()).into()
}

/// `error_at!([TOKENS] "message")`, for the runtime's own macros.
#[doc(hidden)]
#[proc_macro]
pub fn error_at(input: TokenStream) -> TokenStream {
    error_at::expand(input.into()).into()
}

/// `hash_of_sources!()`, for the runtime itself.
#[doc(hidden)]
#[proc_macro]
pub fn hash_of_sources(input: TokenStream) -> TokenStream {
    hash_of_sources::expand(input.into()).into()
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
