//! Tensors as vectors of `f32` or `f64`, for kernels that compute element by element in one of them.

use num_traits::Float;
use torch_library::Element;
use torch_library::prelude::*;

use crate::aten;

/// `f32` or `f64`.
pub trait Real: Element + Float {}

impl Real for f32 {}
impl Real for f64 {}

/// An `f64` in the precision of the kernel.
pub fn real<T: Real>(number: f64) -> T {
    T::from(number).unwrap_or_else(T::nan)
}

/// The elements of a tensor in row-major order, converted to `T`.
pub fn elements<T: Real>(tensor: &Tensor) -> Result<Vec<T>> {
    aten::to_dtype(tensor, T::DTYPE)?.to_vec()
}

/// A result that was computed in `T`, as a tensor of the caller's type.
pub fn tensor<T: Real>(elements: Vec<T>, sizes: &[i64], dtype: DType) -> Result<Tensor> {
    aten::to_dtype(&Tensor::from_vec(elements, sizes)?, dtype)
}
