//! The dispatch keys that a table may name, and which of them are compatible.

/// The key of a composite kernel, which is made of other operators, so that autograd differentiates through it.
pub(crate) const IMPLICIT: &str = "CompositeImplicitAutograd";
/// The key of a kernel for all backends for which autograd needs a derivative formula.
pub(crate) const EXPLICIT: &str = "CompositeExplicitAutograd";
pub(crate) const IMPLICIT_NESTED: &str = "CompositeImplicitAutogradNestedTensor";
const EXPLICIT_NON_FUNCTIONAL: &str = "CompositeExplicitAutogradNonFunctional";

/// Keys for which a structured operator has kernels.
pub(crate) const STRUCTURED: [&str; 5] = ["MPS", "CUDA", "CPU", "XPU", "MTIA"];

/// The keys that PyTorch's generator registers kernels for.
pub(crate) const SUPPORTED: [&str; 30] = [
    "CPU",
    "SparseCPU",
    "SparseCsrCPU",
    "MkldnnCPU",
    "CUDA",
    "MPS",
    "XPU",
    "SparseXPU",
    "SparseCsrXPU",
    "SparseCUDA",
    "SparseCsrCUDA",
    "SparseMPS",
    "SparseCsrMPS",
    "QuantizedCPU",
    "QuantizedCUDA",
    IMPLICIT,
    IMPLICIT_NESTED,
    EXPLICIT,
    EXPLICIT_NON_FUNCTIONAL,
    "NestedTensorCPU",
    "NestedTensorCUDA",
    "NestedTensorXPU",
    "NestedTensorHPU",
    "Meta",
    "SparseMeta",
    "SparseCsrMeta",
    "QuantizedMeta",
    "NestedTensorMeta",
    "ZeroTensor",
    "MTIA",
];

/// The key of this name.
///
/// # Errors
/// There is no such key, or tables do not allow it.
pub(crate) fn parse(name: &str) -> Result<&'static str, String> {
    let key = SUPPORTED.iter().find(|key| **key == name).copied();
    key.ok_or_else(|| {
        let nearest = SUPPORTED.iter().find(|key| key.eq_ignore_ascii_case(name));
        match nearest {
            Some(key) => format!("no dispatch table has the key `{name}`, did you mean `{key}`?"),
            None => {
                format!("no dispatch table has the key `{name}`, expected one of {}", SUPPORTED.join(", "))
            }
        }
    })
}

/// Whether a kernel at this key is composed of other operators.
pub(crate) fn is_implicit(key: &str) -> bool {
    key == IMPLICIT || key == IMPLICIT_NESTED
}

/// Whether this key's backend has several devices, so that its kernels must check that all arguments are on one.
pub(crate) fn has_several_devices(key: &str) -> bool {
    ["CUDA", "XPU", "HPU", "MTIA", "MPS"].iter().any(|backend| key.ends_with(backend))
}

/// The reason why the keys of a table are incompatible, if they are.
pub(crate) fn clash(keys: impl Iterator<Item = &'static str>) -> Option<String> {
    let keys: Vec<_> = keys.collect();
    let twice = keys.iter().enumerate().find(|(at, key)| keys[..*at].contains(key));
    if let Some((_, key)) = twice {
        return Some(format!("the key {key} is given twice"));
    }
    let composite: Vec<_> = keys.into_iter().filter(|key| key.starts_with("Composite")).collect();
    match composite[..] {
        [] | [_] => None,
        [one, other]
            if [one, other].contains(&IMPLICIT_NESTED)
                && ![one, other].contains(&EXPLICIT_NON_FUNCTIONAL) =>
        {
            None
        }
        _ => Some(format!(
            "{} all serve every backend, and one would hide the other: name one of them",
            composite.join(" and ")
        )),
    }
}
