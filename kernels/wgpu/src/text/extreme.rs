//! The pieces of positions of extremes.

use torch_library::DType;
use torch_library_gpu::text::Extreme;

pub(super) const EXTREME: Extreme = Extreme {
    compares: |dtype| matches!(dtype, DType::Float32 | DType::Int32),
    larger: "fn is_beyond(a: T, b: T) -> bool { return a > b; }",
    smaller: "fn is_beyond(a: T, b: T) -> bool { return a < b; }",
    better: "fn is_none(a: T) -> bool { return is_nan(f32(a)); }
fn is_better(a: T, i: u32, b: T, j: u32) -> bool {
    if (is_none(a) != is_none(b)) { return is_none(a); }
    if (is_none(a) || a == b) { return i < j; }
    return is_beyond(a, b);
}
var<workgroup> found: array<T, THREADS>;
var<workgroup> places: array<u32, THREADS>;",
    // A thread beyond the last element takes that one.
    search: "    let start = row / p.inner * p.elements * p.inner + row % p.inner;
    var best_at = min(thread, p.elements - 1u);
    var best = x(start + best_at * p.inner);
    for (var i = thread; i < p.elements; i += THREADS) {
        let value = x(start + i * p.inner);
        if (is_better(value, i, best, best_at)) { best = value; best_at = i; }
    }
    found[thread] = best;
    places[thread] = best_at;
    for (var half = THREADS / 2u; half > 0u; half = half / 2u) {
        workgroupBarrier();
        if (thread < half && is_better(found[thread + half], places[thread + half], found[thread], places[thread])) {
            found[thread] = found[thread + half];
            places[thread] = places[thread + half];
        }
    }
    workgroupBarrier();",
    write: "if (thread == 0u) { set_index(row, i32(places[0])); }",
    write_both: "if (thread == 0u) { set_index(row, i32(places[0])); set_y(row, found[0]); }",
};
