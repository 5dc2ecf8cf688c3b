//! Arrays of the crate [`ndarray`](https://docs.rs/ndarray).
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

use ndarray::{Array, ArrayD, ArrayViewD, Dimension, IxDyn, ShapeBuilder};
use torch_library::Element;
use torch_library::prelude::*;

/// A tensor of an array's elements, which are not copied unless a dimension runs backwards.
///
/// # Errors
/// An array of more elements than a tensor counts.
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
/// A tensor of another type, or one whose memory the host does not reach.
///
/// PyTorch: `Tensor.numpy`, which does not copy.
pub fn to_array<T: Element>(tensor: &Tensor) -> Result<ArrayD<T>> {
    let elements = tensor.to_vec::<T>()?;
    let sizes: Vec<usize> = tensor.sizes().iter().map(|size| *size as usize).collect();
    ArrayD::from_shape_vec(IxDyn(&sizes), elements).map_err(|error| {
        Error::new(ErrorKind::Shape, format!("sizes {sizes:?} are those of no array: {error}"))
    })
}

/// A tensor's elements where they are, as a view.
///
/// # Errors
/// A tensor of another type, or one whose memory the host does not reach; sizes that are those of no array.
///
/// # Safety
/// While the view is there, nobody writes to the tensor's memory, through no handle and no view of it, and nobody gives
/// the tensor other memory. Of truth values, every byte is 0 or 1.
///
/// PyTorch: `Tensor.numpy`.
pub unsafe fn view<T: Element>(tensor: &Tensor) -> Result<ArrayViewD<'_, T>> {
    let unsigned = |values: &[i64]| -> Vec<usize> { values.iter().map(|value| *value as usize).collect() };
    let (sizes, strides) = (unsigned(tensor.sizes()), unsigned(tensor.strides()));
    let data = tensor.data_ptr::<T>()?;
    let places = sizes.iter().try_fold(1usize, |count, size| count.checked_mul((*size).max(1)));
    ensure!(
        places.is_some_and(|count| count <= isize::MAX as usize),
        Shape,
        "sizes {sizes:?} have more places than a view counts"
    );
    let shape = IxDyn(&sizes).strides(IxDyn(&strides));
    // SAFETY: the geometry stays within the tensor's memory, which is aligned for `T` and lives as long as the tensor; by
    // contract nobody writes to it.
    Ok(unsafe { ArrayViewD::from_shape_ptr(shape, data.cast_const()) })
}

#[cfg(test)]
mod tests {
    use ndarray::{array, s};

    use super::*;

    #[test]
    fn arrays_come_in_with_their_strides() -> Result<()> {
        let whole = array![[1, 2, 3], [4, 5, 6]];
        assert_eq!(from_array(whole.clone().reversed_axes())?.to_vec::<i32>()?, [1, 4, 2, 5, 3, 6]);
        let part = whole.clone().slice_move(s![.., 1..]);
        let x = from_array(part)?;
        assert_eq!(
            (x.sizes(), x.strides(), x.to_vec::<i32>()?),
            (&[2, 2][..], &[3, 1][..], vec![2, 3, 5, 6])
        );
        let mut backwards = whole;
        backwards.invert_axis(ndarray::Axis(1));
        assert_eq!(from_array(backwards)?.to_vec::<i32>()?, [3, 2, 1, 6, 5, 4]);
        assert_eq!(from_array(array![[0f32; 0]; 2])?.sizes(), [2, 0]);
        assert_eq!(from_array(ndarray::arr0(1.5))?.sizes(), [0i64; 0]);
        Ok(())
    }

    #[test]
    fn views_see_the_tensors_memory() -> Result<()> {
        let x = Tensor::from([[1.0, 2.0], [3.0, 4.0]]).strided_view(&[2, 2], &[1, 2], 0)?;
        // SAFETY: nobody writes.
        let view = unsafe { view::<f64>(&x) }?;
        assert_eq!(view, array![[1.0, 3.0], [2.0, 4.0]].into_dyn());
        assert!(to_array::<f32>(&x).is_err(), "another type");
        Ok(())
    }
}
