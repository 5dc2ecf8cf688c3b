//! The tests of exported programs, in one binary: each would link all kernels.

mod archives;
mod hostile;
