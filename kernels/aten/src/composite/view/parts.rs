//! Splits of a tensor along a dimension.

use torch_library::limits::check_tensors;
use torch_library::prelude::*;

use crate::arguments::size_along;
use crate::aten;

#[torch_impl(aten, CompositeExplicitAutograd)]
mod explicit {
    use super::*;

    fn split_Tensor(this: &Tensor, split_size: i64, dim: i64) -> Result<Vec<Tensor>> {
        let size = size_along(aten::split_Tensor::NAME, this, dim)?;
        ensure!(
            split_size > 0 || (split_size == 0 && size == 0),
            Argument,
            "{}: parts of size {split_size} do not make up a dimension of size {size}",
            aten::split_Tensor::NAME
        );
        let parts = if split_size == 0 { 1 } else { size.unsigned_abs().div_ceil(split_size as u64).max(1) };
        let parts = check_tensors(parts as i64).map_err(|error| error.context(aten::split_Tensor::NAME))?;
        (0..parts as i64)
            .map(|part| {
                let start = part * split_size;
                aten::narrow(this, dim, start, split_size.min(size - start))
            })
            .collect()
    }

    fn split_with_sizes(this: &Tensor, split_sizes: &[i64], dim: i64) -> Result<Vec<Tensor>> {
        let size = size_along(aten::split_with_sizes::NAME, this, dim)?;
        ensure!(
            split_sizes.iter().all(|size| *size >= 0)
                && split_sizes.iter().map(|size| i128::from(*size)).sum::<i128>() == i128::from(size),
            Argument,
            "{}: parts of sizes {split_sizes:?} do not make up a dimension of size {size}",
            aten::split_with_sizes::NAME
        );
        let mut start = 0;
        let part = |length: &i64| {
            let part = aten::narrow(this, dim, start, *length);
            start += length;
            part
        };
        split_sizes.iter().map(part).collect()
    }

    fn unsafe_split_Tensor(this: &Tensor, split_size: i64, dim: i64) -> Result<Vec<Tensor>> {
        let parts = aten::split_Tensor::call(this, split_size, dim);
        apart(parts.map_err(|error| error.context(aten::unsafe_split_Tensor::NAME))?)
    }

    fn unsafe_split_with_sizes(this: &Tensor, split_sizes: &[i64], dim: i64) -> Result<Vec<Tensor>> {
        let parts = aten::split_with_sizes::call(this, split_sizes, dim);
        apart(parts.map_err(|error| error.context(aten::unsafe_split_with_sizes::NAME))?)
    }
}

#[torch_impl(aten, CompositeImplicitAutograd)]
mod implicit {
    use super::*;

    fn narrow(this: &Tensor, dim: i64, start: i64, length: i64) -> Result<Tensor> {
        let size = size_along(aten::narrow::NAME, this, dim)?;
        let from = if start < 0 { start + size } else { start };
        ensure!(
            (0..=size).contains(&from) && (0..=size - from).contains(&length),
            Argument,
            "{}: {length} indices from {start} on are not all in dimension {dim} of sizes {:?}",
            aten::narrow::NAME,
            this.sizes()
        );
        aten::slice_Tensor::call(this, dim, Some(from), Some(from + length), 1)
    }

    fn narrow_Tensor(this: &Tensor, dim: i64, start: &Tensor, length: i64) -> Result<Tensor> {
        ensure!(
            start.dim() == 0 && start.dtype().is_integer(),
            Argument,
            "{}: a start of {} and sizes {:?}, expected an integer without dimensions",
            aten::narrow_Tensor::NAME,
            start.dtype(),
            start.sizes()
        );
        aten::narrow(this, dim, start.item()?.to()?, length)
    }

    fn split_sizes(this: &Tensor, split_size: &[i64], dim: i64) -> Result<Vec<Tensor>> {
        aten::split_with_sizes::call(this, split_size, dim)
    }

    fn chunk(this: &Tensor, chunks: i64, dim: i64) -> Result<Vec<Tensor>> {
        let size = size_along(aten::chunk::NAME, this, dim)?;
        ensure!(chunks > 0, Argument, "{}: a tensor cannot be cut into {chunks} parts", aten::chunk::NAME);
        if size == 0 {
            let chunks = check_tensors(chunks).map_err(|error| error.context(aten::chunk::NAME))?;
            return aten::split_with_sizes::call(this, &vec![0; chunks], dim);
        }
        let part = size / chunks + i64::from(size % chunks != 0);
        aten::split_Tensor::call(this, part, dim)
    }

    fn unsafe_chunk(this: &Tensor, chunks: i64, dim: i64) -> Result<Vec<Tensor>> {
        const OPERATOR: &str = aten::unsafe_chunk::NAME;
        ensure!(this.dim() > 0, Shape, "{OPERATOR}: a tensor without dimensions has no parts");
        ensure!(chunks > 0, Argument, "{OPERATOR}: a tensor cannot be cut into {chunks} parts");
        let size = this.size(dim).map_err(|error| error.context(OPERATOR))?;
        if size == 0 {
            let chunks = torch_library::limits::check_tensors(chunks);
            let chunks = chunks.map_err(|error| error.context(OPERATOR))?;
            return aten::unsafe_split_with_sizes::call(this, &vec![0; chunks], dim);
        }
        aten::unsafe_split_Tensor::call(this, size / chunks + i64::from(size % chunks != 0), dim)
    }
}

/// The same tensors, which autograd no longer treats as views.
fn apart(parts: Vec<Tensor>) -> Result<Vec<Tensor>> {
    let own = |part: Tensor| {
        let (storage, geometry) = (part.storage().clone(), part.geometry());
        let (sizes, strides, offset) = (geometry.sizes(), geometry.strides(), geometry.offset());
        Tensor::from_storage(storage, sizes, strides, offset, part.dtype(), part.key_set())
    };
    parts.into_iter().map(own).collect()
}
