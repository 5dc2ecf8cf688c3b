//! The order in which the overloads of an operator are tried: PyTorch's, if it has the operator.

use std::collections::HashMap;
use std::sync::LazyLock;

/// A line for each operator with several overloads, written by `tests/record_order.py` with PyTorch.
const RECORDED: &str = include_str!("order.txt");

static ORDER: LazyLock<HashMap<&str, Vec<&str>>> = LazyLock::new(|| {
    let line = |line: &'static str| {
        let (name, overloads) = line.split_once(':')?;
        Some((
            name,
            overloads.split_whitespace().map(|word| if word == "default" { "" } else { word }).collect(),
        ))
    };
    RECORDED.lines().filter_map(line).collect()
});

/// The position of an overload among those of its name, for `aten`; those that PyTorch does not have come last.
pub(crate) fn place(namespace: &str, name: &str, overload: &str) -> usize {
    let known = ORDER.get(name).filter(|_| namespace == "aten");
    known.and_then(|known| known.iter().position(|other| *other == overload)).unwrap_or(usize::MAX)
}

/// The operators of `aten` that accept a number for any tensor argument.
const TAKE_NUMBERS: [&str; 10] =
    ["add", "copy", "div", "divide", "floor_divide", "mul", "multiply", "sub", "subtract", "true_divide"];

/// Whether an operator accepts a number for a tensor argument.
///
/// PyTorch: `torch::should_allow_numbers_as_tensors`.
pub(crate) fn takes_numbers(namespace: &str, name: &str) -> bool {
    namespace == "aten" && TAKE_NUMBERS.contains(&name.strip_suffix('_').unwrap_or(name))
}
