//! How a module calls one that is listed below it: it declares a trait with what it needs, and the other module
//! implements the trait for [`Program`].
//!
//! For example, the first call of an operator asks the registry for its table, which is made of operators; the registry
//! asks the layers for their kernels. Rust resolves the implementation at compile time, so such a call costs no more
//! than any other.

/// This library as a whole. The type has no values; modules implement traits for it.
#[derive(Debug)]
pub enum Program {}
