//! The file's data about its operators besides their schemas, kept for tools.

use proc_macro2::TokenStream;
use quote::quote;

use super::{Expansion, Members};
use crate::native::entry::Entry;
use crate::native::fields::Kept;

impl Expansion<'_> {
    /// `pub static NATIVE_FUNCTIONS`
    pub(super) fn record(&self, members: &Members<'_>) -> TokenStream {
        let functions = members.entries.iter().map(|entry| {
            let (ident, fields) = (self.ident(entry), fields(entry));
            quote! {{
                #[allow(unused_mut)]
                let mut function = __torch::NativeFunction::new(&self::#ident::OPERATOR);
                #fields
                function
            }}
        });
        quote! {
            /// What the file says of the operators, in its order; what `autogen` made comes last.
            pub static NATIVE_FUNCTIONS: &[__torch::NativeFunction] = &[#(#functions),*];
        }
    }
}

/// The fields that differ from those of an entry that has only `func`.
fn fields(entry: &Entry) -> TokenStream {
    let mut tokens = TokenStream::new();
    let Kept { precomputed, cpp_no_default_args, .. } = &entry.kept;
    let flags = [
        (quote!(is_function), entry.is_function, true),
        (quote!(is_method), entry.is_method, false),
        (quote!(device_check), entry.device_check, true),
        (quote!(device_guard), entry.device_guard, true),
        (quote!(structured), entry.structured, false),
        (quote!(manual_cpp_binding), entry.manual_cpp_binding, false),
        (quote!(manual_kernel_registration), entry.kept.manual_kernel_registration, false),
        (quote!(use_const_ref_for_mutable_tensors), entry.kept.use_const_ref_for_mutable_tensors, false),
    ];
    for (field, value, default) in flags {
        if value != default {
            tokens.extend(quote!(function.#field = #value;));
        }
    }
    let words = [
        (quote!(python_module), entry.kept.python_module.clone()),
        (quote!(category_override), entry.kept.category_override.clone()),
        (quote!(structured_inherits), entry.kept.structured_inherits.clone()),
        (quote!(structured_delegate), entry.structured_delegate.as_ref().map(|(name, _)| name.to_string())),
        (quote!(generated_from), entry.generated_from.as_ref().map(ToString::to_string)),
    ];
    for (field, value) in words {
        if let Some(value) = value {
            tokens.extend(quote!(function.#field = __torch::Option::Some(#value);));
        }
    }
    let autogen: Vec<_> = entry.autogen.iter().map(|(name, _)| name.to_string()).collect();
    let lists = [
        (quote!(precomputed), precomputed),
        (quote!(cpp_no_default_args), cpp_no_default_args),
        (quote!(autogen), &autogen),
    ];
    for (field, values) in lists {
        if !values.is_empty() {
            tokens.extend(quote!(function.#field = &[#(#values),*];));
        }
    }
    let loops = entry.kept.ufunc_inner_loop.iter().map(|(key, value)| quote!((#key, #value)));
    if !entry.kept.ufunc_inner_loop.is_empty() {
        tokens.extend(quote!(function.ufunc_inner_loop = &[#(#loops),*];));
    }
    let table = entry.dispatch.iter().map(|line| {
        let (keys, kernel) = (&line.keys, &line.kernel);
        quote!((&[#(#keys),*], #kernel))
    });
    if !entry.dispatch.is_empty() && entry.generated_from.is_none() {
        tokens.extend(quote!(function.dispatch = &[#(#table),*];));
    }
    tokens
}
