//! Elements at places that indices say.

use torch_library_gpu::text::{Put, Take, Within};

pub(super) const WITHIN: Within = Within {
    body: "    i64 i = p.index[n];
    if ((i < p.low || i >= p.high) && i != p.other) p.found[0] = 1;",
};

pub(super) const TAKE: Take = Take {
    body: "    i64 i = p.index[index_place(p, n)], which = i < 0 ? i + p.size : i;
    p.y[n] = p.x[x_place(p, n) + which * p.step];",
};

pub(super) const PUT: Put = Put {
    wrapped: "__device__ inline i64 wrapped(const Params &p, i64 at) {
    i64 i = p.index[at];
    return i < 0 ? i + p.size : i;
}",
    tensor: "__device__ inline T source(const Params &p, i64 i) { return as<T>(p.source[i]); }",
    number: "__device__ inline i64 source_place(const Params &p, i64 n) { return 0; }
__device__ inline T source(const Params &p, i64 i) { return T(p.number); }",
    place: "    i64 own = n / p.below % p.dim_size, row = index_place(p, n) - own * p.index_step;
    i64 which = wrapped(p, row + own * p.index_step);
    if (which == p.without) return;
    i64 place = y_place(p, n) + which * p.step, from_row = source_place(p, n) - own * p.source_step;
",
    add: "    for (i64 j = 0; j < own; j++) if (wrapped(p, row + j * p.index_step) == which) return;
    T sum = as<T>(p.y[place]);
    for (i64 j = own; j < p.dim_size; j++)
        if (wrapped(p, row + j * p.index_step) == which) sum += T(p.alpha) * source(p, from_row + j * p.source_step);
    p.y[place] = as<R>(sum);",
    write: "    for (i64 j = own + 1; j < p.dim_size; j++) if (wrapped(p, row + j * p.index_step) == which) return;
    p.y[place] = as<R>(source(p, from_row + own * p.source_step));",
};
