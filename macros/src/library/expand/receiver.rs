//! What the method of an operator is called, and how it takes the tensor.

use proc_macro2::{Ident, TokenStream};
use quote::{format_ident, quote};
use syn::Lifetime;
use syn::ext::IdentExt;

use crate::library::model::Argument;
use crate::rust_type::RustType;

/// `sum_with`; of an operator in place, `zero_with_`: the mark of those stays at the end.
pub(super) fn name_with(ident: &Ident) -> Ident {
    let name = name(ident).unraw().to_string();
    match name.strip_suffix('_') {
        Some(name) => format_ident!("{name}_with_", span = ident.span()),
        None => format_ident!("{name}_with", span = ident.span()),
    }
}

/// The operator's, but for `clone`, which is the handle's as everywhere in Rust.
pub(super) fn name(ident: &Ident) -> Ident {
    if ident == "clone" { format_ident!("copy", span = ident.span()) } else { ident.clone() }
}

/// `&self`, `&'a mut self`
pub(super) fn receiver(this: &Argument) -> TokenStream {
    let lifetime: Option<&Lifetime> = this.lifetime.as_ref();
    let mutable = is_mutable(this).then(|| quote!(mut));
    quote!(& #lifetime #mutable self)
}

/// Whether an argument is written to.
pub(super) fn is_mutable(argument: &Argument) -> bool {
    matches!(argument.ty, RustType::Reference { mutable: true, .. })
}
