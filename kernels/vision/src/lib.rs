//! Torchvision's operators for [`torch_library`]: the namespace [`torchvision`](mod@torchvision), with kernels for the
//! CPU, sizes for `Meta`, and derivatives.
//!
//! Detection models that `torch.export` wrote call them; a program that runs such a model needs `use
//! torch_library_vision as _;`.
//!
//! ```
//! use torch_library::prelude::*;
//! use torch_library_vision::torchvision;
//!
//! let boxes = Tensor::from([[0f32, 0.0, 10.0, 10.0], [1.0, 1.0, 11.0, 11.0], [20.0, 20.0, 30.0, 30.0]]);
//! let scores = Tensor::from([0.8f32, 0.9, 0.5]);
//! // The first box is mostly inside of the second, which has a higher score.
//! assert_eq!(torchvision::nms(&boxes, &scores, 0.5)?.to_vec::<i64>()?, [1, 2]);
//! # Ok::<(), Error>(())
//! ```
//!
//! Inputs are `float32` or `float64`; 16-bit floats are computed in `float32`, where boxes and images must have one type
//! except for `nms` and `roi_align` under autocast. A box with the index of an image that is not in the batch is an
//! error, where torchvision reads past the end of the batch.
//!
//! PyTorch: `torch.ops.torchvision`, `torchvision.ops`.

// The modules are listed bottom-up: each uses only those above it.

mod bilinear;
mod ops;
mod parts;

mod deform;
mod linear;
mod nms;
mod regions;

mod pooling;

mod autocast;
mod derivatives;
mod meta;

#[doc(inline)]
pub use ops::torchvision;
