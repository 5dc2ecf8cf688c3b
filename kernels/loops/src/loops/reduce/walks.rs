//! The walks of a fold over its input.

use torch_library::geometry::Geometry;

use super::BRANCH;
use crate::loops::walk::Walk;

/// Over the elements of each result, and over the results.
pub(super) struct Walks {
    /// The walk over the elements of one result.
    pub(super) reduced: Walk<1>,
    /// The walk over the results.
    pub(super) kept: Walk<1>,
    /// The number of elements of one result.
    pub(super) count: usize,
    /// Whether several threads work on one result.
    pub(super) is_shared: bool,
}

impl Walks {
    pub(super) fn new(input: &Geometry, is_reduced: &[bool], results: usize) -> Self {
        let reduced = Walk::of_reduced(input, is_reduced);
        let count = reduced.count();
        let is_shared = count > BRANCH && results < rayon::current_num_threads();
        Walks { reduced, kept: Walk::of_kept(input, is_reduced), count, is_shared }
    }
}
