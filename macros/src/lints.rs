//! Keeps lints of the user's crate away from items that are ours, without an `#[allow]` where there is a way: a crate
//! that forbids a lint refuses each `#[allow]` of it.

use proc_macro2::{Ident, Span, TokenStream, TokenTree};
use quote::quote;
use syn::ext::IdentExt;

/// `#[allow(non_snake_case)]` if one of these names needs it, which schemas give to functions, modules and arguments.
pub(crate) fn names<'i>(mut names: impl Iterator<Item = &'i Ident>) -> Option<TokenStream> {
    names.any(|name| !is_snake_case(name)).then(|| quote!(#[allow(non_snake_case)]))
}

/// The same for all names in a pattern or a signature.
pub(crate) fn names_in(tokens: TokenStream) -> Option<TokenStream> {
    fn collect(tokens: TokenStream, found: &mut Vec<Ident>) {
        for token in tokens {
            match token {
                TokenTree::Ident(ident) => found.push(ident),
                TokenTree::Group(group) => collect(group.stream(), found),
                _ => {}
            }
        }
    }
    let mut found = Vec::new();
    collect(tokens, &mut found);
    names(found.iter())
}

fn is_snake_case(name: &Ident) -> bool {
    let name = name.unraw().to_string();
    let name = name.trim_matches('_');
    !name.contains("__") && !name.contains(char::is_uppercase)
}

/// The span of an item that is ours, at the place of a token of the user's: rustc points there, but lints do not report
/// what another crate's macro wrote.
pub(crate) fn ours(place: Span) -> Span {
    Span::call_site().located_at(place)
}
