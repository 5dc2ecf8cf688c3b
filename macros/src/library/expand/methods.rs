//! The operators as methods of tensors: one trait for each module that names one.

use proc_macro2::{Ident, TokenStream};
use quote::{format_ident, quote};
use syn::{Attribute, Expr, ExprLit, Lifetime, Lit, Meta, MetaNameValue};

use super::operator::{Lifetimes, output, parameter};
use crate::library::model::{Argument, Library, Operator};
use crate::rust_type::RustType;

/// The trait that the library names, and its implementation for `Tensor`; nothing without operators that are methods.
pub(super) fn methods(library: &Library) -> TokenStream {
    let operators = library.operators.iter();
    let (heads, bodies): (Vec<_>, Vec<_>) =
        operators.filter_map(|operator| Some(method(operator, operator.receiver?))).unzip();
    let Some(name) = library.methods.as_ref().filter(|_| !heads.is_empty()) else { return quote!() };
    quote! {
        /// The operators of this module as methods of tensors: required arguments in, defaults for the others.
        #[allow(non_snake_case, clippy::all, clippy::pedantic, reason = "names and counts of arguments are the schema's")]
        pub trait #name {
            #(#heads)*
        }

        #[allow(non_snake_case, clippy::all, clippy::pedantic, reason = "names and counts of arguments are the schema's")]
        impl #name for __torch::Tensor {
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
    let (name, cfgs, documentation) = (name(ident), operator.cfgs(), documentation(operator));
    let head = quote!(fn #name<#(#lifetimes),*>(#receiver #(, #parameters)*) -> __torch::Result<#output>);
    let cfgs = quote!(#(#cfgs)*);
    (quote!(#cfgs #documentation #head;), quote!(#cfgs #[inline] #head { self::#ident::call(#(#passed),*) }))
}

/// The operator's, but for `clone`, which is the handle's as everywhere in Rust.
fn name(ident: &Ident) -> Ident {
    if ident == "clone" { format_ident!("copy", span = ident.span()) } else { ident.clone() }
}

/// The first sentences of the operator's, and where the others are.
fn documentation(operator: &Operator) -> TokenStream {
    let documents = operator.attributes.iter().filter(|attribute| attribute.path().is_ident("doc"));
    let first = documents.take_while(|attribute| !is_blank(attribute));
    let kind = if operator.is_function { "fn" } else { "mod" };
    let more = format!("`{}`, see [`{1}`]({kind}@{1}).", operator.schema, operator.ident);
    quote! { #(#first)* #[doc = ""] #[doc = #more] }
}

/// Whether it is an empty line of documentation.
fn is_blank(attribute: &Attribute) -> bool {
    let Meta::NameValue(MetaNameValue { value: Expr::Lit(ExprLit { lit: Lit::Str(text), .. }), .. }) =
        &attribute.meta
    else {
        return false;
    };
    text.value().trim().is_empty()
}

/// `&self`, `&'a mut self`
fn receiver(this: &Argument) -> TokenStream {
    let lifetime: Option<&Lifetime> = this.lifetime.as_ref();
    match &this.ty {
        RustType::Reference { mutable: true, .. } => quote!(& #lifetime mut self),
        _ => quote!(& #lifetime self),
    }
}
