//! The pieces of softmax.

use torch_library_gpu::text::Softmax;

pub(super) const SOFTMAX: Softmax = Softmax {
    start: "    i64 start = row / p.inner * p.elements * p.inner + row % p.inner;
    auto x = [&](i64 i) { return as<T>(p.x[start + i * p.inner]); };
",
    largest: "    T most = x(0);
    for (i64 i = thread; i < p.elements; i += threads) most = larger(x(i), most);
    T largest = over_max(most);
    T sum = T(0);
    for (i64 i = thread; i < p.elements; i += threads) sum += exp(x(i) - largest);
    T total = over_sum(sum);",
    products: "    auto z = [&](i64 i) { return as<T>(p.z[start + i * p.inner]); };
    T sum = T(0);
    for (i64 i = thread; i < p.elements; i += threads) sum += x(i) * z(i);
    T total = over_sum(sum);",
    sum: "    auto z = [&](i64 i) { return as<T>(p.z[start + i * p.inner]); };
    T sum = T(0);
    for (i64 i = thread; i < p.elements; i += threads) sum += x(i);
    T total = over_sum(sum);",
    softmax: "    for (i64 i = thread; i < p.elements; i += threads)
        p.y[start + i * p.inner] = as<R>(T(exp(x(i) - largest) / total));",
    log_softmax: "    for (i64 i = thread; i < p.elements; i += threads)
        p.y[start + i * p.inner] = as<R>(T(x(i) - largest - log(total)));",
    softmax_backward: "    for (i64 i = thread; i < p.elements; i += threads)
        p.y[start + i * p.inner] = as<R>(T(z(i) * (x(i) - total)));",
    log_softmax_backward: "    for (i64 i = thread; i < p.elements; i += threads)
        p.y[start + i * p.inner] = as<R>(T(x(i) - exp(z(i)) * total));",
};
