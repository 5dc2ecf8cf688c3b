//! Where a registration is written, as its record tells at run time.

use proc_macro2::{Literal, Span, TokenStream};
use quote::{ToTokens, quote};

use crate::rust_type::runtime;

/// Where something is written.
#[derive(Clone)]
pub(crate) enum Source {
    /// Under this span. The file is that of the whole macro call.
    Span(Span),
    /// In a file that is not Rust.
    File { name: String, line: usize, column: usize },
}

impl Source {
    /// A `SourceModule` of the runtime, for many places. The file and the module are those of the whole macro call.
    pub(crate) fn module(&self) -> TokenStream {
        let runtime = runtime();
        let file = match self {
            Source::Span(_) => quote!(::core::file!()),
            Source::File { name, .. } => quote!(#name),
        };
        quote!(#runtime::SourceModule { file: #file, path: ::core::module_path!() })
    }

    /// A `Place` of the runtime, in a module that stands in a static.
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
