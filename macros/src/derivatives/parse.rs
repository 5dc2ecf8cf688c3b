//! Parses the input of `derivatives!`.

use proc_macro2::{TokenStream, TokenTree};
use syn::ext::IdentExt;
use syn::parse::{Parse, ParseStream};
use syn::punctuated::Punctuated;
use syn::{Attribute, Expr, Ident, Path, Token, token};

/// The whole input: `[$crate] in path::aten; rows…`.
pub(super) struct Block {
    /// The path of the runtime crate, from the macro's shim.
    pub(super) root: TokenStream,
    pub(super) namespace: Path,
    pub(super) rows: Vec<ParsedRow>,
}

/// A row: `#[in_place] mul.Tensor(Tensor self, Tensor other) -> Tensor as MulBackward0 { self => …, other => … }`.
pub(super) struct ParsedRow {
    pub(super) attributes: Vec<Attribute>,
    pub(super) schema: Vec<TokenTree>,
    /// The node's name.
    pub(super) name: Option<Ident>,
    /// `None` if no result has a gradient: `as non_differentiable;`
    pub(super) clauses: Option<Vec<Clause>>,
}

/// A clause of a row: `self => grad.mul(other)`, `(input, weight) => …` or `index => non_differentiable`.
pub(super) struct Clause {
    pub(super) targets: Vec<Ident>,
    pub(super) rule: Rule,
}

pub(super) enum Rule {
    Formula(Expr),
    /// No gradient flows to these arguments.
    NonDifferentiable,
    /// It is an error if one of these arguments requires grad.
    CannotRequireGrad,
}

impl Clause {
    /// Whether it is one formula for several arguments.
    pub(super) fn is_shared_formula(&self) -> bool {
        self.targets.len() > 1 && matches!(self.rule, Rule::Formula(_))
    }
}

impl Parse for Block {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let root;
        syn::bracketed!(root in input);
        let root: TokenStream = root.parse()?;
        if !input.peek(Token![in]) {
            return Err(input.error("expected the namespace of the operators: `in aten;`"));
        }
        input.parse::<Token![in]>()?;
        let namespace = input.call(Path::parse_mod_style)?;
        input.parse::<Token![;]>()?;
        let mut rows = Vec::new();
        while !input.is_empty() {
            rows.push(input.parse()?);
        }
        Ok(Block { root, namespace, rows })
    }
}

impl Parse for ParsedRow {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let attributes = input.call(Attribute::parse_outer)?;
        let mut schema = Vec::new();
        while !input.peek(Token![as]) && !input.peek(token::Brace) {
            if input.is_empty() || input.peek(Token![;]) {
                return Err(input.error(
                    "expected the formulas after the schema: `{ self => … }`, or `as non_differentiable;`",
                ));
            }
            schema.push(input.parse()?);
        }
        let name: Option<Ident> = match input.parse::<Option<Token![as]>>()? {
            Some(_) => Some(input.parse()?),
            None => None,
        };
        if name.as_ref().is_some_and(|name| name == "non_differentiable") {
            input.parse::<Token![;]>()?;
            return Ok(ParsedRow { attributes, schema, name: None, clauses: None });
        }
        if !input.peek(token::Brace) {
            return Err(input.error("expected the formulas: `{ self => …, other => … }`"));
        }
        let body;
        syn::braced!(body in input);
        let clauses = Punctuated::<Clause, Token![,]>::parse_terminated(&body)?;
        Ok(ParsedRow { attributes, schema, name, clauses: Some(clauses.into_iter().collect()) })
    }
}

impl Parse for Clause {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let targets = if input.peek(token::Paren) {
            let several;
            syn::parenthesized!(several in input);
            Punctuated::<Ident, Token![,]>::parse_terminated_with(&several, target)?.into_iter().collect()
        } else {
            vec![target(input)?]
        };
        if !input.peek(Token![=>]) {
            return Err(input.error(EXPECTED));
        }
        input.parse::<Token![=>]>()?;
        let rule = match input.fork().parse::<Ident>() {
            Ok(word) if word == "non_differentiable" => Rule::NonDifferentiable,
            Ok(word) if word == "cannot_require_grad" => Rule::CannotRequireGrad,
            _ => return Ok(Clause { targets, rule: Rule::Formula(input.parse()?) }),
        };
        input.parse::<Ident>()?;
        Ok(Clause { targets, rule })
    }
}

/// The error for a clause of another form.
const EXPECTED: &str =
    "expected an argument and its formula: `self => grad`, or `self => non_differentiable`";

/// The name of an argument, which may be a keyword.
fn target(input: ParseStream<'_>) -> syn::Result<Ident> {
    input.call(Ident::parse_any).map_err(|error| syn::Error::new(error.span(), EXPECTED))
}
