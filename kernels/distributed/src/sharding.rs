//! Sharding: each rank takes its part of a batch.

use torch_library::prelude::*;
use torch_library_kernels::aten;

use crate::group::ProcessGroup;

/// The part of a batch that one rank computes with.
#[derive(Clone, Debug)]
pub struct Shard<const N: usize> {
    /// Some of the examples, the same ones of each tensor. There may be none, if a batch has fewer examples than there
    /// are ranks.
    pub tensors: [Tensor; N],
    /// The weight of the mean over this part in the mean over the ranks, so that the latter is the mean over the batch:
    /// 1 if all parts are equally large.
    pub weight: f64,
}

/// This rank's part of a batch that all ranks have: consecutive examples; the first parts have one more if they do not
/// divide evenly.
///
/// Ranks that iterate over [`Batches`](torch_library_kernels::loader::Batches) with the same seed have the same
/// batches, so they train as one process would. A loss that is a mean has to be multiplied by [`Shard::weight`].
///
/// ```
/// use torch_library::prelude::*;
/// use torch_library_distributed::{shard, threads};
///
/// let ranks = threads::run(2, |group| {
///     let batch = [&Tensor::from([1.0, 2.0, 3.0])];
///     let shard = shard(batch, group)?;
///     Ok((shard.tensors[0].to_vec::<f64>()?, shard.weight))
/// });
/// let shards: Vec<_> = ranks.into_iter().collect::<Result<_>>()?;
/// assert_eq!(shards, [(vec![1.0, 2.0], 4.0 / 3.0), (vec![3.0], 2.0 / 3.0)]);
/// # Ok::<(), Error>(())
/// ```
///
/// # Errors
/// A batch without examples, tensors with different numbers of them, a tensor without dimensions.
///
/// PyTorch: the purpose of `DistributedSampler`.
pub fn shard<const N: usize>(batch: [&Tensor; N], group: &ProcessGroup) -> Result<Shard<N>> {
    let (ranks, rank) = (group.size() as i64, group.rank() as i64);
    let examples = batch.first().map_or(Ok(0), |tensor| tensor.size(0))?;
    ensure!(examples > 0, Argument, "a batch of no examples has no parts");
    let (each, longer) = (examples / ranks, examples % ranks);
    let length = each + i64::from(rank < longer);
    let start = rank * each + rank.min(longer);
    let mut tensors = batch.map(Clone::clone);
    for tensor in &mut tensors {
        let own = tensor.size(0)?;
        ensure!(own == examples, Shape, "{examples} examples in one tensor, {own} in another");
        *tensor = aten::narrow(tensor, 0, start, length)?;
    }
    Ok(Shard { tensors, weight: (length * ranks) as f64 / examples as f64 })
}
