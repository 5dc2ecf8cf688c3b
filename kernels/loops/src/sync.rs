//! The atomics of the files that `runtime/loom` compiles with loom's atomics, to test every interleaving.

pub(crate) use std::sync::atomic::{AtomicUsize, Ordering};
