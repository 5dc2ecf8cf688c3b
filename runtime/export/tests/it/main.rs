//! The tests of exported programs, in one binary, since each binary would link all kernels.

mod amplified;
mod archives;
mod fake;
mod hostile;
mod runs;
