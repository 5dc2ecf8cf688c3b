//! Runs programs that PyTorch exported, in the dispatcher, without Python or PyTorch.
//!
//! `torch.export` writes a model as an archive, a `.pt2` file: a graph of operators with weights. [`Program::load`]
//! reads one, and [`Program::run`] calls the operators in turn, each as a boxed call through the dispatcher. So
//! everything that is registered applies to the model: kernels of any crate and of any backend, autograd, autocast,
//! `vmap`, observers, the trace.
//!
//! This crate declares no operator and has no kernel. A program links those that its models need,
//! `torch-library-kernels` for those of `aten`; [`Program::problems`] lists the missing ones before anything runs.
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
//! [From PyTorch to here](guide) is the page about exporting, and about what is supported and what is not.
//!
//! PyTorch: `torch.export.load`, `ExportedProgram.module()`.

mod associative;
mod batch;
mod conditions;
mod constant;
mod device;
mod fold;
mod functional;
mod functional_call;
mod include;
mod kinds;
mod listing;
mod loader;
mod memory;
mod number;
mod operand;
mod out_dtype;
mod plan;
mod print;
mod profile;
mod program;
mod region;
mod run;
mod signature;
mod unknown;
mod weights;

use torch_library::{Error, ErrorKind};
use torch_library_pt2::{archive, expression, shortened, symbols, target, tree, wire};

#[doc = include_str!("../docs/from_pytorch.md")]
pub mod guide {}

/// For the expansion of [`include_model!`] only.
#[doc(hidden)]
pub mod __private {
    pub use torch_library;
    pub use torch_library_export_macros::declare_model;

    pub use crate::include::{Embedded, take};
}

pub use loader::Loader;
pub use plan::Problem;
pub use profile::{Profile, Row};
pub use program::Program;
pub use signature::{Input, Kind, Output, Role, Size, Weight, WeightKind};
pub use tree::Tree;

/// Converts an error of the archive reader to one of the dispatcher.
fn refused(error: torch_library_pt2::Error) -> Error {
    let kind = match error.kind() {
        torch_library_pt2::ErrorKind::NotSupported => ErrorKind::NotSupported,
        _ => ErrorKind::Argument,
    };
    Error::new(kind, error.to_string()).with_source(error)
}
