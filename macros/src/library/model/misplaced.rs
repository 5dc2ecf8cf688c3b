//! Attributes with almost the name of one of ours, and ours in the wrong place: rustc would not know them, and with one
//! on a module would report the module's contents as missing, too. Also a `cfg` that only rustc would see.

use syn::punctuated::Punctuated;
use syn::{Attribute, Meta, Token};

use crate::errors::Errors;

/// Where an attribute stands.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    Module,
    Operator,
}

/// Our attributes, with names that are taken for theirs.
const OURS: [(&str, Place, &[&str]); 6] = [
    ("methods", Place::Module, &["method"]),
    ("overloads", Place::Module, &["overload"]),
    ("kernels_in", Place::Module, &["kernel_in"]),
    ("variants", Place::Operator, &["variant"]),
    ("tags", Place::Operator, &["tag"]),
    ("boxed", Place::Operator, &[]),
];

/// Removes such attributes, with an error for each.
pub(super) fn refuse(attributes: &mut Vec<Attribute>, place: Place, errors: &mut Errors) {
    attributes.retain(|attribute| {
        let name_mistake = attribute.path().get_ident().and_then(|name| mistake(&name.to_string(), place));
        let hides_cfg = place == Place::Operator && hides_cfg(attribute);
        match name_mistake.or_else(|| hides_cfg.then(|| HIDDEN.to_owned())) {
            Some(message) => {
                errors.at(&attribute.meta, message);
                false
            }
            None => true,
        }
    });
}

const HIDDEN: &str = "a `cfg` in `cfg_attr` would apply to the function of the operator alone: write one \
                      `#[cfg(all(…))]` of both conditions";

/// Whether it is `#[cfg_attr(…, cfg(…))]`.
fn hides_cfg(attribute: &Attribute) -> bool {
    let parse = Punctuated::<Meta, Token![,]>::parse_terminated;
    attribute.path().is_ident("cfg_attr")
        && attribute
            .parse_args_with(parse)
            .is_ok_and(|all| all.iter().skip(1).any(|meta| meta.path().is_ident("cfg")))
}

fn mistake(name: &str, place: Place) -> Option<String> {
    let (ours, right, others) =
        OURS.iter().find(|(ours, _, others)| *ours == name || others.contains(&name))?;
    let is_above = match right {
        Place::Module => "above the library's `mod`",
        Place::Operator => "above an operator",
    };
    let is_misspelled = others.contains(&name);
    match (is_misspelled, *right == place) {
        (true, true) => Some(format!("there is no `#[{name}]` here: did you mean `#[{ours}]`?")),
        (true, false) => Some(format!("there is no `#[{name}]` here: did you mean `#[{ours}]`, {is_above}?")),
        (false, false) => Some(format!("`#[{ours}]` belongs {is_above}")),
        (false, true) => None,
    }
}
