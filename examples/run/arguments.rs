//! The command line. What stands here as documentation is what `run --help` prints.

use std::path::PathBuf;

use clap::{Parser, ValueEnum};
use torch_library::Device;

/// Runs a program that PyTorch exported: `torch.export.save(torch.export.export(model, inputs), "MODEL.pt2")`.
///
/// The archive is mapped into memory: leave the file alone while this runs. Without inputs from files, those that stand
/// beside the archive are taken, `MODEL.inputs.safetensors`.
#[derive(Parser)]
#[command(name = "run", version, max_term_width = 110)]
pub(crate) struct Arguments {
    /// The archive.
    pub(crate) model: PathBuf,
    /// A tensor for an input, from a file of NumPy's. A number is one without dimensions.
    #[arg(long, value_name = "NAME=FILE.npy")]
    pub(crate) input: Vec<String>,
    /// Tensors for the inputs in order of their names in this file: 00, 01, …
    #[arg(long, value_name = "FILE.safetensors")]
    pub(crate) inputs: Option<PathBuf>,
    /// Where the outputs go, with the names 00, 01, …
    #[arg(long, value_name = "FILE.safetensors")]
    pub(crate) outputs: Option<PathBuf>,
    /// Outputs that were recorded elsewhere: say how far these are from them.
    #[arg(long, value_name = "FILE.safetensors")]
    pub(crate) compare: Option<PathBuf>,
    /// Say what goes in and out, the weights and the operators, and run nothing.
    #[arg(long)]
    pub(crate) list: bool,
    /// Say which operators are missing here and where the model needs them, and run nothing. Fails if there are any.
    #[arg(long)]
    pub(crate) check: bool,
    /// Print each call and each kernel to stderr.
    #[arg(long)]
    pub(crate) trace: bool,
    /// Say where the time goes, by operator and by module, as the mean of so many runs.
    #[arg(long, value_name = "RUNS", num_args = 0..=1, default_missing_value = "10")]
    pub(crate) profile: Option<u32>,
    /// With --profile, a picture of it.
    #[arg(long, value_name = "FILE.svg", requires = "profile")]
    pub(crate) picture: Option<PathBuf>,
    /// What is around the run, from the outermost inwards.
    #[arg(long, value_name = "LAYER,…", value_delimiter = ',', default_value = "inference")]
    pub(crate) layers: Vec<Layer>,
    /// Record the program, and run chains of element-wise calls as one on a GPU: say which, and with --profile what that
    /// does to the time of a run.
    #[arg(long)]
    pub(crate) fuse: bool,
    /// Where the weights go, and every device that the program names.
    #[arg(long, default_value = "cpu")]
    pub(crate) device: Device,
}

/// What a run can be in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Layer {
    /// Inference mode: no gradients, and no book-keeping for them.
    Inference,
    /// Gradients are recorded, as outside of all modes.
    Autograd,
    /// In a lower precision, as `torch.autocast`.
    Autocast,
    /// What is written in place is computed instead.
    Functionalize,
    /// Sizes and types alone, without elements.
    Fake,
}
