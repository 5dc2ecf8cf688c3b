//! Parses the input of `torch_library!`.

use proc_macro2::{Delimiter, TokenStream, TokenTree};
use syn::parse::{Parse, ParseStream};
use syn::spanned::Spanned;
use syn::{Attribute, Ident, LitStr, Path, Token, Visibility};

use super::function;
use crate::errors::{Errors, expected};

/// The whole input: `[$crate] /// docs  pub mod myops extends path { … }`.
pub(crate) struct Block {
    /// The path of the runtime crate, from the macro's shim.
    pub(crate) root: TokenStream,
    pub(crate) attributes: Vec<Attribute>,
    pub(crate) visibility: Visibility,
    pub(crate) namespace: Ident,
    pub(crate) extends: Option<Extends>,
    pub(crate) declarations: Vec<Declaration>,
    /// Errors between the declarations.
    pub(crate) errors: Errors,
}

/// The namespace or modules that a block extends.
pub(crate) enum Extends {
    /// `extends torch_library_kernels::aten, crate::more::aten`: modules of one namespace to re-export.
    Modules(Vec<Path>),
    /// `extends "aten"`: a namespace without a Rust module at hand.
    Name(LitStr),
}

/// A declaration: `/// docs  #[tags(pointwise)]  add(Tensor self, Tensor other) -> Tensor;`.
pub(crate) struct Declaration {
    pub(crate) attributes: Vec<Attribute>,
    pub(crate) schema: SchemaTokens,
}

/// A schema as it is written in the source.
pub(crate) enum SchemaTokens {
    /// As plain tokens.
    Tokens(Vec<TokenTree>),
    /// As a string literal: `"add(Tensor self) -> Tensor"`.
    Text(LitStr),
}

impl Parse for Block {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let root;
        syn::bracketed!(root in input);
        let root: TokenStream = root.parse()?;
        let attributes = input.call(Attribute::parse_outer)?;
        let before = attributes.last().map_or_else(|| root.span(), Spanned::span);
        let visibility: Visibility = input.parse()?;
        if !input.peek(Token![mod]) {
            let message = "expected `mod NAME { … }`: the namespace that the operators belong to";
            return Err(expected(input, before, message));
        }
        let keyword: Token![mod] = input.parse()?;
        let namespace: Ident = input
            .parse()
            .map_err(|_| expected(input, keyword.span(), "expected the name of the namespace"))?;
        let extends = Extends::parse_optional(input, &namespace)?;
        if !input.peek(syn::token::Brace) {
            let message = "expected `extends` or the operators, `{ … }`";
            return Err(expected(input, namespace.span(), message));
        }
        let body;
        syn::braced!(body in input);
        let mut errors = Errors::default();
        let declarations = declarations(&body, &mut errors);
        if !input.is_empty() {
            let message = "one `torch_library!` holds one `mod`: write another `torch_library!` for this";
            errors.push(input.error(message));
            input.parse::<TokenStream>()?;
        }
        Ok(Block { root, attributes, visibility, namespace, extends, declarations, errors })
    }
}

impl Extends {
    fn parse_optional(input: ParseStream<'_>, before: &Ident) -> syn::Result<Option<Self>> {
        if !input.peek(Ident) {
            return Ok(None);
        }
        let word: Ident = input.parse()?;
        if word != "extends" {
            return Err(syn::Error::new(word.span(), format!("expected `extends` or `{{` after `{before}`")));
        }
        if input.peek(LitStr) {
            let name: LitStr = input.parse()?;
            if syn::parse_str::<Ident>(&name.value()).is_err() {
                let message = "expected the name of a namespace, as in `extends \"aten\"`";
                return Err(syn::Error::new(name.span(), message));
            }
            return Ok(Some(Extends::Name(name)));
        }
        let mut paths = vec![Self::parse_module(input, &word, before)?];
        while input.parse::<Option<Token![,]>>()?.is_some() && !input.peek(syn::token::Brace) {
            paths.push(Self::parse_module(input, &word, before)?);
        }
        Ok(Some(Extends::Modules(paths)))
    }

    fn parse_module(input: ParseStream<'_>, word: &Ident, before: &Ident) -> syn::Result<Path> {
        let path = input.call(Path::parse_mod_style).map_err(|_| {
            let message = "expected the module to extend, as in `extends other_crate::aten`, or its name, \
                           as in `extends \"aten\"`";
            expected(input, word.span(), message)
        })?;
        check_not_itself(&path, before)?;
        Ok(path)
    }
}

/// Inside the module, a path that starts with the module's name refers to it, even if a crate has that name too.
fn check_not_itself(path: &Path, module: &Ident) -> syn::Result<()> {
    if path.leading_colon.is_some() || path.segments.first().is_none_or(|first| first.ident != *module) {
        return Ok(());
    }
    let segments: Vec<_> = path.segments.iter().map(|segment| segment.ident.to_string()).collect();
    let message = format!(
        "`{module}` is the name of this module: write `::{}` if a crate of that name is meant",
        segments.join("::")
    );
    Err(syn::Error::new_spanned(path, message))
}

/// The declarations of a block. Each ends at its `;`, so a mistake in one leaves the others alone.
fn declarations(input: ParseStream<'_>, errors: &mut Errors) -> Vec<Declaration> {
    let mut declarations = Vec::new();
    while !input.is_empty() {
        declarations.extend(errors.ok(input.parse()));
    }
    declarations
}

impl Parse for Declaration {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let attributes = input.call(Attribute::parse_outer);
        let mut tokens: Vec<TokenTree> = Vec::new();
        let mut end = None;
        while end.is_none() && !input.is_empty() {
            match input.parse()? {
                TokenTree::Punct(sign) if sign.as_char() == ';' => end = Some(sign.span()),
                token => {
                    let is_body =
                        matches!(&token, TokenTree::Group(group) if group.delimiter() == Delimiter::Brace);
                    tokens.push(token);
                    if is_body && function::starts(&tokens) {
                        break; // after the body comes the next declaration
                    }
                }
            }
        }
        let attributes = attributes?;
        if function::starts(&tokens) {
            return Err(function::refusal(&tokens));
        }
        if let Some(error) = function::other_item(&tokens) {
            return Err(error);
        }
        match (tokens.last(), end) {
            (None, end) => {
                let span = end.unwrap_or_else(|| input.span());
                Err(syn::Error::new(
                    span,
                    "expected a schema, as in `add(Tensor self, Tensor other) -> Tensor;`",
                ))
            }
            (Some(last), None) => Err(syn::Error::new(last.span(), MISSING_SEMICOLON)),
            (Some(_), Some(_)) => match end_before_another(&tokens) {
                Some(last) => Err(syn::Error::new(last.span(), MISSING_SEMICOLON)),
                None => Ok(Declaration { attributes, schema: SchemaTokens::new(tokens) }),
            },
        }
    }
}

const MISSING_SEMICOLON: &str = "expected `;` after the schema";

/// The last token of a schema that is followed by another one without `;`: a second `->` outside of brackets shows it.
fn end_before_another(tokens: &[TokenTree]) -> Option<&TokenTree> {
    let sign = |index: usize| match tokens.get(index) {
        Some(TokenTree::Punct(sign)) => Some(sign.as_char()),
        _ => None,
    };
    let mut arrows =
        (0..tokens.len()).filter(|&index| sign(index) == Some('-') && sign(index + 1) == Some('>'));
    // The arrow is preceded by the arguments and the name, `add.Tensor(…)`, and these possibly by attributes, `#[…]`.
    let mut start = arrows.nth(1)?.checked_sub(2)?;
    while start >= 2 && sign(start - 1) == Some('.') {
        start -= 2;
    }
    while start >= 2 && sign(start - 2) == Some('#') {
        start -= 2;
    }
    tokens.get(start.checked_sub(1)?)
}

impl SchemaTokens {
    fn new(tokens: Vec<TokenTree>) -> Self {
        match &tokens[..] {
            // A fragment of a macro, `$schema:literal`.
            [TokenTree::Group(group)] if group.delimiter() == Delimiter::None => {
                SchemaTokens::new(group.stream().into_iter().collect())
            }
            [token @ TokenTree::Literal(_)] => {
                syn::parse2(token.clone().into()).map_or(SchemaTokens::Tokens(tokens), SchemaTokens::Text)
            }
            _ => SchemaTokens::Tokens(tokens),
        }
    }
}
