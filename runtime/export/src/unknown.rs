//! Decisions that depend on elements which nobody computes, in fake mode and on `meta`: what a program makes is known
//! all the same where each way that it could take makes tensors of the same sizes and types.

use torch_library::prelude::*;
use torch_library::{DeviceType, DispatchKey, fake, guard};

/// Whether the elements of a tensor are unknown. In fake mode those of a real tensor are, too: a program may have
/// written to it before, which fake mode leaves out.
pub(crate) fn is_unknown(tensor: &Tensor) -> bool {
    tensor.device().kind == DeviceType::Meta
        || fake::is_fake(tensor)
        || guard::LocalDispatchKeySet::current().included.has(DispatchKey::Fake)
}

/// Checks that the values which two ways make differ in nothing but their elements.
///
/// # Errors
/// Two tensors of different sizes, types or devices; two different numbers.
pub(crate) fn agree(ways: &str, left: &[Value<'_>], right: &[Value<'_>]) -> Result<()> {
    for (left, right) in left.iter().zip(right) {
        let (left, right) = (shown(left), shown(right));
        ensure!(
            left == right,
            NotSupported,
            "{ways} make {left} and {right}, and which of them depends on elements, which fake tensors and those on \
             `meta` do not have"
        );
    }
    Ok(())
}

/// The error for a result whose size is the number of the iterations of a loop.
#[cold]
pub(crate) fn count() -> Error {
    let text = "the size of the result is the number of iterations, which depends on elements, which fake tensors and \
                those on `meta` do not have";
    Error::new(ErrorKind::NotSupported, text)
}

/// All of a value but its elements.
fn shown(value: &Value<'_>) -> String {
    match value {
        Value::Int(number) => number.to_string(),
        Value::Float(number) => number.to_string(),
        Value::Bool(number) => number.to_string(),
        other => match other.as_tensor() {
            Some(tensor) => format!("{}{:?} on {}", tensor.dtype(), tensor.sizes(), tensor.device()),
            None => other.type_name().to_owned(),
        },
    }
}
