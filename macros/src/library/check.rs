//! Checks across the operators of a block, which no single schema can fail.

use std::collections::HashMap;

use proc_macro2::Ident;
use torch_library_schema::Schema;

use super::expand::overloads;
use super::model::{Library, Operator};
use crate::errors::Errors;
use crate::pieces::SpanRange;

/// Reports what two operators cannot share, and what an operator cannot have in this library.
pub(super) fn check(library: &mut Library, errors: &mut Errors) {
    check_names(library, errors);
    check_copy(library, errors);
    check_overloads(library, errors);
}

/// Refuses `clone` beside `copy` as methods: both would be called `copy`, since `clone` is the handle's own.
fn check_copy(library: &mut Library, errors: &mut Errors) {
    let is_copy = |operator: &&mut Operator| {
        (operator.ident == "clone" || operator.ident == "copy") && operator.receiver.is_some()
    };
    let unconditional = library.operators.iter_mut().filter(|operator| !operator.is_conditional());
    for operator in unconditional.filter(is_copy).skip(1) {
        errors.push(operator.place.error(
            "`clone` and `copy` would both be the method `copy`, since `x.clone()` clones the handle: make one of \
             them a function only, `#[variants(function)]`",
        ));
        operator.receiver = None;
    }
}

/// Refuses an operator that has too many implementations of the trait that resolves overloads.
fn check_overloads(library: &Library, errors: &mut Errors) {
    for operator in overloads::sets(library).iter().flat_map(|set| &set.operators) {
        if overloads::has_too_many_ways(operator) {
            let message = "`#[overloads]` would need thousands of implementations for this operator, one for each \
                           way to pass its `Scalar`s and lists: give some a default, or declare it in another library";
            errors.push(operator.place.error(message));
        }
    }
}

/// Removes operators whose name is already taken by another one.
fn check_names(library: &mut Library, errors: &mut Errors) {
    let mut seen: HashMap<String, (String, usize)> = HashMap::new();
    let mut is_new = |ident: &Ident, schema: &Schema, place: SpanRange| {
        let (name, line) = (schema.name.to_string(), place.first.unwrap().line());
        let Some((first, line)) = seen.insert(ident.to_string(), (name.clone(), line)) else {
            return true;
        };
        let message = if first == name {
            format!("operator `{name}` is declared twice in this library, first on line {line}")
        } else {
            format!("`{ident}` in Rust would name both this operator, `{name}`, and `{first}` on line {line}")
        };
        errors.push(place.error(message));
        false
    };
    library.operators.retain(|operator| {
        operator.is_conditional() || is_new(&operator.ident, &operator.schema, operator.place)
    });
    library.untyped.retain(|operator| {
        operator.cfgs().next().is_some() || is_new(&operator.ident, &operator.schema, operator.place)
    });
}
