//! Operators for boxed calls only: `#[boxed]` declares those whose types have no counterpart in Rust.

use proc_macro2::Ident;
use syn::Attribute;
use torch_library_schema::{Schema, Type};

use super::{attributes, flat_name, misplaced, read};
use crate::errors::Errors;
use crate::library::parse::Declaration;
use crate::pieces::{Places, SpanRange};
use crate::rust_type::RustType;
use crate::source::Source;

/// An operator without a Rust signature. The dispatcher knows it, and its kernels and calls are boxed.
pub(crate) struct Untyped {
    /// Documentation and `cfg`s.
    pub(crate) attributes: Vec<Attribute>,
    pub(crate) ident: Ident,
    pub(crate) schema: Schema,
    pub(crate) tags: Vec<String>,
    /// The span of its name.
    pub(crate) place: SpanRange,
    pub(crate) source: Source,
}

/// What follows an error about a type without a counterpart.
pub(super) const HELP: &str =
    "\n  help: `#[boxed]` above the schema declares an operator whose calls and kernels are boxed";

/// Removes `#[boxed]`, and returns whether it was there.
pub(super) fn take_boxed(attributes: &mut Vec<Attribute>, errors: &mut Errors) -> bool {
    let mut is_boxed = false;
    for attribute in attributes.extract_if(.., |attribute| attribute.path().is_ident("boxed")) {
        is_boxed = true;
        if attribute.meta.require_path_only().is_err() {
            errors.at(attribute.meta, "`#[boxed]` has no arguments");
        }
    }
    is_boxed
}

impl Untyped {
    /// Models a declaration that had the attribute; none after a mistake.
    pub(super) fn new(declaration: Declaration, errors: &mut Errors) -> Option<Self> {
        let mut attributes = declaration.attributes;
        let tags = attributes::take_tags(&mut attributes, errors);
        for attribute in attributes.extract_if(.., |attribute| attribute.path().is_ident("variants")) {
            errors.at(
                attribute.meta,
                "an operator that is `#[boxed]` has no function, no method and no variants",
            );
        }
        misplaced::refuse(&mut attributes, misplaced::Place::Operator, errors);
        let (schema, places, _) = read(declaration.schema, errors)?;
        let place = places.name;
        errors.ok(super::reserved::check(&schema, &places))?;
        let ident = flat_name(&schema.name.name, &schema.name.overload, place.first);
        Some(Untyped { attributes, ident, schema, tags, place, source: Source::Span(place.first) })
    }

    /// The operator's `#[cfg]` attributes.
    pub(crate) fn cfgs(&self) -> impl Iterator<Item = &Attribute> {
        self.attributes.iter().filter(|attribute| attribute.path().is_ident("cfg"))
    }
}

/// The first type of a schema that Rust has no counterpart for.
pub(super) fn without_counterpart<'s>(schema: &'s Schema, places: &Places) -> Option<(&'s Type, SpanRange)> {
    let arguments = schema.arguments.iter().zip(&places.arguments);
    let mut arguments = arguments.map(|(argument, places)| (&argument.ty, places.ty));
    let mut returns = schema.returns.iter().map(|ret| &ret.ty).zip(places.returns.iter().copied());
    arguments
        .find(|(ty, _)| RustType::argument(ty, false).is_none())
        .or_else(|| returns.find(|(ty, _)| RustType::owned(ty).is_none()))
}
