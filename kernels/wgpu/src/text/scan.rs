//! The pieces of cumulative sums; those of int64 are pairs of words, which wrap around.

use torch_library::DType;
use torch_library_gpu::text::Scan;

pub(super) const SCAN: Scan = Scan {
    functions: |dtype| match dtype {
        DType::Int64 => Some(PAIRS),
        DType::Float32 => Some(FLOATS),
        _ => None,
    },
    converts: false,
    short_row: "    let start = n / p.inner * p.elements * p.inner + n % p.inner;
    var sum = zero();
    for (var i = 0u; i < p.elements; i++) {
        let at = start + i * p.inner;
        sum = joined(sum, element(at));
        put_sum(at, sum);
    }",
    long_row: "    let start = row / p.inner * p.elements * p.inner + row % p.inner;
    let each = (p.elements + THREADS - 1u) / THREADS;
    let first = min(thread * each, p.elements);
    let end = min(first + each, p.elements);
    var mine = zero();
    for (var i = first; i < end; i++) { mine = joined(mine, element(start + i * p.inner)); }
    sums[thread] = mine;
    workgroupBarrier();
    var sum = zero();
    for (var other = 0u; other < thread; other++) { sum = joined(sum, sums[other]); }",
    write: "    for (var i = first; i < end; i++) {
        let at = start + i * p.inner;
        sum = joined(sum, element(at));
        put_sum(at, sum);
    }",
};

const PAIRS: &str = "alias Sum = vec2<u32>;
fn zero() -> Sum { return vec2(0u, 0u); }
fn element(at: u32) -> Sum { return vec2(x(2u * at), x(2u * at + 1u)); }
fn joined(a: Sum, b: Sum) -> Sum {
    let low = a.x + b.x;
    return vec2(low, a.y + b.y + select(0u, 1u, low < a.x));
}
fn put_sum(at: u32, sum: Sum) {
    set_y(2u * at, sum.x);
    set_y(2u * at + 1u, sum.y);
}
var<workgroup> sums: array<Sum, THREADS>;";

const FLOATS: &str = "alias Sum = f32;
fn zero() -> Sum { return 0.0; }
fn element(at: u32) -> Sum { return bitcast<f32>(x(at)); }
fn joined(a: Sum, b: Sum) -> Sum { return a + b; }
fn put_sum(at: u32, sum: Sum) { set_y(at, bitcast<u32>(sum)); }
var<workgroup> sums: array<Sum, THREADS>;";
