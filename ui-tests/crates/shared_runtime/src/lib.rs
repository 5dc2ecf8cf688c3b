//! The runtime and the operators that a program shares with its plug-ins, as one shared library that all link to.

pub use ops;
pub use torch_library;
