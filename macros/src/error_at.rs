//! `compile_error!` at given tokens: that of a `macro_rules!` underlines the whole call.

use proc_macro2::TokenStream;
use syn::LitStr;
use syn::parse::{Parse, ParseStream};

/// The input: `[TOKENS] "message"`.
struct Input {
    place: TokenStream,
    message: LitStr,
}

impl Parse for Input {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let place;
        syn::bracketed!(place in input);
        Ok(Input { place: place.parse()?, message: input.parse()? })
    }
}

/// Expands to the error.
pub(crate) fn expand(input: TokenStream) -> TokenStream {
    let error = syn::parse2::<Input>(input).map_or_else(
        |error| error,
        |Input { place, message }| syn::Error::new_spanned(place, message.value()),
    );
    error.to_compile_error()
}
