//! PyTorch's operator registration and dispatcher, in Rust.
//!
//! The modules are listed bottom-up: each uses only those above it.

mod error;
mod key;

mod dtype;
mod scalar;

mod device;
mod layout;

mod generator;
mod tensor;

pub mod guard;
pub mod table;

pub use device::{Device, DeviceType};
pub use dtype::{DType, Element, Operand, can_cast, element, promote_types, result_type};
pub use error::{Error, ErrorKind, Result};
pub use generator::Generator;
pub use key::{
    BackendComponent, Category, DispatchKey, DispatchKeySet, DispatchKeySetIter, NUM_RUNTIME_KEYS,
    register_backend_name,
};
pub use layout::{Layout, MemoryFormat};
pub use scalar::Scalar;
pub use tensor::{Overlap, Storage, StorageImpl, Tensor, WeakTensor, geometry};
