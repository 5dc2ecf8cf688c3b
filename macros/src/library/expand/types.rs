//! The types of an operator's arguments and returns, as functions write them.

use proc_macro2::TokenStream;
use quote::quote;
use syn::Lifetime;

use crate::library::model::{Argument, Operator, Return, Returned};

/// What the lifetimes of a signature are.
#[derive(Clone, Copy)]
pub(crate) enum Lifetimes<'a> {
    /// Those that tie an argument to a return, as written in the operator's generics.
    Own,
    /// None: with a single reference rustc ties what belongs together.
    Elided,
    /// One for all.
    One(&'a Lifetime),
}

/// An argument's type.
pub(super) fn argument_type(argument: &Argument, lifetimes: Lifetimes<'_>) -> TokenStream {
    argument.ty.tokens(match lifetimes {
        Lifetimes::Own => argument.lifetime.as_ref(),
        Lifetimes::Elided => None,
        Lifetimes::One(lifetime) => Some(lifetime),
    })
}

pub(super) fn return_type(operator: &Operator, ret: &Return, lifetimes: Lifetimes<'_>) -> TokenStream {
    match &ret.value {
        Returned::Owned(ty) => ty.tokens(None),
        Returned::Argument(index) => argument_type(&operator.arguments[*index], lifetimes),
    }
}

/// What a call gives, inside of `Result<…>`.
pub(crate) fn output(operator: &Operator, lifetimes: Lifetimes<'_>) -> TokenStream {
    let types: Vec<_> = operator.returns.iter().map(|ret| return_type(operator, ret, lifetimes)).collect();
    tuple(&types)
}

/// One thing as itself, several as a tuple.
pub(super) fn tuple(items: &[TokenStream]) -> TokenStream {
    match items {
        [one] => one.clone(),
        several => quote!((#(#several),*)),
    }
}

/// `name: Type`
pub(crate) fn parameter(argument: &Argument, lifetimes: Lifetimes<'_>) -> TokenStream {
    let (ident, ty) = (&argument.ident, argument_type(argument, lifetimes));
    quote!(#ident: #ty)
}

/// The generics and parameters of a function with the operator's signature, every token where the schema has it.
pub(crate) fn function_head(operator: &Operator) -> (TokenStream, Vec<TokenStream>) {
    let lifetimes = &operator.lifetimes;
    let parameters = operator.arguments.iter().map(|argument| {
        let (ident, ty) = (&argument.ident, argument.place.lend(argument_type(argument, Lifetimes::Own)));
        quote!(#ident: #ty)
    });
    (quote!(<#(#lifetimes),*>), parameters.collect())
}

/// What such a function gives, inside of `Result<…>`.
pub(crate) fn output_type(operator: &Operator) -> TokenStream {
    output(operator, Lifetimes::Own)
}
