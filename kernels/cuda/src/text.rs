//! The pieces of the shared kernels in CUDA C, for each family of operators.

mod create;
mod extreme;
mod index;
mod loss;
mod norm;
mod optimizer;
mod pooling;
mod random;
mod reduce;
mod scan;
mod softmax;

use torch_library_gpu::{Language, text};

use crate::call::Cuda;

impl Language for Cuda {
    const WITHIN: text::Within = index::WITHIN;
    const TAKE: text::Take = index::TAKE;
    const PUT: text::Put = index::PUT;
    const LOSS: text::Loss = loss::LOSS;
    const OPTIMIZER: text::Optimizer = optimizer::OPTIMIZER;
    const NORM: text::Norm = norm::NORM;
    const POOLING: text::Pooling = pooling::POOLING;
    const EXTREME: text::Extreme = extreme::EXTREME;
    const SCAN: text::Scan = scan::SCAN;
    const RANDOM: text::Random = random::RANDOM;
    const SOFTMAX: text::Softmax = softmax::SOFTMAX;
    const CREATE: text::Create = create::CREATE;
    const REDUCE: text::Reduce = reduce::REDUCE;
}
