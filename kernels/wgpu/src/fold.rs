//! Folds of rows of elements: sums, means and extremes, for the shaders that reduce.

use torch_library::prelude::*;

use crate::launch::THREADS;

/// A fold of the `count` elements of a row: an expression that joins `a` and `b`, and one that makes the result from
/// `total`.
pub(crate) struct Fold {
    pub(crate) start: &'static str,
    pub(crate) join: &'static str,
    pub(crate) finish: &'static str,
}

/// Folds by the operators' names. `LOWEST` is negative infinity, for which WGSL has no literal.
static FOLDS: [(&str, Fold); 4] = [
    ("sum", Fold { start: "0.0", join: "a + b", finish: "total" }),
    ("mean", Fold { start: "0.0", join: "a + b", finish: "total / f32(count)" }),
    (
        "amax",
        Fold {
            start: "LOWEST",
            join: "select(select(b, a, a > b || is_nan(a)), b, is_nan(b))",
            finish: "total",
        },
    ),
    (
        "amin",
        Fold {
            start: "-LOWEST",
            join: "select(select(b, a, a < b || is_nan(a)), b, is_nan(b))",
            finish: "total",
        },
    ),
];

/// The fold of an operator, if there is one.
pub(crate) fn of(operator: OperatorHandle) -> Option<&'static Fold> {
    let full = operator.to_string();
    let (name, overload) =
        full.strip_prefix("aten::").map(|rest| rest.split_once('.').unwrap_or((rest, "")))?;
    let is_known = matches!(overload, "" | "dim_IntList" | "dim");
    FOLDS.iter().find(|(known, _)| is_known && *known == name).map(|(_, fold)| fold)
}

/// Joins the parts of all threads, and writes the result.
pub(crate) fn end(finish: &str) -> String {
    format!(
        "    for (var half = {THREADS}u / 2u; half > 0u; half = half / 2u) {{
        workgroupBarrier();
        if (thread < half) {{ parts[thread] = join(parts[thread], parts[thread + half]); }}
    }}
    if (thread == 0u && number < params[0]) {{
        let total = parts[0];
        result[number] = bitcast<u32>({finish});
    }}"
    )
}
