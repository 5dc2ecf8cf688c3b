//! Programs that PyTorch exported, run by the dispatcher: no Python, no PyTorch.
//!
//! `torch.export` writes a model as an archive, a `.pt2` file: a graph of operators with weights. [`Program::load`]
//! reads one, and [`Program::run`] calls the operators in turn, each through the dispatcher's boxed face. So whatever
//! is registered applies to the model: kernels of any crate and of any backend, autograd, autocast, `vmap`, observers,
//! the trace.
//!
//! This crate declares no operator and has no kernel. A program links those that its models need,
//! `torch-library-kernels` for those of `aten`; [`Program::problems`] says which are missing, before anything runs.
//!
//! ```
//! use torch_library::{Tensor, guard};
//! use torch_library_export::Program;
//! use torch_library_kernels as _; // the operators
//!
//! # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/models/digits.pt2");
//! let program = Program::load(path)?; // "examples/models/digits.pt2"
//! assert_eq!(program.inputs()[0].to_string(), "images: float32[s34 (1 to 1024), 1, 8, 8]");
//!
//! let images = Tensor::full(&[2, 1, 8, 8], 3.0, torch_library::DType::Float32, torch_library::Device::CPU)?;
//! let classes = guard::inference_mode(|| program.run(&[images]))?;
//! assert_eq!(classes[0].sizes(), [2, 10]);
//! # Ok::<(), torch_library::Error>(())
//! ```
//!
//! [From PyTorch to here](guide) is the page with the other side, what is supported, and what is not.
//!
//! PyTorch: `torch.export.load`, `ExportedProgram.module()`.

mod archive;
mod conditions;
mod expression;
mod kinds;
mod listing;
mod memory;
mod number;
mod operand;
mod plan;
mod profile;
mod program;
mod region;
mod run;
mod signature;
mod tree;
mod weights;
mod wire;
mod zip;

#[doc = include_str!("../docs/from_pytorch.md")]
pub mod guide {}

pub use plan::Problem;
pub use profile::{Profile, Row};
pub use program::{Loader, Program};
pub use signature::{Input, Kind, Output, Role, Size, Weight, WeightKind};
pub use tree::Tree;

/// The beginning of a text from a file, for messages.
fn shortened(text: &str) -> &str {
    text.char_indices().nth(120).map_or(text, |(end, _)| &text[..end])
}
