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

/// A `Place` of the runtime. The module is that of the whole macro call.
impl ToTokens for Source {
    fn to_tokens(&self, tokens: &mut TokenStream) {
        let runtime = runtime();
        let (file, line, column) = match self {
            Source::Span(span) => (quote!(::core::file!()), span.unwrap().line(), span.unwrap().column()),
            Source::File { name, line, column } => (quote!(#name), *line, *column),
        };
        let number = |number: usize| Literal::u32_unsuffixed(number as u32);
        let (line, column) = (number(line), number(column));
        tokens.extend(quote!(#runtime::Place {
            file: #file,
            line: #line,
            column: #column,
            module: ::core::module_path!(),
        }));
    }
}
