//! The pieces of reading, writing and adding elements by index.
//!
//! Indices are checked before a kernel is launched, and compared again before each access: another stream may have
//! written them in between. An index that is then out of range is skipped.

use torch_library_gpu::text::{Put, Take, Within};

pub(super) const WITHIN: Within = Within {
    body: "    i64 i = p.index[n];
    if ((i < p.low || i >= p.high) && i != p.other) p.found[0] = 1;",
};

pub(super) const TAKE: Take = Take {
    body: "    i64 i = once(p.index[index_place(p, n)]), which = i < 0 ? i + p.size : i;
    if (is_below(which, p.size)) p.y[n] = p.x[x_place(p, n) + which * p.step];",
};

pub(super) const PUT: Put = Put {
    tensor: "__device__ inline T source(const Params &p, i64 i) { return as<T>(p.source[i]); }",
    number: "__device__ inline i64 source_place(const Params &p, i64 n) { return 0; }
__device__ inline T source(const Params &p, i64 i) { return T(p.number); }",
    place: "    i64 own = n / p.below % p.dim_size, row = index_place(p, n) - own * p.index_step;
    i64 which = once(p.index[row + own * p.index_step]);
    if (!is_below(which, p.places)) return;
    i64 place = y_place(p, n) + which * p.step, from_row = source_place(p, n) - own * p.source_step;
",
    add: "    for (i64 j = 0; j < own; j++) if (p.index[row + j * p.index_step] == which) return;
    T sum = as<T>(p.y[place]);
    for (i64 j = own; j < p.dim_size; j++)
        if (p.index[row + j * p.index_step] == which) sum += T(p.alpha) * source(p, from_row + j * p.source_step);
    p.y[place] = as<R>(sum);",
    write: "    for (i64 j = own + 1; j < p.dim_size; j++) if (p.index[row + j * p.index_step] == which) return;
    p.y[place] = as<R>(source(p, from_row + own * p.source_step));",
    ordered: "    i64 which = n / p.beside, slot = p.order[p.slots + which], line = slot % p.lines + n % p.beside;
    i64 row = line / p.below * p.below * p.dim_size + line % p.below;
    i64 place = y_place(p, row) + slot / p.lines * p.step, from_row = source_place(p, row), end = p.order[p.ends + which];
",
    add_ordered: "    T sum = as<T>(p.y[place]);
    for (i64 at = which > 0 ? p.order[p.ends + which - 1] : 0; at < end; at++)
        sum += T(p.alpha) * source(p, from_row + p.order[at] * p.source_step);
    p.y[place] = as<R>(sum);",
    write_ordered: "    p.y[place] = as<R>(source(p, from_row + p.order[end - 1] * p.source_step));",
};
