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
//! A crate that names nothing from this one has to say `use torch_library_kernels as _;`, or Rust does not link it.
//!
//! The [guide] shows how to write [kernels with loops](guide::kernels), and how to give an operator [its
//! layers](guide::layers); it continues the guide of [`torch_library`]. [`families`] has a page for each family of
//! operators. To know everything about a family, read the files with its name in `torch-library-aten`, or in the crate
//! that has its kernels: `ops/binary.rs` declares its operators, `cpu/binary.rs` computes them, and
//! `composite/binary.rs` has those that are built on other operators.
//!
//! # Features
//!
//! | feature | what it does |
//! |---|---|
//! | `safetensors` | adds the modules `checkpoint` and `data::safetensors`, to [save and load tensors](guide::saving) |
//! | `ndarray` | adds the module `data::ndarray`, to convert between tensors and arrays of that crate |
//! | `selective` | links only the operators that a program [reaches](guide::selective) |
//! | `inference` | `selective`, and leaves out the [layers](guide::selective#for-inference-alone), such as derivatives |
//!
//! # Environment
//!
//! | variable | value | |
//! |---|---|---|
//! | `ATEN_CPU_CAPABILITY` | `default` | kernels use only the vector instructions that every processor of the architecture has |
//! | | `avx2` | also AVX2 with FMA, where the processor has them |
//! | | `avx512` | also AVX-512, where the processor has it; this is the default |
//!
//! It is read once, when the first kernel needs it. With `default`, results are those of a processor without AVX2, and
//! ThreadSanitizer sees the reads and writes of loops, which it does not with wide vectors. The libraries
//! that some kernels are built on (`faer`, `gemm`, `rustfft`) choose their instructions themselves.
//!
//! PyTorch: `ATEN_CPU_CAPABILITY`, with the same values.

#[doc(inline)]
pub use torch_library_aten::{aten, autocast, data, methods, prelude, random, vmap};
#[doc(inline)]
pub use torch_library_loops as loops;
pub use torch_library_loops::match_opmath;
#[cfg(feature = "safetensors")]
#[doc(inline)]
pub use torch_library_nn::checkpoint;
#[doc(inline)]
pub use torch_library_nn::{init, loader, optim, torch_nn};

// The CPU kernels of the families that are crates of their own.
use torch_library_fourier as _;
use torch_library_linalg as _;

pub mod families;
pub mod guide;
