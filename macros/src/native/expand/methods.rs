//! The methods of tensors: one trait for each namespace that has some.

use proc_macro2::TokenStream;
use quote::{format_ident, quote};
use syn::Lifetime;

use super::Members;
use crate::library::expand::operator::{Lifetimes, output, parameter};
use crate::library::model::{Argument, Operator};
use crate::rust_type::RustType;

/// `pub trait TensorMethods`, and its implementation for `Tensor`.
pub(super) fn methods(members: &Members<'_>) -> TokenStream {
    let entries = members.entries.iter().filter(|entry| entry.is_method && !entry.manual_cpp_binding);
    let operators = entries.filter_map(|entry| {
        let operator = members.operators.get(&entry.func.name.to_string())?;
        Some((operator, entry.func.this()?))
    });
    let (heads, bodies): (Vec<_>, Vec<_>) = operators.map(|(operator, this)| method(operator, this)).unzip();
    if heads.is_empty() {
        return quote!();
    }
    let about = format!("The operators of `{}` that are methods of tensors.", members.namespace);
    quote! {
        #[doc = #about]
        #[allow(non_snake_case, clippy::all, clippy::pedantic)]
        pub trait TensorMethods {
            #(#heads)*
        }

        #[allow(non_snake_case, clippy::all, clippy::pedantic)]
        impl TensorMethods for __torch::Tensor {
            #(#bodies)*
        }
    }
}

/// The declaration of a method, and the method.
fn method(operator: &Operator, this: usize) -> (TokenStream, TokenStream) {
    let Operator { ident, arguments, lifetimes, .. } = operator;
    let receiver = receiver(&arguments[this]);
    let is_required = |(at, argument): &(usize, &Argument)| *at != this && argument.default.is_none();
    let required = arguments.iter().enumerate().filter(is_required);
    let parameters = required.map(|(_, argument)| parameter(argument, Lifetimes::Own));
    let output = output(operator, Lifetimes::Own);
    let passed = arguments.iter().enumerate().map(|(at, argument)| match &argument.default {
        _ if at == this => quote!(self),
        Some(default) => default.clone(),
        None => {
            let ident = &argument.ident;
            quote!(#ident)
        }
    });
    // `clone` is the handle's, as everywhere in Rust.
    let name = if ident == "clone" { format_ident!("copy", span = ident.span()) } else { ident.clone() };
    let about = format!("`{}`", operator.schema);
    let head = quote!(fn #name<#(#lifetimes),*>(#receiver #(, #parameters)*) -> __torch::Result<#output>);
    (quote!(#[doc = #about] #head;), quote!(#[inline] #head { self::#ident::call(#(#passed),*) }))
}

/// `&self`, `&'a mut self`
fn receiver(this: &Argument) -> TokenStream {
    let lifetime: Option<&Lifetime> = this.lifetime.as_ref();
    match &this.ty {
        RustType::Reference { mutable: true, .. } => quote!(& #lifetime mut self),
        _ => quote!(& #lifetime self),
    }
}
