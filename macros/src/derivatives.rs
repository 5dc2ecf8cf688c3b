//! `derivatives!`: autograd kernels from formulas.

use proc_macro2::TokenStream;

use crate::errors::Errors;

mod ambiguous;
mod expand;
mod formula;
mod named;
mod parse;
mod row;

/// Expands the whole macro; after a mistake, the correct rows are emitted next to the errors.
pub(crate) fn expand(input: TokenStream) -> TokenStream {
    let block = match syn::parse2::<parse::Block>(input) {
        Ok(block) => block,
        Err(error) => return error.to_compile_error(),
    };
    let mut errors = Errors::default();
    let rows: Vec<_> = block.rows.into_iter().flat_map(|parsed| row::Row::all(parsed, &mut errors)).collect();
    let mut tokens = expand::rows(&block.root, &block.namespace, &rows);
    tokens.extend(errors.into_tokens());
    tokens
}
