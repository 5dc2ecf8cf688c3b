//! The dispatcher's information as JSON.

use serde_json::{Value, json};
use torch_library::{DispatchKey, KernelInfo, Place, RowInfo};

/// A place as `{"file": …, "line": …, "crate": …}`.
pub(crate) fn place(place: Place) -> Value {
    json!({ "file": place.file(), "line": place.line, "crate": place.krate() })
}

/// A kernel with the key it is registered for.
pub(crate) fn kernel(kernel: &KernelInfo) -> Value {
    json!({
        "key": kernel.key.to_string(),
        "function": kernel.function,
        "place": (!kernel.place.file().is_empty()).then(|| place(kernel.place)),
        "fallthrough": kernel.is_fallthrough,
        "boxed": kernel.is_boxed,
        "override": kernel.overrides,
        "active": kernel.is_active,
    })
}

/// A key, the kernel that it runs, and the rule.
pub(crate) fn row(row: &RowInfo) -> Value {
    json!({
        "key": row.key.to_string(),
        "source": row.source.to_string(),
        "kernel": row.kernel.as_ref().map(kernel),
    })
}

/// The names of keys.
pub(crate) fn keys(keys: impl IntoIterator<Item = DispatchKey>) -> Value {
    keys.into_iter().map(|key| key.to_string()).collect()
}
