//! Parts of kernels by themselves. As tests of the library they would have all of it compiled a second time.

#[cfg(all(target_arch = "x86_64", target_os = "linux"))]
mod amx;
#[cfg(feature = "ndarray")]
mod arrays;
#[cfg(target_arch = "x86_64")]
mod blocks;
#[cfg(all(target_arch = "x86_64", target_os = "linux"))]
mod emulator;
mod integers;
mod kept;
#[cfg(all(target_arch = "x86_64", target_os = "linux"))]
mod pairs;
mod places;
mod real;
