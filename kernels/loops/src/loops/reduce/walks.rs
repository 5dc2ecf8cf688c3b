//! The walks of a fold over its input, and what follows from their geometry: the order in which elements are folded.

use torch_library::geometry::Geometry;

use super::{BRANCH, LANES, LEAF, RESULTS};
use crate::loops::parallel::GRAIN;
use crate::loops::walk::{SHORT, Walk};

/// Up to this many elements of each result are folded side by side with those of others: starting a loop takes
/// longer than going through a few elements.
const FEW: usize = 8;

/// The fewest elements of each result in a leaf.
const FEWEST: usize = 512;

/// Over the elements of each result, and over the results.
pub(super) struct Walks {
    /// The walk over the elements of one result; its only input is the tensor.
    pub(super) reduced: Walk<1>,
    /// The walk over the results.
    pub(super) kept: Walk<1>,
    /// The number of elements of one result.
    pub(super) count: usize,
    /// The number of results in a row.
    pub(super) row: usize,
    /// Whether the results of a row are folded side by side.
    pub(super) are_beside: bool,
    /// The number of elements of each result in a leaf, where results are folded side by side.
    pub(super) leaf: usize,
    /// Whether several threads work on one result, or on one row of results that are folded side by side.
    pub(super) is_shared: bool,
}

impl Walks {
    /// The walks for a number of results, and for folds that take elements [in lanes](super::Fold::IN_LANES) or not.
    pub(super) fn new(input: &Geometry, is_reduced: &[bool], results: usize, in_lanes: bool) -> Self {
        let (reduced, mut kept) = (Walk::of_reduced(input, is_reduced), Walk::of_kept(input, is_reduced));
        let is_denser =
            |kept: &Walk<1>| reduced.inner_stride().is_some_and(|inner| kept.inner_stride() < Some(inner));
        let count = reduced.count();
        match is_denser(&kept) {
            // As the channels of a channels-last image whose rows are reduced.
            false => kept.turn_to_contiguous(1),
            // Results far apart take a while to write, so they must be fewer than the elements.
            true if count >= SHORT => kept.turn_to_contiguous(SHORT),
            true => {}
        }
        let row = kept.inner().map_or(1, |(row, _)| row).max(1);
        // The steps of folds that are not in lanes, such as the place of a maximum, take longer than a loop does to
        // start, and longer than to gather the elements of each result.
        let (fewest, few) = if in_lanes { (2, FEW) } else { (FEW, FEW / 2) };
        let are_beside = is_denser(&kept) && row >= fewest || count <= few && row >= LANES;
        let leaf = leaf_beside(row);
        let are_many = match are_beside {
            true => row <= RESULTS && count > leaf && count.saturating_mul(row) > 2 * GRAIN,
            false => count > BRANCH,
        };
        let units = if are_beside { results / row } else { results };
        let is_shared = are_many && units < rayon::current_num_threads();
        Walks { reduced, kept, count, row, are_beside, leaf, is_shared }
    }
}

/// The number of elements of each result in a leaf of a row of results: a leaf is about as much work as is worth
/// waking another thread for.
fn leaf_beside(row: usize) -> usize {
    let count = (2 * GRAIN / row.clamp(1, RESULTS)).clamp(FEWEST, LEAF);
    1 << count.ilog2()
}
