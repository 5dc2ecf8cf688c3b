//! The pieces of optimisers' steps.

use torch_library_gpu::text::{Adam, Optimizer, Sgd};

pub(super) const OPTIMIZER: Optimizer = Optimizer {
    sgd: Sgd {
        slope: "    let slope = p.sign * grad(n) + p.decay * x(n);\n",
        plain: "    set_x(n, x(n) - p.rate * slope);",
        first: "    let kept = slope;\n",
        kept: "    let kept = p.momentum * buffer(n) + p.take * slope;\n",
        heavy: "    let direction = kept;\n",
        nesterov: "    let direction = slope + p.momentum * kept;\n",
        write: "    set_x(n, x(n) - p.rate * direction);
    set_buffer(n, kept);",
    },
    adam: Adam {
        counted: None,
        averages: "    let slope = p.sign * grad(n) + p.decay * x(n);
    let m = p.keep1 * mean(n) + p.take1 * slope;
    let v = p.keep2 * square(n) + p.take2 * slope * slope;
",
        latest: "    let largest = v;\n",
        most: "    let largest = max(most(n), v);\n    set_most(n, largest);\n",
        numbers: "",
        write: "    set_mean(n, m);
    set_square(n, v);
    set_x(n, x(n) * p.shrink - p.rate * m / (sqrt(largest) / p.correction + p.eps));",
    },
};
