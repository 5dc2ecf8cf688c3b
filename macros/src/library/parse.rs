//! The tokens of `torch_library!`.

use proc_macro2::{TokenStream, TokenTree};
use syn::parse::{Parse, ParseStream};
use syn::{Attribute, Ident, LitStr, Path, Token, Visibility};

/// `[$crate] /// docs  pub mod myops extends path { … }`
pub(crate) struct Block {
    /// The path of the runtime crate, from the shim.
    pub(crate) root: TokenStream,
    pub(crate) attributes: Vec<Attribute>,
    pub(crate) visibility: Visibility,
    pub(crate) namespace: Ident,
    pub(crate) extends: Option<Extends>,
    pub(crate) declarations: Vec<Declaration>,
}

/// What a namespace adds to.
pub(crate) enum Extends {
    /// `extends torch_library_kernels::aten`: a module to re-export.
    Module(Path),
    /// `extends "aten"`: a namespace that has no module here.
    Name(LitStr),
}

/// `/// docs  #[tags(pointwise)]  add(Tensor self, Tensor other) -> Tensor;`
pub(crate) struct Declaration {
    pub(crate) attributes: Vec<Attribute>,
    pub(crate) schema: SchemaTokens,
}

/// A schema as it stands in the source.
pub(crate) enum SchemaTokens {
    /// Bare.
    Tokens(Vec<TokenTree>),
    /// `"add(Tensor self) -> Tensor"`
    Text(LitStr),
}

impl Parse for Block {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let root;
        syn::bracketed!(root in input);
        let root = root.parse()?;
        let attributes = input.call(Attribute::parse_outer)?;
        let visibility = input.parse()?;
        if !input.peek(Token![mod]) {
            return Err(input.error("expected `mod NAME { … }`: the namespace that the operators belong to"));
        }
        input.parse::<Token![mod]>()?;
        let namespace = input.parse()?;
        let extends = Extends::parse_optional(input)?;
        let body;
        syn::braced!(body in input);
        let mut declarations = Vec::new();
        while !body.is_empty() {
            declarations.push(body.parse()?);
        }
        if !input.is_empty() {
            return Err(
                input.error("one `torch_library!` holds one `mod`; write another `torch_library!` for this")
            );
        }
        Ok(Block { root, attributes, visibility, namespace, extends, declarations })
    }
}

impl Extends {
    fn parse_optional(input: ParseStream<'_>) -> syn::Result<Option<Self>> {
        if !input.peek(Ident) {
            return Ok(None);
        }
        let word: Ident = input.parse()?;
        if word != "extends" {
            return Err(syn::Error::new(word.span(), "expected `extends` or `{`"));
        }
        if input.peek(LitStr) {
            return Ok(Some(Extends::Name(input.parse()?)));
        }
        Ok(Some(Extends::Module(input.call(Path::parse_mod_style)?)))
    }
}

impl Parse for Declaration {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let attributes = input.call(Attribute::parse_outer)?;
        if input.peek(LitStr) {
            let text = input.parse()?;
            input.parse::<Token![;]>()?;
            return Ok(Declaration { attributes, schema: SchemaTokens::Text(text) });
        }
        let mut tokens = Vec::new();
        loop {
            if input.is_empty() {
                return Err(input.error("expected `;` after the schema"));
            }
            match input.parse()? {
                TokenTree::Punct(punct) if punct.as_char() == ';' => break,
                token => tokens.push(token),
            }
        }
        if tokens.is_empty() {
            return Err(input.error("expected a schema before `;`"));
        }
        Ok(Declaration { attributes, schema: SchemaTokens::Tokens(tokens) })
    }
}
