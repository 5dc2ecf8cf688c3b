//! The input of `include_model!`: a type, the path of an archive, and the modules of other libraries' operators.

use std::path::{Path as FilePath, PathBuf};

use proc_macro2::{Span, TokenStream};
use syn::parse::{Parse, ParseStream};
use syn::punctuated::Punctuated;
use syn::{Attribute, Ident, LitStr, Path, Token, Visibility, braced, bracketed};

/// Parses `[$crate] /// … pub struct Name = "model.pt2", namespaces = { mylib: my_crate::mylib };`.
pub(crate) struct Input {
    pub(crate) export_crate: TokenStream,
    pub(crate) attributes: Vec<Attribute>,
    pub(crate) visibility: Visibility,
    pub(crate) ident: Ident,
    pub(crate) file: LitStr,
    namespaces: Punctuated<Namespace, Token![,]>,
}

/// Parses `mylib: my_crate::mylib` or `mylib: _`.
struct Namespace {
    name: Ident,
    path: Option<Path>,
}

/// Where the operators of a namespace are found.
pub(crate) enum Place {
    /// In the module with this path.
    Module(Path),
    /// In the registry, when the program runs.
    RunTime,
}

impl Parse for Input {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let export_crate;
        bracketed!(export_crate in input);
        let export_crate = export_crate.parse()?;
        let attributes = input.call(Attribute::parse_outer)?;
        let visibility = input.parse()?;
        if !input.peek(Token![struct]) {
            return Err(input.error("expected a type and its archive: `pub struct Model = \"model.pt2\";`"));
        }
        input.parse::<Token![struct]>()?;
        let ident = input.parse()?;
        input.parse::<Token![=]>()?;
        let file = input.parse()?;
        let mut namespaces = Punctuated::new();
        if input.parse::<Option<Token![,]>>()?.is_some() && input.peek(Ident) {
            let option: Ident = input.parse()?;
            if option != "namespaces" {
                let message = format!("unknown option `{option}`: the only one is `namespaces`");
                return Err(syn::Error::new(option.span(), message));
            }
            input.parse::<Token![=]>()?;
            let content;
            braced!(content in input);
            namespaces = Punctuated::parse_terminated(&content)?;
        }
        input.parse::<Option<Token![,]>>()?;
        input.parse::<Option<Token![;]>>()?;
        Ok(Input { export_crate, attributes, visibility, ident, file, namespaces })
    }
}

impl Parse for Namespace {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let name = input.parse()?;
        input.parse::<Token![:]>()?;
        let path = if input.parse::<Option<Token![_]>>()?.is_some() { None } else { Some(input.parse()?) };
        Ok(Namespace { name, path })
    }
}

impl Input {
    /// The path of the archive, which is relative to the folder of the manifest, like that of a test's data.
    pub(crate) fn path(&self) -> PathBuf {
        let manifest = std::env::var_os("CARGO_MANIFEST_DIR").unwrap_or_default();
        FilePath::new(&manifest).join(self.file.value())
    }

    pub(crate) fn error(&self, message: impl std::fmt::Display) -> syn::Error {
        syn::Error::new(self.file.span(), message)
    }

    pub(crate) fn span(&self) -> Span {
        self.file.span()
    }

    /// Where the operators of a namespace are found: those of `aten` in `torch-library-kernels`, unless the input says
    /// otherwise.
    pub(crate) fn place(&self, namespace: &str) -> Option<Place> {
        let said = self.namespaces.iter().find(|known| known.name == namespace);
        match said {
            Some(Namespace { path: Some(path), .. }) => Some(Place::Module(path.clone())),
            Some(Namespace { path: None, .. }) => Some(Place::RunTime),
            None if namespace == "aten" => {
                Some(Place::Module(syn::parse_quote!(::torch_library_kernels::aten)))
            }
            None => None,
        }
    }
}
