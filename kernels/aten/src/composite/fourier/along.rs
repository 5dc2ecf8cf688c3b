//! The dimensions of a transform, and the number of elements along each.

use torch_library::prelude::*;

use super::{check_count, existing_dim};
use crate::aten;

/// The distinct dimensions of a transform, as non-negative indices, and the number of elements along each.
pub(super) struct Along {
    operator: &'static str,
    pub(super) dims: Vec<i64>,
    sizes: Vec<i64>,
}

impl Along {
    /// Resolves the arguments `s` and `dim`.
    pub(super) fn of(
        operator: &'static str,
        this: &Tensor,
        s: Option<&[i64]>,
        dim: Option<&[i64]>,
    ) -> Result<Self> {
        let dims = dims(operator, this, s, dim)?;
        let own = |dim: &i64| this.sizes()[*dim as usize];
        let sizes: Vec<i64> = match s {
            Some(s) => {
                s.iter().zip(&dims).map(|(size, dim)| if *size == -1 { own(dim) } else { *size }).collect()
            }
            None => dims.iter().map(own).collect(),
        };
        sizes.iter().try_for_each(|size| check_count(operator, *size))?;
        Ok(Along { operator, dims, sizes })
    }

    /// Like [`of`](Self::of), for a transform of one-sided frequencies to real output; also returns the size of the
    /// output in the last of the dimensions.
    pub(super) fn to_reals(
        operator: &'static str,
        this: &Tensor,
        s: Option<&[i64]>,
        dim: Option<&[i64]>,
    ) -> Result<(Self, i64)> {
        let dims = dims(operator, this, s, dim)?;
        let Some(last) = dims.last() else { return Err(no_dimension(operator)) };
        let last = match s.and_then(<[i64]>::last) {
            Some(size) if *size != -1 => *size,
            _ => this.sizes()[*last as usize].saturating_sub(1).saturating_mul(2),
        };
        check_count(operator, last)?;
        let mut along = Along::of(operator, this, s, dim)?;
        if let Some(size) = along.sizes.last_mut() {
            *size = last / 2 + 1;
        }
        Ok((along, last))
    }

    /// # Errors
    /// There is no dimension to be one-sided.
    pub(super) fn of_halves(self) -> Result<Self> {
        if self.dims.is_empty() { Err(no_dimension(self.operator)) } else { Ok(self) }
    }

    pub(super) fn last_and_others(&self) -> Result<(i64, &[i64])> {
        let (last, others) = self.dims.split_last().ok_or_else(|| no_dimension(self.operator))?;
        Ok((*last, others))
    }

    /// The tensor with these sizes: trimmed, or padded with zeros at the end.
    pub(super) fn resized(&self, this: &Tensor) -> Result<Tensor> {
        resized(this, &self.dims, &self.sizes)
    }
}

fn no_dimension(operator: &str) -> Error {
    Error::new(ErrorKind::Argument, format!("{operator}: no dimension to transform, expected at least one"))
}

fn dims(operator: &'static str, this: &Tensor, s: Option<&[i64]>, dim: Option<&[i64]>) -> Result<Vec<i64>> {
    let ndim = this.dim();
    let Some(dim) = dim else {
        let count = s.map_or(ndim, <[i64]>::len);
        ensure!(count <= ndim, Shape, "{operator}: {count} sizes for a tensor of {ndim} dimensions");
        return Ok((ndim - count..ndim).map(|dim| dim as i64).collect());
    };
    if let Some(s) = s {
        ensure!(s.len() == dim.len(), Argument, "{operator}: {} sizes for {} dimensions", s.len(), dim.len());
    }
    let mut dims = Vec::new();
    for dim in dim {
        let found = existing_dim(operator, this, *dim)? as i64;
        ensure!(!dims.contains(&found), Argument, "{operator}: dimension {dim} is given twice");
        dims.push(found);
    }
    Ok(dims)
}

/// A tensor with other sizes along some dimensions: trimmed, or padded with zeros at the end.
pub(super) fn resized(this: &Tensor, dims: &[i64], sizes: &[i64]) -> Result<Tensor> {
    let (mut x, mut pad) = (this.clone(), vec![0; 2 * this.dim()]);
    let mut is_padded = false;
    for (dim, size) in dims.iter().zip(sizes) {
        let own = this.sizes()[*dim as usize];
        if own < *size {
            pad[2 * (this.dim() - *dim as usize) - 1] = size - own;
            is_padded = true;
        } else if own > *size {
            x = aten::slice_Tensor::call(&x, *dim, Some(0), Some(*size), 1)?;
        }
    }
    if is_padded { aten::constant_pad_nd(&x, &pad) } else { Ok(x) }
}
