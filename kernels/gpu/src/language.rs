//! The code of the shared kernels in a backend's language: pieces for each family of operators, which the host side
//! assembles.

use crate::{create, extreme, index, loss, norm, optimizer, pooling, random, reduce, scan, softmax};

/// The pieces of the shared kernels in a language. A backend has them in one file for each family.
pub trait Language {
    /// The check whether indices are in range.
    const WITHIN: index::Within;
    /// Reading elements by index.
    const TAKE: index::take::Take;
    /// Writing and adding elements by index.
    const PUT: index::put::Put;
    /// Losses.
    const LOSS: loss::Loss;
    /// Steps of optimisers.
    const OPTIMIZER: optimizer::Optimizer;
    /// Normalisation.
    const NORM: norm::Norm;
    /// Pooling.
    const POOLING: pooling::Pooling;
    /// Positions of extremes.
    const EXTREME: extreme::Extreme;
    /// Cumulative sums.
    const SCAN: scan::Scan;
    /// Random numbers.
    const RANDOM: random::Random;
    /// Softmax.
    const SOFTMAX: softmax::Softmax;
    /// `arange`.
    const CREATE: create::Create;
    /// Reductions.
    const REDUCE: reduce::Reduce;
}
