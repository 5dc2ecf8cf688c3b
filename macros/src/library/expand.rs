//! From the model of a library to Rust: a module with a function and a module for each operator, and one record.

use proc_macro2::{Ident, TokenStream};
use quote::{format_ident, quote, quote_spanned};
use syn::Path;
use syn::spanned::Spanned;

use super::model::{Library, Namespace};
use crate::source::Source;

mod methods;
pub(crate) mod operator;
pub(crate) mod overloads;
mod receiver;
pub(crate) mod types;
mod variants;
mod with;

pub(crate) use operator::symbol;
pub(crate) use types::{function_head, output_type};

/// The namespace's module with its contents, and the items that go next to it.
pub(crate) fn library(library: &Library, more: &TokenStream) -> TokenStream {
    let Library { root, attributes, visibility, module, .. } = library;
    let Base { import, reexport, namespace } = base(library);
    let operators = library.operators.iter().map(|operator| {
        let variants = variants::of_operator(operator, library);
        operator::operator(operator, library, &variants)
    });
    let operators =
        operators.chain(library.untyped.iter().map(|operator| operator::untyped(operator, &library.module)));
    let overloads = overloads::sets(library);
    let (methods, source, record) = (methods::methods(library, &overloads), source(library), record(library));
    let overloads = overloads.iter().map(overloads::Overloads::tokens);
    quote! {
        #import
        #(#attributes)*
        #visibility mod #module {
            #[doc(hidden)]
            pub use #root::__private as __torch;
            #[doc(hidden)]
            pub use self::__torch::of_namespace as one_of;
            /// The namespace that the operators of this module are registered in.
            pub const NAMESPACE: &str = #namespace;
            #source
            #reexport
            #(#operators)*
            #(#overloads)*
            #methods
            #record
            #more
        }
    }
}

/// What a library that extends others takes from them.
struct Base {
    /// Emitted outside the module: imports the bases, by paths that are valid only there.
    import: TokenStream,
    /// Emitted in the module: re-exports the operators of the bases.
    reexport: TokenStream,
    /// The name of the namespace.
    namespace: TokenStream,
}

fn base(library: &Library) -> Base {
    let paths = match &library.namespace {
        Namespace::Own(name) | Namespace::Named(name) => {
            return Base { import: quote!(), reexport: quote!(), namespace: quote!(#name) };
        }
        Namespace::OfModules(paths) => paths,
    };
    let (mut import, mut reexport, mut namespaces) = (quote!(), quote!(), Vec::new());
    for (at, path) in paths.iter().enumerate() {
        let base = base_name(&library.module, path, at);
        let (own_import, from) = match from_inside(path) {
            Some(path) => (quote_spanned!(path.span()=> use #path as #base;), quote!(self)),
            None => {
                import.extend(quote_spanned!(path.span()=> use #path as #base;));
                (quote!(), quote!(super))
            }
        };
        reexport.extend(quote! {
            #own_import
            #[doc(inline)]
            pub use #from::#base::*;
        });
        namespaces.push(quote_spanned!(path.span()=> #from::#base::NAMESPACE));
    }
    let namespace = namespaces.remove(0);
    reexport.extend(namespaces.into_iter().zip(&paths[1..]).map(|(other, path)| {
        let message = "`extends` lists modules of two namespaces; each needs a `torch_library!` of its own";
        quote_spanned!(path.span()=> const _: () = ::core::assert!(__torch::are_same(NAMESPACE, #other), #message);)
    }));
    Base { import, reexport, namespace }
}

/// The name by which the module sees a base. Errors about one that is not a namespace show it, at the path.
fn base_name(module: &Ident, path: &Path, at: usize) -> Ident {
    let end = path.segments.last().map_or_else(|| path.span(), |segment| segment.ident.span());
    match at {
        0 => format_ident!("base_of_{module}", span = end),
        _ => format_ident!("base_{}_of_{module}", at + 1, span = end),
    }
}

/// The path as seen from inside the module, where that can be determined. It cannot for a path that starts with a plain
/// name, which may be a crate or a sibling module. Libraries inside functions need it, since no path in the module
/// reaches the items around it there.
fn from_inside(path: &Path) -> Option<Path> {
    let first = &path.segments.first()?.ident;
    if path.leading_colon.is_some() || first == "crate" {
        return Some(path.clone());
    }
    let rest = path.segments.iter().skip(usize::from(first == "self"));
    let outside = Ident::new("super", first.span());
    (first == "self" || first == "super").then(|| syn::parse_quote!(#outside #(::#rest)*))
}

/// The `SourceModule` for the operators' places: of the file that declares them, which may be a native functions file.
fn source(library: &Library) -> TokenStream {
    let first = library.operators.first().map(|operator| &operator.source);
    let first = first.or_else(|| library.untyped.first().map(|operator| &operator.source));
    let module = first.unwrap_or(&Source::Span(library.module.span())).module();
    quote! {
        #[doc(hidden)]
        pub static TORCH_LIBRARY_SOURCE: __torch::SourceModule = #module;
    }
}

/// The record that the linker collects and `register!` takes.
fn record(library: &Library) -> TokenStream {
    let extends = !matches!(library.namespace, Namespace::Own(_));
    let kernels_in = match &library.kernels_in {
        Some(krate) => quote!(__torch::Option::Some(#krate)),
        None => quote!(__torch::Option::None),
    };
    let place = Source::Span(library.module.span());
    let operators = library.operators.iter().map(|operator| {
        let (cfgs, ident) = (operator.cfgs(), &operator.ident);
        quote!(#(#cfgs)* &#ident::OPERATOR)
    });
    let untyped = library.untyped.iter().map(|operator| {
        let (cfgs, ident) = (operator.cfgs(), &operator.ident);
        quote!(#(#cfgs)* &#ident::OPERATOR)
    });
    let operators = operators.chain(untyped);
    let variants::Kernels { records, linked } = variants::kernels(library);
    let record = |operators, kernels| {
        quote! {
            __torch::Record::Library(&__torch::LibraryRecord {
                namespace: NAMESPACE,
                extends: #extends,
                kernels_in: #kernels_in,
                place: #place,
                operators: #operators,
                kernels: #kernels,
            })
        }
    };
    let whole = record(quote!(&[#(#operators),*]), quote!(__KERNELS));
    let without_operators = record(quote!(&[]), quote!(&[]));
    quote! {
        const __KERNELS: &[__torch::KernelRecord] = #records;
        #[doc(hidden)]
        pub static TORCH_LIBRARY_RECORD: __torch::Record = #whole;
        const _: () = {
            __torch::submit_library! {
                TORCH_LIBRARY_RECORD, #without_operators, __torch::Record::Kernels(__KERNELS); #linked
            }
        };
    }
}
