//! Code for an operator that declares variants: the trait of kernels that serve all of them, and kernels of the
//! variants for backends that have none of their own.

use proc_macro2::{Ident, TokenStream};
use quote::{format_ident, quote};

use super::operator::{Head, head, symbol};
use crate::library::model::{Kind, Library, Operator};

/// Items in the operator's module: the traits of kernels that take an `Output`.
pub(super) fn of_operator(operator: &Operator, library: &Library) -> TokenStream {
    if operator.variants.is_empty() {
        return quote!();
    }
    let ident = &operator.ident;
    let Head { parameters, output, .. } = head(operator);
    let names = arguments(operator);
    let variants: Vec<_> = variants(operator, library).collect();
    let serving = variants.iter().map(|(kind, variant)| {
        let call = |passed: &TokenStream| quote!(<K as OutputKernel>::#ident(__output, #passed));
        implementation(
            &quote!(<K: OutputKernel>),
            &quote!(Serving<K>),
            (*kind, variant),
            operator,
            None,
            &call,
        )
    });
    let copying = variants.iter().map(|(kind, variant)| {
        let call = |passed: &TokenStream| quote!(redispatch(__keys, #passed));
        implementation(&quote!(), &quote!(Copying), (*kind, variant), operator, Some(()), &call)
    });
    let others: Vec<_> = variants.iter().map(|(_, variant)| &variant.ident).collect();
    quote! {
        /// A kernel of this operator and its variants.
        #[doc(hidden)]
        #[allow(clippy::all, clippy::pedantic)]
        pub trait OutputKernel {
            fn #ident(_: __torch::Output<'_>, #parameters) -> __torch::Result<#output>;
        }

        /// The types of such a kernel, for rustc's messages.
        #[doc(hidden)]
        #[allow(clippy::all, clippy::pedantic)]
        pub fn with_output(_: __torch::Output<'_>, #parameters) -> __torch::Result<#output> {
            call(#(#names),*)
        }

        #[doc(hidden)]
        pub struct Serving<K>(__torch::PhantomData<K>);

        impl<K: OutputKernel> Serving<K> {
            const ALL: &'static [__torch::TypedCode] = &[code::<Self>() #(, super::#others::code::<Self>())*];
        }

        #[doc(hidden)]
        pub const fn code_with_output<K: OutputKernel>() -> &'static [__torch::TypedCode] {
            <Serving<K>>::ALL
        }

        #[allow(clippy::all, clippy::pedantic)]
        impl<K: OutputKernel> Kernel for Serving<K> {
            #[inline(always)]
            fn #ident(#parameters) -> __torch::Result<#output> {
                <K as OutputKernel>::#ident(__torch::Output::new(NAME), #(#names),*)
            }
        }

        #(#serving)*

        /// The kernels of variants on backends that have only this operator's kernel: they copy its result.
        #[doc(hidden)]
        pub struct Copying;

        #(#copying)*
    }
}

/// A variant's kernel: makes its `Output`, makes the call that computes the result, and stores it there.
fn implementation(
    generics: &TokenStream,
    of: &TokenStream,
    (kind, variant): (Kind, &Operator),
    base: &Operator,
    with_keys: Option<()>,
    call: &impl Fn(&TokenStream) -> TokenStream,
) -> TokenStream {
    let ident = &variant.ident;
    let Head { generics: lifetimes, parameters, output } = head(variant);
    let (constructor, target) = match kind {
        Kind::Out => (quote!(out), &variant.arguments[variant.arguments.len() - 1].ident),
        Kind::InPlace => (quote!(in_place), this(variant)),
    };
    // The variant's own names: those of the base may be from another macro.
    let passed = variant.arguments[..base.arguments.len()].iter().map(|argument| match &argument.ident {
        ident if ident == target => quote!(&*#ident),
        ident => quote!(#ident),
    });
    let (call, variant) = (call(&quote!(#(#passed),*)), &variant.ident);
    let (kernel, keys) = match with_keys {
        Some(()) => (quote!(KernelWithKeys), quote!(__keys: __torch::DispatchKeySet,)),
        None => (quote!(Kernel), quote!()),
    };
    quote! {
        #[allow(clippy::all, clippy::pedantic)]
        impl #generics super::#ident::#kernel for #of {
            #[inline(always)]
            fn #ident #lifetimes(#keys #parameters) -> __torch::Result<#output> {
                let __output = __torch::Output::#constructor(super::#variant::NAME, &*#target);
                let __result = #call?;
                __torch::finish(__output, &__result)?;
                ::core::result::Result::Ok(#target)
            }
        }
    }
}

fn this(variant: &Operator) -> &Ident {
    let at = variant.schema.arguments.iter().position(torch_library_schema::Argument::is_mutable);
    &variant.arguments[at.unwrap_or_default()].ident
}

fn arguments(operator: &Operator) -> Vec<&Ident> {
    operator.arguments.iter().map(|argument| &argument.ident).collect()
}

/// The variants of an operator that are in the library. They follow it: under other `cfg`s there may be more operators
/// of their names.
fn variants<'l>(operator: &'l Operator, library: &'l Library) -> impl Iterator<Item = (Kind, &'l Operator)> {
    let following = library.operators.iter().skip_while(|other| !std::ptr::eq(*other, operator)).skip(1);
    let own = following.take_while(|variant| variant.base.as_ref() == Some(&operator.ident));
    own.filter_map(|variant| {
        let (kind, _) = operator.variants.iter().find(|(_, ident)| *ident == variant.ident)?;
        Some((*kind, variant))
    })
}

/// The kernels that the library itself registers.
pub(super) struct Kernels {
    /// Their records, in a constant `__KERNELS`.
    pub(super) records: TokenStream,
    /// The links for `submit_kernels!`.
    pub(super) linked: TokenStream,
}

/// The kernels of all variants, which copy the result of the operator.
pub(super) fn kernels(library: &Library) -> Kernels {
    let all = library.operators.iter().filter_map(|variant| Some((variant, variant.base.as_ref()?)));
    let (mut records, mut linked) = (TokenStream::new(), TokenStream::new());
    for (variant, base) in all {
        let (ident, cfgs) = (&variant.ident, variant.cfgs().collect::<Vec<_>>());
        let place = variant.source.place(&quote!(TORCH_LIBRARY_SOURCE));
        let function = format!("copies the result of {base} to {ident}");
        let (symbol, key) = (symbol(&library.module, ident), format_ident!("CompositeExplicitAutograd"));
        records.extend(quote! {
            #(#cfgs)*
            __torch::KernelRecord {
                operator: &self::#ident::OPERATOR,
                key: __torch::DispatchKey::#key,
                kernel: __torch::RecordedKernel::Copying(self::#ident::code_with_keys::<self::#base::Copying>()),
                derivative: __torch::Option::None,
                function: #function,
                overrides: false,
                place: #place,
            },
        });
        let cfgs = quote!(#(#cfgs)*);
        linked.extend(quote!({ #cfgs #key #symbol false #function self::#ident }));
    }
    Kernels { records: quote!(&[#records]), linked }
}
