//! Attributes with almost the name of one of ours, and ours in the wrong place: rustc would not know them, and with one
//! on a module would report the module's contents as missing, too.

use syn::Attribute;

use crate::errors::Errors;

/// Where an attribute stands.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    Module,
    Operator,
}

/// Our attributes, with names that are taken for theirs.
const OURS: [(&str, Place, &[&str]); 5] = [
    ("methods", Place::Module, &["method"]),
    ("overloads", Place::Module, &["overload"]),
    ("kernels_in", Place::Module, &["kernel_in"]),
    ("variants", Place::Operator, &["variant"]),
    ("tags", Place::Operator, &["tag"]),
];

/// Removes such attributes, with an error for each.
pub(super) fn refuse(attributes: &mut Vec<Attribute>, place: Place, errors: &mut Errors) {
    attributes.retain(|attribute| {
        match attribute.path().get_ident().and_then(|name| mistake(&name.to_string(), place)) {
            Some(message) => {
                errors.at(&attribute.meta, message);
                false
            }
            None => true,
        }
    });
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
