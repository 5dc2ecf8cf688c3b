//! Where a registration is written, as its record tells at run time.

use proc_macro2::{Literal, Span, TokenStream};
use quote::quote;

use crate::rust_type::runtime;

/// A `Place` of the runtime. The file and the module are those of the whole macro call.
pub(crate) fn place(span: Span) -> TokenStream {
    let runtime = runtime();
    let number = |number: usize| Literal::u32_unsuffixed(number as u32);
    let (line, column) = (number(span.unwrap().line()), number(span.unwrap().column()));
    quote!(#runtime::Place {
        file: ::core::file!(),
        line: #line,
        column: #column,
        module: ::core::module_path!(),
    })
}
