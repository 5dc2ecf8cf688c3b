//! The guide: from a first library to a backend, with programs that run.
//!
//! | to … | read |
//! |---|---|
//! | declare operators, register kernels, call them | [first library](first_library) |
//! | add layers above a kernel: keys, redispatch, guards, fallbacks | [layers] |
//! | write a backend for a device with memory of its own | [backend] |
//! | find out why a call goes to a kernel | [debugging] |
//! | port an extension from C++ | [from C++ to Rust](from_cpp) |
//! | know which code may read and write elements, on which thread | [memory and threads](memory) |
//! | look up what the macros accept | [reference of the macros](macros) |
//!
//! Pages that need PyTorch's operators are in the [guide of `torch-library-kernels`][kernels]: kernels with loops;
//! derivatives, batching rules and autocast for your own operator; adding an operator to `aten`.
//!
//! [kernels]: https://docs.rs/torch-library-kernels/latest/torch_library_kernels/guide/index.html

#[doc = include_str!("../docs/guide/first_library.md")]
pub mod first_library {}

#[doc = include_str!("../docs/guide/layers.md")]
pub mod layers {}

#[doc = include_str!("../docs/guide/backend.md")]
pub mod backend {}

#[doc = include_str!("../docs/guide/debugging.md")]
pub mod debugging {}

#[doc = include_str!("../docs/guide/from_cpp.md")]
pub mod from_cpp {}

#[doc = include_str!("../docs/guide/memory.md")]
pub mod memory {}

#[doc = include_str!("../docs/guide/macros.md")]
pub mod macros {}
