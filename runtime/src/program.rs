//! How a module calls one that is listed below it: it says in a trait what it needs, and the other implements that for
//! [`Program`].
//!
//! The first call of an operator asks the registry for its table, which is made of operators; the registry asks the
//! layers what they do at their keys. Rust finds the implementation when it compiles, so such a call costs what any
//! other does.

/// This library as a whole. There is no value of it: it has what its modules implement for it.
#[derive(Debug)]
pub enum Program {}
