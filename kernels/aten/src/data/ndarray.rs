//! Conversions between tensors and arrays of the crate [`ndarray`](https://docs.rs/ndarray).
//!
//! ```
//! use ndarray::array;
//! use torch_library::prelude::*;
//! use torch_library_kernels::aten;
//! use torch_library_kernels::data::ndarray::{from_array, to_array};
//!
//! let columns = array![[1.0, 2.0], [3.0, 4.0]].reversed_axes();
//! let x = from_array(columns.clone())?; // the same memory, with its strides
//! assert_eq!((x.strides(), x.to_vec::<f64>()?), (&[1, 2][..], vec![1.0, 3.0, 2.0, 4.0]));
//! assert_eq!(to_array::<f64>(&aten::neg(&x)?)?, (-columns).into_dyn());
//! # Ok::<(), Error>(())
//! ```
#![expect(unsafe_code, reason = "lends a tensor's memory to a view")]

use std::ptr::NonNull;

use ndarray::{Array, ArrayD, ArrayViewD, Dimension, IxDyn, ShapeBuilder};
use torch_library::prelude::*;
use torch_library::{Element, Lease};

/// A tensor of an array's elements, which are copied only if a dimension has a negative stride.
///
/// # Errors
/// An array with more elements than a tensor can have.
///
/// PyTorch: `torch.from_numpy`.
pub fn from_array<T: Element, D: Dimension>(array: Array<T, D>) -> Result<Tensor> {
    let sizes: Vec<i64> = array.shape().iter().map(|size| *size as i64).collect();
    let strides: Vec<i64> = array.strides().iter().map(|stride| *stride as i64).collect();
    if array.is_empty() || strides.iter().any(|stride| *stride < 0) {
        return Tensor::from_vec(array.iter().copied().collect(), &sizes);
    }
    let (elements, offset) = array.into_raw_vec_and_offset();
    let count = elements.len() as i64;
    let memory = Tensor::from_vec(elements, &[count])?;
    memory.strided_view(&sizes, &strides, offset.unwrap_or(0) as i64)
}

/// A copy of a tensor's elements as an array.
///
/// # Errors
/// A tensor of another dtype, or one whose memory the host cannot access.
///
/// PyTorch: `Tensor.numpy`, which does not copy.
pub fn to_array<T: Element>(tensor: &Tensor) -> Result<ArrayD<T>> {
    let elements = tensor.to_vec::<T>()?;
    let sizes: Vec<usize> = tensor.sizes().iter().map(|size| *size as usize).collect();
    ArrayD::from_shape_vec(IxDyn(&sizes), elements).map_err(|error| {
        Error::new(ErrorKind::Shape, format!("sizes {sizes:?} cannot be those of an array: {error}"))
    })
}

/// A borrowed view of a tensor's elements as an array. While it lives, nothing can write to them.
pub struct Lent<'a, T> {
    sizes: IxDyn,
    strides: IxDyn,
    data: *const T,
    _lease: Lease<'a, 0, 1>,
}

/// Borrows a tensor's elements, without a copy, to view them as an array.
///
/// ```
/// use torch_library::prelude::*;
/// use torch_library_kernels::data::ndarray::lend;
///
/// let x = Tensor::from([[1.0, 2.0], [3.0, 4.0]]);
/// let lent = lend::<f64>(&x)?;
/// assert_eq!(lent.view().sum(), 10.0);
/// assert!(x.clone().fill(0.0).is_err(), "somebody looks");
/// # Ok::<(), Error>(())
/// ```
///
/// # Errors
/// A tensor of another dtype, one whose memory the host cannot access or that is being written; sizes that no array
/// has; booleans with bytes other than 0 and 1 in their storage.
///
/// PyTorch: `Tensor.numpy`.
#[track_caller]
pub fn lend<T: Element>(tensor: &Tensor) -> Result<Lent<'_, T>> {
    let lease = Lease::new([], [tensor])?;
    let unsigned = |values: &[i64]| -> Vec<usize> { values.iter().map(|value| *value as usize).collect() };
    let (sizes, strides) = (unsigned(tensor.sizes()), unsigned(tensor.strides()));
    let data = tensor.data_ptr::<T>(&lease)?;
    let places = sizes.iter().try_fold(1usize, |count, size| count.checked_mul((*size).max(1)));
    ensure!(
        places.is_some_and(|count| count <= isize::MAX as usize),
        Shape,
        "sizes {sizes:?} have more elements than an array view can count"
    );
    ensure!(
        T::DTYPE != DType::Bool || tensor.storage().bytes()?.iter().all(|byte| *byte < 2),
        DType,
        "memory with bytes other than 0 and 1 cannot be an array of `bool`, take a copy by `to_array`"
    );
    // Without elements, the offset may lead anywhere, even to a null address, and strides may have any size.
    let (data, strides) = match sizes.contains(&0) {
        true => (NonNull::<T>::dangling().as_ptr().cast_const(), vec![0; sizes.len()]),
        false => (data, strides),
    };
    Ok(Lent { sizes: IxDyn(&sizes), strides: IxDyn(&strides), data, _lease: lease })
}

impl<T: Element> Lent<'_, T> {
    /// The elements as an array view.
    pub fn view(&self) -> ArrayViewD<'_, T> {
        let shape = self.sizes.clone().strides(self.strides.clone());
        // SAFETY: the address is not null, and aligned for `T`; sizes and strides were read under the lease, stay
        // within the tensor's memory, and lead to values of `T` (for `bool`, to 0 and 1). The lease keeps the tensor's
        // geometry unchanged, and prevents writes, while `self` is borrowed.
        unsafe { ArrayViewD::from_shape_ptr(shape, self.data) }
    }
}
