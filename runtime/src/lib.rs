//! PyTorch's operator registration and dispatcher, in Rust: an operator is declared once by its schema, kernels for it
//! are plain functions in any crate, and each call picks its kernel by the keys of its tensors and of its thread.
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
//! **Start with the [guide]**: [a first library](guide::first_library), [layers](guide::layers), [a
//! backend](guide::backend), [debugging](guide::debugging), [from C++ to Rust](guide::from_cpp), [memory and
//! threads](guide::memory), and the [reference of the macros](guide::macros).
//!
//! | to … | see |
//! |---|---|
//! | declare operators | [`torch_library!`]; from a file in PyTorch's format, [`native_functions!`] |
//! | write kernels, or a fallback for all operators | [`torch_impl`], [`torch_fallback`] |
//! | create tensors, or define storage for a backend | [`Tensor`], [`Storage`] |
//! | support a device: memory, copies, streams, a fallback to the CPU | [`backend`](mod@backend), [`torch_backend!`] |
//! | switch keys on and off for a thread | [`guard`] |
//! | call operators by name, and inspect registrations | [`Dispatcher`], [`OperatorHandle`] |
//! | register at run time | [`Library`] |
//! | load operators and kernels from a shared object | [`plug_in::load`] |
//! | be notified when operators come and go, or wait for one | [`Dispatcher::listen`], [`Dispatcher::wait_for_operator`] |
//! | compute gradients, or write a derivative | [`autograd`], [`derivatives!`] |
//! | run in lower precision | [`autocast`] |
//! | write a batching rule | [`vmap`] |
//! | compute the sizes, dtypes and devices of a program's tensors without data | [`fake`] |
//! | turn a program that writes in place into one that only computes | [`functionalize`] |
//! | observe every call | [`trace`]; with inputs, outputs, times: [`observe`] |
//! | record the calls of a function as a graph, and run it again | [`tracer`] |
//! | receive warnings, or silence them | [`warning`] |
//! | find out why a call goes to a kernel | [`Dispatcher::explain`] |
//! | test an operator against its own schema | [`opcheck`](mod@opcheck) |
//! | check at the start that all registrations are consistent | [`init`] |
//! | know which code may read and write elements, on which thread | [memory and threads](guide::memory) |
//! | look up the limits | [`limits`] |
//!
//! Rust does not link a dependency that no line of source names: where only a crate's kernels are needed, write `use
//! that_crate as _;`.
//!
//! This crate declares no operators; PyTorch's are in `torch-library-kernels`. [A first
//! library](guide::first_library#features) lists the features. With `TORCH_SHOW_DISPATCH_TRACE=1` in the environment, a
//! program prints every call.
// The modules are listed bottom-up: each uses only those above it.

#[cfg(test)]
pub extern crate self as torch_library; // the path that the macros use, for unit tests; the prelude exports it

mod panics;
mod program;
mod sync;
mod text;
mod turn;

mod dropping;
mod error;
pub mod limits;

mod key;

pub mod guard;
mod recursion;
pub mod warning;

mod dtype;
mod scalar;

mod device;
mod layout;

mod generator;
mod tensor;

mod output;

pub mod table;

mod value;

mod argument;

mod operator;

mod signature;

mod infer;

mod collect;
mod macros;
mod registry;
mod typed;

#[cfg(target_os = "linux")]
pub mod plug_in;

pub mod backend;

pub mod observe;
pub mod trace;

pub mod autograd;

pub mod autocast;
mod native;
mod std_ops;

pub mod dispatch_mode;
pub mod fake;
pub mod functionalize;
mod lazy_bits;
pub mod tracer;
pub mod vmap;

mod layers;

pub mod opcheck;

#[doc(hidden)]
#[path = "private.rs"]
pub mod __private;
pub mod guide;
pub mod prelude;

pub use argument::IntoOptional;
#[doc(hidden)]
pub use argument::TheCommonNameOfOverloads;
pub use device::{Device, DeviceType};
pub use dtype::{DType, Element, Operand, can_cast, element, promote_types, result_type};
pub use error::{Error, ErrorKind, Result};
pub use generator::{Generator, Words};
pub use infer::{Inferred, infer_schema};
pub use key::{
    BackendComponent, DispatchKey, DispatchKeyCategory, DispatchKeySet, DispatchKeySetIter, NUM_RUNTIME_KEYS,
    register_backend_name,
};
pub use layout::{Layout, MemoryFormat};
pub use scalar::Scalar;
pub use tensor::{
    BackendRef, Elements, ElementsMut, Foreign, ForeignTensor, Lease, Leased, ListLease, Overlap, OwnedLease,
    Storage, StorageBytes, StorageBytesMut, StorageImpl, StorageRef, Tensor, WeakTensor, geometry,
};

#[doc(hidden)]
pub use macros::{declare_derivatives, declare_library, declare_native_functions};
pub use macros::{torch_fallback, torch_impl};
pub use native::NativeFunction;
#[doc(hidden)] // rustc's messages name it where a kernel is registered for something else
pub use operator::Operator;
pub use operator::kernel::BoxedFn;
pub use operator::{EntryFunction, EntryPoint, OperatorHandle, Place, Receiver, SourceModule};
pub use output::Output;
pub use registry::{
    CallInfo, Conflict, Dispatcher, Fate, KernelInfo, Layer, Library, LibraryKind, ListenerHandle,
    OperatorInfo, RegistrationEvent, RegistrationInfo, RowInfo, RuntimeKernel, TableInfo, Violation, init,
};
pub use typed::TypedOperatorHandle;
pub use value::{FromReturn, FromValue, IntoValue, Stack, Value};

/// The schema language: what [`OperatorHandle::schema`] returns is made of these types.
///
/// ```
/// use torch_library::prelude::*;
/// use torch_library::schema::{Argument, Schema, Type};
///
/// torch_library! {
///     pub mod turning {
///         rotate(Tensor self, *, float angle, str? unit=None) -> Tensor;
///     }
/// }
///
/// fn by_name(schema: &Schema) -> impl Iterator<Item = &Argument> {
///     schema.arguments.iter().filter(|argument| argument.kwarg_only)
/// }
///
/// # fn main() -> Result<()> {
/// let schema = turning::rotate::handle().schema()?;
/// assert_eq!(by_name(schema).map(|argument| &*argument.name).collect::<Vec<_>>(), ["angle", "unit"]);
/// assert_eq!(schema.arguments[1].ty, Type::Float);
/// # Ok(())
/// # }
/// ```
///
/// PyTorch: `c10::FunctionSchema`.
pub use torch_library_schema as schema;
