//! PyTorch's operator registration and dispatcher, in Rust.
//!
//! The modules are listed bottom-up: each uses only those above it.

mod error;

pub use error::{Error, ErrorKind, Result};
