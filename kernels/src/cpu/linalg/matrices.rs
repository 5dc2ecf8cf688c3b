//! Matrices in memory of their own, column by column: what factors are made in.

use faer::MatMut;
use torch_library::Element;
use torch_library::prelude::*;

use crate::cpu::loops;
use crate::cpu::number::Number;

/// The matrices of a batch, one after the other, each column by column.
pub(super) struct Matrices<T> {
    pub(super) rows: usize,
    pub(super) columns: usize,
    pub(super) elements: Vec<T>,
}

impl<T: Element> Matrices<T> {
    /// A copy of the matrices in the last two dimensions.
    pub(super) fn of(tensor: &Tensor) -> Result<Self> {
        let [.., rows, columns] = *tensor.sizes() else {
            bail!(Shape, "sizes {:?} are no matrices", tensor.sizes())
        };
        let elements = loops::elements(&transposed(tensor)?)?;
        Ok(Matrices { rows: rows as usize, columns: columns as usize, elements })
    }

    /// The matrices; none of those that have no elements.
    pub(super) fn iter(&self) -> impl Iterator<Item = &[T]> {
        self.elements.chunks_exact((self.rows * self.columns).max(1))
    }

    /// As [`iter`](Self::iter), to write to.
    pub(super) fn iter_mut(&mut self) -> impl Iterator<Item = &mut [T]> {
        self.elements.chunks_exact_mut((self.rows * self.columns).max(1))
    }

    /// Writes the matrices to a tensor of as many.
    pub(super) fn write(&self, tensor: &Tensor) -> Result<()> {
        transposed(tensor)?.copy_from_slice(&self.elements)
    }
}

/// A column of a matrix that lies column by column.
pub(super) fn slice<T>(a: MatMut<'_, T>, column: usize) -> &mut [T] {
    let column = a.col_mut(column).try_as_col_major_mut();
    column.expect("columns are dense").as_slice_mut()
}

/// A view with the last two dimensions swapped.
pub(super) fn transposed(tensor: &Tensor) -> Result<Tensor> {
    let (mut sizes, mut strides) = (tensor.sizes().to_vec(), tensor.strides().to_vec());
    let last = tensor.dim() - 1;
    sizes.swap(last - 1, last);
    strides.swap(last - 1, last);
    tensor.strided_view(&sizes, &strides, tensor.storage_offset())
}

/// Zeros whose last two dimensions lie column by column; one dimension alone, as it is.
pub(super) fn column_major(sizes: &[i64], dtype: DType, device: Device) -> Result<Tensor> {
    let mut sizes = sizes.to_vec();
    let [.., rows, columns] = sizes.as_mut_slice() else { return Tensor::zeros(&sizes, dtype, device) };
    std::mem::swap(rows, columns);
    transposed(&Tensor::zeros(&sizes, dtype, device)?)
}

/// `to -= factor * from`
#[inline]
pub(super) fn subtract<T: Number>(to: &mut [T], from: &[T], factor: T) {
    for (to, from) in to.iter_mut().zip(from) {
        *to = to.minus(factor.times(*from));
    }
}

/// The conjugate, of real numbers themselves.
pub(super) fn conjugate<T: Element>(x: T) -> T {
    wide(x).conj().cast()
}

/// A number as a complex one.
pub(super) fn wide<T: Element>(x: T) -> Complex64 {
    x.cast()
}
