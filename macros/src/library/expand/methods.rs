//! The operators as methods of tensors: one trait for each module that names a trait.

use proc_macro2::{Span, TokenStream};
use quote::{ToTokens, quote};
use syn::{Attribute, Expr, ExprLit, Lifetime, Lit, Meta, MetaNameValue};

use super::overloads::Overloads;
use super::receiver::{is_mutable, name, name_with, receiver};
use super::types::{Lifetimes, output, parameter};
use crate::library::model::{Argument, Library, Operator};
use crate::lints;

/// The trait that the library names, and its implementation for `Tensor`; nothing if no operator is a method.
pub(super) fn methods(library: &Library, overloads: &[Overloads<'_>]) -> TokenStream {
    let operators = library.operators.iter().filter_map(|operator| Some((operator, operator.receiver?)));
    let methods = operators.flat_map(|(operator, this)| {
        std::iter::once(method(operator, this)).chain(method_with(library, operator, this))
    });
    let overloaded = overloads
        .iter()
        .filter(|_| library.overloads.is_some_and(|kinds| kinds.method))
        .filter_map(Overloads::method);
    let (heads, bodies): (Vec<_>, Vec<_>) = methods.chain(overloaded).unzip();
    let names = lints::names(library.operators.iter().flat_map(|operator| {
        std::iter::once(&operator.ident).chain(operator.arguments.iter().map(|argument| &argument.ident))
    }));
    let Some(name) = library.methods.as_ref().filter(|_| !heads.is_empty()) else { return quote!() };
    quote! {
        /// The operators of this module as methods of tensors. A method takes the required arguments; `x.NAME_with(…)`
        /// or, for an in-place operator, `x.NAME_with_(…)` takes the others by name.
        #names
        #[allow(clippy::all, clippy::pedantic, reason = "the schema has the names and counts")]
        pub trait #name {
            #(#heads)*
        }

        #names
        #[allow(clippy::all, clippy::pedantic, reason = "the schema has the names and counts")]
        impl #name for __torch::Tensor {
            #(#bodies)*
        }
    }
}

/// The declaration of a method, and its definition.
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

/// The method that takes arguments with defaults by name, and its declaration: `x.sum_with().keepdim(true).call()`.
/// None for an operator without defaults, or where another operator has that name.
fn method_with(library: &Library, operator: &Operator, this: usize) -> Option<(TokenStream, TokenStream)> {
    let Operator { ident, arguments, .. } = operator;
    let name = name_with(ident);
    let is_taken = library.operators.iter().any(|other| other.ident == name);
    if is_taken || arguments.iter().all(|argument| argument.default.is_none()) {
        return None;
    }
    let lifetime = Lifetime::new("'w", Span::call_site());
    let mutable = is_mutable(&arguments[this]).then(|| quote!(mut));
    let required = || arguments.iter().enumerate().filter(|(_, argument)| argument.default.is_none());
    let others = required().filter(|(at, _)| *at != this);
    let parameters = others.map(|(_, argument)| parameter(argument, Lifetimes::One(&lifetime)));
    let passed = required().map(|(at, argument)| match at == this {
        true => quote!(self),
        false => argument.ident.to_token_stream(),
    });
    let about = format!(
        "Starts a call of `{}` whose arguments with defaults are passed by name.",
        operator.schema.name
    );
    let cfgs: TokenStream = operator.cfgs().map(ToTokens::to_token_stream).collect();
    let head = quote!(fn #name<'w>(&'w #mutable self #(, #parameters)*) -> self::#ident::With<'w>);
    Some((
        quote!(#cfgs #[doc = #about] #head;),
        quote!(#cfgs #[inline] #head { self::#ident::with(#(#passed),*) }),
    ))
}

/// The first sentences of the operator's documentation, and a link to the rest.
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
