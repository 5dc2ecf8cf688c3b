//! Numbers that the kernels compute with, and tensors as vectors of them.

use num_traits::Float;
use torch_library::Element;
use torch_library::prelude::*;
use torch_library_aten::aten;

/// `f32` or `f64`.
pub(crate) trait Real: Element + Float {}

impl Real for f32 {}
impl Real for f64 {}

/// An `f64` in the precision of the kernel.
pub(crate) fn real<T: Real>(number: f64) -> T {
    T::from(number).unwrap_or_else(T::nan)
}

/// The elements of a floating-point tensor in row-major order, converted to `T`.
pub(crate) fn elements<T: Real>(tensor: &Tensor) -> Result<Vec<T>> {
    aten::to_dtype(tensor, T::DTYPE)?.to_vec()
}

/// A result that was computed in `T`, as a tensor of the caller's type.
pub(crate) fn tensor<T: Real>(elements: Vec<T>, sizes: &[i64], dtype: DType) -> Result<Tensor> {
    aten::to_dtype(&Tensor::from_vec(elements, sizes)?, dtype)
}

/// Labels or lengths.
///
/// # Errors
/// They are no integers.
pub(crate) fn integers(name: &str, tensor: &Tensor) -> Result<Vec<i64>> {
    ensure!(
        matches!(tensor.dtype(), DType::Int32 | DType::Int64),
        DType,
        "`{name}` is of {}, expected int32 or int64",
        tensor.dtype()
    );
    aten::to_dtype(tensor, DType::Int64)?.to_vec()
}

/// Labels, each of which is one of `count`.
///
/// # Errors
/// They are no integers, or out of range.
pub(crate) fn labels(name: &str, tensor: &Tensor, count: usize) -> Result<Vec<usize>> {
    integers(name, tensor)?.into_iter().map(|label| self::label(name, label, count)).collect()
}

/// A label, which is one of `count`.
///
/// # Errors
/// It is out of range.
pub(crate) fn label(name: &str, label: i64, count: usize) -> Result<usize> {
    match usize::try_from(label) {
        Ok(label) if label < count => Ok(label),
        _ => bail!(Argument, "`{name}` has the label {label}, expected one of {count}"),
    }
}

/// Checks the number of dimensions, and returns the sizes.
///
/// # Errors
/// There are more or fewer.
pub(crate) fn sizes<const N: usize>(name: &str, tensor: &Tensor) -> Result<[usize; N]> {
    let found: std::result::Result<[i64; N], _> = tensor.sizes().try_into();
    match found {
        Ok(sizes) => Ok(sizes.map(|size| size.unsigned_abs() as usize)),
        Err(_) => bail!(Shape, "`{name}` has sizes {:?}, expected {N} dimensions", tensor.sizes()),
    }
}
