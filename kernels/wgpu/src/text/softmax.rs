//! The pieces of softmax.

use torch_library_gpu::text::Softmax;

pub(super) const SOFTMAX: Softmax = Softmax {
    start: "    let start = row / p.inner * p.elements * p.inner + row % p.inner;\n",
    largest: "    var most = x(start);
    for (var i = thread; i < p.elements; i += THREADS) { most = larger(x(start + i * p.inner), most); }
    let largest = over_max(most, thread);
    var sum = 0.0;
    for (var i = thread; i < p.elements; i += THREADS) { sum += exp(x(start + i * p.inner) - largest); }
    let total = over_sum(sum, thread);",
    products: "    var sum = 0.0;
    for (var i = thread; i < p.elements; i += THREADS) { sum += x(start + i * p.inner) * z(start + i * p.inner); }
    let total = over_sum(sum, thread);",
    sum: "    var sum = 0.0;
    for (var i = thread; i < p.elements; i += THREADS) { sum += x(start + i * p.inner); }
    let total = over_sum(sum, thread);",
    softmax: "    for (var i = thread; i < p.elements; i += THREADS) {
        let at = start + i * p.inner;
        set_y(at, exp(x(at) - largest) / total);
    }",
    log_softmax: "    for (var i = thread; i < p.elements; i += THREADS) {
        let at = start + i * p.inner;
        set_y(at, x(at) - largest - log(total));
    }",
    softmax_backward: "    for (var i = thread; i < p.elements; i += THREADS) {
        let at = start + i * p.inner;
        set_y(at, z(at) * (x(at) - total));
    }",
    log_softmax_backward: "    for (var i = thread; i < p.elements; i += THREADS) {
        let at = start + i * p.inner;
        set_y(at, x(at) - exp(z(at)) * total);
    }",
};
