//! What kernels that are written once say in a backend's language: a text for each family, of pieces that heads put together.

use crate::{index, loss, norm, optimizer, window};

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
}
