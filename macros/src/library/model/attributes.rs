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
