//! Files of named tensors in the safetensors format.
//!
//! ```
//! use std::collections::BTreeMap;
//!
//! use torch_library::prelude::*;
//! use torch_library_kernels::data::safetensors;
//!
//! let weights = BTreeMap::from([("bias".to_owned(), Tensor::from([1.0f32, 2.0]))]);
//! let file = safetensors::to_bytes(&weights)?;
//! let loaded = safetensors::from_bytes(&file)?;
//! assert_eq!(loaded["bias"].to_vec::<f32>()?, [1.0, 2.0]);
//! # Ok::<(), Error>(())
//! ```

use std::collections::BTreeMap;

use safetensors::tensor::TensorView;
use safetensors::{Dtype, SafeTensors};
use torch_library::prelude::*;

/// The types that the format has.
const TYPES: [(DType, Dtype); 13] = [
    (DType::Bool, Dtype::BOOL),
    (DType::UInt8, Dtype::U8),
    (DType::Int8, Dtype::I8),
    (DType::Int16, Dtype::I16),
    (DType::Int32, Dtype::I32),
    (DType::Int64, Dtype::I64),
    (DType::UInt16, Dtype::U16),
    (DType::UInt32, Dtype::U32),
    (DType::UInt64, Dtype::U64),
    (DType::Float16, Dtype::F16),
    (DType::BFloat16, Dtype::BF16),
    (DType::Float32, Dtype::F32),
    (DType::Float64, Dtype::F64),
];

/// Named tensors as a file.
///
/// # Errors
/// A type that the format has not, memory that the host does not reach.
pub fn to_bytes(tensors: &BTreeMap<String, Tensor>) -> Result<Vec<u8>> {
    let mut elements = Vec::with_capacity(tensors.len());
    for (name, tensor) in tensors {
        let Some((_, dtype)) = TYPES.iter().find(|(ours, _)| *ours == tensor.dtype()) else {
            bail!(
                DType,
                "tensor {name:?}: safetensors has no {}, convert to another type first",
                tensor.dtype()
            )
        };
        let sizes: Vec<usize> = tensor.sizes().iter().map(|size| *size as usize).collect();
        elements.push((name, *dtype, sizes, super::bytes(tensor)?));
    }
    let mut views = Vec::with_capacity(elements.len());
    for (name, dtype, sizes, bytes) in &elements {
        views.push((name.as_str(), TensorView::new(*dtype, sizes.clone(), bytes).map_err(failed)?));
    }
    safetensors::serialize(views, None).map_err(failed)
}

/// The named tensors of a file.
///
/// # Errors
/// What is no such file, a type that is not supported.
pub fn from_bytes(file: &[u8]) -> Result<BTreeMap<String, Tensor>> {
    let file = SafeTensors::deserialize(file).map_err(failed)?;
    let mut tensors = BTreeMap::new();
    for (name, view) in file.tensors() {
        let Some((dtype, _)) = TYPES.iter().find(|(_, theirs)| *theirs == view.dtype()) else {
            bail!(NotSupported, "tensor {name:?} is of {:?}, which is not supported", view.dtype())
        };
        let sizes: Vec<i64> = view.shape().iter().map(|size| *size as i64).collect();
        let tensor = super::from_bytes(*dtype, &sizes, view.data());
        tensors.insert(name.clone(), tensor.map_err(|error| error.context(name))?);
    }
    Ok(tensors)
}

fn failed(error: safetensors::SafeTensorError) -> Error {
    Error::new(ErrorKind::Argument, format!("safetensors: {error}"))
}
