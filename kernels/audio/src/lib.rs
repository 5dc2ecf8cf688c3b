//! Torchaudio's operators for [`torch_library`]: the namespace [`torchaudio`](mod@torchaudio), with kernels for the
//! CPU, sizes for `Meta`, and a derivative.
//!
//! Torchaudio's filters call them (`lfilter`, all biquads, `Deemphasis`, `Loudness`, `overdrive`), so a model that
//! `torch.export` wrote has them. A program that runs such a model needs `use torch_library_audio as _;`.
//!
//! ```
//! use torch_library::prelude::*;
//! use torch_library_audio::torchaudio;
//!
//! // y[t] = x[t] + 0.5 y[t - 1], after one zero.
//! let impulse = Tensor::from([[[1f32, 0.0, 0.0, 0.0]]]);
//! let coefficients = Tensor::from([[-0.5f32, 1.0]]);
//! let mut response = Tensor::zeros(&[1, 1, 5], DType::Float32, Device::CPU)?;
//! torchaudio::_lfilter_core_loop(&impulse, &coefficients, &mut response)?;
//! assert_eq!(response.to_vec::<f32>()?, [0.0, 1.0, 0.5, 0.25, 0.125]);
//! # Ok::<(), Error>(())
//! ```
//!
//! PyTorch: `torch.ops.torchaudio`, `torchaudio.functional`.

// The modules are listed bottom-up: each uses only those above it.

mod labels;
mod ops;

mod alignment;
mod filters;
mod transducer;

mod derivatives;
mod meta;

#[doc(inline)]
pub use ops::torchaudio;
