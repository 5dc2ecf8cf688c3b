//! The name of an operator's method, and its receiver.

use proc_macro2::{Ident, TokenStream};
use quote::{format_ident, quote};
use syn::Lifetime;
use syn::ext::IdentExt;

use crate::library::model::Argument;
use crate::rust_type::RustType;

/// `sum_with`; for an in-place operator `zero_with_`, with the underscore last.
pub(super) fn name_with(ident: &Ident) -> Ident {
    let name = name(ident).unraw().to_string();
    match name.strip_suffix('_') {
        Some(name) => format_ident!("{name}_with_", span = ident.span()),
        None => format_ident!("{name}_with", span = ident.span()),
    }
}

/// The operator's name, except for `clone`: that is the handle's method, as everywhere in Rust.
pub(super) fn name(ident: &Ident) -> Ident {
    if ident == "clone" { format_ident!("copy", span = ident.span()) } else { ident.clone() }
}

/// The receiver: `&self` or `&'a mut self`.
pub(super) fn receiver(this: &Argument) -> TokenStream {
    let lifetime: Option<&Lifetime> = this.lifetime.as_ref();
    let mutable = is_mutable(this).then(|| quote!(mut));
    quote!(& #lifetime #mutable self)
}

/// Whether the argument is mutable.
pub(super) fn is_mutable(argument: &Argument) -> bool {
    matches!(argument.ty, RustType::Reference { mutable: true, .. })
}
