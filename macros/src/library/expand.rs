//! From the model of a library to Rust: a module, in it a function and a module for each operator, and one record.

use proc_macro2::{Literal, TokenStream};
use quote::{format_ident, quote, quote_spanned};

use super::model::{Argument, Library, Namespace, Operator, Return, private};
use crate::rust_type::{self, References};

/// The namespace's module with everything in it.
pub(crate) fn library(library: &Library) -> TokenStream {
    let Library { root, attributes, visibility, module, .. } = library;
    let base = format_ident!("__base_of_{module}");
    let (outside, inside, namespace) = match &library.namespace {
        Namespace::Own => {
            let name = module.to_string();
            (quote!(), quote!(), quote!(#name))
        }
        Namespace::Named(name) => (quote!(), quote!(), quote!(#name)),
        Namespace::OfModule(path) => (
            quote_spanned!(library.base_span()=> use #path as #base;),
            quote!(
                #[doc(inline)]
                pub use super::#base::*;
            ),
            quote!(super::#base::__NAMESPACE),
        ),
    };
    let operators = library.operators.iter().map(operator);
    let record = record(library);
    quote! {
        #outside
        #(#attributes)*
        #visibility mod #module {
            #[doc(hidden)]
            pub use #root::__private as __torch;
            #[doc(hidden)]
            pub const __NAMESPACE: &str = #namespace;
            #inside
            #(#operators)*
            #record
        }
    }
}

fn record(library: &Library) -> TokenStream {
    let extends = !matches!(library.namespace, Namespace::Own);
    let kernels_in = match &library.kernels_in {
        Some(krate) => quote!(__torch::Option::Some(#krate)),
        None => quote!(__torch::Option::None),
    };
    let place = place(library.span());
    let operators = library.operators.iter().map(|operator| {
        let cfgs = operator.attributes.iter().filter(|attribute| attribute.path().is_ident("cfg"));
        let ident = &operator.ident;
        quote!(#(#cfgs)* &#ident::OPERATOR)
    });
    quote! {
        /// Registers this library where the linker cannot: see `torch_library::register!`.
        #[doc(hidden)]
        pub static __RECORD: __torch::Record = __torch::Record::Library(&__torch::LibraryRecord {
            namespace: __NAMESPACE,
            extends: #extends,
            kernels_in: #kernels_in,
            place: #place,
            operators: &[#(#operators),*],
        });
        const _: () = {
            __torch::submit! { __RECORD }
        };
    }
}

/// Where a span is; the file and the module are those of the whole macro call.
pub(crate) fn place(span: proc_macro2::Span) -> TokenStream {
    let (line, column) = (span.unwrap().line(), span.unwrap().column());
    let (line, column) = (Literal::u32_unsuffixed(line as u32), Literal::u32_unsuffixed(column as u32));
    quote!(__torch::Place {
        file: ::core::file!(),
        line: #line,
        column: #column,
        module: ::core::module_path!(),
    })
}

fn operator(operator: &Operator) -> TokenStream {
    let Operator { attributes, ident, span, .. } = operator;
    let schema = operator.schema.to_string();
    let text = format!("```text\n{schema}\n```");
    let about = format!("The operator `{}`: everything but the plain call.\n\n{text}", operator.schema.name);
    let cfgs = attributes.iter().filter(|attribute| attribute.path().is_ident("cfg"));
    let (traits, definition) = (traits(operator), definition(operator));
    let with = with(operator);
    let function = function(operator);
    quote_spanned! {*span=>
        #(#attributes)*
        #[doc = ""]
        #[doc = #text]
        #function

        #(#cfgs)*
        #[doc = #about]
        #[allow(non_snake_case, clippy::module_inception)]
        pub mod #ident {
            use super::__torch;
            #traits
            #definition
            #with
        }
    }
}

/// An argument's type; `named` overrides the lifetime.
fn argument_type(argument: &Argument, named: Option<&TokenStream>) -> TokenStream {
    let references = match named.or(argument.lifetime.as_ref()) {
        Some(lifetime) => References::Named(lifetime),
        None => References::Elided,
    };
    rust_type::argument(&argument.ty, argument.mutable, references, &private())
        .expect("the model refuses types that have none")
}

/// What a call gives, inside of `Result<…>`.
fn output(operator: &Operator, named: Option<&TokenStream>) -> TokenStream {
    let types: Vec<_> = operator
        .returns
        .iter()
        .map(|ret| match ret {
            Return::Owned(ty) => {
                rust_type::owned(ty, &private()).expect("the model refuses types that have none")
            }
            Return::Argument(index) => argument_type(&operator.arguments[*index], named),
        })
        .collect();
    tuple(&types)
}

/// One thing as itself, several as a tuple.
fn tuple(items: &[TokenStream]) -> TokenStream {
    match items {
        [one] => one.clone(),
        several => quote!((#(#several),*)),
    }
}

fn generics(operator: &Operator) -> TokenStream {
    let lifetimes = &operator.lifetimes;
    if lifetimes.is_empty() { quote!() } else { quote!(<#(#lifetimes),*>) }
}

/// `name: Type, …`
fn parameters<'a>(arguments: impl Iterator<Item = &'a Argument>, named: Option<&TokenStream>) -> TokenStream {
    let parameters = arguments.map(|argument| {
        let (ident, ty) = (&argument.ident, argument_type(argument, named));
        quote!(#ident: #ty)
    });
    quote!(#(#parameters),*)
}

/// The plain call: required arguments in, defaults for the others.
fn function(operator: &Operator) -> TokenStream {
    let ident = &operator.ident;
    let (generics, output) = (generics(operator), output(operator, None));
    let required = parameters(operator.arguments.iter().filter(|argument| argument.default.is_none()), None);
    let all = operator.arguments.iter().map(|argument| {
        let ident = &argument.ident;
        argument.default.clone().unwrap_or_else(|| quote!(#ident))
    });
    quote! {
        #[inline]
        #[allow(non_snake_case, clippy::too_many_arguments, clippy::missing_errors_doc)]
        pub fn #ident #generics(#required) -> __torch::Result<#output> {
            self::#ident::call(#(#all),*)
        }
    }
}

/// The traits that `#[torch_impl]` implements: rustc's own comparison with them is the signature check, so their
/// tokens carry the user's spans and nothing else is in them.
fn traits(operator: &Operator) -> TokenStream {
    let ident = &operator.ident;
    let (generics, output) = (generics(operator), output(operator, None));
    let parameters = parameters(operator.arguments.iter(), None);
    quote_spanned! {operator.span=>
        #[doc(hidden)]
        #[allow(clippy::too_many_arguments)]
        pub trait Kernel {
            fn #ident #generics(#parameters) -> __torch::Result<#output>;
        }
        #[doc(hidden)]
        #[allow(clippy::too_many_arguments)]
        pub trait KernelWithKeys {
            fn #ident #generics(keys: __torch::DispatchKeySet, #parameters) -> __torch::Result<#output>;
        }
    }
}

/// The static, the callers and the shims, all written by one macro of the runtime.
fn definition(operator: &Operator) -> TokenStream {
    let Operator { ident, schema, tags, lifetimes, .. } = operator;
    let (name, overload) = (&schema.name.name, &schema.name.overload);
    let text = schema.to_string();
    let place = place(operator.span);
    let output_type = output(operator, None);
    let arguments = operator.arguments.iter().map(|argument| {
        let (ident, ty) = (&argument.ident, argument_type(argument, None));
        quote!([#ident (#ty)])
    });
    let longest = quote!('static);
    let signature = operator.arguments.iter().map(|argument| argument_type(argument, Some(&longest)));
    let signature_output = output(operator, Some(&longest));
    let returned = operator.returns.iter().map(|ret| match ret {
        Return::Owned(_) => quote!(__torch::Option::None),
        Return::Argument(source) => quote!(__torch::Option::Some(#source)),
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
                namespace: super::__NAMESPACE,
                name: #name,
                overload: #overload,
                schema: #text,
                tags: [#(#tags),*],
                place: #place,
            },
        }
    }
}

/// `sum::with(&x).keepdim(true).call()`, for operators that have defaults.
fn with(operator: &Operator) -> TokenStream {
    let defaults: Vec<_> = operator.arguments.iter().filter(|argument| argument.default.is_some()).collect();
    if defaults.is_empty() {
        return quote!();
    }
    let lifetime = quote!('w);
    let output = output(operator, Some(&lifetime));
    let required =
        parameters(operator.arguments.iter().filter(|argument| argument.default.is_none()), Some(&lifetime));
    let fields = parameters(operator.arguments.iter(), Some(&lifetime));
    let values = operator.arguments.iter().map(|argument| {
        let ident = &argument.ident;
        let value = argument.default.clone().unwrap_or_else(|| quote!(#ident));
        quote!(#ident: #value)
    });
    let setters = defaults.iter().map(|argument| setter(argument, &lifetime));
    let all = operator.arguments.iter().map(|argument| &argument.ident);
    let name = operator.schema.name.to_string();
    let about = format!("Arguments of `{name}`, some given by name; the others have their defaults.");
    let start = format!("Starts a call of `{name}` with its required arguments.");
    quote! {
        #[doc = #start]
        #[inline]
        #[allow(clippy::too_many_arguments)]
        pub fn with<'w>(#required) -> With<'w> {
            With { #(#values,)* lifetime: __torch::PhantomData }
        }

        #[doc = #about]
        #[must_use = "nothing happens before `call`"]
        pub struct With<'w> {
            #fields,
            lifetime: __torch::PhantomData<&'w ()>,
        }

        impl<'w> With<'w> {
            #(#setters)*

            /// Calls the operator.
            #[inline]
            #[allow(clippy::missing_errors_doc)]
            pub fn call(self) -> __torch::Result<#output> {
                call(#(self.#all),*)
            }
        }
    }
}

fn setter(argument: &Argument, lifetime: &TokenStream) -> TokenStream {
    let (ident, ty) = (&argument.ident, argument_type(argument, Some(lifetime)));
    let about = format!("Gives `{ident}`.");
    quote! {
        #[doc = #about]
        #[inline]
        pub fn #ident(mut self, #ident: #ty) -> Self {
            self.#ident = #ident;
            self
        }
    }
}
