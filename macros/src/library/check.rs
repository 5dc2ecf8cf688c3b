//! Checks across the operators of a block, which no single schema can fail.

use std::collections::HashMap;

use super::model::Library;
use crate::errors::Errors;

/// Removes operators whose name is already taken by another one.
pub(super) fn check(library: &mut Library, errors: &mut Errors) {
    let mut seen: HashMap<String, (String, usize)> = HashMap::new();
    library.operators.retain(|operator| {
        let (name, place) = (operator.schema.name.to_string(), operator.place);
        if operator.is_conditional() {
            return true;
        }
        let line = place.first.unwrap().line();
        let Some((first, line)) = seen.insert(operator.ident.to_string(), (name.clone(), line)) else {
            return true;
        };
        let message = if first == name {
            format!("operator `{name}` is declared twice in this library, first on line {line}")
        } else {
            format!(
                "`{}` in Rust would name both this operator, `{name}`, and `{first}` on line {line}",
                operator.ident
            )
        };
        errors.push(place.error(message));
        false
    });
}
