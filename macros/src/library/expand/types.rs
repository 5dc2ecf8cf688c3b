//! The types of an operator's arguments and returns in function signatures.

use proc_macro2::TokenStream;
use quote::quote;
use syn::Lifetime;

use crate::library::model::{Argument, Operator, Return, Returned};

/// Which lifetimes a signature has.
#[derive(Clone, Copy)]
pub(crate) enum Lifetimes<'a> {
    /// Those that tie an argument to a return, as declared in the operator's generics.
    Own,
    /// None: with a single reference, elision ties the return to it.
    Elided,
    /// The same lifetime everywhere.
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

/// The output type of a call, inside `Result<…>`.
pub(crate) fn output(operator: &Operator, lifetimes: Lifetimes<'_>) -> TokenStream {
    let types: Vec<_> = operator.returns.iter().map(|ret| return_type(operator, ret, lifetimes)).collect();
    tuple(&types)
}

/// A single item as itself, several as a tuple.
pub(super) fn tuple(items: &[TokenStream]) -> TokenStream {
    match items {
        [one] => one.clone(),
        several => quote!((#(#several),*)),
    }
}

/// A parameter `name: Type`.
pub(crate) fn parameter(argument: &Argument, lifetimes: Lifetimes<'_>) -> TokenStream {
    let (ident, ty) = (&argument.ident, argument_type(argument, lifetimes));
    quote!(#ident: #ty)
}

/// The generics and parameters of a function with the operator's signature, with the spans of the schema.
pub(crate) fn function_head(operator: &Operator) -> (TokenStream, Vec<TokenStream>) {
    let lifetimes = &operator.lifetimes;
    let parameters = operator.arguments.iter().map(|argument| {
        let ty = argument.place.lend_ours(argument_type(argument, Lifetimes::Own));
        let ident = &argument.ident;
        quote!(#ident: #ty)
    });
    (quote!(<#(#lifetimes),*>), parameters.collect())
}

/// The output type of such a function, inside `Result<…>`.
pub(crate) fn output_type(operator: &Operator) -> TokenStream {
    output(operator, Lifetimes::Own)
}
