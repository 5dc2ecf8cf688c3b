//! The namespace [`aten`](mod@aten) for [`torch_library`]: all declarations, composite kernels, derivatives, autocast
//! policies and batching rules, and the CPU kernels of the families that most programs call.
//!
//! The CPU kernels of the other families are in separate crates, which a program names as dependencies if it needs
//! them:
//!
//! | crate | families |
//! |---|---|
//! | `torch_library_nn` | convolutions, pooling, interpolation, normalisation, losses, optimisers, recurrent networks |
//! | `torch_library_linalg` | linear systems, factorisations and spectra of matrices |
//! | `torch_library_fourier` | Fourier transforms |
//!
//! `torch_library_kernels` contains all of them. Calling an operator whose kernels are not linked is an error that
//! names the crate.
//!
//! ```
//! use torch_library::prelude::*;
//! use torch_library_aten::aten;
//! use torch_library_aten::prelude::*;
//!
//! let x = Tensor::from([[1.0, -2.0], [3.0, -4.0]]);
//! let y = aten::add_Tensor(&x, &x)?; // as a function …
//! assert_eq!(y.relu()?.mul(0.5)?.to_vec::<f64>()?, [1.0, 0.0, 3.0, 0.0]); // … or as a method
//! # Ok::<(), Error>(())
//! ```
//!
//! # What is hidden
//!
//! The modules that the documentation does not show are for the crates of the other families, which have the same
//! version as this one. They are not a public interface: they change without notice.

use torch_library_loops::{functions, inlined, loops, number, vector};

/// PyTorch's operators: a function for each overload (`aten::add_Tensor`), and a module of the same name with the rest:
/// `with` for arguments by name, `call` and `redispatch`, and its handle.
///
/// The most common operators are also methods on tensors; see [`methods`].
#[doc(inline)]
pub use ops::aten;

#[doc(hidden)]
pub mod below_autograd;

pub mod random;

mod ops;

#[doc(hidden)]
pub mod arguments;
pub mod methods;
#[doc(hidden)]
pub mod real;

/// The imports of a crate that calls operators as methods: `use torch_library_aten::prelude::*;`
pub mod prelude {
    pub use crate::aten::{
        ActivationMethods, ArrangeMethods, BinaryMethods, BitMethods, BucketizationMethods,
        ConvolutionMethods, CopyMethods, CorrelationMethods, CreateMethods, DistanceMethods, FourierMethods,
        HistogramMethods, Im2ColMethods, IndexMethods, LinalgMethods, LinearMethods, LossMethods,
        MatmulMethods, NormMethods, PaddingMethods, PixelShuffleMethods, PointwiseMethods, PoolingMethods,
        RandomMethods, ReduceMethods, ScanMethods, ScatterMethods, SoftmaxMethods, SortingMethods,
        SpecialMethods, UnaryMethods, UniqueMethods, UpsampleMethods, VariantMethods, ViewMethods,
    };
    pub use crate::methods::{DeviceOrDType, TensorMethods, TensorOrScalar};
}

#[doc(hidden)]
pub mod composite;
#[doc(hidden)]
pub mod cpu;

#[doc(hidden)]
pub mod autograd;

pub mod autocast;
mod functionalize;
pub mod vmap;

pub mod data;
