//! One operator: a function for the plain call, and a module of the same name for everything else.

use proc_macro2::{Ident, Literal, Span, TokenStream};
use quote::{format_ident, quote, quote_spanned};
use syn::Lifetime;
use syn::ext::IdentExt;

use super::types::{Lifetimes, argument_type, output, parameter, return_type, tuple};
use super::with::{self, setter_name};
use crate::library::model::{Argument, Library, Namespace, Operator, Returned, Untyped};
use crate::lints;

pub(super) fn operator(operator: &Operator, library: &Library, variants: &TokenStream) -> TokenStream {
    let Operator { ident, schema, .. } = operator;
    let text = format!("```text\n{schema}\n```");
    let about = format!("The operator `{}`: everything but the plain call.\n\n{text}", schema.name);
    let cfgs = operator.cfgs();
    let function = operator.is_function.then(|| function(operator));
    let (traits, definition, with) = (traits(operator), definition(operator, library), with::with(operator));
    let names = names(operator);
    let takes = format_ident!("__takes_{}", operator.arguments.len());
    let serves = format_ident!("{}", if operator.variants.is_empty() { "serving_none" } else { "serving" });
    quote! {
        #function

        #(#cfgs)*
        #[doc = #about]
        #names
        #[allow(clippy::module_inception)]
        pub mod #ident {
            #[doc(hidden)]
            pub use super::__torch;
            #[doc(hidden)]
            pub use super::__torch::of_operator as one_of;
            #[doc(hidden)]
            pub use super::__torch::{#serves as serves, arity::#takes as takes};
            #traits
            #definition
            #with
            #variants
        }
    }
}

/// What allows the operator's names.
fn names(operator: &Operator) -> Option<TokenStream> {
    let arguments = operator.arguments.iter().map(|argument| &argument.ident);
    lints::names(std::iter::once(&operator.ident).chain(arguments))
}

/// The plain call, which takes required arguments and uses the defaults of the others.
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
    let names = names(operator);
    let by_name = by_name(operator).map(|text| quote!(#[doc = ""] #[doc = #text]));
    quote! {
        #(#attributes)*
        #[doc = ""]
        #[doc = #text]
        #by_name
        #[inline]
        #names
        #[allow(clippy::all, clippy::pedantic)]
        pub fn #ident<#(#lifetimes),*>(#(#parameters),*) -> __torch::Result<#output> {
            self::#ident::call(#(#all),*)
        }
    }
}

/// A note on how to pass arguments that have defaults: given too many arguments, rustc only suggests removing them.
fn by_name(operator: &Operator) -> Option<String> {
    let argument = operator.arguments.iter().find(|argument| argument.default.is_some())?;
    let required = operator.arguments.iter().filter(|argument| argument.default.is_none());
    let required: Vec<_> = required.map(|argument| argument.ident.to_string()).collect();
    let (name, required, given) = (&operator.ident, required.join(", "), setter_name(argument));
    Some(format!("Arguments with defaults are passed by name: `{name}::with({required}).{given}(…).call()`."))
}

/// The head of a function with an operator's arguments and returns.
pub(crate) struct Head {
    /// `<'a>`, or empty.
    pub(crate) generics: TokenStream,
    /// The parameters, such as `this: &'a mut Tensor, other: &Tensor`.
    pub(crate) parameters: TokenStream,
    /// The type inside `Result<…>`.
    pub(crate) output: TokenStream,
}

/// The head of a kernel, each part with the span of its counterpart in the schema.
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
/// show these tokens. So they carry the spans of the schema, and a trait contains nothing else.
fn traits(operator: &Operator) -> TokenStream {
    let ident = &operator.ident;
    let Head { generics, parameters, output } = head(operator);
    let result = result(operator, &output);
    // A preceding `DispatchKeySet` is not a reference, so lifetime elision does not change.
    quote! {
        #[doc(hidden)]
        #[allow(clippy::all, clippy::pedantic)]
        pub trait Kernel {
            fn #ident #generics(#parameters) -> #result;
        }
        #[doc(hidden)]
        #[allow(clippy::all, clippy::pedantic)]
        pub trait KernelWithKeys {
            fn #ident #generics(_: __torch::DispatchKeySet, #parameters) -> #result;
        }
    }
}

/// `Result<output>` with the span of the schema's returns or, without returns, of the operator's name.
fn result(operator: &Operator, output: &TokenStream) -> TokenStream {
    let places = || operator.returns.iter().map(|ret| ret.place);
    let (first, last) = (places().next(), places().next_back());
    let open = quote_spanned!(first.unwrap_or(operator.place).first=> __torch::Result<);
    let close = quote_spanned!(last.unwrap_or(operator.place).last=> >);
    quote!(#open #output #close)
}

/// The static, the callers and the shims, all generated by one macro of the runtime.
fn definition(operator: &Operator, library: &Library) -> TokenStream {
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
    let returned = operator.returns.iter().enumerate().map(|(index, ret)| {
        let source = match &ret.value {
            Returned::Owned(_) => None,
            Returned::Argument(source) => Some(Literal::usize_unsuffixed(*source)),
        };
        let name = format_ident!("__return_{index}");
        quote!(#name { #source })
    });
    let written = operator.arguments.iter().zip(&schema.arguments).enumerate();
    let written =
        written.filter(|(_, (argument, declared))| declared.is_mutable() && argument.lifetime.is_none());
    let written = written.map(|(index, (Argument { ident, .. }, _))| {
        let index = Literal::usize_unsuffixed(index);
        quote!(#ident #index)
    });
    let base = match &operator.base {
        Some(base) => quote!(__torch::Option::Some(|| &super::#base::OPERATOR)),
        None => quote!(__torch::Option::None),
    };
    let aliases = schema.has_alias_info();
    let symbol = symbol(&library.module, ident);
    let name = full_name(operator, library);
    let count = Literal::usize_unsuffixed(operator.arguments.len());
    let returns = Literal::usize_unsuffixed(operator.returns.len());
    quote! {
        /// The operator's name, with its namespace and overload, as errors give it.
        pub const NAME: &__torch::str = #name;

        __torch::operator! {
            name: #ident,
            symbol: #symbol,
            lifetimes: [#(#lifetimes)*],
            arguments: #count [#(#arguments)*],
            output: #output_type,
            signature: (#(#signature),*) -> #signature_output,
            returned: #returns [#(#returned)*],
            written: [#(#written)*],
            spec: {
                namespace: super::NAMESPACE,
                schema: #text,
                tags: [#(#tags),*],
                place: #place,
                base: #base,
                aliases: #aliases,
            },
        }
    }
}

/// The operator's name with its namespace, as a constant: a literal, unless another module knows the namespace.
fn full_name(operator: &Operator, library: &Library) -> TokenStream {
    let name = operator.schema.name.to_string();
    match &library.namespace {
        Namespace::Own(namespace) | Namespace::Named(namespace) => {
            let name = format!("{namespace}::{name}");
            quote!(#name)
        }
        Namespace::OfModules(_) => quote!(__torch::operator_name!(super::NAMESPACE, #name)),
    }
}

/// The name of an operator's linker symbol, made of its module and of the library's module.
pub(crate) fn symbol(library: &Ident, operator: &Ident) -> String {
    format!("{}.{}", library.unraw(), operator.unraw())
}

/// An operator for boxed calls only.
pub(super) fn untyped(operator: &Untyped, library: &Ident) -> TokenStream {
    let Untyped { attributes, ident, schema, tags, source, .. } = operator;
    let place = source.place(&quote!(super::TORCH_LIBRARY_SOURCE));
    let (text, symbol) = (schema.to_string(), symbol(library, ident));
    let names = lints::names(std::iter::once(ident));
    let about = format!("The operator `{}`, for boxed calls only.\n\n```text\n{schema}\n```", schema.name);
    // With `...`, a call takes the whole stack: more values than any stack has.
    let count = if schema.is_vararg { usize::from(u16::MAX) } else { schema.arguments.len() };
    let count = Literal::usize_unsuffixed(count);
    let returns = Literal::usize_unsuffixed(schema.returns.len());
    let aliases = schema.has_alias_info();
    quote! {
        #(#attributes)*
        #[doc = ""]
        #[doc = #about]
        #names
        #[allow(clippy::module_inception)]
        pub mod #ident {
            #[doc(hidden)]
            pub use super::__torch;
            #[doc(hidden)]
            pub use super::__torch::of_operator as one_of;
            #[doc(hidden)]
            pub use super::__torch::{arity::__takes_of_untyped as takes, serving_none as serves};
            __torch::untyped_operator! {
                symbol: #symbol,
                namespace: super::NAMESPACE,
                schema: #text,
                arguments: #count,
                returns: #returns,
                tags: [#(#tags),*],
                place: #place,
                aliases: #aliases,
            }
        }
    }
}
