//! The pieces of reductions.

use torch_library_gpu::text::{Fold, Reduce};

pub(super) const REDUCE: Reduce = Reduce {
    fold: |name, _, _| FOLDS.iter().find(|(known, _)| *known == name).map(|(_, fold)| *fold),
    unfinished: PLAIN,
    by_thread: "    i64 start = own_place(p, n);
    A total = begin(as<A>(p.x[start]));
    for (i64 i = 0; i < p.elements; i++) total = join(total, as<A>(p.x[start + place(p, i)]));
    p.y[n] = as<R>(finish(p, total));",
    by_group: "    __shared__ A found[MOST_THREADS];
    i64 each = (p.elements + p.parts - 1) / p.parts, first = row % p.parts * each;
    i64 end = min(first + each, p.elements), start = own_place(p, row / p.parts);
    if (first >= end) first = end = p.elements;
    A mine = begin(as<A>(p.x[start + place(p, min(first, end - 1))]));
    for (i64 i = first + thread; i < end; i += threads) mine = join(mine, as<A>(p.x[start + place(p, i)]));
    found[thread] = mine;
    for (u32 half = threads / 2; half > 0; half /= 2) {
        __syncthreads();
        if (thread < half) found[thread] = join(found[thread], found[thread + half]);
    }",
    write: "    if (thread == 0) p.y[row] = as<R>(finish(p, found[0]));",
};

macro_rules! functions {
    ($begin:literal, $join:literal) => {
        concat!(
            "__device__ inline A begin(A first) { return ",
            $begin,
            "; }\n__device__ inline A join(A a, A b) { return ",
            $join,
            "; }",
        )
    };
}

const PLAIN: &str = "__device__ inline A finish(const Params &, A total) { return total; }";

const MEAN: &str = "__device__ inline A finish(const Params &p, A total) { return total / A(p.length); }";

const FOLDS: [(&str, Fold); 7] = [
    ("sum", Fold { functions: functions!("A(0)", "a + b"), finish: PLAIN }),
    ("mean", Fold { functions: functions!("A(0)", "a + b"), finish: MEAN }),
    ("prod", Fold { functions: functions!("A(1)", "a * b"), finish: PLAIN }),
    ("amax", Fold { functions: functions!("first", "larger(b, a)"), finish: PLAIN }),
    ("amin", Fold { functions: functions!("first", "smaller(b, a)"), finish: PLAIN }),
    ("all", Fold { functions: functions!("A(1)", "A(a && b)"), finish: PLAIN }),
    ("any", Fold { functions: functions!("A(0)", "A(a || b)"), finish: PLAIN }),
];
