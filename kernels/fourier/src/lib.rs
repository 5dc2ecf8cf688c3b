//! Fourier transforms for [`torch_library`]: the CPU kernels of PyTorch's `fft`, built on the transforms of `rustfft`.
//!
//! The operators are declared in `torch_library_aten`. A program that calls them has to name this crate (`use
//! torch_library_fourier as _;`), or Rust does not link it; `torch_library_kernels` does so.
//!
//! ```
//! use torch_library::prelude::*;
//! use torch_library_aten::aten;
//! use torch_library_fourier as _;
//!
//! let spectrum = aten::fft_rfft::with(&Tensor::from([1.0, 2.0, 3.0])).call()?;
//! let signal = aten::fft_irfft::with(&spectrum).n(3).call()?;
//! assert!(aten::allclose::with(&signal, &Tensor::from([1.0, 2.0, 3.0])).call()?);
//! # Ok::<(), Error>(())
//! ```

use torch_library_aten::aten;
#[cfg(target_arch = "x86_64")]
use torch_library_loops::inlined;
use torch_library_loops::loops;

mod fourier;
