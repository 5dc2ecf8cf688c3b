//! The atomics of the files that `runtime/loom` compiles against its own, which try every interleaving.

pub(crate) use std::sync::atomic::{AtomicUsize, Ordering};
