//! Splits whose parts are not views, and combinations of elements.

use torch_library::geometry::wrap_dim;
use torch_library::prelude::*;

use super::vector;
use crate::aten;

#[torch_impl(aten, CompositeExplicitAutograd)]
mod explicit {
    use super::*;

    fn unsafe_split_Tensor(this: &Tensor, split_size: i64, dim: i64) -> Result<Vec<Tensor>> {
        let parts = aten::split_Tensor::call(this, split_size, dim);
        apart(parts.map_err(|error| error.context(aten::unsafe_split_Tensor::NAME))?)
    }

    fn unsafe_split_with_sizes(this: &Tensor, split_sizes: &[i64], dim: i64) -> Result<Vec<Tensor>> {
        let parts = aten::split_with_sizes::call(this, split_sizes, dim);
        apart(parts.map_err(|error| error.context(aten::unsafe_split_with_sizes::NAME))?)
    }

    fn _chunk_cat(tensors: &[Tensor], dim: i64, num_chunks: i64) -> Result<Tensor> {
        const OPERATOR: &str = aten::_chunk_cat::NAME;
        ensure!(num_chunks > 0, Argument, "{OPERATOR}: {num_chunks} chunks, at least one is needed");
        let Some(first) = tensors.first() else { bail!(Argument, "{OPERATOR}: there are no tensors to cut") };
        let axis = wrap_dim(dim, first.dim()).map_err(|error| error.context(OPERATOR))?;
        let mut parts = Vec::with_capacity(tensors.len());
        for tensor in tensors {
            ensure!(
                tensor.numel() > 0 && tensor.dim() > axis && tensor.sizes()[..axis] == first.sizes()[..axis],
                Shape,
                "{OPERATOR}: sizes {:?} beside {:?}, expected elements and the same sizes before dimension {dim}",
                tensor.sizes(),
                first.sizes()
            );
            ensure!(
                tensor.dtype() == first.dtype(),
                DType,
                "{OPERATOR}: tensors of {} and {}, expected one type",
                first.dtype(),
                tensor.dtype()
            );
            let size = tensor.sizes()[axis];
            let missing = (num_chunks - size % num_chunks) % num_chunks;
            let mut pad = vec![0; 2 * (tensor.dim() - axis)];
            if let Some(last) = pad.last_mut() {
                *last = missing;
            }
            let whole = if missing == 0 { tensor.clone() } else { aten::constant_pad_nd(tensor, &pad)? };
            parts.push(aten::reshape(&whole, &[&first.sizes()[..axis], &[num_chunks, -1]].concat())?);
        }
        aten::cat::with(&parts).dim(axis as i64 + 1).call()
    }
}

#[torch_impl(aten, CPU)]
fn _unique(this: &Tensor, sorted: bool, return_inverse: bool) -> Result<(Tensor, Tensor)> {
    let found = aten::_unique2::call(this, sorted, return_inverse, false);
    let (values, inverse, _) = found.map_err(|error| error.context(aten::_unique::NAME))?;
    Ok((values, inverse))
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

#[torch_impl(aten, CompositeImplicitAutograd)]
mod implicit {
    use super::*;

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

    fn combinations(this: &Tensor, r: i64, with_replacement: bool) -> Result<Tensor> {
        const OPERATOR: &str = aten::combinations::NAME;
        ensure!(this.dim() == 1, Shape, "{OPERATOR}: sizes {:?}, expected a vector", this.sizes());
        ensure!(r >= 0, Argument, "{OPERATOR}: combinations of {r} elements, expected zero or more");
        if r == 0 {
            return aten::new_empty(this, &[0]);
        }
        let places = choices(OPERATOR, this.numel(), r, with_replacement)?;
        let sizes = [places.len() as i64 / r, r];
        let index = aten::view(&vector(places, this.device())?, &sizes)?;
        aten::index_Tensor(this, &[Some(index)])
    }

    fn isreal(this: &Tensor) -> Result<Tensor> {
        match this.dtype().is_complex() {
            true => aten::eq_Scalar(&aten::imag(this)?, 0.into()),
            false => aten::ones_like::with(this).dtype(Some(DType::Bool)).call(),
        }
    }

    fn chalf(this: &Tensor, memory_format: Option<MemoryFormat>) -> Result<Tensor> {
        aten::to_dtype::call(this, DType::Complex32, false, false, memory_format)
    }
}

/// The indices of all combinations, one after the other.
fn choices(operator: &str, n: i64, r: i64, with_replacement: bool) -> Result<Vec<i64>> {
    // Combinations with replacement correspond to combinations of more elements without it, minus 0, 1, 2, … at the
    // successive positions.
    let more = if with_replacement { n.saturating_add(r - 1) } else { n };
    if n == 0 || r > more {
        return Ok(Vec::new());
    }
    // Computed by the complement if that is smaller: there are as many choices of the elements left out.
    let count = (0..r.min(more - r)).try_fold(1i64, |count, k| {
        i64::try_from(i128::from(count) * i128::from(more - k) / i128::from(k + 1)).ok()
    });
    let numbers = count.and_then(|count| count.checked_mul(r));
    let Some(numbers) = numbers else {
        bail!(OutOfMemory, "{operator}: cannot allocate memory for all combinations of {r} of {n} elements")
    };
    let mut all = super::collected(operator, numbers, |_| 0)?;
    let mut choice: Vec<i64> = (0..r).map(|k| if with_replacement { 0 } else { k }).collect();
    for row in all.chunks_exact_mut(r as usize) {
        row.copy_from_slice(&choice);
        let last = |k: usize| if with_replacement { n - 1 } else { n - (r - k as i64) };
        let Some(k) = (0..r as usize).rev().find(|k| choice[*k] < last(*k)) else { break };
        let next = choice[k] + 1;
        for (behind, place) in choice[k..].iter_mut().enumerate() {
            *place = if with_replacement { next } else { next + behind as i64 };
        }
    }
    Ok(all)
}
