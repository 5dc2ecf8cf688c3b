//! Derives the operators of `#[variants(out, in_place)]`: their names, schemas, tags and documentation.

use proc_macro2::Span;
use syn::{Attribute, LitStr, parse_quote};
use torch_library_schema::{Argument, OperatorName, Return, Schema, Type};

use super::attributes::Variants;
use super::{Operator, Returned};
use crate::errors::Errors;
use crate::pieces::{Places, SpanRange};
use crate::schema_parts::written;
use crate::source::Source;

/// Where a variant writes its result.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// To its last argument.
    Out,
    /// To `self`.
    InPlace,
}

impl Operator {
    /// The requested variants of this operator.
    pub(super) fn derive(&mut self, variants: &Variants, errors: &mut Errors) -> Vec<Operator> {
        let mut derived = Vec::new();
        if let Some((span, name)) = &variants.out {
            derived.extend(errors.ok(self.variant(Kind::Out, *span, name.as_ref())));
        }
        if let Some((span, name)) = &variants.in_place {
            derived.extend(errors.ok(self.variant(Kind::InPlace, *span, name.as_ref())));
        }
        derived
    }

    fn variant(&mut self, kind: Kind, span: Span, name: Option<&LitStr>) -> syn::Result<Operator> {
        let returns_one = matches!(&self.returns[..], [one] if matches!(one.value, Returned::Owned(_)));
        let is_new = self.schema.returns.iter().all(|ret| ret.ty == Type::Tensor && ret.alias.is_none());
        let writes = self.schema.arguments.iter().any(Argument::is_mutable);
        if !returns_one || !is_new || writes {
            let message =
                "only an operator that returns one new `Tensor` and writes to nothing can have variants";
            return Err(syn::Error::new(span, message));
        }
        let schema = match kind {
            Kind::Out => with_out(&self.schema, span, name)?,
            Kind::InPlace => in_place(&self.schema, span, name)?,
        };
        let (arguments, returns) = (schema.arguments.len(), schema.returns.len());
        let place = SpanRange { first: span, last: span };
        let source = Source::Span(self.place.first);
        let mut variant = Operator::of_schema(schema, Places::all_at(place, arguments, returns), source)?;
        variant.attributes = self.attributes_of(kind);
        variant.tags = self.tags.iter().filter(|tag| is_inherited(tag)).cloned().collect();
        variant.base = Some(self.ident.clone());
        self.variants.push((kind, variant.ident.clone()));
        Ok(variant)
    }

    /// The Rust attributes of a variant: its own documentation, and the operator's attributes except documentation.
    fn attributes_of(&self, kind: Kind) -> Vec<Attribute> {
        let base = &self.ident;
        let about = match kind {
            Kind::Out => {
                format!("Like [`{base}`](fn@{base}), but writes the result to `out`, which is resized.")
            }
            Kind::InPlace => format!("Like [`{base}`](fn@{base}), but writes the result to `self`."),
        };
        let others = self.attributes.iter().filter(|attribute| !attribute.path().is_ident("doc")).cloned();
        std::iter::once(parse_quote!(#[doc = #about])).chain(others).collect()
    }
}

/// Whether a tag of the operator applies to its variants too.
fn is_inherited(tag: &str) -> bool {
    const INHERITED: [&str; 3] = ["pointwise", "nondeterministic_seeded", "pt2_compliant_tag"];
    INHERITED.contains(&tag)
}

/// The `out` variant's schema: `add.out(Tensor self, Tensor other, *, Scalar alpha=1, Tensor(a!) out) -> Tensor(a!)`.
fn with_out(schema: &Schema, span: Span, name: Option<&LitStr>) -> syn::Result<Schema> {
    let (overload, argument) = match (name, &*schema.name.overload) {
        (Some(name), _) => named(name)?,
        (None, "" | "Tensor") => ("out".to_owned(), "out".to_owned()),
        (None, overload) => (format!("{overload}_out"), "out".to_owned()),
    };
    if schema.arguments.iter().any(|other| other.name == argument) {
        let message = format!(
            "the operator has an argument `{argument}` already: give the variant's another name, as in `out = \"out(result)\"`"
        );
        return Err(syn::Error::new(name.map_or(span, LitStr::span), message));
    }
    let alias = written("a", &Type::Tensor);
    let mut schema = schema.clone();
    schema.name = OperatorName { overload, ..schema.name };
    schema.returns = vec![Return { name: None, ty: Type::Tensor, size: None, alias: Some(alias.clone()) }];
    schema.arguments.push(Argument {
        name: argument,
        ty: Type::Tensor,
        size: None,
        default: None,
        kwarg_only: true,
        alias: Some(alias),
    });
    Ok(schema)
}

/// The given overload name and the argument's name, which may be given as well: `grad_input(grad_input)`.
fn named(name: &LitStr) -> syn::Result<(String, String)> {
    let text = name.value();
    let (overload, argument) = match text.strip_suffix(')').and_then(|text| text.split_once('(')) {
        Some((overload, argument)) => (overload, argument),
        None => (&*text, "out"),
    };
    if is_name(overload) && is_name(argument) {
        return Ok((overload.to_owned(), argument.to_owned()));
    }
    let message = "expected the name of an overload, as in `out = \"Scalar_out\"`, or that and the name of its \
                   argument, as in `out = \"grad_input(grad_input)\"`";
    Err(syn::Error::new(name.span(), message))
}

/// Whether this can be the name of an overload or an argument.
fn is_name(text: &str) -> bool {
    OperatorName::parse(&format!("name.{text}")).is_ok_and(|name| name.overload == text)
}

/// The in-place variant's schema: `add_.Tensor(Tensor(a!) self, Tensor other, *, Scalar alpha=1) -> Tensor(a!)`.
fn in_place(schema: &Schema, span: Span, name: Option<&LitStr>) -> syn::Result<Schema> {
    let mut schema = schema.clone();
    let this = schema.arguments.iter_mut().find(|argument| argument.name == "self");
    let Some(this) = this.filter(|this| this.ty == Type::Tensor && !this.kwarg_only) else {
        return Err(syn::Error::new(
            span,
            "an in-place variant writes to an argument `Tensor self`, which this operator does not have",
        ));
    };
    let alias = written("a", &Type::Tensor);
    this.alias = Some(alias.clone());
    schema.name.name.push('_');
    if let Some(name) = name {
        let overload = name.value();
        if !is_name(&overload) {
            let message = "expected the name of an overload, as in `in_place = \"Tensor\"`";
            return Err(syn::Error::new(name.span(), message));
        }
        schema.name.overload = overload;
    }
    schema.returns = vec![Return { name: None, ty: Type::Tensor, size: None, alias: Some(alias) }];
    Ok(schema)
}
