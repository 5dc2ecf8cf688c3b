//! Names that an argument or an operator cannot have, since they are those of items around it.

use torch_library_schema::Schema;

use crate::pieces::Places;

/// Constants, statics and unit structs that an operator's functions see: as a parameter, such a name would mean these.
const VALUES: [&str; 7] =
    ["Copying", "NAME", "NAMESPACE", "NATIVE_FUNCTIONS", "OPERATOR", "SCHEMA", "SYMBOL"];

/// Values of Rust's prelude, likewise; the parser of schemas refuses `None`.
const PRELUDE: [&str; 3] = ["Err", "Ok", "Some"];

/// Items beside an operator's function and module.
const BESIDE: [&str; 3] = ["NAMESPACE", "NATIVE_FUNCTIONS", "__torch"];

/// Refuses such names.
///
/// # Errors
/// The operator or one of its arguments has one.
pub(super) fn check(schema: &Schema, places: &Places) -> syn::Result<()> {
    let is_record = |name: &str| name.starts_with("TORCH_LIBRARY_");
    let name = &*schema.name.name;
    if schema.name.overload.is_empty() && (BESIDE.contains(&name) || is_record(name) || name == "__KERNELS") {
        let message = format!("`{name}` is the name of an item beside the operators: choose another");
        return Err(places.name.error(message));
    }
    for (argument, places) in schema.arguments.iter().zip(&places.arguments) {
        let name = &*argument.name;
        let what = if PRELUDE.contains(&name) {
            "a value of Rust's prelude"
        } else if VALUES.contains(&name) || is_record(name) {
            "an item beside the operator"
        } else if name.starts_with("__") {
            "an item that only generated code has, as are all that begin with `__`"
        } else {
            continue;
        };
        return Err(places.name.error(format!("`{name}` is the name of {what}: choose another")));
    }
    check_setters(schema, places)
}

/// An argument named `call` is set by `call_`, so both cannot be arguments with defaults.
fn check_setters(schema: &Schema, places: &Places) -> syn::Result<()> {
    let with_default = |name: &str| {
        let is_it =
            |argument: &torch_library_schema::Argument| argument.name == name && argument.default.is_some();
        schema.arguments.iter().position(is_it)
    };
    match (with_default("call"), with_default("call_")) {
        (Some(_), Some(index)) => {
            let message = "`call_` is how an argument named `call` is passed by name: choose another name for one of \
                           them";
            Err(places.arguments[index].name.error(message))
        }
        _ => Ok(()),
    }
}
