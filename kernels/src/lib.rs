//! PyTorch's operators for [`torch_library`]: the namespace [`aten`](mod@aten), and its kernels for the CPU.
//!
//! ```
//! use torch_library::prelude::*;
//! use torch_library_kernels::aten;
//! use torch_library_kernels::prelude::*;
//!
//! let x = Tensor::from([[1.0, -2.0], [3.0, -4.0]]);
//! let y = aten::add_Tensor(&x, &x)?; // as a function …
//! assert_eq!(y.relu()?.mul(0.5)?.to_vec::<f64>()?, [1.0, 0.0, 3.0, 0.0]); // … or as a method
//! # Ok::<(), Error>(())
//! ```
//!
//! A crate that names nothing from here has to say `use torch_library_kernels as _;`, or the linker leaves it out.
//!
//! The [guide] shows how to write [kernels with loops](guide::kernels), and how to give an operator
//! [its layers](guide::layers); it continues that of [`torch_library`]. [`families`] has a page for each family of
//! operators. To know everything about one, read the files of its name: `ops/binary.rs` declares, `cpu/binary.rs`
//! computes, `composite/binary.rs` builds on other operators.
//!
//! # Environment
//!
//! | variable | value | |
//! |---|---|---|
//! | `ATEN_CPU_CAPABILITY` | `default` | kernels take no vectors wider than those that every processor of the kind has |
//! | | `avx2` | vectors of AVX2 with FMA, where the processor has them |
//! | | `avx512` | those of AVX-512 too, which is so without the variable |
//!
//! It is read once, when the first kernel asks. With `default`, results are those of a processor without AVX2, and
//! ThreadSanitizer sees what loops read and write, as it does not with wide vectors. Libraries below (`faer`,
//! `gemm`, `rustfft`) choose for themselves.
//!
//! PyTorch: `ATEN_CPU_CAPABILITY`, with the same values.

#[doc(inline)]
pub use torch_library_aten::{aten, autocast, data, methods, prelude, random, vmap};
#[doc(inline)]
pub use torch_library_loops as loops;
pub use torch_library_loops::match_computing;
#[cfg(feature = "safetensors")]
#[doc(inline)]
pub use torch_library_nn::checkpoint;
#[doc(inline)]
pub use torch_library_nn::{init, loader, optim};

// The CPU kernels of the families that are crates of their own.
use torch_library_fourier as _;
use torch_library_linalg as _;

pub mod families;
pub mod guide;
