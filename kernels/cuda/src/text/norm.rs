//! The pieces of normalisation.

use torch_library_gpu::text::Norm;

pub(super) const NORM: Norm = Norm {
    places: "__device__ inline i64 statistic_of(const Params &p, i64 i) { return i / p.statistic_stride % p.statistics; }
__device__ inline i64 affine_of(const Params &p, i64 i) { return i / p.affine_stride % p.affines; }
__device__ inline i64 place(const Params &p, i64 row, i64 i) {
    return row * p.row_stride + i / p.inner * p.outer_stride + i % p.inner;
}",
    statistics: "    T sum = T(0);
    for (i64 i = thread; i < p.elements; i += threads) sum += as<T>(p.x[place(p, row, i)]);
    T mean = over_sum(sum) / T(p.elements);
    sum = T(0);
    for (i64 i = thread; i < p.elements; i += threads) {
        T deviation = as<T>(p.x[place(p, row, i)]) - mean;
        sum += deviation * deviation;
    }
    T square = over_sum(sum);
    T reciprocal = T(1) / sqrt(square / T(p.elements) + T(p.eps));
",
    infinity: "    T rstd = reciprocal;",
    zero: "    T rstd = is_finite((double)reciprocal) || is_nan(reciprocal) ? reciprocal : T(0);",
    write: "    if (thread == 0) { p.mean[row] = as<S>(mean); p.rstd[row] = as<S>(rstd); }",
    running: "
    if (thread == 0) {
        T unbiased = square / T(p.elements - 1), take = T(p.momentum), keep = T(1.0 - p.momentum);
        p.running_mean[row] = as<K>(T(take * mean + keep * as<T>(p.running_mean[row])));
        p.running_var[row] = as<K>(T(take * unbiased + keep * as<T>(p.running_var[row])));
    }",
    normalise: "    i64 s = statistic_of(p, n), a = affine_of(p, n);
    p.y[n] = as<R>(T((as<T>(p.x[n]) - as<T>(p.mean[s])) * as<T>(p.rstd[s]) * weight(p, a) + bias(p, a)));",
    sums: "    T plain = T(0), scaled = T(0);
    for (i64 i = thread; i < p.elements; i += threads) {
        i64 at = place(p, row, i), s = statistic_of(p, at);
        T back = as<T>(p.grad[at]) * weight(p, affine_of(p, at));
        plain += back;
        scaled += back * (as<T>(p.x[at]) - as<T>(p.mean[s])) * as<T>(p.rstd[s]);
    }
    plain = over_sum(plain);
    scaled = over_sum(scaled);",
    write_sums: "    if (thread == 0) { p.sums[2 * row] = plain; p.sums[2 * row + 1] = scaled; }",
    gradient: "    i64 s = statistic_of(p, n);
    T deviation = (as<T>(p.x[n]) - as<T>(p.mean[s])) * as<T>(p.rstd[s]);
    T part = (p.sums[2 * s] + deviation * p.sums[2 * s + 1]) / T(p.elements);
    p.y[n] = as<R>(T((as<T>(p.grad[n]) * weight(p, affine_of(p, n)) - part) * as<T>(p.rstd[s])));",
    gradient_of_kept: "    p.y[n] = as<R>(T(as<T>(p.grad[n]) * weight(p, affine_of(p, n)) * as<T>(p.rstd[statistic_of(p, n)])));",
    deviation: "    p.y[n] = T(1) / sqrt(as<T>(p.x[n]) + T(p.eps));",
};
