//! The attributes of `torch_library!` that are its own. All others are passed on to rustc.

use syn::punctuated::Punctuated;
use syn::{Attribute, Ident, Token};
use torch_library_schema::TAGS;

use crate::errors::Errors;

/// `#[kernels_in(my_cpu_crate)]`: which crate to link for the kernels.
pub(super) fn take_kernels_in(attributes: &mut Vec<Attribute>, errors: &mut Errors) -> Option<String> {
    let position = attributes.iter().position(|attribute| attribute.path().is_ident("kernels_in"))?;
    let attribute = attributes.remove(position);
    match attribute.parse_args::<Ident>() {
        Ok(krate) => Some(krate.to_string()),
        Err(_) => {
            errors.at(attribute.meta, "expected the crate that has the kernels: `#[kernels_in(my_kernels)]`");
            None
        }
    }
}

/// `#[methods(PictureMethods)]`: the trait with the operators as methods of tensors.
pub(super) fn take_methods(attributes: &mut Vec<Attribute>, errors: &mut Errors) -> Option<Ident> {
    let position = attributes.iter().position(|attribute| attribute.path().is_ident("methods"))?;
    let attribute = attributes.remove(position);
    let name = attribute.parse_args::<Ident>();
    if name.is_err() {
        errors.at(attribute.meta, "expected the name of a trait, as in `#[methods(PictureMethods)]`");
    }
    name.ok()
}

/// `#[overloads]`, `#[overloads(function)]`: operators of one name are called by it, and told apart by their arguments.
pub(super) fn take_overloads(attributes: &mut Vec<Attribute>, errors: &mut Errors) -> Option<Variants> {
    let position = attributes.iter().position(|attribute| attribute.path().is_ident("overloads"))?;
    let attribute = attributes.remove(position);
    if attribute.meta.require_path_only().is_ok() {
        return Some(Variants { function: true, method: true });
    }
    if !attribute.parse_args::<Ident>().is_ok_and(|word| word == "function") {
        errors.at(attribute.meta, "expected `#[overloads]`, or `#[overloads(function)]` for functions alone");
    }
    Some(Variants { function: true, method: false })
}

/// `#[variants(function, method)]`: what an operator is, where that is said.
pub(super) fn take_variants(attributes: &mut Vec<Attribute>, errors: &mut Errors) -> Option<Variants> {
    let position = attributes.iter().position(|attribute| attribute.path().is_ident("variants"))?;
    let attribute = attributes.remove(position);
    let words = attribute.parse_args_with(Punctuated::<Ident, Token![,]>::parse_terminated);
    let is = |wanted: &str| words.as_ref().is_ok_and(|words| words.iter().any(|word| word == wanted));
    let variants = Variants { function: is("function"), method: is("method") };
    let is_known = |word: &Ident| word == "function" || word == "method";
    if !words.is_ok_and(|words| !words.is_empty() && words.iter().all(is_known)) {
        errors.at(
            attribute.meta,
            "expected `function`, `method` or both, as in `#[variants(function, method)]`",
        );
        return None;
    }
    Some(variants)
}

/// What is written for an operator besides its module.
#[derive(Clone, Copy)]
pub(crate) struct Variants {
    pub(crate) function: bool,
    pub(crate) method: bool,
}

/// `#[tags(pointwise, inplace_view)]`
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
