//! Batching rules for indexing with integer tensors. A mask that differs between examples would select a different
//! number of elements for each, so it is rejected.

use torch_library::prelude::*;
use torch_library::vmap::Level;

use super::boxed::{aligned, expanded, front};
use crate::aten;

/// Indices in the form that the rules need, and the position of the dimensions that replace them.
struct Indices {
    /// One index for each dimension of an example, with the batch in front; masks are converted to integers.
    list: Vec<Option<Tensor>>,
    /// The number of dimensions that the indices broadcast to.
    rank: usize,
    /// The dimension of an example at which those dimensions are in the result.
    place: usize,
}

impl Indices {
    fn new(level: Level, operator: &str, this: &Tensor, indices: &[Option<Tensor>]) -> Result<Self> {
        let mut plain: Vec<Option<Tensor>> = Vec::new();
        for index in indices {
            match index {
                Some(mask) if matches!(mask.dtype(), DType::Bool | DType::UInt8) => {
                    ensure!(
                        !level.has(mask),
                        NotSupported,
                        "{operator}: a mask that differs between examples picks a different number of elements of \
                         each, which a batched tensor cannot hold\n  \
                         help: use `where`"
                    );
                    let places = aten::nonzero(mask)?;
                    plain.extend(aten::unbind_int::call(&places, 1)?.into_iter().map(Some));
                }
                other => plain.push(other.clone()),
            }
        }
        ensure!(
            plain.len() <= this.dim(),
            Shape,
            "{operator}: {} indices for a tensor of sizes {:?}",
            plain.len(),
            this.sizes()
        );
        let rank = plain.iter().flatten().map(Tensor::dim).max().unwrap_or(0);
        let first = plain.iter().position(Option::is_some).unwrap_or(0);
        let last = plain.iter().rposition(Option::is_some).unwrap_or(0);
        let is_apart = plain.iter().take(last).skip(first).any(Option::is_none);
        let list =
            plain.iter().map(|index| index.as_ref().map(|index| aligned(level, index, rank)).transpose());
        Ok(Indices { list: list.collect::<Result<_>>()?, rank, place: if is_apart { 0 } else { first } })
    }

    /// Adds an index into the batch dimension in front: all others have sizes `[batch, …]`, or broadcast to those.
    fn with_batch(&self, level: Level, like: &Tensor) -> Result<Vec<Option<Tensor>>> {
        let count = level.batch_size().into();
        let batch = aten::arange::with(count).dtype(DType::Int64).device(like.device()).call()?;
        let batch = (0..self.rank).try_fold(batch, |batch, _| aten::unsqueeze(&batch, -1))?;
        Ok(std::iter::once(Some(batch)).chain(self.list.iter().cloned()).collect())
    }
}

/// Moves `count` dimensions after the batch from one position to another.
fn moved(value: &Tensor, from: usize, to: usize, count: usize) -> Result<Tensor> {
    let dims = |start: usize| (start + 1..start + 1 + count).map(|dim| dim as i64).collect::<Vec<_>>();
    if from == to { Ok(value.clone()) } else { aten::movedim_intlist(value, &dims(from), &dims(to)) }
}

#[torch_impl(aten, FuncTorchBatched)]
mod rules {
    use super::*;

    fn index_Tensor(this: &Tensor, indices: &[Option<Tensor>]) -> Result<Tensor> {
        let level = Level::current()?;
        let own = Indices::new(level, aten::index_Tensor::NAME, this, indices)?;
        let this = expanded(level, this)?;
        let picked = aten::index_Tensor(&this, &own.with_batch(level, &this)?)?;
        // The index into the batch comes first. If the others are not adjacent to it, the indexed dimensions come first
        // too.
        level.wrap(moved(&picked, 0, own.place, own.rank)?, 0)
    }

    fn index_put(
        this: &Tensor,
        indices: &[Option<Tensor>],
        values: &Tensor,
        accumulate: bool,
    ) -> Result<Tensor> {
        let level = Level::current()?;
        let own = Indices::new(level, aten::index_put::NAME, this, indices)?;
        let named = own.list.iter().flatten().count();
        let picked = this.dim() - named + own.rank;
        ensure!(
            values.dim() <= picked,
            Shape,
            "{}: values of sizes {:?} for {picked} dimensions",
            aten::index_put::NAME,
            values.sizes()
        );
        let mut values = match level.has(values) {
            true => front(level, values)?,
            false => aten::unsqueeze(values, 0)?,
        };
        while values.dim() <= picked {
            values = aten::unsqueeze(&values, 1)?;
        }
        let values = moved(&values, own.place, 0, own.rank)?;
        let this = expanded(level, this)?;
        let places = own.with_batch(level, &this)?;
        level.wrap(aten::index_put::call(&this, &places, &values, accumulate)?, 0)
    }
}
