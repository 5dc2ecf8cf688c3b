//! What kernels that are written once say in a backend's language: a text for each family, of pieces that heads put together.

use crate::{create, extreme, index, loss, norm, optimizer, random, reduce, scan, softmax, window};

/// The pieces by which a language computes what the shared kernels do. A backend has them in a file for each family.
pub trait Language {
    /// Whether indices are in a range.
    const WITHIN: index::Within;
    /// Elements that are looked up.
    const TAKE: index::take::Take;
    /// Elements that are put or added where indices say.
    const PUT: index::put::Put;
    /// Losses.
    const LOSS: loss::Loss;
    /// Steps of optimisers.
    const OPTIMIZER: optimizer::Optimizer;
    /// Normalisation.
    const NORM: norm::Norm;
    /// Pooling.
    const POOL: window::pool::Pool;
    /// Places of extremes.
    const EXTREME: extreme::Extreme;
    /// Sums up to each element.
    const SCAN: scan::Scan;
    /// Random numbers.
    const RANDOM: random::Random;
    /// Softmax.
    const SOFTMAX: softmax::Softmax;
    /// Series.
    const CREATE: create::Create;
    /// Reductions.
    const REDUCE: reduce::Reduce;
}
