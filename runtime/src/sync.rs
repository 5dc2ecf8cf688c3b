//! The atomics of the files that `runtime/loom` compiles with loom's atomics instead, to try every interleaving.

pub(crate) use std::sync::atomic::{AtomicPtr, AtomicUsize, Ordering};
