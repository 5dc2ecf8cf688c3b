//! What a `torch_library!` block says: operators with their Rust signatures.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{format_ident, quote};
use syn::spanned::Spanned;
use syn::{Attribute, Visibility};
use torch_library_schema::{DefaultValue, Mode, Schema, Type};

use super::default;
use super::parse::{Block, Declaration, Extends, SchemaTokens};
use crate::errors::Errors;
use crate::pieces::Pieces;
use crate::rust_type::{self, References};

/// A namespace.
pub(crate) struct Library {
    pub(crate) root: TokenStream,
    /// Documentation and `cfg`s, passed on.
    pub(crate) attributes: Vec<Attribute>,
    pub(crate) visibility: Visibility,
    pub(crate) module: Ident,
    /// The namespace operators are registered in: the module's own name, or the one that is extended by name.
    pub(crate) namespace: Namespace,
    pub(crate) kernels_in: Option<String>,
    pub(crate) operators: Vec<Operator>,
}

/// Where the operators of a block belong.
pub(crate) enum Namespace {
    /// A namespace of its own.
    Own,
    /// The namespace of another module, which is re-exported.
    OfModule(syn::Path),
    /// A namespace by name.
    Named(String),
}

/// An operator.
pub(crate) struct Operator {
    pub(crate) attributes: Vec<Attribute>,
    pub(crate) tags: Vec<String>,
    /// The flattened name, `add_Tensor`, raw where it is a keyword.
    pub(crate) ident: Ident,
    pub(crate) schema: Schema,
    pub(crate) arguments: Vec<Argument>,
    pub(crate) returns: Vec<Return>,
    /// Lifetimes that tie a returned argument to the return.
    pub(crate) lifetimes: Vec<TokenStream>,
    pub(crate) span: Span,
}

/// An argument.
pub(crate) struct Argument {
    pub(crate) ident: Ident,
    pub(crate) ty: Type,
    pub(crate) mutable: bool,
    /// The lifetime that ties it to a return.
    pub(crate) lifetime: Option<TokenStream>,
    pub(crate) default: Option<TokenStream>,
}

/// A return.
pub(crate) enum Return {
    /// A value that the kernel makes.
    Owned(Type),
    /// The argument that came in.
    Argument(usize),
}

/// The name under which the private module of the runtime is known inside generated modules.
pub(crate) fn private() -> Ident {
    Ident::new("__torch", Span::call_site())
}

impl Library {
    pub(crate) fn new(block: Block, errors: &mut Errors) -> Self {
        let mut attributes = block.attributes;
        let kernels_in = take_kernels_in(&mut attributes, errors);
        let namespace = match block.extends {
            None => Namespace::Own,
            Some(Extends::Module(path)) => Namespace::OfModule(path),
            Some(Extends::Name(name)) => Namespace::Named(name.value()),
        };
        let operators = block
            .declarations
            .into_iter()
            .filter_map(|declaration| Operator::new(declaration, errors))
            .collect();
        Library {
            root: block.root,
            attributes,
            visibility: block.visibility,
            module: block.namespace,
            namespace,
            kernels_in,
            operators,
        }
    }
}

/// `#[kernels_in(my_cpu_crate)]`: which crate to link for the kernels.
fn take_kernels_in(attributes: &mut Vec<Attribute>, errors: &mut Errors) -> Option<String> {
    let position = attributes.iter().position(|attribute| attribute.path().is_ident("kernels_in"))?;
    let attribute = attributes.remove(position);
    match attribute.parse_args::<Ident>() {
        Ok(krate) => Some(krate.to_string()),
        Err(error) => {
            errors.push(error);
            None
        }
    }
}

/// `#[tags(pointwise, inplace_view)]`
fn take_tags(attributes: &mut Vec<Attribute>, errors: &mut Errors) -> Vec<String> {
    let mut tags = Vec::new();
    attributes.retain(|attribute| {
        if !attribute.path().is_ident("tags") {
            return true;
        }
        let list = syn::punctuated::Punctuated::<Ident, syn::Token![,]>::parse_terminated;
        match attribute.parse_args_with(list) {
            Ok(list) => tags.extend(list.iter().map(Ident::to_string)),
            Err(error) => errors.push(error),
        }
        false
    });
    tags
}

impl Operator {
    fn new(declaration: Declaration, errors: &mut Errors) -> Option<Self> {
        let mut attributes = declaration.attributes;
        let tags = take_tags(&mut attributes, errors);
        let (schema, pieces) = read(declaration.schema, errors)?;
        let span = pieces.first_span();
        let mut lifetimes = Vec::new();
        let mut arguments = Vec::new();
        for argument in &schema.arguments {
            arguments.push(Argument::new(argument, &pieces, errors)?);
        }
        let mut returns = Vec::new();
        for index in 0..schema.returns.len() {
            returns.push(Return::new(&schema, index, &mut arguments, &mut lifetimes, &pieces, errors)?);
        }
        if schema.is_vararg || schema.is_varret {
            errors.push(
                pieces.error(0..1, "not supported yet: `...`; only run-time libraries define such operators"),
            );
            return None;
        }
        let ident = flat_name(&schema.name.name, &schema.name.overload, span);
        Some(Operator { attributes, tags, ident, schema, arguments, returns, lifetimes, span })
    }
}

/// Parses a declaration, from tokens or from text.
fn read(schema: SchemaTokens, errors: &mut Errors) -> Option<(Schema, Pieces)> {
    match schema {
        SchemaTokens::Tokens(tokens) => {
            let pieces = Pieces::new(tokens);
            match Schema::parse_tokens(&pieces.tokens(), Mode::Strict) {
                Ok(schema) => Some((schema, pieces)),
                Err(error) => {
                    for error in error.iter() {
                        let help =
                            error.help.as_ref().map_or_else(String::new, |help| format!("\n  help: {help}"));
                        errors.push(pieces.error(error.span.clone(), format!("{}{help}", error.message)));
                    }
                    None
                }
            }
        }
        SchemaTokens::Text(text) => {
            let pieces = Pieces::new([proc_macro2::TokenTree::from(text.token())]);
            match Schema::parse(&text.value(), Mode::Strict) {
                Ok(schema) => Some((schema, pieces)),
                Err(error) => {
                    let rendered = error.render(&text.value());
                    errors.at(&text, rendered.trim_start_matches("error: ").trim_end());
                    None
                }
            }
        }
    }
}

/// The flattened name of an overload, as PyTorch's `at::_ops` has it.
pub(crate) fn flat_name(name: &str, overload: &str, span: Span) -> Ident {
    let flat = if overload.is_empty() { name.to_owned() } else { format!("{name}_{overload}") };
    rust_ident(&flat, span)
}

/// An identifier for a schema's name: `this` for `self`, raw for other keywords.
pub(crate) fn rust_ident(name: &str, span: Span) -> Ident {
    match name {
        "self" => Ident::new("this", span),
        "Self" | "super" | "crate" | "_" => format_ident!("{name}_", span = span),
        name => syn::parse_str::<Ident>(name)
            .map_or_else(|_| Ident::new_raw(name, span), |_| Ident::new(name, span)),
    }
}

impl Argument {
    fn new(argument: &torch_library_schema::Argument, pieces: &Pieces, errors: &mut Errors) -> Option<Self> {
        let mutable = argument.is_mutable();
        let root = private();
        if rust_type::argument(&argument.ty, mutable, References::Elided, &root).is_none() {
            unsupported(&argument.ty, pieces, errors);
            return None;
        }
        let default = match &argument.default {
            None => None,
            Some(value) => match default::tokens(value, &argument.ty, &root) {
                Some(tokens) => Some(tokens),
                None => {
                    let at = pieces.position(&argument.name).unwrap_or(0);
                    errors.push(
                        pieces.error(at..at + 1, format!("not supported yet: the default {}", show(value))),
                    );
                    return None;
                }
            },
        };
        let span = pieces.position(&argument.name).map_or_else(|| pieces.first_span(), |at| pieces.span(at));
        let ident = rust_ident(&argument.name, span);
        Some(Argument { ident, ty: argument.ty.clone(), mutable, lifetime: None, default })
    }
}

fn show(value: &DefaultValue) -> String {
    format!("of kind {}", value.kind())
}

fn unsupported(ty: &Type, pieces: &Pieces, errors: &mut Errors) {
    let at = pieces.position(&rust_type::head(ty)).unwrap_or(0);
    errors.push(pieces.error(at..at + 1, format!("not supported yet: {ty}")));
}

impl Return {
    fn new(
        schema: &Schema,
        index: usize,
        arguments: &mut [Argument],
        lifetimes: &mut Vec<TokenStream>,
        pieces: &Pieces,
        errors: &mut Errors,
    ) -> Option<Self> {
        let ret = &schema.returns[index];
        let written = ret.alias.as_ref().is_some_and(|alias| alias.is_write);
        if !written {
            if rust_type::owned(&ret.ty, &private()).is_none() {
                unsupported(&ret.ty, pieces, errors);
                return None;
            }
            return Some(Return::Owned(ret.ty.clone()));
        }
        let source =
            schema.arguments.iter().position(|argument| argument.alias == ret.alias && argument.ty == ret.ty);
        let Some(source) = source else {
            let message = format!(
                "return {} is written to, but is no argument of the same alias set and type",
                index + 1
            );
            errors.push(pieces.error(0..1, message));
            return None;
        };
        if arguments[source].lifetime.is_none() {
            let name = (b'a' + lifetimes.len() as u8) as char;
            let lifetime = syn::Lifetime::new(&format!("'{name}"), Span::call_site());
            arguments[source].lifetime = Some(quote!(#lifetime));
            lifetimes.push(quote!(#lifetime));
        }
        Some(Return::Argument(source))
    }
}

impl Library {
    /// The place of the block.
    pub(crate) fn span(&self) -> Span {
        self.module.span()
    }

    /// Whether the path of the base module is there, to be checked by rustc.
    pub(crate) fn base(&self) -> Option<&syn::Path> {
        match &self.namespace {
            Namespace::OfModule(path) => Some(path),
            _ => None,
        }
    }

    /// The tokens a message about the base points at.
    pub(crate) fn base_span(&self) -> Span {
        self.base().map_or_else(|| self.span(), Spanned::span)
    }
}
