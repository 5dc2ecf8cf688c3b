//! The pieces of losses.

use torch_library_gpu::text::Loss;

pub(super) const LOSS: Loss = Loss {
    // Classes are checked before the launch. If another stream has written others since, they count as `ignored`.
    functions: "__device__ inline i64 label_of(const Params &p, i64 i) {
    i64 t = once(p.label[i]);
    return is_below(t, p.classes) ? t : p.ignored;
}
__device__ inline T weight_of(const Params &p, i64 t) { return t == p.ignored ? T(0) : weight(p, t); }
__device__ inline T loss_of(const Params &p, i64 i) {
    i64 t = label_of(p, i);
    if (t == p.ignored) return T(0);
    return -weight(p, t) * as<T>(p.x[(i / p.pixels * p.classes + t) * p.pixels + i % p.pixels]);
}",
    sums: "    T sum = T(0), total = T(0);
    for (i64 i = thread; i < p.elements; i += threads) {
        sum += loss_of(p, i);
        total += weight_of(p, label_of(p, i));
    }
    sum = over_sum(sum);
    total = over_sum(total);",
    mean: "    if (thread == 0) { p.loss[0] = as<R>(T(sum / total)); p.total[0] = as<R>(total); }",
    sum: "    if (thread == 0) { p.loss[0] = as<R>(sum); p.total[0] = as<R>(total); }",
    back_from_each: "__device__ inline T back(const Params &p, i64 i) { return as<T>(p.grad[i]); }",
    back_from_mean: "__device__ inline T back(const Params &p, i64 i) { return as<T>(p.grad[0]) / as<T>(p.total[0]); }",
    back_from_sum: "__device__ inline T back(const Params &p, i64 i) { return as<T>(p.grad[0]); }",
    gradient: "    i64 i = n / p.pixels / p.classes * p.pixels + n % p.pixels, t = label_of(p, i);
    bool is_true = t != p.ignored && t == n / p.pixels % p.classes;
    p.y[n] = as<R>(is_true ? T(-weight_of(p, t) * back(p, i)) : T(0));",
};
