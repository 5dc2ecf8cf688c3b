//! `#[torch_impl]` and `#[torch_fallback]`: functions as kernels.

use proc_macro2::TokenStream;
use quote::quote;

use crate::errors::Errors;

mod before;
mod block;
mod expand;
mod fallback;
mod item;
mod parse;
mod renamed;
mod signature;
mod surroundings;
mod target;

pub(crate) use expand::{linked, marker};
pub(crate) use fallback::expand as expand_fallback;
pub(crate) use target::Target;

/// Expands `#[torch_impl]`. Whatever is wrong, the user's item is emitted as it is.
pub(crate) fn expand(arguments: TokenStream, item: TokenStream) -> TokenStream {
    let mut errors = Errors::default();
    let parsed = errors.ok(syn::parse2::<item::Item>(item.clone()));
    let mut tokens = match (errors.ok(syn::parse2::<parse::Arguments>(arguments)), parsed) {
        (Some(parse::Arguments { path, options: Ok(options) }), Some(parsed)) => match parsed {
            item::Item::Function(function) => expand::function(&path, &options, *function, &mut errors),
            item::Item::Module(module) => block::module(&path, &options, module, &mut errors),
            item::Item::File(ident) => {
                let message = format!(
                    "rustc shows a macro no other file: write `mod {ident} {{ … }}`, or put the attribute on each function in \
                     that file"
                );
                errors.at(&ident, message);
                let used = target::used(&path);
                quote!(#item #used)
            }
        },
        (arguments, parsed) => {
            let item = match &parsed {
                Some(item::Item::Function(function)) => function.as_written(),
                _ => item,
            };
            let path = arguments.map(|arguments| {
                errors.ok(arguments.options);
                arguments.path
            });
            let used = path.map(|path| target::used(&path));
            quote!(#item #used)
        }
    };
    tokens.extend(errors.into_tokens());
    tokens
}
