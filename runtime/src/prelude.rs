//! The imports of a crate that declares operators or writes kernels: `use torch_library::prelude::*;`

pub use crate::element::{Complex64, bf16, f16};
pub use crate::{
    DType, Device, DeviceType, DispatchKey, DispatchKeySet, Error, ErrorKind, Generator, Layout,
    MemoryFormat, OperatorHandle, Output, Result, Scalar, Stack, Tensor, Value, bail, derivatives, ensure,
    match_dtype, torch_fallback, torch_impl, torch_library,
};
