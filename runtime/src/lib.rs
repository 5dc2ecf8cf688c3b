//! PyTorch's operator registration and dispatcher, in Rust: an operator is declared once by its schema, kernels for it are
//! plain functions in any crate, and each call picks its kernel by the keys of its tensors and of its thread.
//!
//! ```
//! use torch_library::prelude::*;
//!
//! torch_library! {
//!     /// Operators of my library.
//!     pub mod myops {
//!         /// Adds two tensors of the same shape.
//!         myadd(Tensor self, Tensor other) -> Tensor;
//!     }
//! }
//!
//! #[torch_impl(myops, CPU)]
//! fn myadd(this: &Tensor, other: &Tensor) -> Result<Tensor> {
//!     ensure!(this.sizes() == other.sizes(), Shape, "sizes {:?} and {:?} differ", this.sizes(), other.sizes());
//!     let (this_values, other_values) = (this.to_vec::<f64>()?, other.to_vec::<f64>()?);
//!     Tensor::from_vec(this_values.iter().zip(&other_values).map(|(a, b)| a + b).collect(), this.sizes())
//! }
//!
//! fn main() -> Result<()> {
//!     let x = Tensor::from([1.0, 2.0]);
//!     assert_eq!(myops::myadd(&x, &x)?.to_vec::<f64>()?, [2.0, 4.0]);
//!     Ok(())
//! }
//! ```
//!
//! | to … | see |
//! |---|---|
//! | declare operators | [`torch_library!`]; by a file in PyTorch's format, [`native_functions!`] |
//! | write kernels, or a fallback for all operators | [`torch_impl`], [`torch_fallback`] |
//! | make tensors, or a backend with its own memory | [`Tensor`], [`Storage`] |
//! | switch keys on and off for a thread | [`guard`] |
//! | call by name, and ask what is registered | [`Dispatcher`], [`OperatorHandle`] |
//! | register at run time | [`Library`] |
//! | hear which operators come and go, or wait for one | [`Dispatcher::listen`], [`Dispatcher::wait_for_operator`] |
//! | ask for gradients, or say a derivative | [`autograd`], [`derivatives!`] |
//! | run in lower precision | [`autocast`] |
//! | write a batching rule | [`vmap`] |
//! | know what a program would make, without running it | [`fake`] |
//! | turn a program that writes in place into one that only computes | [`functionalize`] |
//! | see every call | [`trace`]; with inputs, outputs, times: [`observe`] |
//! | record what a function calls, and run it again | [`tracer`] |
//! | hear warnings, or silence them | [`warning`] |
//! | know why a call goes where it goes | [`Dispatcher::explain`] |
//! | test an operator against its own schema | [`opcheck`](mod@opcheck) |
//! | know at the start whether all registrations fit together | [`init`] |
//!
//! A crate that is linked for its kernels alone, and named nowhere, is left out by the linker; `use that_crate as _;`
//! keeps it.
// The modules are listed bottom-up: each uses only those above it.

#[cfg(test)]
pub extern crate self as torch_library; // the name that the macros use, for unit tests; the prelude exports it

mod sync;

mod error;
pub mod guard;
mod key;
pub mod warning;

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

pub mod autograd;
mod infer;
mod signature;

pub mod autocast;
pub mod vmap;

mod collect;
mod macros;
mod registry;

mod native;

pub mod fake;
pub mod functionalize;
mod lazy_bits;
mod std_ops;

pub mod observe;
pub mod opcheck;
pub mod trace;
pub mod tracer;

#[doc(hidden)]
#[path = "private.rs"]
pub mod __private;
pub mod prelude;

pub use device::{Device, DeviceType};
pub use dtype::{DType, Element, Operand, can_cast, element, promote_types, result_type};
pub use error::{Error, ErrorKind, Result};
pub use generator::Generator;
pub use infer::{Inferred, infer_schema};
pub use key::{
    BackendComponent, DispatchKey, DispatchKeyCategory, DispatchKeySet, DispatchKeySetIter, NUM_RUNTIME_KEYS,
    register_backend_name,
};
pub use layout::{Layout, MemoryFormat};
pub use scalar::Scalar;
pub use tensor::{Overlap, Storage, StorageImpl, Tensor, WeakTensor, geometry};

pub use kernel::BoxedFn;
#[doc(hidden)]
pub use macros::{declare_derivatives, declare_library, declare_native_functions};
pub use macros::{torch_fallback, torch_impl};
pub use native::NativeFunction;
pub use operator::{OperatorHandle, Place, SourceModule, TypedOperatorHandle};
pub use registry::{
    CallInfo, Conflict, Dispatcher, Fate, KernelInfo, Layer, Library, LibraryKind, ListenerHandle,
    OperatorInfo, RegistrationEvent, RegistrationInfo, RowInfo, RuntimeKernel, TableInfo, Violation, init,
};
pub use value::{FromReturn, FromValue, IntoValue, Stack, Value};
