//! The attributes that `torch_library!` itself interprets. All others are passed on to rustc.

use proc_macro2::Span;
use syn::parse::{Parse, ParseStream};
use syn::punctuated::Punctuated;
use syn::{Attribute, Ident, LitStr, Token};
use torch_library_schema::TAGS;

use crate::errors::Errors;

/// The attribute of this name, of which there may be one.
fn take_one(attributes: &mut Vec<Attribute>, name: &str, errors: &mut Errors) -> Option<Attribute> {
    let mut all = attributes.extract_if(.., |attribute| attribute.path().is_ident(name));
    let first = all.next();
    all.for_each(|another| errors.at(another.meta, format!("a second `#[{name}]`: a library has one")));
    first
}

/// `#[kernels_in(my_cpu_crate)]`: the crate to link for the kernels.
pub(super) fn take_kernels_in(attributes: &mut Vec<Attribute>, errors: &mut Errors) -> Option<String> {
    let attribute = take_one(attributes, "kernels_in", errors)?;
    match attribute.parse_args::<Ident>() {
        Ok(krate) => Some(krate.to_string()),
        Err(_) => {
            errors.at(attribute.meta, "expected the crate that has the kernels: `#[kernels_in(my_kernels)]`");
            None
        }
    }
}

/// `#[methods(PictureMethods)]`: the name of the trait with the operators as methods of tensors.
pub(super) fn take_methods(attributes: &mut Vec<Attribute>, errors: &mut Errors) -> Option<Ident> {
    let attribute = take_one(attributes, "methods", errors)?;
    let name = attribute.parse_args::<Ident>();
    if name.is_err() {
        errors.at(attribute.meta, "expected the name of a trait, as in `#[methods(PictureMethods)]`");
    }
    name.ok()
}

/// `#[overloads]`, `#[overloads(function)]`: overloads are called by their common name and resolved by their arguments.
pub(super) fn take_overloads(attributes: &mut Vec<Attribute>, errors: &mut Errors) -> Option<Forms> {
    let attribute = take_one(attributes, "overloads", errors)?;
    if attribute.meta.require_path_only().is_ok() {
        return Some(Forms { function: true, method: true });
    }
    if !attribute.parse_args::<Ident>().is_ok_and(|word| word == "function") {
        errors.at(attribute.meta, "expected `#[overloads]`, or `#[overloads(function)]` for functions alone");
    }
    Some(Forms { function: true, method: false })
}

/// `#[variants(method, out, in_place)]`: the forms of an operator, if given, and the variants to derive from it.
pub(super) fn take_variants(attributes: &mut Vec<Attribute>, errors: &mut Errors) -> Variants {
    const USAGE: &str = "expected one or more of `function`, `method`, `out` and `in_place`, \
                         as in `#[variants(function, method)]` or `#[variants(out, in_place)]`";
    let mut variants = Variants::default();
    for attribute in attributes.extract_if(.., |attribute| attribute.path().is_ident("variants")) {
        match attribute.parse_args_with(Punctuated::<Word, Token![,]>::parse_terminated) {
            Ok(words) if !words.is_empty() && words.iter().all(Word::is_known) => {
                words.into_iter().for_each(|word| variants.add(word));
            }
            _ => errors.at(attribute.meta, USAGE),
        }
    }
    variants
}

/// The items generated for an operator in addition to its module.
#[derive(Clone, Copy, Default)]
pub(crate) struct Forms {
    pub(crate) function: bool,
    pub(crate) method: bool,
}

/// The content of `#[variants(…)]`.
#[derive(Default)]
pub(super) struct Variants {
    /// Set if `function` or `method` is given.
    pub(super) forms: Option<Forms>,
    /// `out`, optionally with the name of its overload.
    pub(super) out: Option<(Span, Option<LitStr>)>,
    /// `in_place`, optionally with the name of its overload.
    pub(super) in_place: Option<(Span, Option<LitStr>)>,
}

impl Variants {
    fn add(&mut self, Word { word, name }: Word) {
        let span = word.span();
        match &*word.to_string() {
            "function" => self.forms.get_or_insert_default().function = true,
            "method" => self.forms.get_or_insert_default().method = true,
            "out" => self.out = Some((span, name)),
            _ => self.in_place = Some((span, name)),
        }
    }
}

/// A word of the attribute: `method`, or `out = "Scalar_out"`.
struct Word {
    word: Ident,
    name: Option<LitStr>,
}

impl Word {
    fn is_known(&self) -> bool {
        match &*self.word.to_string() {
            "out" | "in_place" => true,
            "function" | "method" => self.name.is_none(),
            _ => false,
        }
    }
}

impl Parse for Word {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let word = input.parse()?;
        let name = match input.parse::<Option<Token![=]>>()? {
            Some(_) => Some(input.parse()?),
            None => None,
        };
        Ok(Word { word, name })
    }
}

/// Takes `#[tags(pointwise, inplace_view)]`.
pub(super) fn take_tags(attributes: &mut Vec<Attribute>, errors: &mut Errors) -> Vec<String> {
    let mut tags = Vec::new();
    for attribute in attributes.extract_if(.., |attribute| attribute.path().is_ident("tags")) {
        match attribute.parse_args_with(Punctuated::<Ident, Token![,]>::parse_terminated) {
            Ok(list) => tags.extend(list.iter().filter_map(|tag| errors.ok(known(tag)))),
            Err(_) => errors.at(attribute.meta, "expected tags, as in `#[tags(pointwise)]`"),
        }
    }
    tags
}

fn known(tag: &Ident) -> syn::Result<String> {
    let name = tag.to_string();
    if TAGS.contains(&&*name) {
        return Ok(name);
    }
    Err(syn::Error::new(tag.span(), format!("unknown tag `{name}`, expected one of {}", TAGS.join(", "))))
}
