//! The pieces of normalisation.

use torch_library_gpu::text::Norm;

pub(super) const NORM: Norm = Norm {
    places: "fn statistic_of(i: u32) -> u32 { return i / p.statistic_stride % p.statistics; }
fn affine_of(i: u32) -> u32 { return i / p.affine_stride % p.affines; }
fn place(row: u32, i: u32) -> u32 {
    return row * p.row_stride + i / p.inner * p.outer_stride + i % p.inner;
}",
    statistics: "    var sum = 0.0;
    for (var i = thread; i < p.elements; i += THREADS) { sum += x(place(row, i)); }
    let mean = over_sum(sum, thread) / f32(p.elements);
    sum = 0.0;
    for (var i = thread; i < p.elements; i += THREADS) {
        let deviation = x(place(row, i)) - mean;
        sum += deviation * deviation;
    }
    let square = over_sum(sum, thread);
    let reciprocal = divided(1.0, sqrt(square / f32(p.elements) + p.eps));
",
    infinity: "    let rstd = reciprocal;",
    zero: "    let rstd = select(0.0, reciprocal, is_finite(reciprocal) || is_nan(reciprocal));",
    write: "if (thread == 0u) { set_mean(row, mean); set_rstd(row, rstd); }",
    running: "
    if (thread == 0u) {
        let unbiased = square / (f32(p.elements) - 1.0);
        set_running_mean(row, p.momentum * mean + (1.0 - p.momentum) * running_mean(row));
        set_running_var(row, p.momentum * unbiased + (1.0 - p.momentum) * running_var(row));
    }",
    normalise: "    let s = statistic_of(n);
    let a = affine_of(n);
    set_y(n, (x(n) - mean(s)) * rstd(s) * weight(a) + bias(a));",
    sums: "    var mine = vec2(0.0, 0.0);
    for (var i = thread; i < p.elements; i += THREADS) {
        let at = place(row, i);
        let back = grad(at) * weight(affine_of(at));
        let s = statistic_of(at);
        mine += vec2(back, back * (x(at) - mean(s)) * rstd(s));
    }
    let plain = over_sum(mine.x, thread);
    let scaled = over_sum(mine.y, thread);",
    write_sums: "if (thread == 0u) { set_sums(2u * row, plain); set_sums(2u * row + 1u, scaled); }",
    gradient: "    let s = statistic_of(n);
    let deviation = (x(n) - mean(s)) * rstd(s);
    let part = (sums(2u * s) + deviation * sums(2u * s + 1u)) / f32(p.elements);
    set_y(n, (grad(n) * weight(affine_of(n)) - part) * rstd(s));",
    gradient_of_kept: "    set_y(n, grad(n) * weight(affine_of(n)) * rstd(statistic_of(n)));",
    deviation: "    set_y(n, divided(1.0, sqrt(x(n) + p.eps)));",
};
