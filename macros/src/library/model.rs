//! The model of a `torch_library!` block: operators with their Rust signatures.

use proc_macro2::{Ident, Span, TokenStream};
use quote::format_ident;
use syn::ext::IdentExt;
use syn::{Attribute, Lifetime, Path, Visibility};
use torch_library_schema::{Mode, Schema, Type};

use super::default;
use super::parse::{Block, Declaration, Extends, SchemaTokens};
use crate::errors::Errors;
use crate::pieces::{ArgumentPlaces, Pieces, Places, SpanRange};
use crate::rust_type::{RustType, can_be_written};
use crate::source::Source;

mod attributes;
mod misplaced;
mod own_methods;
mod reserved;
mod untyped;
mod variants;

use attributes::Forms;
use own_methods::OWN_METHODS;
pub(crate) use untyped::Untyped;
pub(crate) use variants::Kind;

/// A namespace.
pub(crate) struct Library {
    /// The path of the runtime crate.
    pub(crate) root: TokenStream,
    /// Documentation and `cfg`s, which are passed through.
    pub(crate) attributes: Vec<Attribute>,
    pub(crate) visibility: Visibility,
    pub(crate) module: Ident,
    pub(crate) namespace: Namespace,
    /// The crate to link for the kernels.
    pub(crate) kernels_in: Option<String>,
    /// The trait with the operators that are methods.
    pub(crate) methods: Option<Ident>,
    /// Whether overloads are resolved by their arguments, as functions, methods or both.
    pub(crate) overloads: Option<Forms>,
    pub(crate) operators: Vec<Operator>,
    /// Operators for boxed calls only.
    pub(crate) untyped: Vec<Untyped>,
}

/// The namespace that the operators of a block belong to.
pub(crate) enum Namespace {
    /// A new namespace with this name.
    Own(String),
    /// The namespace of other modules, which are re-exported. There is at least one.
    OfModules(Vec<Path>),
    /// An existing namespace, by name.
    Named(String),
}

/// An operator.
pub(crate) struct Operator {
    pub(crate) attributes: Vec<Attribute>,
    pub(crate) tags: Vec<String>,
    /// The flattened name, `add_Tensor`; a raw identifier if that is a keyword.
    pub(crate) ident: Ident,
    pub(crate) schema: Schema,
    pub(crate) arguments: Vec<Argument>,
    pub(crate) returns: Vec<Return>,
    /// The lifetimes that tie returns to arguments.
    pub(crate) lifetimes: Vec<Lifetime>,
    /// Whether there is a function of its name.
    pub(crate) is_function: bool,
    /// The position of `self`, if the operator is a method.
    pub(crate) receiver: Option<usize>,
    /// The span of its name, for rustc's messages.
    pub(crate) place: SpanRange,
    /// The place of its declaration, for messages at run time.
    pub(crate) source: Source,
    /// The variants that are declared by an attribute on it.
    pub(crate) variants: Vec<(Kind, Ident)>,
    /// The operator of which this is a variant.
    pub(crate) base: Option<Ident>,
}

/// An argument.
pub(crate) struct Argument {
    pub(crate) ident: Ident,
    pub(crate) ty: RustType,
    /// The lifetime that ties it to a return.
    pub(crate) lifetime: Option<Lifetime>,
    pub(crate) default: Option<TokenStream>,
    /// The span of its type.
    pub(crate) place: SpanRange,
}

/// A return.
pub(crate) struct Return {
    pub(crate) value: Returned,
    /// Its span in the schema.
    pub(crate) place: SpanRange,
}

/// The kind of a return.
pub(crate) enum Returned {
    /// A new value.
    Owned(RustType),
    /// An argument, by position.
    Argument(usize),
}

impl Library {
    pub(crate) fn new(block: Block, errors: &mut Errors) -> Self {
        let mut attributes = block.attributes;
        let kernels_in = attributes::take_kernels_in(&mut attributes, errors);
        let methods = attributes::take_methods(&mut attributes, errors);
        let overloads = attributes::take_overloads(&mut attributes, errors);
        misplaced::refuse(&mut attributes, misplaced::Place::Module, errors);
        let namespace = match block.extends {
            None => Namespace::Own(block.namespace.unraw().to_string()),
            Some(Extends::Modules(paths)) => Namespace::OfModules(paths),
            Some(Extends::Name(name)) => Namespace::Named(name.value()),
        };
        let (mut operators, mut untyped) = (Vec::new(), Vec::new());
        for mut declaration in block.declarations {
            if untyped::take_boxed(&mut declaration.attributes, errors) {
                untyped.extend(Untyped::new(declaration, errors));
            } else {
                let has_methods = methods.is_some();
                operators.extend(Operator::with_variants(declaration, has_methods, untyped::HELP, errors));
            }
        }
        Library {
            root: block.root,
            attributes,
            visibility: block.visibility,
            module: block.namespace,
            namespace,
            kernels_in,
            methods,
            overloads,
            operators,
            untyped,
        }
    }
}

impl Operator {
    /// Models a declaration; `has_methods` says whether the library has a trait for methods.
    pub(crate) fn new(declaration: Declaration, has_methods: bool, errors: &mut Errors) -> Option<Self> {
        Operator::with_variants(declaration, has_methods, "", errors).into_iter().next()
    }

    /// Models a declaration: the operator, followed by the variants that its attributes ask for. `help` is added to the
    /// error for a type without a counterpart in Rust.
    fn with_variants(
        declaration: Declaration,
        has_methods: bool,
        help: &str,
        errors: &mut Errors,
    ) -> Vec<Self> {
        let mut attributes = declaration.attributes;
        let tags = attributes::take_tags(&mut attributes, errors);
        let variants = attributes::take_variants(&mut attributes, errors);
        misplaced::refuse(&mut attributes, misplaced::Place::Operator, errors);
        let Some((schema, places, dots)) = read(declaration.schema, errors) else { return Vec::new() };
        if let Some(dots) = dots {
            errors.push(
                dots.error(format!("not supported yet: `...`, for which there is no Rust signature{help}")),
            );
            return Vec::new();
        }
        if let Some((ty, place)) = untyped::without_counterpart(&schema, &places) {
            errors.push(unsupported(ty, place, help));
            return Vec::new();
        }
        let place = places.name.first;
        let operator = Operator::of_schema(schema, places, Source::Span(place));
        let Some(mut operator) = errors.ok(operator) else { return Vec::new() };
        (operator.attributes, operator.tags) = (attributes, tags);
        if let Some(forms) = variants.forms {
            operator.is_function = forms.function;
            if forms.method {
                errors.ok(operator.check_method(has_methods));
            }
        }
        if has_methods && variants.forms.is_none_or(|forms| forms.method) {
            operator.receiver = receiver(&operator.schema);
            errors.ok(operator.check_own_methods());
        }
        let mut derived = operator.derive(&variants, errors);
        if has_methods {
            derived.iter_mut().for_each(|variant| variant.receiver = receiver(&variant.schema));
        }
        std::iter::once(operator).chain(derived).collect()
    }

    /// Checks that an operator declared as a method can be one: the schema must have an argument `Tensor self`.
    fn check_method(&self, has_methods: bool) -> syn::Result<()> {
        if !has_methods {
            return Err(self.place.error("methods are in a trait: name it at the module, `#[methods(…)]`"));
        }
        match receiver(&self.schema) {
            Some(_) => Ok(()),
            None => Err(self
                .place
                .error("a method needs an argument `Tensor self`, and cannot write to an `out`")),
        }
    }

    /// Checks that the method can be called: `Tensor` must not have one of that name.
    fn check_own_methods(&self) -> syn::Result<()> {
        let name = self.ident.to_string();
        if self.receiver.is_none() || !is_own_method(&name) {
            return Ok(());
        }
        Err(self.place.error(format!(
            "`Tensor` has a method `{name}` of its own, which `x.{name}(…)` would call: name the operator otherwise, or \
             make it a function only, `#[variants(function)]`"
        )))
    }

    /// Models an operator from a valid schema.
    ///
    /// # Errors
    /// A type or a default has no counterpart in Rust yet.
    pub(crate) fn of_schema(schema: Schema, places: Places, source: Source) -> syn::Result<Self> {
        let place = places.name;
        check_counts(&schema, place)?;
        reserved::check(&schema, &places)?;
        check_rust_names(&schema, &places)?;
        let mut arguments = Vec::new();
        for (argument, places) in schema.arguments.iter().zip(places.arguments) {
            arguments.push(Argument::new(argument, places)?);
        }
        let mut lifetimes = Vec::new();
        let mut returns = Vec::new();
        for (index, place) in places.returns.into_iter().enumerate() {
            let value = Returned::new(&schema, index, place)?;
            if let Returned::Argument(source) = value {
                arguments[source].tie(&mut lifetimes);
            }
            returns.push(Return { value, place });
        }
        let ident = flat_name(&schema.name.name, &schema.name.overload, place.first);
        let (attributes, tags) = (Vec::new(), Vec::new());
        Ok(Operator {
            attributes,
            tags,
            ident,
            schema,
            arguments,
            returns,
            lifetimes,
            is_function: true,
            receiver: None,
            place,
            source,
            variants: Vec::new(),
            base: None,
        })
    }

    /// The operator's `#[cfg]` attributes.
    pub(crate) fn cfgs(&self) -> impl Iterator<Item = &Attribute> {
        self.attributes.iter().filter(|attribute| attribute.path().is_ident("cfg"))
    }

    pub(crate) fn is_conditional(&self) -> bool {
        self.cfgs().next().is_some()
    }
}

/// The methods that Rust's prelude gives to tensors, except `clone`, for which there is `copy`.
const PRELUDE_METHODS: [&str; 6] = ["clone_from", "clone_into", "into", "to_owned", "to_string", "try_into"];

/// Whether `x.name()` would call a method that tensors have without any library, or could mean one.
pub(crate) fn is_own_method(name: &str) -> bool {
    OWN_METHODS.contains(&name) || PRELUDE_METHODS.contains(&name)
}

/// The error for an operator whose name says that it is in-place, but which does not write to `self`, or returns a new
/// tensor.
fn misnamed(schema: &Schema) -> Option<String> {
    let name = &schema.name.name;
    let in_place = name.ends_with('_') && !name.ends_with("__") && name.len() > 1;
    let mut arguments = schema.arguments.iter();
    let this = arguments.find(|argument| argument.name == "self" && argument.ty == Type::Tensor)?;
    let returns_new =
        matches!(&schema.returns[..], [only] if only.ty == Type::Tensor && only.alias.is_none());
    (in_place && (!this.is_mutable() || returns_new)).then(|| {
        format!("`{name}` is in place by its name: it takes `Tensor(a!) self`, and returns `Tensor(a!)`")
    })
}

/// The position of `self`, if the operator can be a method.
fn receiver(schema: &Schema) -> Option<usize> {
    let is_self = |argument: &torch_library_schema::Argument| {
        argument.name == "self" && argument.ty == Type::Tensor && !argument.kwarg_only
    };
    let writes_out = schema.arguments.iter().any(torch_library_schema::Argument::is_out);
    schema.arguments.iter().position(is_self).filter(|_| !writes_out)
}

/// The runtime's `signature.rs` has adapters for at most this many arguments and returns.
fn check_counts(schema: &Schema, place: SpanRange) -> syn::Result<()> {
    let counts = [("arguments", schema.arguments.len(), 32), ("returns", schema.returns.len(), 10)];
    match counts.into_iter().find(|(_, count, most)| count > most) {
        None => Ok(()),
        Some((what, count, most)) => {
            Err(place.error(format!("not supported yet: {count} {what}, at most {most} are")))
        }
    }
}

/// Two arguments must not have the same name in Rust, where `self` is called `this`.
fn check_rust_names(schema: &Schema, places: &Places) -> syn::Result<()> {
    let rust_name = |name: &str| rust_ident(name, Span::call_site());
    for (index, (argument, places)) in schema.arguments.iter().zip(&places.arguments).enumerate() {
        let (name, ident) = (&argument.name, rust_name(&argument.name));
        let mut before = schema.arguments[..index].iter().map(|before| &before.name);
        if let Some(before) = before.find(|before| rust_name(before) == ident) {
            let message = format!(
                "`{ident}` in Rust would name both this argument, `{name}`, and `{before}` before it"
            );
            return Err(places.name.error(message));
        }
    }
    Ok(())
}

/// Parses the declaration of an operator, from tokens or from a string literal, and checks its name. Also returns the
/// place of a `...`, if there is one.
fn read(schema: SchemaTokens, errors: &mut Errors) -> Option<(Schema, Places, Option<SpanRange>)> {
    let (schema, places, dots) = parse(schema, errors)?;
    let name = &schema.name;
    let message = match &name.namespace {
        Some(namespace) => {
            Some(format!("the namespace is the module's: write `{}` without `{namespace}::`", name.name))
        }
        None => misnamed(&schema),
    };
    match message {
        None => Some((schema, places, dots)),
        Some(message) => {
            errors.push(places.name.error(message));
            None
        }
    }
}

fn parse(schema: SchemaTokens, errors: &mut Errors) -> Option<(Schema, Places, Option<SpanRange>)> {
    match schema {
        SchemaTokens::Tokens(tokens) => {
            let pieces = Pieces::new(tokens);
            let tokens = pieces.tokens();
            let schema = Schema::parse_tokens(&tokens, Mode::Strict).map_err(|error| {
                for error in error.iter() {
                    let help =
                        error.help.as_ref().map_or_else(String::new, |help| format!("\n  help: {help}"));
                    errors.push(pieces.place(&error.span).error(format!("{}{help}", error.message)));
                }
            });
            let dots = tokens.iter().find(|token| token.kind == torch_library_schema::TokenKind::Dots);
            Some((schema.ok()?, Places::new(&pieces), dots.map(|dots| pieces.place(&dots.span.into()))))
        }
        SchemaTokens::Text(text) => {
            let place = SpanRange { first: text.span(), last: text.span() };
            let schema = Schema::parse(&text.value(), Mode::Strict).map_err(|error| {
                let rendered = error.render(&text.value());
                errors.at(&text, rendered.trim_start_matches("error: ").trim_end());
            });
            let schema = schema.ok()?;
            let places = Places::all_at(place, schema.arguments.len(), schema.returns.len());
            let is_variable = schema.is_vararg || schema.is_varret;
            Some((schema, places, is_variable.then_some(place)))
        }
    }
}

/// The flattened name of an overload, as in PyTorch's `at::_ops`.
pub(crate) fn flat_name(name: &str, overload: &str, span: Span) -> Ident {
    let flat = if overload.is_empty() { name.to_owned() } else { format!("{name}_{overload}") };
    rust_ident(&flat, span)
}

/// The Rust identifier for a name in a schema: `this` for `self`, raw for other keywords.
fn rust_ident(name: &str, span: Span) -> Ident {
    match name {
        "self" => Ident::new("this", span),
        "Self" | "super" | "crate" | "_" => format_ident!("{name}_", span = span),
        "gen" => Ident::new_raw(name, span), // not a keyword for syn yet
        name => syn::parse_str::<Ident>(name)
            .map_or_else(|_| Ident::new_raw(name, span), |_| Ident::new(name, span)),
    }
}

fn unsupported(ty: &Type, place: SpanRange, help: &str) -> syn::Error {
    let help = if *ty == Type::None { "; an operator without returns ends in `-> ()`" } else { help };
    place.error(format!("not supported yet: {ty}{help}"))
}

impl Argument {
    fn new(argument: &torch_library_schema::Argument, places: ArgumentPlaces) -> syn::Result<Self> {
        let mutable = argument.is_mutable();
        let ty = RustType::argument(&argument.ty, mutable)
            .ok_or_else(|| unsupported(&argument.ty, places.ty, ""))?;
        if mutable && !can_be_written(&argument.ty) {
            let message = format!(
                "not supported yet: writing to an argument of type {}, only tensors can be written to",
                argument.ty
            );
            return Err(places.ty.error(message));
        }
        let default = argument.default.as_ref().map(|value| {
            default::tokens(value, &argument.ty).ok_or_else(|| {
                places.default.error(format!("not supported yet: this default of a {}", argument.ty))
            })
        });
        let ident = rust_ident(&argument.name, places.name.first);
        Ok(Argument { ident, ty, lifetime: None, default: default.transpose()?, place: places.ty })
    }

    /// Gives the argument a named lifetime, which a return then shares.
    fn tie(&mut self, lifetimes: &mut Vec<Lifetime>) {
        if self.lifetime.is_none() {
            let index = lifetimes.len() as u8;
            let name = if index < 26 { char::from(b'a' + index).to_string() } else { format!("a{index}") };
            let lifetime = Lifetime::new(&format!("'{name}"), Span::call_site());
            lifetimes.push(lifetime.clone());
            self.lifetime = Some(lifetime);
        }
    }
}

impl Returned {
    fn new(schema: &Schema, index: usize, place: SpanRange) -> syn::Result<Self> {
        let ret = &schema.returns[index];
        if !ret.alias.as_ref().is_some_and(|alias| alias.is_write) {
            let ty = RustType::owned(&ret.ty).ok_or_else(|| unsupported(&ret.ty, place, ""))?;
            return Ok(Returned::Owned(ty));
        }
        // Otherwise a boxed kernel would give the caller two `&mut` to the same tensor.
        if schema.returns[..index].iter().any(|before| before.alias == ret.alias && before.ty == ret.ty) {
            return Err(place.error("an argument that is written to can be returned only once"));
        }
        let source =
            schema.returned_argument(index).filter(|_| can_be_written(&ret.ty)).ok_or_else(|| {
                place.error(format!("no argument of type {} is written to under this alias set", ret.ty))
            })?;
        Ok(Returned::Argument(source))
    }
}
