//! `torch_library!`: a namespace of declared operators.

use proc_macro2::TokenStream;

mod check;
mod default;
pub(crate) mod expand;
mod function;
pub(crate) mod model;
mod parse;

pub(crate) use expand::{function_head, output_type, symbol};
pub(crate) use model::{Operator, Returned, flat_name};
pub(crate) use parse::{Declaration, SchemaTokens};

/// Expands the whole macro; after a mistake, the correct operators are emitted next to the errors.
pub(crate) fn expand(input: TokenStream) -> TokenStream {
    let mut block = match syn::parse2::<parse::Block>(input) {
        Ok(block) => block,
        Err(error) => return error.to_compile_error(),
    };
    let mut errors = std::mem::take(&mut block.errors);
    let mut library = model::Library::new(block, &mut errors);
    check::check(&mut library, &mut errors);
    let mut tokens = expand::library(&library, &TokenStream::new());
    tokens.extend(errors.into_tokens());
    tokens
}
