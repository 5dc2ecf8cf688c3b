//! What a schema alone cannot say wrong, but a block of them can.

use std::collections::HashMap;

use super::model::Library;
use crate::errors::Errors;

pub(crate) fn check(library: &Library, errors: &mut Errors) {
    let mut seen = HashMap::new();
    for operator in &library.operators {
        let name = operator.schema.name.to_string();
        if let Some(first) = seen.insert(operator.ident.to_string(), name.clone()) {
            let message = if first == name {
                format!("operator `{name}` is declared twice in this library")
            } else {
                format!("operators `{first}` and `{name}` have the same Rust name, `{}`", operator.ident)
            };
            errors.push(syn::Error::new(operator.span, message));
        }
        if let Some(namespace) = &operator.schema.name.namespace {
            errors.push(syn::Error::new(
                operator.span,
                format!(
                    "write `{}`: the namespace is the module's, not `{namespace}::`",
                    operator.schema.name.name
                ),
            ));
        }
    }
}
