//! Reads and writes files of named tensors in the safetensors format.
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

use safetensors::Dtype;
use safetensors::tensor::TensorView;
use torch_library::prelude::*;

#[doc(hidden)]
pub mod header;

/// The name of the entry of a header that is not a tensor.
const METADATA: &str = "__metadata__";

/// The dtypes that the format has.
const TYPES: [(DType, Dtype); 19] = [
    (DType::Bool, Dtype::BOOL),
    (DType::UInt8, Dtype::U8),
    (DType::Int8, Dtype::I8),
    (DType::Int16, Dtype::I16),
    (DType::Int32, Dtype::I32),
    (DType::Int64, Dtype::I64),
    (DType::UInt16, Dtype::U16),
    (DType::UInt32, Dtype::U32),
    (DType::UInt64, Dtype::U64),
    (DType::Float8E5M2, Dtype::F8_E5M2),
    (DType::Float8E4M3Fn, Dtype::F8_E4M3),
    (DType::Float8E5M2Fnuz, Dtype::F8_E5M2FNUZ),
    (DType::Float8E4M3Fnuz, Dtype::F8_E4M3FNUZ),
    (DType::Float8E8M0Fnu, Dtype::F8_E8M0),
    (DType::Float16, Dtype::F16),
    (DType::BFloat16, Dtype::BF16),
    (DType::Float32, Dtype::F32),
    (DType::Float64, Dtype::F64),
    (DType::Complex64, Dtype::C64),
];

/// Serialises named tensors.
///
/// # Errors
/// A dtype that the format lacks, memory that the host cannot access.
pub fn to_bytes(tensors: &BTreeMap<String, Tensor>) -> Result<Vec<u8>> {
    to_bytes_with(tensors, &[])
}

/// [`to_bytes`] with metadata: named texts for the reader of the file, which keep their order.
#[doc(hidden)]
pub fn to_bytes_with(tensors: &BTreeMap<String, Tensor>, metadata: &[(&str, &str)]) -> Result<Vec<u8>> {
    let mut elements = Vec::with_capacity(tensors.len());
    for (name, tensor) in tensors {
        ensure!(
            name != METADATA,
            Argument,
            "no tensor can have the name {METADATA:?}, which is that of the metadata"
        );
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
    // The format's own writer puts metadata in an order that changes from run to run.
    header::with_metadata(&safetensors::serialize(views, None).map_err(failed)?, metadata)
}

/// Parses the named tensors of a file.
///
/// It takes memory in proportion to the file, whatever the header claims.
///
/// # Errors
/// Input that is not such a file: one that is too short or too long, or whose tensors leave gaps, overlap, do not match
/// their sizes or share a name; a dtype that is not supported; too many dimensions.
pub fn from_bytes(file: &[u8]) -> Result<BTreeMap<String, Tensor>> {
    let file = header::parse(file)?;
    let mut tensors = BTreeMap::new();
    for (name, view) in file.tensors() {
        let Some((dtype, _)) = TYPES.iter().find(|(_, theirs)| *theirs == view.dtype()) else {
            bail!(
                NotSupported,
                "tensor {:?} is of {:?}, which is not supported",
                super::shortened(&name),
                view.dtype()
            )
        };
        let sizes = view.shape().iter().map(|size| Ok(i64::try_from(*size)?)).collect::<Result<Vec<_>>>();
        let tensor = sizes.and_then(|sizes| super::from_bytes(*dtype, &sizes, view.data()));
        let tensor = tensor.map_err(|error| error.context(super::shortened(&name)))?;
        tensors.insert(name, tensor);
    }
    Ok(tensors)
}

fn failed(error: safetensors::SafeTensorError) -> Error {
    Error::new(ErrorKind::Argument, format!("safetensors: {error}"))
}
