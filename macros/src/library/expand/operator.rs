//! One operator: the plain call as a function, everything else in a module of the same name.

use proc_macro2::{Literal, Span, TokenStream};
use quote::{quote, quote_spanned};
use syn::Lifetime;

use super::with;
use crate::library::model::{Argument, Operator, Return, Returned, Untyped};

pub(super) fn operator(operator: &Operator) -> TokenStream {
    let Operator { ident, schema, .. } = operator;
    let text = format!("```text\n{schema}\n```");
    let about = format!("The operator `{}`: everything but the plain call.\n\n{text}", schema.name);
    let cfgs = operator.cfgs();
    let function = operator.is_function.then(|| function(operator));
    let (traits, definition, with) = (traits(operator), definition(operator), with::with(operator));
    quote! {
        #function

        #(#cfgs)*
        #[doc = #about]
        #[allow(non_snake_case, clippy::module_inception)]
        pub mod #ident {
            #[doc(hidden)]
            pub use super::__torch;
            #[doc(hidden)]
            #[allow(unused_imports, reason = "for paths in `#[torch_impl]`, which a program need not have")]
            pub use super::__torch::of_operator as one_of;
            #traits
            #definition
            #with
        }
    }
}

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

fn return_type(operator: &Operator, ret: &Return, lifetimes: Lifetimes<'_>) -> TokenStream {
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
fn tuple(items: &[TokenStream]) -> TokenStream {
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

/// The plain call: required arguments in, defaults for the others.
fn function(operator: &Operator) -> TokenStream {
    let Operator { attributes, ident, schema, lifetimes, .. } = operator;
    let text = format!("```text\n{schema}\n```");
    let output = output(operator, Lifetimes::Own);
    let required = operator.arguments.iter().filter(|argument| argument.default.is_none());
    let parameters = required.map(|argument| parameter(argument, Lifetimes::Own));
    let all = operator.arguments.iter().map(|argument| {
        let ident = &argument.ident;
        argument.default.clone().unwrap_or_else(|| quote!(#ident))
    });
    quote! {
        #(#attributes)*
        #[doc = ""]
        #[doc = #text]
        #[inline]
        #[allow(non_snake_case, clippy::all, clippy::pedantic)]
        pub fn #ident<#(#lifetimes),*>(#(#parameters),*) -> __torch::Result<#output> {
            self::#ident::call(#(#all),*)
        }
    }
}

/// The head of a function with an operator's arguments and returns.
pub(crate) struct Head {
    /// `<'a>`, or nothing.
    pub(crate) generics: TokenStream,
    /// `this: &'a mut Tensor, other: &Tensor`
    pub(crate) parameters: TokenStream,
    /// What is in `Result<…>`.
    pub(crate) output: TokenStream,
}

/// The head of a kernel, each part where it stands in the schema.
pub(crate) fn head(operator: &Operator) -> Head {
    let references = operator.arguments.iter().filter(|argument| argument.ty.is_reference()).count();
    let lifetimes = &operator.lifetimes;
    let (generics, used) = if references == 1 {
        (quote!(), Lifetimes::Elided)
    } else {
        (quote!(<#(#lifetimes),*>), Lifetimes::Own)
    };
    let parameters = operator.arguments.iter().map(|argument| {
        let (ident, ty) = (&argument.ident, argument.place.lend(argument_type(argument, used)));
        quote!(#ident: #ty)
    });
    let returns: Vec<_> =
        operator.returns.iter().map(|ret| ret.place.lend(return_type(operator, ret, used))).collect();
    Head { generics, parameters: quote!(#(#parameters),*), output: tuple(&returns) }
}

/// The traits that `#[torch_impl]` implements. Rustc's own comparison with them is the signature check, and its notes
/// show these tokens: they stand where the schema does, and nothing else is in a trait.
fn traits(operator: &Operator) -> TokenStream {
    let ident = &operator.ident;
    let Head { generics, parameters, output } = head(operator);
    let result = result(operator, &output);
    // A `DispatchKeySet` before them is no reference, so elision stays the same.
    quote! {
        #[doc(hidden)]
        #[allow(dead_code, unused_qualifications, clippy::all, clippy::pedantic)]
        pub trait Kernel {
            fn #ident #generics(#parameters) -> #result;
        }
        #[doc(hidden)]
        #[allow(dead_code, unused_qualifications, clippy::all, clippy::pedantic)]
        pub trait KernelWithKeys {
            fn #ident #generics(_: __torch::DispatchKeySet, #parameters) -> #result;
        }
    }
}

/// `Result<output>` where the returns of the schema stand; where it has none, at its name.
fn result(operator: &Operator, output: &TokenStream) -> TokenStream {
    let places = || operator.returns.iter().map(|ret| ret.place);
    let (first, last) = (places().next(), places().next_back());
    let open = quote_spanned!(first.unwrap_or(operator.place).first=> __torch::Result<);
    let close = quote_spanned!(last.unwrap_or(operator.place).last=> >);
    quote!(#open #output #close)
}

/// The static, the callers and the shims, all written by one macro of the runtime.
fn definition(operator: &Operator) -> TokenStream {
    let Operator { ident, schema, tags, lifetimes, source, .. } = operator;
    let place = source.place(&quote!(super::TORCH_LIBRARY_SOURCE));
    let text = schema.to_string();
    let output_type = output(operator, Lifetimes::Own);
    let arguments = operator.arguments.iter().map(|argument| {
        let (ident, ty) = (&argument.ident, argument_type(argument, Lifetimes::Own));
        quote!([#ident (#ty)])
    });
    let longest = Lifetime::new("'static", Span::call_site());
    let longest = Lifetimes::One(&longest);
    let signature = operator.arguments.iter().map(|argument| argument_type(argument, longest));
    let signature_output = output(operator, longest);
    let is_returned = |ret: &Return| matches!(ret.value, Returned::Argument(_));
    let returned = operator.returns.iter().filter(|_| operator.returns.iter().any(is_returned));
    let returned = returned.map(|ret| match &ret.value {
        Returned::Owned(_) => quote!(__torch::Option::None),
        Returned::Argument(source) => quote!(__torch::Option::Some(#source)),
    });
    let count = Literal::usize_unsuffixed(operator.arguments.len());
    let returns = Literal::usize_unsuffixed(operator.returns.len());
    quote! {
        __torch::operator! {
            name: #ident,
            lifetimes: [#(#lifetimes)*],
            arguments: #count [#(#arguments)*],
            output: #output_type,
            signature: (#(#signature),*) -> #signature_output,
            returned: #returns [#(#returned),*],
            spec: {
                namespace: super::NAMESPACE,
                schema: #text,
                tags: [#(#tags),*],
                place: #place,
            },
        }
    }
}

/// An operator whose types have no counterpart in Rust yet: known to the dispatcher, and called with boxed arguments.
pub(super) fn untyped(operator: &Untyped) -> TokenStream {
    let Untyped { ident, schema, tags, source } = operator;
    let place = source.place(&quote!(super::TORCH_LIBRARY_SOURCE));
    let text = schema.to_string();
    let about = format!("The operator `{}`, for boxed calls alone.\n\n```text\n{schema}\n```", schema.name);
    let count = Literal::usize_unsuffixed(schema.arguments.len());
    let returns = Literal::usize_unsuffixed(schema.returns.len());
    quote! {
        #[doc = #about]
        #[allow(non_snake_case, clippy::module_inception)]
        pub mod #ident {
            #[doc(hidden)]
            pub use super::__torch;
            #[doc(hidden)]
            #[allow(unused_imports, reason = "for paths in `#[torch_impl]`, which a program need not have")]
            pub use super::__torch::of_operator as one_of;
            __torch::untyped_operator! {
                namespace: super::NAMESPACE,
                schema: #text,
                arguments: #count,
                returns: #returns,
                tags: [#(#tags),*],
                place: #place,
            }
        }
    }
}
