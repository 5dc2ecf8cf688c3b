//! The operator that a kernel is for.

use proc_macro2::TokenStream;
use quote::{quote, quote_spanned};
use syn::ext::IdentExt;
use syn::spanned::Spanned;
use syn::{Ident, LitStr, Path};
use torch_library_schema::OperatorName;

use crate::library::{flat_name, symbol};
use crate::lints;

/// An operator by namespace and flattened name, which rustc resolves.
pub(crate) struct Target {
    /// The namespace's module.
    pub(crate) namespace: Path,
    /// The operator's module in it.
    pub(crate) ident: Ident,
}

impl Target {
    /// From a path that may name an operator, such as `aten::add_Tensor`: only rustc knows whether it does, or names a
    /// namespace in another crate or module. A single name, besides `crate` and `super`, is always a namespace.
    pub(super) fn of_path(path: &Path) -> Option<Self> {
        let is_keyword = |ident: &Ident| ident == "crate" || ident == "super" || ident == "self";
        if path.segments.iter().filter(|segment| !is_keyword(&segment.ident)).count() < 2 {
            return None;
        }
        let mut namespace = path.clone();
        let last = namespace.segments.pop()?;
        namespace.segments.pop_punct();
        Some(Target { namespace, ident: last.ident })
    }

    /// From the operator's name in the schema, if given, or else from the function's name.
    pub(super) fn in_namespace(
        namespace: &Path,
        name: Option<&LitStr>,
        function: &Ident,
    ) -> syn::Result<Self> {
        let ident = name.map_or_else(|| Ok(function.clone()), operator)?;
        Ok(Target { namespace: namespace.clone(), ident })
    }

    /// Imports the operator's module under an alias.
    ///
    /// Because of the braces, rustc points at the operator alone if there is no operator of that name. Everything else
    /// is reached through this one path, so that a wrong path is only one error.
    pub(crate) fn import(&self, alias: &Ident) -> TokenStream {
        let Target { namespace, ident } = self;
        let mut alias = alias.clone();
        alias.set_span(ident.span());
        let hides_unsafe = ident.to_string().to_lowercase().contains("unsafe");
        let allowed = hides_unsafe.then(|| quote!(#[allow(clippy::unsafe_removed_from_name)]));
        quote_spanned! {lints::ours(ident.span())=>
            #allowed
            use #namespace::{#ident as #alias};
        }
    }

    /// The name of the operator's linker symbol, where the path leads to the module that declares it.
    pub(crate) fn symbol(&self) -> String {
        let library = self.namespace.segments.last().map(|segment| &segment.ident);
        library.map_or_else(String::new, |library| symbol(library, &self.ident))
    }

    /// The operator's name as a part of other identifiers.
    pub(super) fn label(&self) -> String {
        let namespace = self.namespace.segments.last().map(|segment| segment.ident.unraw().to_string());
        format!("{}_{}", namespace.unwrap_or_default(), self.ident.unraw())
    }
}

/// Uses a path without effect, to avoid an "unused import" warning next to an error.
pub(super) fn used(path: &Path) -> TokenStream {
    quote_spanned! {path.span()=>
        const _: () = {
            #[allow(unused_imports)]
            use #path as _;
        };
    }
}

/// The identifier for a name: `add_Tensor` for `"add.Tensor"`.
fn operator(text: &LitStr) -> syn::Result<Ident> {
    let name = OperatorName::parse(&text.value()).map_err(|error| {
        let rendered = error.render(&text.value());
        syn::Error::new(text.span(), rendered.trim_start_matches("error: ").trim_end())
    })?;
    if let Some(namespace) = &name.namespace {
        let message = format!("the namespace is in the path before it: leave out `{namespace}::`");
        return Err(syn::Error::new(text.span(), message));
    }
    Ok(flat_name(&name.name, &name.overload, text.span()))
}
