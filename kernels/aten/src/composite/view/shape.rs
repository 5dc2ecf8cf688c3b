//! The sizes, strides and offset of a view, on the way from its input.

use torch_library::geometry::{Dims, wrap_dim};
use torch_library::prelude::*;

/// The geometry that a view changes.
#[derive(Clone, Debug)]
pub(super) struct Shape {
    sizes: Dims,
    strides: Dims,
    offset: i64,
}

impl Shape {
    pub(super) fn of(tensor: &Tensor) -> Self {
        let geometry = tensor.geometry();
        Shape {
            sizes: Dims::from_slice(geometry.sizes()),
            strides: Dims::from_slice(geometry.strides()),
            offset: geometry.offset(),
        }
    }

    /// A view of a tensor with this geometry.
    pub(super) fn view(&self, tensor: &Tensor) -> Result<Tensor> {
        tensor.strided_view(&self.sizes, &self.strides, self.offset)
    }

    /// Gives the tensor itself this geometry.
    pub(super) fn apply(self, tensor: &mut Tensor) -> Result<&mut Tensor> {
        tensor.set_geometry(&self.sizes, &self.strides, self.offset)?;
        Ok(tensor)
    }

    pub(super) fn permuted(self, dims: &[i64]) -> Result<Self> {
        ensure!(
            dims.len() == self.sizes.len(),
            Shape,
            "dims {dims:?} order {} dimensions, sizes {:?} have {}",
            dims.len(),
            self.sizes,
            self.sizes.len()
        );
        let dims = distinct_dims(dims, self.sizes.len())?;
        Ok(Shape {
            sizes: dims.iter().map(|dim| self.sizes[*dim]).collect(),
            strides: dims.iter().map(|dim| self.strides[*dim]).collect(),
            offset: self.offset,
        })
    }

    pub(super) fn transposed(mut self, dim0: i64, dim1: i64) -> Result<Self> {
        let (dim0, dim1) = (wrap_dim(dim0, self.sizes.len())?, wrap_dim(dim1, self.sizes.len())?);
        if dim0 != dim1 {
            self.sizes.swap(dim0, dim1);
            self.strides.swap(dim0, dim1);
        }
        Ok(self)
    }

    pub(super) fn unsqueezed(mut self, dim: i64) -> Result<Self> {
        let dim = wrap_dim(dim, self.sizes.len() + 1)?;
        let stride = self.sizes.get(dim).map_or(1, |size| size.saturating_mul(self.strides[dim]));
        self.sizes.insert(dim, 1);
        self.strides.insert(dim, stride);
        Ok(self)
    }

    /// The geometry without those dimensions of size 1 that `is_asked` selects.
    pub(super) fn squeezed(self, is_asked: impl Fn(usize) -> bool) -> Self {
        let keep = |dim: &usize| self.sizes[*dim] != 1 || !is_asked(*dim);
        let kept: Vec<usize> = (0..self.sizes.len()).filter(keep).collect();
        Shape {
            sizes: kept.iter().map(|dim| self.sizes[*dim]).collect(),
            strides: kept.iter().map(|dim| self.strides[*dim]).collect(),
            offset: self.offset,
        }
    }

    pub(super) fn expanded(self, target: &[i64]) -> Result<Self> {
        let (old, ndim) = (self.sizes.len(), target.len());
        ensure!(
            ndim >= old,
            Shape,
            "sizes {:?} do not expand to {target:?}, which has fewer dimensions",
            self.sizes
        );
        let mut sizes = Dims::from_elem(0, ndim);
        let mut strides = Dims::from_elem(0, ndim);
        for dim in (0..ndim).rev() {
            let own = (dim + old).checked_sub(ndim);
            // A new dimension gets the stride that would continue the tensor; as its size is 1, this has no effect on
            // the elements.
            let (size, stride) = match own {
                Some(own) => (self.sizes[own], self.strides[own]),
                None => (1, if old == 0 { 0 } else { sizes[dim + 1].saturating_mul(strides[dim + 1]) }),
            };
            (sizes[dim], strides[dim]) = match target[dim] {
                -1 if own.is_some() => (size, stride),
                wanted if wanted == size => (size, stride),
                wanted if size == 1 && wanted >= 0 => (wanted, 0),
                wanted => bail!(
                    Shape,
                    "sizes {:?} do not expand to {target:?}: {size} to {wanted} at dimension {dim}",
                    self.sizes
                ),
            };
        }
        Ok(Shape { sizes, strides, offset: self.offset })
    }

    pub(super) fn sliced(
        mut self,
        dim: i64,
        start: Option<i64>,
        end: Option<i64>,
        step: i64,
    ) -> Result<Self> {
        let dim = self.existing(dim)?;
        ensure!(step > 0, Argument, "step {step} must be positive");
        let size = self.sizes[dim];
        let cut = |index: i64| if index < 0 { (index + size).max(0) } else { index.min(size) };
        let start = cut(start.unwrap_or(0));
        let end = cut(end.unwrap_or(size)).max(start);
        let len = end - start;
        self.sizes[dim] = len / step + i64::from(len % step != 0);
        self.advance(dim, start);
        self.strides[dim] = self.strides[dim].saturating_mul(step);
        Ok(self)
    }

    pub(super) fn diagonal(mut self, offset: i64, dim1: i64, dim2: i64) -> Result<Self> {
        let (dim1, dim2) = (wrap_dim(dim1, self.sizes.len())?, wrap_dim(dim2, self.sizes.len())?);
        ensure!(dim1 != dim2, Argument, "dimension {dim1} has no diagonal with itself");
        let (rows, columns) = (self.sizes[dim1], self.sizes[dim2]);
        let (row, column) = (offset.saturating_neg().max(0), offset.max(0));
        let count = rows.saturating_sub(row).min(columns.saturating_sub(column)).max(0);
        if count > 0 {
            self.advance(dim1, row);
            self.advance(dim2, column);
        }
        let stride = self.strides[dim1].saturating_add(self.strides[dim2]);
        for dim in [dim1.max(dim2), dim1.min(dim2)] {
            self.sizes.remove(dim);
            self.strides.remove(dim);
        }
        self.sizes.push(count);
        self.strides.push(stride);
        Ok(self)
    }

    pub(super) fn unfolded(mut self, dim: i64, size: i64, step: i64) -> Result<Self> {
        let dim = wrap_dim(dim, self.sizes.len())?;
        // A tensor without dimensions counts as a dimension of size 1.
        let (length, stride) =
            (self.sizes.get(dim).copied().unwrap_or(1), self.strides.get(dim).copied().unwrap_or(1));
        ensure!(step > 0, Argument, "windows {step} apart, expected a step of one or more");
        ensure!(
            (0..=length).contains(&size),
            Argument,
            "windows of {size} do not fit a dimension of size {length}"
        );
        if dim < self.sizes.len() {
            self.sizes[dim] = ((length - size) / step).saturating_add(1);
            self.strides[dim] = stride.saturating_mul(step);
        }
        self.sizes.push(size);
        self.strides.push(stride);
        Ok(self)
    }

    pub(super) fn selected(mut self, dim: i64, index: i64) -> Result<Self> {
        let dim = self.existing(dim)?;
        let size = self.sizes[dim];
        ensure!(
            (-size..size).contains(&index),
            Index,
            "index {index} is out of range for dimension {dim} of sizes {:?}",
            self.sizes
        );
        let index = if index < 0 { index + size } else { index };
        self.advance(dim, index);
        self.sizes.remove(dim);
        self.strides.remove(dim);
        Ok(self)
    }

    /// Moves the offset by some elements along a dimension. A saturated offset belongs to a view without elements, or
    /// is rejected as a geometry.
    fn advance(&mut self, dim: usize, elements: i64) {
        self.offset = self.offset.saturating_add(elements.saturating_mul(self.strides[dim]));
    }

    /// A dimension to select from; a tensor without dimensions has none.
    fn existing(&self, dim: i64) -> Result<usize> {
        ensure!(
            !self.sizes.is_empty(),
            Shape,
            "a tensor without dimensions has no part along dimension {dim}"
        );
        wrap_dim(dim, self.sizes.len())
    }
}

/// Distinct dimensions, as non-negative indices.
///
/// # Errors
/// A dimension out of range, or named twice.
pub(super) fn distinct_dims(dims: &[i64], ndim: usize) -> Result<Vec<usize>> {
    let mut distinct = Vec::with_capacity(dims.len());
    for &dim in dims {
        let wrapped = wrap_dim(dim, ndim)?;
        ensure!(!distinct.contains(&wrapped), Shape, "dimension {dim} is named twice in {dims:?}");
        distinct.push(wrapped);
    }
    Ok(distinct)
}
