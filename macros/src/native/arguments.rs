//! Parses the arguments of `native_functions!`, and reads the file that they name.

use std::path::{Path as FilePath, PathBuf};

use proc_macro2::{Span, TokenStream};
use syn::parse::{Parse, ParseStream};
use syn::{Ident, LitStr, Path, Token};

use super::text::Text;

/// The input: `[$crate] "native_functions.yaml", declarations` or `…, kernels = crate::cpu, extends = other::aten`.
pub(super) struct Arguments {
    /// The path of the runtime crate, from the macro's shim.
    pub(super) root: TokenStream,
    /// The file's path, or its text.
    pub(super) file: LitStr,
    /// Whether to register no kernels.
    pub(super) declarations: bool,
    /// The module in which kernels are looked up; by default the one around the macro call.
    pub(super) kernels: Option<Path>,
    /// Modules of namespaces that the file extends.
    pub(super) extends: Vec<Path>,
}

const USAGE: &str = "expected `native_functions!(\"native_functions.yaml\")`, and after it any of `declarations`, \
                     `kernels = path::of::module` and `extends = path::of::namespace`";

impl Parse for Arguments {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let root;
        syn::bracketed!(root in input);
        let root: TokenStream = root.parse()?;
        let wrong = |input: ParseStream<'_>| {
            syn::Error::new(if input.is_empty() { Span::call_site() } else { input.span() }, USAGE)
        };
        let file: LitStr = input.parse().map_err(|_| wrong(input))?;
        let mut arguments = Arguments { root, file, declarations: false, kernels: None, extends: Vec::new() };
        while !input.is_empty() {
            input.parse::<Token![,]>().map_err(|_| wrong(input))?;
            if !input.is_empty() {
                arguments.option(input, wrong)?;
            }
        }
        Ok(arguments)
    }
}

impl Arguments {
    fn option(
        &mut self,
        input: ParseStream<'_>,
        wrong: impl Fn(ParseStream<'_>) -> syn::Error,
    ) -> syn::Result<()> {
        let word: Ident = input.fork().parse().map_err(|_| wrong(input))?;
        let path = |input: ParseStream<'_>| {
            input.parse::<Ident>()?;
            input.parse::<Token![=]>().map_err(|_| wrong(input))?;
            input.call(Path::parse_mod_style).map_err(|_| wrong(input))
        };
        match &*word.to_string() {
            "declarations" => {
                input.parse::<Ident>()?;
                self.declarations = true;
            }
            "kernels" => self.kernels = Some(path(input)?),
            "extends" => self.extends.push(path(input)?),
            _ => return Err(wrong(input)),
        }
        if self.declarations && self.kernels.is_some() {
            return Err(syn::Error::new(word.span(), "with `declarations` no kernel is registered"));
        }
        Ok(())
    }

    /// The text, and the path to track for rebuilds, unless the text itself is the argument.
    ///
    /// # Errors
    /// The file cannot be read.
    pub(super) fn text(&self) -> syn::Result<(Text, Option<String>)> {
        let literal = self.file.value();
        let span = self.file.span().unwrap();
        if literal.contains('\n') {
            let name =
                FilePath::new(&span.file()).file_name().map(|name| name.to_string_lossy().into_owned());
            let name = name.unwrap_or_else(|| "native functions".to_owned());
            return Ok((Text { name, text: literal, first_line: span.line() }, None));
        }
        let beside = span.local_file().and_then(|file| file.parent().map(|folder| folder.join(&literal)));
        let package =
            std::env::var_os("CARGO_MANIFEST_DIR").map(|folder| PathBuf::from(folder).join(&literal));
        let candidates: Vec<PathBuf> = beside.into_iter().chain(package).collect();
        let path = candidates.iter().find(|path| path.is_file()).ok_or_else(|| {
            let tried: Vec<_> = candidates.iter().map(|path| format!("`{}`", path.display())).collect();
            syn::Error::new_spanned(&self.file, format!("there is no file {}", tried.join(", nor ")))
        })?;
        let read = std::fs::read_to_string(path).and_then(|text| Ok((text, path.canonicalize()?)));
        let (text, absolute) = read.map_err(|error| {
            syn::Error::new_spanned(&self.file, format!("cannot read `{}`: {error}", path.display()))
        })?;
        let absolute = absolute.into_os_string().into_string().ok();
        Ok((Text { name: literal, text, first_line: 1 }, absolute))
    }
}
