//! From the entries of a file to Rust: for each namespace a module as `torch_library!` generates it, with the
//! methods, the file's other data, and the kernels.

use std::collections::HashMap;

use proc_macro2::{Ident, Span, TokenStream};
use quote::{format_ident, quote};
use syn::Path;

use super::arguments::Arguments;
use super::entry::Entry;
use super::text::{Mistake, Text};
use crate::library::expand::library;
use crate::library::flat_name;
use crate::library::model::{Library, Namespace, Operator, Untyped};
use crate::pieces::{Places, SpanRange};
use crate::source::Source;

mod call;
mod kernels;
mod record;
mod structured;

/// Namespaces to which PyTorch itself adds operators from several files.
const SHARED: [&str; 2] = ["quantized", "quantized_decomposed"];

/// The input of the expansion of one file.
pub(super) struct Expansion<'a> {
    pub(super) arguments: &'a Arguments,
    pub(super) text: &'a Text,
    pub(super) entries: &'a [Entry],
}

/// The entries of one namespace, with their operators as far as Rust has types for them.
struct Members<'a> {
    namespace: &'a str,
    entries: Vec<&'a Entry>,
    operators: HashMap<String, Operator>,
}

impl Expansion<'_> {
    /// Expands the whole file. Types without a counterpart in Rust are an error only if there is a kernel to register.
    pub(super) fn expand(&self, mistakes: &mut Vec<Mistake>) -> TokenStream {
        let mut namespaces: Vec<&str> = Vec::new();
        for entry in self.entries {
            if !namespaces.contains(&&*entry.namespace) {
                namespaces.push(&entry.namespace);
            }
        }
        namespaces.into_iter().map(|namespace| self.namespace(namespace, mistakes)).collect()
    }

    fn namespace(&self, namespace: &str, mistakes: &mut Vec<Mistake>) -> TokenStream {
        let entries: Vec<&Entry> = self.entries.iter().filter(|entry| entry.namespace == namespace).collect();
        let mut members = Members { namespace, entries, operators: HashMap::new() };
        let mut untyped = Vec::new();
        for entry in &members.entries {
            match self.operator(entry) {
                Ok(operator) => {
                    members.operators.insert(entry.func.name.to_string(), operator);
                }
                Err(error) => {
                    if !self.arguments.declarations && !entry.dispatch.is_empty() {
                        mistakes.push(entry.spot.mistake(format!(
                            "{error}\nhelp: `dispatch: {{}}` declares the operator without kernels"
                        )));
                    }
                    untyped.push(self.untyped(entry));
                }
            }
        }
        let kernels = if self.arguments.declarations { quote!() } else { self.kernels(&members) };
        let more = [self.record(&members), kernels].into_iter().collect();
        let Members { entries, mut operators, .. } = members;
        let in_order = entries.iter().filter_map(|entry| operators.remove(&entry.func.name.to_string()));
        let module = flat_name(namespace, "", self.span());
        let about = format!("Operators of `{}`.", self.text.name);
        let import = self.arguments.kernels.as_ref().map(|path| {
            let alias = kernels_of(namespace);
            quote!(#[allow(unused_imports)] use #path as #alias;)
        });
        let library_of = Library {
            root: self.arguments.root.clone(),
            attributes: vec![syn::parse_quote!(#[doc = #about])],
            visibility: syn::parse_quote!(pub),
            module,
            namespace: self.base(namespace),
            kernels_in: None,
            methods: Some(Ident::new("TensorMethods", self.span())),
            overloads: None,
            operators: in_order.collect(),
            untyped,
        };
        let module = library(&library_of, &more);
        quote!(#import #module)
    }

    /// Whether the namespace is new, shared, or that of another module.
    fn base(&self, namespace: &str) -> Namespace {
        let is_named = |path: &&Path| path.segments.last().is_some_and(|last| last.ident == namespace);
        match self.arguments.extends.iter().find(is_named) {
            Some(path) => Namespace::OfModules(vec![path.clone()]),
            None if SHARED.contains(&namespace) => Namespace::Named(namespace.to_owned()),
            None => Namespace::Own(namespace.to_owned()),
        }
    }

    fn operator(&self, entry: &Entry) -> syn::Result<Operator> {
        let schema = entry.func.schema.clone();
        let (arguments, returns) = (schema.arguments.len(), schema.returns.len());
        let place = SpanRange { first: self.span(), last: self.span() };
        let places = Places::all_at(place, arguments, returns);
        let mut operator = Operator::of_schema(schema, places, self.source(entry))?;
        operator.tags = tags(entry);
        operator.is_function = entry.is_function && !entry.manual_cpp_binding;
        operator.receiver = entry.func.this().filter(|_| entry.is_method && !entry.manual_cpp_binding);
        Ok(operator)
    }

    fn untyped(&self, entry: &Entry) -> Untyped {
        Untyped {
            attributes: Vec::new(),
            ident: self.ident(entry),
            schema: entry.func.schema.clone(),
            tags: tags(entry),
            place: SpanRange { first: self.span(), last: self.span() },
            source: self.source(entry),
        }
    }

    /// The name of an operator's module.
    fn ident(&self, entry: &Entry) -> Ident {
        flat_name(&entry.func.schema.name.name, &entry.func.schema.name.overload, self.span())
    }

    /// The span of the file name in the macro call, which all emitted tokens have.
    fn span(&self) -> Span {
        self.arguments.file.span()
    }

    /// The place of an entry in its file.
    fn source(&self, entry: &Entry) -> Source {
        self.source_at(entry.spot)
    }

    fn source_at(&self, spot: super::text::Spot) -> Source {
        Source::File {
            name: self.text.name.clone(),
            line: self.text.line_number(spot),
            column: spot.column + 1,
        }
    }
}

/// The name by which a namespace's module refers to the module of kernels.
fn kernels_of(namespace: &str) -> Ident {
    format_ident!("__kernels_of_{namespace}")
}

/// An entry's tags, sorted and without duplicates.
fn tags(entry: &Entry) -> Vec<String> {
    let mut tags = entry.tags.clone();
    tags.sort();
    tags.dedup();
    tags
}
