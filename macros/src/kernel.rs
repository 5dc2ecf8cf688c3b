//! `#[torch_impl]`: a function, or a module of functions, as kernels.

use proc_macro2::TokenStream;

mod expand;
mod model;
mod parse;

/// The whole way. Whatever is wrong, the user's item is emitted as it is.
pub(crate) fn expand(arguments: TokenStream, item: TokenStream) -> TokenStream {
    let mut errors = crate::errors::Errors::default();
    let arguments = match syn::parse2::<parse::Arguments>(arguments) {
        Ok(arguments) => arguments,
        Err(error) => {
            let error = error.to_compile_error();
            return quote::quote!(#item #error);
        }
    };
    let mut tokens = match syn::parse2::<parse::Item>(item.clone()) {
        Ok(parse::Item::Function(function)) => expand::function(&arguments, function, &mut errors),
        Ok(parse::Item::Module(module)) => expand::module(&arguments, module, &mut errors),
        Err(error) => {
            errors.push(error);
            item
        }
    };
    tokens.extend(errors.into_tokens());
    tokens
}
