//! The name of a dispatch key in an attribute.

use proc_macro2::TokenStream;
use quote::ToTokens;
use syn::ext::IdentExt;
use syn::parse::{Parse, ParseStream};
use syn::{Ident, LitStr};

/// Functionality keys, which are complete only with a backend: `Dense` on a CPU is `CPU`. No call has them as such.
const BUILDING_BLOCKS: [(&str, &str); 6] = [
    ("Dense", "CPU"),
    ("Quantized", "QuantizedCPU"),
    ("Sparse", "SparseCPU"),
    ("SparseCsr", "SparseCsrCPU"),
    ("NestedTensor", "NestedTensorCPU"),
    ("AutogradFunctionality", "AutogradCPU"),
];

/// Names that are no keys, but that PyTorch once had, or that stand for a family or a layer; with the key to write.
const NO_KEYS: [(&str, &str); 9] = [
    ("Autocast", "each device type has its own, such as `AutocastCPU`"),
    ("CatchAll", "it is `CompositeImplicitAutograd` now"),
    ("Math", "it is `CompositeImplicitAutograd` now"),
    ("DefaultBackend", "it is `CompositeExplicitAutograd` now"),
    (
        "Composite",
        "`CompositeImplicitAutograd` calls differentiable operators, `CompositeExplicitAutograd` any",
    ),
    ("CompositeImplicit", "write `CompositeImplicitAutograd`"),
    ("CompositeExplicit", "write `CompositeExplicitAutograd`"),
    ("Vmap", "a batching rule is registered for `FuncTorchBatched`"),
    ("GPU", "each kind of device has its own, such as `CUDA`"),
];

/// Keys that kernels are usually written for.
const USUAL: [&str; 21] = [
    "CPU",
    "CUDA",
    "Meta",
    "MPS",
    "XPU",
    "PrivateUse1",
    "PrivateUse2",
    "PrivateUse3",
    "CompositeImplicitAutograd",
    "CompositeExplicitAutograd",
    "Autograd",
    "AutogradCPU",
    "AutogradCUDA",
    "AutogradPrivateUse1",
    "ADInplaceOrView",
    "AutocastCPU",
    "AutocastCUDA",
    "BackendSelect",
    "FuncTorchBatched",
    "Functionalize",
    "Tracer",
];

/// The usual key with this name, ignoring case.
pub(crate) fn in_other_letters(word: &str) -> Option<&'static str> {
    let word = word.replace('_', "");
    // C++ names keys and devices `kCPU`.
    let word = word.strip_prefix('k').filter(|rest| rest.starts_with(char::is_uppercase)).unwrap_or(&word);
    USUAL.into_iter().find(|key| key.eq_ignore_ascii_case(word))
}

/// The error for a string literal that contains the name of a usual key.
pub(crate) fn quoted(input: ParseStream<'_>) -> Option<syn::Error> {
    let text: LitStr = input.fork().parse().ok()?;
    let key = USUAL.into_iter().find(|key| *key == text.value())?;
    Some(syn::Error::new(text.span(), format!("a dispatch key is written without quotes: `{key}`")))
}

/// A dispatch key. Rustc checks that it exists, and suggests similar names.
#[derive(PartialEq, Eq)]
pub(crate) struct Key(pub(crate) Ident);

impl Parse for Key {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let ident = input.parse::<Ident>()?.unraw(); // no key is a keyword
        if input.peek(syn::Token![::]) {
            let message = "expected the name of a dispatch key alone, as in `CPU`";
            return Err(syn::Error::new(ident.span(), message));
        }
        if let Some((block, whole)) = BUILDING_BLOCKS.iter().find(|(block, _)| ident == block) {
            let message = format!(
                "no call has the key `{block}`, which is a building block of keys: name one with its backend, as `{whole}`"
            );
            return Err(syn::Error::new(ident.span(), message));
        }
        if let Some((name, instead)) = NO_KEYS.iter().find(|(name, _)| ident == name) {
            return Err(syn::Error::new(
                ident.span(),
                format!("no dispatch key is named `{name}`: {instead}"),
            ));
        }
        Ok(Key(ident))
    }
}

impl ToTokens for Key {
    fn to_tokens(&self, tokens: &mut TokenStream) {
        self.0.to_tokens(tokens);
    }
}
