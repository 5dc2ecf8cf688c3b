//! The continuation of the guide: pages that need PyTorch's operators, with programs that run.
//!
//! | to … | read |
//! |---|---|
//! | write a kernel with the loops of `torch-library-loops` | [kernels with loops](kernels) |
//! | give an operator a derivative, a batching rule, a cast under autocast | [layers] |
//! | add an operator to `aten` | [adding an operator](add_an_operator) |
//! | save tensors and load them again | [saving and loading](saving) |
//! | link only the operators that a program calls | [small programs](selective) |
//!
//! The [guide of `torch-library`][first] begins with a first library, and has the reference of the macros.
//! [`families`](crate::families) has a page for each family of operators.
//!
//! [first]: https://docs.rs/torch-library/latest/torch_library/guide/index.html

#[doc = include_str!("../docs/guide/kernels.md")]
pub mod kernels {}

#[doc = include_str!("../docs/guide/layers.md")]
pub mod layers {}

#[doc = include_str!("../docs/guide/add_an_operator.md")]
pub mod add_an_operator {}

#[doc = include_str!("../docs/guide/saving.md")]
pub mod saving {}

#[doc = include_str!("../docs/guide/selective.md")]
pub mod selective {}
