//! The procedural macro of torch-library-export. Its documentation is where users find it: in
//! `torch_library_export::include_model`.
//!
//! It *parses* the tokens, *reads* the archive, and *expands* to thin calls into `torch_library_export::__private`. The
//! expansion names operators by their Rust paths, so that a program links only those that its model calls.
#![forbid(unsafe_code)]

use proc_macro::TokenStream;

// The modules are listed bottom-up: each uses only those above it.

mod input;
mod model;

mod expand;

#[cfg(test)]
mod tests;

/// `include_model!`, behind a shim that passes the path of the crate first.
#[doc(hidden)]
#[proc_macro]
pub fn declare_model(input: TokenStream) -> TokenStream {
    expand::expand(input.into()).into()
}
