//! The call with arguments by name: `sum::with(&x).keepdim(true).call()`, for operators that have defaults.

use proc_macro2::{Span, TokenStream};
use quote::{format_ident, quote};
use syn::Lifetime;

use super::operator::{Lifetimes, argument_type, output, parameter};
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
    let about = format!("Arguments of `{name}`, some given by name; the others have their defaults.");
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

fn setter(argument: &Argument, lifetimes: Lifetimes<'_>) -> TokenStream {
    let (ident, ty) = (&argument.ident, argument_type(argument, lifetimes));
    let about = format!("Gives `{ident}`.");
    // An argument of this name would hide the call itself.
    let name = if ident == "call" { format_ident!("call_", span = ident.span()) } else { ident.clone() };
    let (ty, value) = match argument.ty.is_converted() {
        true => (quote!(impl __torch::Into<#ty>), quote!(__torch::Into::into(#ident))),
        false => (ty, quote!(#ident)),
    };
    quote! {
        #[doc = #about]
        #[inline]
        pub fn #name(mut self, #ident: #ty) -> Self {
            self.#ident = #value;
            self
        }
    }
}
