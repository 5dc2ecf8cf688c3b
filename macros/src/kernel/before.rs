//! What a kernel takes before the operator's arguments: the keys of the call, or the destination of the result.

use syn::{FnArg, Signature, Type};

/// What a kernel takes before the operator's arguments.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Before {
    Nothing,
    /// The keys of the call.
    Keys,
    /// The destination of the result.
    Output,
}

/// What the kernel takes before the operator's arguments, by the name of its first parameter's type.
pub(super) fn before(signature: &Signature) -> Before {
    signature.inputs.first().map_or(Before::Nothing, |first| of_parameter(first).0)
}

/// What a parameter is besides the operator's arguments, and whether it is a reference to that.
fn of_parameter(parameter: &FnArg) -> (Before, bool) {
    let FnArg::Typed(parameter) = parameter else { return (Before::Nothing, false) };
    let (ty, is_reference) = match &*parameter.ty {
        Type::Reference(reference) => (&*reference.elem, true),
        ty => (ty, false),
    };
    let Type::Path(path) = ty else { return (Before::Nothing, false) };
    let before = match path.path.segments.last() {
        Some(last) if last.ident == "DispatchKeySet" => Before::Keys,
        Some(last) if last.ident == "Output" => Before::Output,
        _ => Before::Nothing,
    };
    (before, is_reference)
}

/// Checks that the keys or the output come first, by value.
///
/// # Errors
/// They do not, or there are both.
pub(super) fn check(signature: &Signature) -> syn::Result<()> {
    let first = before(signature);
    for (index, parameter) in signature.inputs.iter().enumerate() {
        let (name, of) = match of_parameter(parameter) {
            (Before::Nothing, _) => continue,
            (Before::Keys, is_reference) => ("DispatchKeySet", is_reference),
            (Before::Output, is_reference) => ("Output<'_>", is_reference),
        };
        let message = match index {
            0 if of => format!("a kernel takes this by value: write `{name}`"),
            0 => continue,
            _ if first != Before::Nothing => {
                "a kernel takes the keys of the call or an `Output`, once and not both".to_owned()
            }
            _ => format!("`{name}` comes first, before the operator's arguments"),
        };
        return Err(syn::Error::new_spanned(parameter, message));
    }
    Ok(())
}
