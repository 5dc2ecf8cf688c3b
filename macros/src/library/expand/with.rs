//! The call with arguments by name: `sum::with(&x).keepdim(true).call()`, for operators that have defaults.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{format_ident, quote};
use syn::Lifetime;

use super::types::{Lifetimes, argument_type, output, parameter};
use crate::library::model::{Argument, Operator};

pub(super) fn with(operator: &Operator) -> TokenStream {
    let defaults: Vec<_> = operator.arguments.iter().filter(|argument| argument.default.is_some()).collect();
    if defaults.is_empty() {
        return quote!();
    }
    let lifetime = Lifetime::new("'w", Span::call_site());
    let lifetimes = Lifetimes::One(&lifetime);
    let output = output(operator, lifetimes);
    let required = operator.arguments.iter().filter(|argument| argument.default.is_none());
    let required = required.map(|argument| parameter(argument, lifetimes));
    let fields = operator.arguments.iter().map(|argument| parameter(argument, lifetimes));
    let values = operator.arguments.iter().map(|argument| {
        let ident = &argument.ident;
        let value = argument.default.clone().unwrap_or_else(|| quote!(#ident));
        quote!(#ident: #value)
    });
    let setters = defaults.iter().map(|argument| setter(argument, lifetimes));
    let all = operator.arguments.iter().map(|argument| &argument.ident);
    let name = operator.schema.name.to_string();
    let about = format!("A call of `{name}` in preparation; arguments that are not set have their defaults.");
    let start = format!("Starts a call of `{name}` with its required arguments.");
    quote! {
        #[doc = #start]
        #[inline]
        #[allow(clippy::all, clippy::pedantic)]
        pub fn with<'w>(#(#required),*) -> With<'w> {
            With { #(#values,)* __lifetime: __torch::PhantomData }
        }

        #[doc = #about]
        #[must_use = "nothing happens before `call`"]
        pub struct With<'w> {
            #(#fields,)*
            __lifetime: __torch::PhantomData<&'w ()>,
        }

        #[allow(clippy::all, clippy::pedantic)]
        impl<'w> With<'w> {
            #(#setters)*

            /// Calls the operator.
            #[inline]
            pub fn call(self) -> __torch::Result<#output> {
                call(#(self.#all),*)
            }
        }
    }
}

/// The argument's name, except that one named `call` would hide the call itself.
pub(super) fn setter_name(argument: &Argument) -> Ident {
    let ident = &argument.ident;
    if ident == "call" { format_ident!("call_", span = ident.span()) } else { ident.clone() }
}

fn setter(argument: &Argument, lifetimes: Lifetimes<'_>) -> TokenStream {
    let ident = &argument.ident;
    let about = format!("Sets `{ident}`.");
    let name = setter_name(argument);
    let (ty, value) = given(argument, lifetimes);
    quote! {
        #[doc = #about]
        #[inline]
        pub fn #name(mut self, #ident: #ty) -> Self {
            self.#ident = #value;
            self
        }
    }
}

/// The parameter type of a setter, and the value it stores: for an `Option`, its inner type or the `Option`; for a
/// `Scalar`, any number. Arrays coerce to slices by themselves.
fn given(argument: &Argument, lifetimes: Lifetimes<'_>) -> (TokenStream, TokenStream) {
    let ident = &argument.ident;
    let lifetime = match lifetimes {
        Lifetimes::One(lifetime) => Some(lifetime),
        Lifetimes::Own | Lifetimes::Elided => None,
    };
    match argument.ty.optional() {
        Some(inner) => {
            let inner = inner.tokens(lifetime);
            // With the span of the schema's type, for messages about values of the wrong type.
            let ty = argument.place.lend(quote!(impl __torch::IntoOptional<#inner>));
            (ty, quote!(__torch::IntoOptional::into_optional(#ident)))
        }
        None if argument.ty.is_scalar() => {
            (quote!(impl __torch::Into<__torch::Scalar>), quote!(__torch::Into::into(#ident)))
        }
        None => (argument_type(argument, lifetimes), quote!(#ident)),
    }
}
