//! Tests of parts of kernels; as unit tests of the library they would make cargo compile all of it twice.

#[cfg(all(target_arch = "x86_64", target_os = "linux"))]
mod amx;
#[cfg(feature = "ndarray")]
mod arrays;
mod bits;
#[cfg(target_arch = "x86_64")]
mod blocks;
#[cfg(all(target_arch = "x86_64", target_os = "linux"))]
mod emulator;
#[cfg(target_arch = "x86_64")]
mod halves;
mod integers;
mod kept;
#[cfg(all(target_arch = "x86_64", target_os = "linux"))]
mod pairs;
mod ranks;
mod real;
