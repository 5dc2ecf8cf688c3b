//! `#[torch_fallback]`: a boxed function that serves every operator at a key.

use proc_macro2::{Span, TokenStream};
use quote::{format_ident, quote};
use syn::ext::IdentExt;
use syn::parse::{Parse, ParseStream};
use syn::{Ident, Path, Signature, Token};

use crate::library::place;

/// `Tracer` · `Tracer, crate = my_name_for_torch_library`
struct Arguments {
    key: Ident,
    root: Path,
}

impl Parse for Arguments {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        const USAGE: &str = "expected `#[torch_fallback(KEY)]`, as in `#[torch_fallback(Tracer)]`";
        if input.is_empty() {
            return Err(syn::Error::new(Span::call_site(), USAGE));
        }
        let key = input.parse().map_err(|error: syn::Error| syn::Error::new(error.span(), USAGE))?;
        let mut root = syn::parse_quote!(::torch_library);
        if input.peek(Token![,]) {
            input.parse::<Token![,]>()?;
            input.parse::<Token![crate]>()?;
            input.parse::<Token![=]>()?;
            root = input.call(Path::parse_mod_style)?;
        }
        if !input.is_empty() {
            return Err(input.error("a fallback is for one key"));
        }
        Ok(Arguments { key, root })
    }
}

/// The function as it is, and a record of it.
pub(crate) fn expand(arguments: TokenStream, item: TokenStream) -> TokenStream {
    match record(arguments, &item) {
        Ok(record) => quote!(#item #record),
        Err(error) => {
            let error = error.to_compile_error();
            quote!(#item #error)
        }
    }
}

fn record(arguments: TokenStream, item: &TokenStream) -> syn::Result<TokenStream> {
    let Arguments { key, root } = syn::parse2(arguments)?;
    let name = name(item.clone())?;
    let place = place(name.span());
    let (function, marker) =
        (name.unraw().to_string(), format_ident!("fallback_for_{key}", span = key.span()));
    Ok(quote! {
        #[doc(hidden)]
        #[allow(non_camel_case_types, dead_code)]
        struct #marker;
        const _: () = {
            use #root::__private as __torch;
            static FALLBACK: __torch::FallbackRecord = __torch::FallbackRecord {
                key: __torch::DispatchKey::#key,
                kernel: __torch::RecordedKernel::Boxed(#name),
                function: #function,
                place: #place,
            };
            __torch::submit! { __torch::Record::Fallback(&FALLBACK) }
        };
    })
}

/// The name of the function; its signature is checked by rustc, where the record wants a boxed function.
fn name(item: TokenStream) -> syn::Result<Ident> {
    struct Name(Ident);
    impl Parse for Name {
        fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
            input.call(syn::Attribute::parse_outer)?;
            input.parse::<syn::Visibility>()?;
            let signature: Signature = input
                .parse()
                .map_err(|error| syn::Error::new(error.span(), "`#[torch_fallback]` stands on a function"))?;
            input.parse::<TokenStream>()?;
            Ok(Name(signature.ident))
        }
    }
    syn::parse2::<Name>(item).map(|name| name.0)
}
