//! `#[torch_fallback]`: a boxed function that serves every operator at a key.

use proc_macro2::{Span, TokenStream};
use quote::{format_ident, quote, quote_spanned};
use syn::ext::IdentExt;
use syn::parse::{Parse, ParseStream};
use syn::{Ident, Path, Token};

use super::expand::boxed;
use super::item::Function;
use super::{renamed, signature};
use crate::errors::{Errors, expected};
use crate::key::{self, Key};
use crate::source::Source;

/// The arguments: `Tracer`; `AutocastCPU, fallthrough`; `Tracer, crate = my_name_for_torch_library`.
struct Arguments {
    key: Key,
    fallthrough: bool,
    /// The crate's path, if it is given.
    root: Option<Path>,
}

impl Parse for Arguments {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        const USAGE: &str = "expected `#[torch_fallback(KEY)]`, as in `#[torch_fallback(Tracer)]`";
        if let Some(error) = key::quoted(input) {
            return Err(error);
        }
        if !input.peek(Ident) {
            return Err(expected(input, Span::call_site(), USAGE));
        }
        let mut arguments = Arguments { key: input.parse()?, fallthrough: false, root: None };
        while !input.is_empty() {
            if !input.peek(Token![,]) {
                return Err(input.error("expected `,`"));
            }
            input.parse::<Token![,]>()?;
            if !input.is_empty() {
                arguments.parse_next(input)?;
            }
        }
        Ok(arguments)
    }
}

impl Arguments {
    fn parse_next(&mut self, input: ParseStream<'_>) -> syn::Result<()> {
        if input.peek(Token![crate]) {
            input.parse::<Token![crate]>()?;
            input.parse::<Token![=]>()?;
            self.root = Some(input.call(Path::parse_mod_style)?);
            return Ok(());
        }
        match input.fork().parse::<Ident>() {
            Ok(word) if word == "fallthrough" => {
                input.parse::<Ident>()?;
                self.fallthrough = true;
                Ok(())
            }
            _ => Err(input.error("a fallback is for one key, and for all operators: expected nothing more")),
        }
    }
}

/// The function as it is, and its record.
pub(crate) fn expand(arguments: TokenStream, item: TokenStream) -> TokenStream {
    let mut errors = Errors::default();
    let arguments = errors.ok(syn::parse2::<Arguments>(arguments));
    let message = "`#[torch_fallback]` belongs on a function";
    let function = syn::parse2::<Function>(item.clone());
    let function = errors.ok(function.map_err(|_| syn::Error::new_spanned(&item, message)));
    let mut tokens = function.as_ref().map_or_else(|| item.clone(), Function::as_written);
    if let (Some(arguments), Some(function)) = (arguments, function) {
        tokens.extend(errors.ok(record(&arguments, &function)));
    }
    tokens.extend(errors.into_tokens());
    tokens
}

fn record(arguments: &Arguments, function: &Function) -> syn::Result<TokenStream> {
    let Arguments { key: Key(key), fallthrough, root } = arguments;
    if *fallthrough {
        signature::check_fallthrough(function)?;
    } else {
        signature::check(function)?;
    }
    let root = match (root, renamed::found()) {
        (Some(root), _) => root.clone(),
        (None, Some(name)) => {
            let message = format!("this package calls torch-library `{name}`: write `{key}, crate = {name}`");
            return Err(syn::Error::new(key.span(), message));
        }
        (None, None) => syn::parse_quote!(::torch_library),
    };
    let ident = &function.signature.ident;
    let kernel =
        if *fallthrough { quote!(__torch::RecordedKernel::Fallthrough) } else { boxed(ident, key.span()) };
    let (place, name) = (Source::Span(ident.span()), ident.unraw().to_string());
    let cfgs: Vec<_> = function.cfgs().collect();
    let marker = format_ident!("fallback_for_{}", key.to_string().to_lowercase(), span = key.span());
    // For a second fallback in this module, rustc reports "defined multiple times" with both places.
    let marker = quote_spanned! {key.span()=>
        #(#cfgs)*
        #[doc(hidden)]
        mod #marker {}
    };
    Ok(quote! {
        #marker
        #(#cfgs)*
        const _: () = {
            use #root::__private as __torch;
            static FALLBACK: __torch::FallbackRecord = __torch::FallbackRecord {
                key: __torch::DispatchKey::#key,
                kernel: #kernel,
                function: #name,
                place: #place,
            };
            __torch::submit! { __torch::Record::Fallback(&FALLBACK) }
        };
    })
}
