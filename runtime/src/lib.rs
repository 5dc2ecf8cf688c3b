//! PyTorch's operator registration and dispatcher, in Rust.
//!
//! The modules are listed bottom-up: each uses only those above it.

mod error;
pub mod guard;
mod key;

mod dtype;
mod scalar;

mod device;
mod layout;

mod generator;
mod tensor;

pub mod table;

mod argument;
mod value;

mod kernel;
mod operator;

mod autograd;
mod signature;

mod collect;
mod registry;
pub mod trace;

#[doc(hidden)]
#[path = "private.rs"]
pub mod __private;
pub mod prelude;

pub use device::{Device, DeviceType};
pub use dtype::{DType, Element, Operand, can_cast, element, promote_types, result_type};
pub use error::{Error, ErrorKind, Result};
pub use generator::Generator;
pub use key::{
    BackendComponent, DispatchKey, DispatchKeyCategory, DispatchKeySet, DispatchKeySetIter, NUM_RUNTIME_KEYS,
    register_backend_name,
};
pub use layout::{Layout, MemoryFormat};
pub use scalar::Scalar;
pub use tensor::{Overlap, Storage, StorageImpl, Tensor, WeakTensor, geometry};

pub use kernel::BoxedFn;
pub use operator::{OperatorHandle, Place};
pub use registry::{
    CallInfo, Conflict, Dispatcher, Fate, KernelInfo, Layer, Library, LibraryKind, OperatorInfo,
    RegistrationInfo, RowInfo, RuntimeKernel, TableInfo, Violation, init,
};
#[doc(hidden)]
pub use torch_library_macros::declare_library;
pub use torch_library_macros::{torch_fallback, torch_impl};
pub use value::{FromReturn, FromValue, IntoValue, Stack, Value};

/// Declares the operators of a namespace.
#[macro_export]
macro_rules! torch_library {
    () => {
        ::core::compile_error! { "expected `mod NAME { … }`: the namespace that the operators belong to" }
    };
    ($($tokens:tt)*) => {
        $crate::declare_library! { [$crate] $($tokens)* }
    };
}
