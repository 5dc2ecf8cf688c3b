//! The operator that a kernel is for.

use proc_macro2::TokenStream;
use quote::quote_spanned;
use syn::ext::IdentExt;
use syn::spanned::Spanned;
use syn::{Ident, LitStr, Path};
use torch_library_schema::OperatorName;

use crate::library::{flat_name, symbol};

/// An operator by namespace and flattened name. Rustc looks it up.
pub(crate) struct Target {
    /// The namespace's module.
    pub(crate) namespace: Path,
    /// The operator's module in it.
    pub(crate) ident: Ident,
}

impl Target {
    /// From a path that may name an operator, as `aten::add_Tensor` does: whether it does, or names a namespace in
    /// another crate or module, rustc knows alone. Of one name besides `crate` and `super` it is clear.
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

    /// From a name as the schema has it, or else the function's.
    pub(super) fn in_namespace(
        namespace: &Path,
        name: Option<&LitStr>,
        function: &Ident,
    ) -> syn::Result<Self> {
        let ident = name.map_or_else(|| Ok(function.clone()), operator)?;
        Ok(Target { namespace: namespace.clone(), ident })
    }

    /// The operator's module under a name of ours.
    ///
    /// The braces make rustc point at the operator alone where there is none of that name. All else is reached
    /// through this one path, so that a wrong one is one error.
    pub(super) fn import(&self, alias: &Ident) -> TokenStream {
        let Target { namespace, ident } = self;
        let mut alias = alias.clone();
        alias.set_span(ident.span());
        quote_spanned! {ident.span()=>
            #[allow(unused_imports, unused_import_braces, clippy::unsafe_removed_from_name)]
            use #namespace::{#ident as #alias};
        }
    }

    /// How the linker knows the operator, where the path is to the module that declares it.
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

/// Uses a path, and nothing more: beside an error, "unused import" would be one more thing to look at.
pub(super) fn used(path: &Path) -> TokenStream {
    quote_spanned! {path.span()=>
        const _: () = {
            #[allow(unused_imports)]
            use #path as _;
        };
    }
}

/// `"add.Tensor"` as `add_Tensor`.
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
