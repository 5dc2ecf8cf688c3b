//! Collects all mistakes in a macro's input, each with the span of its own tokens.

use proc_macro2::{Span, TokenStream};
use quote::ToTokens;
use syn::parse::ParseStream;

/// Collects mistakes, so that one compilation shows them all.
#[derive(Default)]
pub(crate) struct Errors(Vec<syn::Error>);

impl Errors {
    /// Adds a mistake at these tokens.
    pub(crate) fn at(&mut self, tokens: impl ToTokens, message: impl std::fmt::Display) {
        self.0.push(syn::Error::new_spanned(tokens, message));
    }

    /// Adds an error that another function returned.
    pub(crate) fn push(&mut self, error: syn::Error) {
        self.0.push(error);
    }

    /// Unwraps the value; on an error adds it and returns `None`.
    pub(crate) fn ok<T>(&mut self, result: syn::Result<T>) -> Option<T> {
        result.map_err(|error| self.push(error)).ok()
    }

    /// The `compile_error!`s to emit, none if there were no mistakes.
    pub(crate) fn into_tokens(self) -> TokenStream {
        self.0.iter().map(syn::Error::to_compile_error).collect()
    }
}

/// An "expected something" error at the next token or, at the end of the input, at the token before it: the end has no
/// token of its own, and rustc would underline the whole macro call.
pub(crate) fn expected(input: ParseStream<'_>, before: Span, message: impl std::fmt::Display) -> syn::Error {
    syn::Error::new(if input.is_empty() { before } else { input.span() }, message)
}
