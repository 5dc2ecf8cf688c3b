//! The kernels of a namespace: those that the dispatch tables name, and those that are derived.

use proc_macro2::{Ident, TokenStream};
use quote::{format_ident, quote};
use syn::ext::IdentExt;

use super::call::{look, shape};
use super::{Expansion, Members, call, kernels_of};
use crate::library::expand::operator::{Head, head};
use crate::library::model::Operator;
use crate::native::entry::Entry;
use crate::native::keys;

/// A kernel to register.
pub(super) struct Kernel<'a> {
    pub(super) operator: &'a Operator,
    pub(super) keys: Vec<&'static str>,
    /// The name that is shown for the kernel: that of the function.
    pub(super) function: String,
    /// The statements of the kernel.
    pub(super) body: TokenStream,
    pub(super) spot: crate::native::text::Spot,
    pub(super) device_check: bool,
}

impl Expansion<'_> {
    /// A module with one record of all kernels, which the linker collects and `register!` takes.
    pub(super) fn kernels(&self, members: &Members<'_>) -> TokenStream {
        let mut kernels = Vec::new();
        for entry in &members.entries {
            kernels.extend(self.of_entry(entry, members));
        }
        if kernels.is_empty() {
            return quote!();
        }
        let (mut constants, mut records) = (TokenStream::new(), TokenStream::new());
        for (at, kernel) in kernels.iter().enumerate() {
            let constant = format_ident!("KERNEL_{at}");
            constants.extend(self.constant(kernel, &constant));
            records.extend(self.records(kernel, &constant));
        }
        quote! {
            /// The kernels that the file names, and those derived from them.
            #[allow(non_snake_case)]
            pub mod native_kernels {
                use super::__torch;

                #constants
                #[doc(hidden)]
                pub static TORCH_LIBRARY_RECORD: __torch::Record = {
                    static RECORDS: &[__torch::KernelRecord] = &[#records];
                    __torch::Record::Kernels(RECORDS)
                };
                const _: () = {
                    __torch::submit! { TORCH_LIBRARY_RECORD }
                };
            }
        }
    }

    fn of_entry<'m>(&self, entry: &'m Entry, members: &'m Members<'_>) -> Vec<Kernel<'m>> {
        let Some(operator) = members.operators.get(&entry.func.name.to_string()) else { return Vec::new() };
        if let Some(base) = &entry.generated_from {
            return self.derived(entry, operator, members.get(&base.to_string())).into_iter().collect();
        }
        let mut kernels = Vec::new();
        for line in &entry.dispatch {
            let is_structured = |key: &&'static str| entry.structured && keys::STRUCTURED.contains(key);
            let plain = line.keys.iter().copied().filter(|key| !is_structured(key));
            let (several, single): (Vec<_>, Vec<_>) =
                plain.partition(|key| entry.device_check && keys::has_several_devices(key));
            let call = self.function(&line.kernel, members.namespace);
            let arguments = operator.arguments.iter().map(|argument| &argument.ident);
            let body = quote!(#call(#(#arguments),*));
            for (keys, device_check) in [(several, true), (single, false)] {
                if !keys.is_empty() {
                    let (body, function) = (body.clone(), line.kernel.clone());
                    kernels.push(Kernel { operator, keys, function, body, spot: line.spot, device_check });
                }
            }
        }
        if entry.structured {
            kernels.extend(self.structured(entry, members));
        }
        kernels
    }

    /// The kernel of an operator that `autogen` generated.
    fn derived<'m>(
        &self,
        entry: &Entry,
        operator: &'m Operator,
        base: Option<(&Entry, &Operator)>,
    ) -> Option<Kernel<'m>> {
        let (base_entry, base) = base?;
        let body = if entry.func.out().is_empty() {
            call::functional(operator, base)?
        } else {
            call::out(operator, base, base_entry.func.name.in_place)?
        };
        let function = format!("generated from {}", base_entry.func.name);
        Some(Kernel {
            operator,
            keys: vec![keys::EXPLICIT],
            function,
            body,
            spot: entry.spot,
            device_check: false,
        })
    }

    /// The path of a kernel function, as seen from inside `native_kernels`.
    pub(super) fn function(&self, name: &str, namespace: &str) -> TokenStream {
        let span = self.span();
        let parts = name.split("::").map(|part| crate::library::flat_name(part, "", span));
        let module = self.arguments.kernels.as_ref().map(|_| {
            let alias = kernels_of(namespace);
            quote!(#alias::)
        });
        quote::quote_spanned!(span=> super::super::#module #(#parts)::*)
    }

    /// `const KERNEL_0`: the function as a typed kernel, whose signature rustc checks.
    fn constant(&self, kernel: &Kernel<'_>, constant: &Ident) -> TokenStream {
        let Kernel { operator, body, .. } = kernel;
        let Head { generics, parameters, output } = head(operator);
        let ident = &operator.ident;
        let check = kernel.device_check.then(|| {
            let tensors = operator.arguments.iter().filter(|argument| shape(&argument.ty).is_some());
            let values = tensors.map(|argument| {
                let (name, value) = (argument.ident.unraw().to_string(), look(argument));
                let name = if name == "this" { "self" } else { &name };
                quote!((#name, __torch::Value::from(#value)))
            });
            quote!(__torch::derived::check_same_device(&[#(#values),*])?;)
        });
        quote! {
            const #constant: __torch::RecordedKernel = {
                struct __Kernel;
                impl super::#ident::Kernel for __Kernel {
                    #[inline(always)]
                    #[allow(non_snake_case, unused_mut, unused_variables, clippy::all, clippy::pedantic)]
                    fn #ident #generics(#parameters) -> __torch::Result<#output> {
                        #check
                        #body
                    }
                }
                __torch::RecordedKernel::Typed(super::#ident::code::<__Kernel>())
            };
        }
    }

    /// A record for each key.
    fn records(&self, kernel: &Kernel<'_>, constant: &Ident) -> TokenStream {
        let Kernel { operator, keys, function, spot, .. } = kernel;
        let (ident, place) =
            (&operator.ident, self.source_at(*spot).place(&quote!(super::TORCH_LIBRARY_SOURCE)));
        let records = keys.iter().map(|key| {
            let key = Ident::new(key, self.span());
            quote!(__torch::KernelRecord {
                operator: &super::#ident::OPERATOR,
                key: __torch::DispatchKey::#key,
                kernel: #constant,
                derivative: __torch::Option::None,
                function: #function,
                overrides: false,
                place: #place,
            })
        });
        quote!(#(#records,)*)
    }
}

impl Members<'_> {
    /// An entry with its operator, by name.
    pub(super) fn get(&self, name: &str) -> Option<(&Entry, &Operator)> {
        let entry = self.entries.iter().find(|entry| entry.func.name.to_string() == name)?;
        Some((entry, self.operators.get(name)?))
    }
}
