//! Concatenation of several tensors, and splits of one.

use torch_library::geometry::wrap_dim;
use torch_library::limits::check_tensors;
use torch_library::prelude::*;

use super::common_sizes;
use crate::arguments::size_along;
use crate::aten;
use crate::composite::below_autocast;

#[torch_impl(aten, CompositeExplicitAutograd)]
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

#[torch_impl(aten, CompositeImplicitAutograd)]
mod implicit {
    use super::*;

    fn meshgrid(tensors: &[Tensor]) -> Result<Vec<Tensor>> {
        grid(aten::meshgrid::NAME, tensors)
    }

    fn meshgrid_indexing(tensors: &[Tensor], indexing: &str) -> Result<Vec<Tensor>> {
        const OPERATOR: &str = aten::meshgrid_indexing::NAME;
        let is_swapped = match indexing {
            "ij" => false,
            "xy" => tensors.len() >= 2,
            other => bail!(Argument, "{OPERATOR}: unknown indexing {other:?}, expected \"ij\" or \"xy\""),
        };
        if !is_swapped {
            return grid(OPERATOR, tensors);
        }
        let mut tensors = tensors.to_vec();
        tensors.swap(0, 1);
        let mut grids = grid(OPERATOR, &tensors)?;
        grids.swap(0, 1);
        Ok(grids)
    }

    fn cartesian_prod(tensors: &[Tensor]) -> Result<Tensor> {
        const OPERATOR: &str = aten::cartesian_prod::NAME;
        ensure!(
            tensors.iter().all(|tensor| tensor.dim() == 1),
            Shape,
            "{OPERATOR}: expected vectors, got sizes {:?}",
            tensors.iter().map(Tensor::sizes).collect::<Vec<_>>()
        );
        if let [only] = tensors {
            return Ok(only.clone());
        }
        let flat = grid(OPERATOR, tensors)?
            .iter()
            .map(|grid| aten::reshape(grid, &[-1]))
            .collect::<Result<Vec<_>>>()?;
        aten::stack::call(&flat, 1)
    }

    fn broadcast_tensors(tensors: &[Tensor]) -> Result<Vec<Tensor>> {
        let sizes = common_sizes(aten::broadcast_tensors::NAME, tensors)?;
        let expanded = |tensor: &Tensor| match tensor.sizes() == sizes {
            true => Ok(tensor.clone()),
            false => aten::expand(tensor, &sizes),
        };
        tensors.iter().map(expanded).collect()
    }

    fn flatten_dense_tensors(tensors: &[Tensor]) -> Result<Tensor> {
        let lines = tensors.iter().map(|tensor| aten::reshape(tensor, &[-1])).collect::<Result<Vec<_>>>()?;
        aten::cat(&lines).map_err(|error| error.context(aten::flatten_dense_tensors::NAME))
    }

    fn unflatten_dense_tensors(flat: &Tensor, tensors: &[Tensor]) -> Result<Vec<Tensor>> {
        let mut start = 0;
        let part = |like: &Tensor| {
            let count = like.numel();
            if count == 0 {
                return aten::new_empty(flat, like.sizes());
            }
            let line = aten::narrow(flat, 0, start, count)
                .map_err(|error| error.context(aten::unflatten_dense_tensors::NAME))?;
            start += count;
            aten::view(&line, like.sizes())
        };
        tensors.iter().map(part).collect()
    }

    fn broadcast_to(this: &Tensor, size: &[i64]) -> Result<Tensor> {
        aten::expand(this, size)
    }

    fn atleast_1d(this: &Tensor) -> Result<Tensor> {
        if this.dim() == 0 { aten::reshape(this, &[1]) } else { Ok(this.clone()) }
    }

    fn atleast_2d(this: &Tensor) -> Result<Tensor> {
        match this.dim() {
            0 => aten::reshape(this, &[1, 1]),
            1 => aten::unsqueeze(this, 0),
            _ => Ok(this.clone()),
        }
    }

    fn atleast_3d(this: &Tensor) -> Result<Tensor> {
        match this.dim() {
            0 => aten::reshape(this, &[1, 1, 1]),
            1 => aten::unsqueeze(&aten::unsqueeze(this, 0)?, -1),
            2 => aten::unsqueeze(this, -1),
            _ => Ok(this.clone()),
        }
    }

    fn atleast_1d_Sequence(tensors: &[Tensor]) -> Result<Vec<Tensor>> {
        tensors.iter().map(aten::atleast_1d).collect()
    }

    fn atleast_2d_Sequence(tensors: &[Tensor]) -> Result<Vec<Tensor>> {
        tensors.iter().map(aten::atleast_2d).collect()
    }

    fn atleast_3d_Sequence(tensors: &[Tensor]) -> Result<Vec<Tensor>> {
        tensors.iter().map(aten::atleast_3d).collect()
    }

    fn hstack(tensors: &[Tensor]) -> Result<Tensor> {
        check_some(aten::hstack::NAME, tensors)?;
        let tensors = tensors.iter().map(aten::atleast_1d).collect::<Result<Vec<_>>>()?;
        let dim = if tensors.first().is_some_and(|first| first.dim() == 1) { 0 } else { 1 };
        aten::cat::call(&tensors, dim)
    }

    fn vstack(tensors: &[Tensor]) -> Result<Tensor> {
        check_some(aten::vstack::NAME, tensors)?;
        aten::cat(&tensors.iter().map(aten::atleast_2d).collect::<Result<Vec<_>>>()?)
    }

    fn dstack(tensors: &[Tensor]) -> Result<Tensor> {
        check_some(aten::dstack::NAME, tensors)?;
        aten::cat::call(&tensors.iter().map(aten::atleast_3d).collect::<Result<Vec<_>>>()?, 2)
    }

    fn column_stack(tensors: &[Tensor]) -> Result<Tensor> {
        check_some(aten::column_stack::NAME, tensors)?;
        let column = |tensor: &Tensor| match tensor.dim() {
            0 | 1 => aten::reshape(tensor, &[tensor.numel(), 1]),
            _ => Ok(tensor.clone()),
        };
        aten::hstack(&tensors.iter().map(column).collect::<Result<Vec<_>>>()?)
    }

    fn block_diag(tensors: &[Tensor]) -> Result<Tensor> {
        const OPERATOR: &str = aten::block_diag::NAME;
        if tensors.is_empty() {
            return aten::empty_memory_format(&[1, 0]);
        }
        let blocks = tensors.iter().map(aten::atleast_2d).collect::<Result<Vec<_>>>()?;
        if let Some(block) = blocks.iter().find(|block| block.dim() > 2) {
            bail!(Shape, "{OPERATOR}: sizes {:?}, expected those of matrices", block.sizes());
        }
        let width = blocks.iter().try_fold(0i64, |width, block| width.checked_add(block.sizes()[1]));
        let Some(width) = width else { bail!(Shape, "{OPERATOR}: the blocks are wider than 2^63 together") };
        let mut left = 0;
        let mut wide = |block: &Tensor| {
            let right = width - left - block.sizes()[1];
            let padded = aten::constant_pad_nd(block, &[left, right]);
            left += block.sizes()[1];
            padded
        };
        let rows = blocks.iter().map(&mut wide).collect::<Result<Vec<_>>>()?;
        below_autocast(rows[0].device(), || aten::cat(&rows))
    }

    fn hsplit_int(this: &Tensor, sections: i64) -> Result<Vec<Tensor>> {
        equal_parts(aten::hsplit_int::NAME, this, 1, sections)
    }

    fn hsplit_array(this: &Tensor, indices: &[i64]) -> Result<Vec<Tensor>> {
        aten::tensor_split_indices::call(this, indices, axis(aten::hsplit_array::NAME, this, 1)?)
    }

    fn vsplit_int(this: &Tensor, sections: i64) -> Result<Vec<Tensor>> {
        equal_parts(aten::vsplit_int::NAME, this, 0, sections)
    }

    fn vsplit_array(this: &Tensor, indices: &[i64]) -> Result<Vec<Tensor>> {
        aten::tensor_split_indices::call(this, indices, axis(aten::vsplit_array::NAME, this, 0)?)
    }

    fn dsplit_int(this: &Tensor, sections: i64) -> Result<Vec<Tensor>> {
        equal_parts(aten::dsplit_int::NAME, this, 2, sections)
    }

    fn dsplit_array(this: &Tensor, indices: &[i64]) -> Result<Vec<Tensor>> {
        aten::tensor_split_indices::call(this, indices, axis(aten::dsplit_array::NAME, this, 2)?)
    }

    fn tensor_split_sections(this: &Tensor, sections: i64, dim: i64) -> Result<Vec<Tensor>> {
        const OPERATOR: &str = aten::tensor_split_sections::NAME;
        let size = size_along(OPERATOR, this, dim)?;
        ensure!(
            sections > 0,
            Argument,
            "{OPERATOR}: a dimension of size {size} cannot be cut into {sections} parts"
        );
        check_tensors(sections).map_err(|error| error.context(OPERATOR))?;
        let (least, more) = (size / sections, size % sections);
        let start = |section: i64| section * least + section.min(more);
        (0..sections).map(|at| aten::narrow(this, dim, start(at), start(at + 1) - start(at))).collect()
    }

    fn tensor_split_indices(this: &Tensor, indices: &[i64], dim: i64) -> Result<Vec<Tensor>> {
        size_along(aten::tensor_split_indices::NAME, this, dim)?;
        let starts = [0].into_iter().chain(indices.iter().copied());
        let ends = indices.iter().map(|end| Some(*end)).chain([None]);
        starts
            .zip(ends)
            .map(|(start, end)| aten::slice_Tensor::call(this, dim, Some(start), end, 1))
            .collect()
    }
}

#[torch_impl(aten, CompositeImplicitAutograd)]
fn tensor_split_tensor_indices_or_sections(this: &Tensor, places: &Tensor, dim: i64) -> Result<Vec<Tensor>> {
    const OPERATOR: &str = aten::tensor_split_tensor_indices_or_sections::NAME;
    ensure!(
        places.dtype() == DType::Int64,
        DType,
        "{OPERATOR}: indices of {}, expected int64",
        places.dtype()
    );
    match places.dim() {
        0 => aten::tensor_split_sections::call(this, places.item()?.to()?, dim),
        1 => {
            let indices = places.to_vec::<i64>();
            let indices = indices.map_err(|error| error.context(OPERATOR))?;
            aten::tensor_split_indices::call(this, &indices, dim)
        }
        _ => {
            bail!(Shape, "{OPERATOR}: indices of sizes {:?}, expected one number or a vector", places.sizes())
        }
    }
}

fn grid(operator: &str, tensors: &[Tensor]) -> Result<Vec<Tensor>> {
    let Some(first) = tensors.first() else {
        bail!(Argument, "{operator}: there are no tensors to make a grid of")
    };
    if let Some(other) = tensors.iter().find(|tensor| tensor.dim() > 1 || tensor.dtype() != first.dtype()) {
        bail!(
            Argument,
            "{operator}: {} of sizes {:?} among the coordinates, expected vectors of {}",
            other.dtype(),
            other.sizes(),
            first.dtype()
        );
    }
    let sizes: Vec<i64> = tensors.iter().map(Tensor::numel).collect();
    let along = |(dim, tensor): (usize, &Tensor)| {
        let mut own = vec![1; sizes.len()];
        own[dim] = sizes[dim];
        aten::expand(&aten::view(tensor, &own)?, &sizes)
    };
    tensors.iter().enumerate().map(along).collect()
}

/// The dimension that `vsplit` (0), `hsplit` (1) or `dsplit` (2) splits; for `hsplit` of a vector, it is dimension 0.
fn axis(operator: &str, this: &Tensor, dim: usize) -> Result<i64> {
    let least = [2, 1, 3][dim];
    ensure!(
        this.dim() >= least,
        Shape,
        "{operator}: sizes {:?} have fewer than {least} dimensions",
        this.sizes()
    );
    Ok(if this.dim() == 1 { 0 } else { dim as i64 })
}

fn equal_parts(operator: &str, this: &Tensor, dim: usize, sections: i64) -> Result<Vec<Tensor>> {
    let dim = axis(operator, this, dim)?;
    let size = this.sizes()[dim as usize];
    ensure!(
        sections > 0 && size % sections == 0,
        Argument,
        "{operator}: a dimension of size {size} cannot be cut into {sections} equal parts"
    );
    aten::tensor_split_sections::call(this, sections, dim)
}

fn check_some(operator: &str, tensors: &[Tensor]) -> Result<()> {
    ensure!(!tensors.is_empty(), Argument, "{operator}: there are no tensors to join");
    Ok(())
}
