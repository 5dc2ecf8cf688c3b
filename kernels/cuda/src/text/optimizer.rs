//! The pieces of optimisers' steps.

use torch_library_gpu::text::{Adam, Counted, Optimizer, Sgd};

pub(super) const OPTIMIZER: Optimizer = Optimizer {
    sgd: Sgd {
        slope: "    T x = as<T>(p.x[n]), slope = T(p.sign) * as<T>(p.grad[n]) + T(p.decay) * x;\n",
        plain: "    p.x[n] = as<R>(T(x - T(p.rate) * slope));",
        first: "    T kept = slope;\n",
        kept: "    T kept = T(p.momentum) * as<T>(p.buffer[n]) + T(p.take) * slope;\n",
        heavy: "    T direction = kept;\n",
        nesterov: "    T direction = slope + T(p.momentum) * kept;\n",
        write: "    p.x[n] = as<R>(T(x - T(p.rate) * direction));
    p.buffer[n] = as<R>(kept);",
    },
    adam: Adam {
        counted: Some(Counted {
            before: "    __shared__ double full[2];
    if (threadIdx.x == 0) {
        double step = as<double>(p.step[0]);
        full[0] = 1.0 - pow(p.keep1, step);
        full[1] = sqrt(1.0 - pow(p.keep2, step));
    }
    __syncthreads();
",
            numbers: "    T rate = T(p.rate / full[0]), correction = T(full[1]);\n",
        }),
        averages: "    T x = as<T>(p.x[n]), slope = T(p.sign) * as<T>(p.grad[n]) + T(p.decay) * x;
    T m = T(p.keep1) * as<T>(p.mean[n]) + T(p.take1) * slope;
    T v = T(p.keep2) * as<T>(p.square[n]) + T(p.take2) * slope * slope;
",
        latest: "    T largest = v;\n",
        most: "    T largest = larger(as<T>(p.most[n]), v);\n    p.most[n] = as<R>(largest);\n",
        numbers: "    T rate = T(p.rate), correction = T(p.correction);\n",
        write: "    p.mean[n] = as<R>(m);
    p.square[n] = as<R>(v);
    p.x[n] = as<R>(T(x * T(p.shrink) - rate * m / (sqrt(largest) / correction + T(p.eps))));",
    },
};
