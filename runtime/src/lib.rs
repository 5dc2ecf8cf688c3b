//! PyTorch's operator registration and dispatcher, in Rust.
//!
//! The modules are listed bottom-up: each uses only those above it.

mod error;
mod key;

pub mod guard;

pub use error::{Error, ErrorKind, Result};
pub use key::{
    BackendComponent, Category, DispatchKey, DispatchKeySet, DispatchKeySetIter, NUM_RUNTIME_KEYS,
    register_backend_name,
};
