//! The pieces of reductions.

use torch_library::DType;
use torch_library_gpu::text::{Fold, Reduce};

pub(super) const REDUCE: Reduce = Reduce {
    fold,
    unfinished: PLAIN,
    by_thread: "    let start = own_place(n);
    var total = begin(A(x(start)));
    for (var i = 0u; i < p.elements; i++) { total = join(total, A(x(start + place(i)))); }
    set_y(n, R(finish(total)));",
    by_group: "    let each = (p.elements + p.parts - 1u) / p.parts;
    let start = own_place(row / p.parts);
    let first = min(row % p.parts * each, p.elements);
    let end = min(first + each, p.elements);
    var mine = begin(A(x(start + place(min(first, p.elements - 1u)))));
    for (var i = first + thread; i < end; i += THREADS) { mine = join(mine, A(x(start + place(i)))); }
    found[thread] = mine;
    for (var half = THREADS / 2u; half > 0u; half = half / 2u) {
        workgroupBarrier();
        if (thread < half) { found[thread] = join(found[thread], found[thread + half]); }
    }",
    write: "if (thread == 0u) { set_y(row, R(finish(found[0]))); }",
};

/// The folds of floats, and extremes of int32. Sums of integers are int64, and bools are bytes: shaders cannot write single
/// elements of either.
fn fold(name: &str, from: DType, kind: DType) -> Option<Fold> {
    match (name, from, kind) {
        ("amax", DType::Int32, DType::Int32) => Some(MOST),
        ("amin", DType::Int32, DType::Int32) => Some(LEAST),
        (_, _, DType::Float32) => FLOATS.iter().find(|(known, _)| *known == name).map(|(_, fold)| *fold),
        _ => None,
    }
}

macro_rules! functions {
    ($begin:literal, $join:literal) => {
        concat!(
            "fn begin(first: A) -> A { return ",
            $begin,
            "; }\nfn join(a: A, b: A) -> A { return ",
            $join,
            "; }\nvar<workgroup> found: array<A, THREADS>;",
        )
    };
}

const PLAIN: &str = "fn finish(total: A) -> A { return total; }";

const MEAN: &str = "fn finish(total: A) -> A { return total / A(p.length); }";

const MOST: Fold = Fold { functions: functions!("first", "max(a, b)"), finish: PLAIN };

const LEAST: Fold = Fold { functions: functions!("first", "min(a, b)"), finish: PLAIN };

const FLOATS: [(&str, Fold); 5] = [
    ("sum", Fold { functions: functions!("A(0)", "a + b"), finish: PLAIN }),
    ("mean", Fold { functions: functions!("A(0)", "a + b"), finish: MEAN }),
    ("prod", Fold { functions: functions!("A(1)", "a * b"), finish: PLAIN }),
    (
        "amax",
        Fold {
            functions: functions!("first", "select(select(b, a, a > b || is_nan(a)), b, is_nan(b))"),
            finish: PLAIN,
        },
    ),
    (
        "amin",
        Fold {
            functions: functions!("first", "select(select(b, a, a < b || is_nan(a)), b, is_nan(b))"),
            finish: PLAIN,
        },
    ),
];
