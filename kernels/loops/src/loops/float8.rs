//! Floats of eight bits: few operators compute with them, so that no loop is compiled for them. Loops over `f32` load
//! and store them, and loops that only move elements see their bytes.

use torch_library::{DType, Result, Tensor, ensure};

/// A view of the bytes of floats of eight bits, for kernels that move elements.
///
/// # Errors
/// Elements of another size.
#[track_caller]
pub fn as_bytes(tensor: &Tensor) -> Result<Tensor> {
    ensure!(tensor.dtype().size() == 1, Internal, "{} as bytes", tensor.dtype());
    let (storage, geometry) = (tensor.storage().clone(), tensor.geometry());
    let (sizes, strides) = (geometry.sizes(), geometry.strides());
    Tensor::from_storage(storage, sizes, strides, geometry.offset(), DType::UInt8, tensor.key_set())
}
