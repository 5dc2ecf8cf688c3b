//! The places of registrations in the source, which records keep for messages at run time.

use proc_macro2::{Literal, Span, TokenStream};
use quote::{ToTokens, quote};

use crate::rust_type::runtime;

/// A place in the source.
#[derive(Clone)]
pub(crate) enum Source {
    /// The line of this span. The file is that of the whole macro call.
    Span(Span),
    /// In a file that is not Rust.
    File { name: String, line: usize, column: usize },
}

impl Source {
    /// A `SourceModule` of the runtime, shared by many places. Its file and module are those of the whole macro call.
    pub(crate) fn module(&self) -> TokenStream {
        let runtime = runtime();
        let file = match self {
            Source::Span(_) => quote!(::core::file!()),
            Source::File { name, .. } => quote!(#name),
        };
        quote!(#runtime::SourceModule { file: #file, path: ::core::module_path!() })
    }

    /// A `Place` of the runtime, whose module is in the given static.
    pub(crate) fn place(&self, module: &TokenStream) -> TokenStream {
        let runtime = runtime();
        let (line, column) = match self {
            Source::Span(span) => (span.unwrap().line(), span.unwrap().column()),
            Source::File { line, column, .. } => (*line, *column),
        };
        let number = |number: usize| Literal::u32_unsuffixed(number as u32);
        let (line, column) = (number(line), number(column));
        quote!(#runtime::Place { module: &#module, line: #line, column: #column })
    }
}

/// A `Place` with a module of its own.
impl ToTokens for Source {
    fn to_tokens(&self, tokens: &mut TokenStream) {
        tokens.extend(self.place(&self.module()));
    }
}
