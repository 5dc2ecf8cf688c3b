//! Namespaces that libraries extend by name, `extends "NAME"`, where the name was probably misspelt.
//!
//! A namespace that is only extended is no mistake by itself: the crate that declares it need not be linked. So only
//! names that are almost those of declared namespaces are reported, and only to authors: in debug builds.

use std::collections::BTreeSet;

use torch_library_schema::edit_distance;

use crate::collect::{self, LibraryRecord, Record};
use crate::warning::warn;

/// Warns of the names that the linked libraries probably misspelt.
pub(super) fn warn_of_namespaces() {
    if cfg!(debug_assertions) {
        let libraries = collect::records().filter_map(|record| match record {
            Record::Library(library) => Some(*library),
            _ => None,
        });
        misspelt(&libraries.collect::<Vec<_>>()).into_iter().for_each(warn);
    }
}

/// A message for each namespace that no library declares, and whose name is almost that of one that some do.
fn misspelt(libraries: &[&LibraryRecord]) -> BTreeSet<String> {
    let (extensions, declarations): (Vec<&LibraryRecord>, Vec<&LibraryRecord>) =
        libraries.iter().partition(|library| library.extends);
    let declared: BTreeSet<_> = declarations.iter().map(|library| library.namespace).collect();
    let undeclared = extensions.iter().filter(|library| !declared.contains(library.namespace));
    let messages = undeclared.filter_map(|library| {
        let meant = declared.iter().find(|name| is_slip(name, library.namespace))?;
        Some(format!(
            "the library at {} extends the namespace `{}`, which no linked library declares; did you mean `{meant}`?",
            library.place, library.namespace
        ))
    });
    messages.collect()
}

/// Whether one name is the other with a letter or two mistyped. Numbers that differ, as in `ops1` and `ops2`, are no
/// slip.
pub(super) fn is_slip(left: &str, right: &str) -> bool {
    let letters = |name: &str| name.chars().filter(|c| !c.is_ascii_digit()).collect::<Vec<_>>();
    let (mut left_letters, mut right_letters) = (letters(left), letters(right));
    if left_letters == right_letters {
        return false;
    }
    left_letters.sort_unstable();
    right_letters.sort_unstable();
    // Two letters in the wrong order are two edits.
    let most = 1 + left.len() / 8;
    edit_distance(left, right) <= if left_letters == right_letters { 2 } else { most }
}

#[cfg(test)]
mod tests {
    use super::is_slip;

    #[test]
    fn slips_are_told_from_other_names() {
        for (meant, typed) in [
            ("aten", "atne"),
            ("aten", "aetn"),
            ("qnt", "qntt"),
            ("quantized", "quantised"),
            ("torchvision", "torchvsion"),
        ] {
            assert!(is_slip(meant, typed), "{typed}");
        }
        for (one, other) in
            [("ops1", "ops2"), ("ops", "ops2"), ("aten", "prims"), ("ns", "other"), ("abc", "xyz")]
        {
            assert!(!is_slip(one, other), "{other}");
        }
    }
}
