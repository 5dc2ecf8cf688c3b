//! Refuses formulas with a name that has two meanings: one of them would hide the other, and gradients would be wrong.

use super::formula::{Formula, result_name};
use crate::errors::Errors;
use crate::library::Operator;

/// Adds an error for each argument or result that formulas name, and that has the name of something else.
pub(super) fn check<'f>(
    operator: &Operator,
    formulas: impl Iterator<Item = &'f Formula> + Clone,
    errors: &mut Errors,
) -> bool {
    let results = 0..operator.schema.returns.len();
    let mut is_right = true;
    for (index, argument) in operator.arguments.iter().enumerate() {
        let name = argument.ident.to_string();
        let is_result = |result: &usize| {
            operator.schema.returns[*result].name.is_none() && result_name(operator, *result) == name
        };
        let other = gradient(&name).or_else(|| results.clone().find(is_result).map(|_| "a result"));
        let mut named = formulas.clone().flat_map(|formula| formula.values.iter().chain(&formula.metadata));
        if let Some(other) = other
            && named.any(|position| *position == index)
        {
            let message = format!(
                "`{name}` would name both this argument and {other}: an operator whose formulas need the argument \
                 gives it another name, here and in its declaration"
            );
            errors.push(syn::Error::new(argument.ident.span(), message));
            is_right = false;
        }
    }
    for index in results {
        let name = result_name(operator, index);
        if let Some(other) = gradient(&name)
            && formulas.clone().any(|formula| formula.results.contains(&index))
        {
            let message = format!(
                "`{name}` would name both this result and {other}: an operator with formulas gives the result \
                 another name, here and in its declaration"
            );
            errors.push(operator.returns[index].place.error(message));
            is_right = false;
        }
    }
    is_right
}

/// The meaning that a name has in every formula, unless an argument or a result has the name too.
fn gradient(name: &str) -> Option<&'static str> {
    match name {
        "grad" => Some("the gradient of the result"),
        "grads" => Some("the gradients of the results"),
        _ => None,
    }
}
