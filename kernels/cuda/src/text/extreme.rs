//! The pieces of positions of extremes.

use torch_library_gpu::text::Extreme;

use crate::kernel::c_type;

pub(super) const EXTREME: Extreme = Extreme {
    compares: |dtype| c_type(dtype).is_some(),
    larger: "__device__ inline bool is_beyond(T a, T b) { return a > b; }",
    smaller: "__device__ inline bool is_beyond(T a, T b) { return a < b; }",
    better: "__device__ inline bool is_none(T a) { return a != a; }
__device__ inline bool is_better(T a, i64 i, T b, i64 j) {
    if (is_none(a) != is_none(b)) return is_none(a);
    if (is_none(a) || a == b) return i < j;
    return is_beyond(a, b);
}",
    // A thread beyond the last element takes that one.
    search: "    __shared__ T found[MOST_THREADS];
    __shared__ i64 places[MOST_THREADS];
    i64 start = row / p.inner * p.elements * p.inner + row % p.inner;
    i64 best_at = min((i64)thread, p.elements - 1);
    T best = p.x[start + best_at * p.inner];
    for (i64 i = thread; i < p.elements; i += threads) {
        T value = p.x[start + i * p.inner];
        if (is_better(value, i, best, best_at)) { best = value; best_at = i; }
    }
    found[thread] = best;
    places[thread] = best_at;
    for (u32 half = threads / 2; half > 0; half /= 2) {
        __syncthreads();
        if (thread < half && is_better(found[thread + half], places[thread + half], found[thread], places[thread])) {
            found[thread] = found[thread + half];
            places[thread] = places[thread + half];
        }
    }
    __syncthreads();",
    write: "    if (thread == 0) p.index[row] = places[0];",
    write_both: "    if (thread == 0) { p.index[row] = places[0]; p.y[row] = found[0]; }",
};
