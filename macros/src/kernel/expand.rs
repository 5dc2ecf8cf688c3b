//! From a kernel to Rust: the user's function as it is, rustc's own check of its signature, and a record.

use std::collections::HashMap;

use proc_macro2::{Ident, Span, TokenStream};
use quote::{format_ident, quote, quote_spanned};
use syn::ext::IdentExt;
use syn::{FnArg, LitStr, Path};

use super::model::{Checked, Target, check};
use super::parse::{Arguments, Function, Module, ModuleItem};
use crate::errors::Errors;
use crate::library::place;

/// One function.
pub(super) fn function(arguments: &Arguments, mut function: Function, errors: &mut Errors) -> TokenStream {
    let target = Target::of_function(arguments, &function.signature.ident, errors);
    if arguments.boxed {
        let extras = target.map(|target| boxed(arguments, &function, &target));
        return quote!(#function #extras);
    }
    let Some(checked) = check(&mut function, errors) else { return quote!(#function) };
    let Some(target) = target else { return quote!(#function) };
    let marker = duplicate_marker(arguments, &target);
    let implementation = implementation(arguments, &function, &target, &checked);
    let records = implementation.records;
    let submit = submit(&target.namespace, &records);
    let check = implementation.check;
    quote! {
        #[allow(non_snake_case)]
        #function
        #marker
        const _: () = {
            #check
            #submit
        };
    }
}

/// The records of a block, where the linker finds them.
fn submit(namespace: &Path, records: &[TokenStream]) -> TokenStream {
    let count = records.len();
    quote! {
        use #namespace::__torch as __torch_runtime;
        static KERNELS: [__torch_runtime::KernelRecord; #count] = [#(#records),*];
        __torch_runtime::submit! { __torch_runtime::Record::Kernels(&KERNELS) }
    }
}

struct Implementation {
    check: TokenStream,
    records: Vec<TokenStream>,
}

/// The impl that rustc compares with the operator's trait, and a record for each key.
fn implementation(
    arguments: &Arguments,
    function: &Function,
    target: &Target,
    checked: &Checked,
) -> Implementation {
    let signature = &function.signature;
    let (name, ident, path) = (&signature.ident, &target.ident, &target.path);
    let number = format_ident!("__operator_{}", target.label());
    let marker = format_ident!("__Kernel_{}", target.label());
    let (generics, output) = (&signature.generics, &signature.output);
    let inputs: Vec<_> =
        signature.inputs.iter().enumerate().map(|(index, input)| parameter(index, input)).collect();
    let passed = (0..inputs.len()).map(|index| format_ident!("__{index}"));
    let (kind, typed) = if checked.takes_keys {
        (quote!(KernelWithKeys), quote!(typed_with_keys))
    } else {
        (quote!(Kernel), quote!(typed))
    };
    let span = signature.paren_token.span.join();
    let inputs = quote_spanned!(span=> (#(#inputs),*));
    let check = quote! {
        use #path as #number;
        #[allow(non_camel_case_types)]
        struct #marker;
        impl #number::#kind for #marker {
            #[inline(always)]
            #[allow(non_snake_case)]
            fn #ident #generics #inputs #output {
                #name(#(#passed),*)
            }
        }
    };
    let kernel = quote!(__torch_runtime::RecordedKernel::Typed(#number::#typed::<#marker>()));
    let operator = quote!(&#number::OPERATOR);
    Implementation { check, records: records(arguments, name, &operator, &kernel) }
}

/// A parameter of the forwarding function: the user's own type tokens, a name of ours.
fn parameter(index: usize, input: &FnArg) -> TokenStream {
    let name = format_ident!("__{index}");
    match input {
        FnArg::Typed(input) => {
            let ty = &input.ty;
            quote!(#name: #ty)
        }
        FnArg::Receiver(receiver) => quote!(#receiver),
    }
}

fn records(
    arguments: &Arguments,
    name: &Ident,
    operator: &TokenStream,
    kernel: &TokenStream,
) -> Vec<TokenStream> {
    let place = place(name.span());
    let (function, overrides) = (name.unraw().to_string(), arguments.overrides);
    // The attribute's tokens stand where `__torch_runtime` is imported, so the place is built with that name.
    let place = quote!({ use __torch_runtime as __torch; #place });
    arguments
        .keys
        .iter()
        .map(|key| {
            quote!(__torch_runtime::KernelRecord {
                operator: #operator,
                key: __torch_runtime::DispatchKey::#key,
                kernel: #kernel,
                function: #function,
                overrides: #overrides,
                place: #place,
            })
        })
        .collect()
}

/// A kernel on the stack: rustc checks nothing but that it is a boxed function.
fn boxed(arguments: &Arguments, function: &Function, target: &Target) -> TokenStream {
    let (name, path) = (&function.signature.ident, &target.path);
    let number = format_ident!("__operator_{}", target.label());
    let kernel = quote!(__torch_runtime::RecordedKernel::Boxed(#name));
    let records = records(arguments, name, &quote!(&#number::OPERATOR), &kernel);
    let marker = duplicate_marker(arguments, target);
    let submit = submit(&target.namespace, &records);
    quote! {
        #marker
        const _: () = {
            use #path as #number;
            #submit
        };
    }
}

/// An item whose name says operator and key: a second kernel for the same pair in this module is rustc's "defined
/// multiple times", which shows both places.
fn duplicate_marker(arguments: &Arguments, target: &Target) -> TokenStream {
    if arguments.overrides {
        return quote!();
    }
    let markers = arguments.keys.iter().map(|key| {
        let name = Ident::new(&format!("{key}_kernel_of_{}", target.label()), target.ident.span());
        quote_spanned! {target.ident.span()=>
            #[doc(hidden)]
            #[allow(non_camel_case_types, dead_code)]
            struct #name;
        }
    });
    quote!(#(#markers)*)
}

/// A module of kernels: one record for all of them.
pub(super) fn module(arguments: &Arguments, module: Module, errors: &mut Errors) -> TokenStream {
    let Module { attributes, visibility, keyword, ident, items } = module;
    if let Some(name) = &arguments.name {
        errors.at(
            name,
            "a block has many operators: put the name on the function, `#[torch_impl(\"add.Tensor\")]`",
        );
    }
    let mut checks = Vec::new();
    let mut kernels = Vec::new();
    let mut seen = HashMap::new();
    let mut body = TokenStream::new();
    for item in items {
        match item {
            ModuleItem::Other(item) => body.extend(quote!(#item)),
            ModuleItem::Kernel(mut function) => {
                let implemented = block_kernel(arguments, &mut function, &mut seen, errors);
                // Its name is the operator's.
                body.extend(quote!(#[allow(non_snake_case)] #function));
                if let Some(implementation) = implemented {
                    checks.push(implementation.check);
                    kernels.extend(implementation.records);
                }
            }
        }
    }
    let namespace = from_inside(&arguments.path);
    let submit = submit(&namespace, &kernels);
    quote! {
        #(#attributes)*
        #visibility #keyword #ident {
            #body
            const _: () = {
                #(#checks)*
                #submit
            };
        }
    }
}

/// One function of a block. It implements the operator of its name, or the one that `#[torch_impl("…")]` names.
fn block_kernel(
    arguments: &Arguments,
    function: &mut Function,
    seen: &mut HashMap<String, Span>,
    errors: &mut Errors,
) -> Option<Implementation> {
    let name = take_name(function, errors)?;
    let checked = check(function, errors)?;
    let namespace = from_inside(&arguments.path);
    let target = match name {
        Some(name) => Target::of_name(&namespace, &name, errors)?,
        None => Target::of_ident(&namespace, function.signature.ident.clone()),
    };
    let cfg_free = !function.attributes.iter().any(|attribute| attribute.path().is_ident("cfg"));
    if cfg_free && seen.insert(target.label(), function.signature.ident.span()).is_some() {
        let message = format!("a second kernel for `{}` in this block", target.ident);
        errors.push(syn::Error::new(function.signature.ident.span(), message));
        return None;
    }
    Some(implementation(arguments, function, &target, &checked))
}

/// `#[torch_impl("add.Tensor")]` on a function of a block.
fn take_name(function: &mut Function, errors: &mut Errors) -> Option<Option<LitStr>> {
    let Some(position) =
        function.attributes.iter().position(|attribute| attribute.path().is_ident("torch_impl"))
    else {
        return Some(None);
    };
    match function.attributes.remove(position).parse_args::<LitStr>() {
        Ok(name) => Some(Some(name)),
        Err(error) => {
            let message =
                "inside of a block the attribute names the operator only: `#[torch_impl(\"add.Tensor\")]`";
            errors.push(syn::Error::new(error.span(), message));
            None
        }
    }
}

/// A path that stands around a block, seen from inside of it.
///
/// A single name is one of the module around; of longer paths, those that start with a name start with a crate's.
fn from_inside(path: &Path) -> Path {
    let first = &path.segments[0].ident;
    let mut inside = path.clone();
    if first == "self" {
        inside.segments[0].ident = Ident::new("super", first.span());
    } else if first == "super" || (first != "crate" && path.segments.len() == 1) {
        inside.segments.insert(0, Ident::new("super", first.span()).into());
    }
    inside
}
