//! The command line. The documentation comments here are the output of `run --help`.

use std::path::PathBuf;

use clap::{Parser, ValueEnum};
use torch_library::Device;

/// Runs a program exported by PyTorch: `torch.export.save(torch.export.export(model, inputs), "MODEL.pt2")`.
///
/// The archive is mapped into memory: do not modify the file while this runs. Without inputs from files, those next to
/// the archive are used, `MODEL.inputs.safetensors`.
#[derive(Parser)]
#[command(name = "run", version, max_term_width = 110)]
pub(crate) struct Arguments {
    /// The archive.
    pub(crate) model: PathBuf,
    /// The name of the program to run, of an archive with several.
    #[arg(long, value_name = "NAME")]
    pub(crate) program: Option<String>,
    /// A tensor for an input, from a NumPy file. A number, where the program takes one or a zero-dimensional tensor, may
    /// be written out. A constant may be given, written out, and must be what it was when the program was
    /// exported.
    #[arg(long, value_name = "NAME=FILE.npy|VALUE")]
    pub(crate) input: Vec<String>,
    /// Tensors for the inputs, which are in this file under the names 00, 01, …, 100, …, in order, or under the names of
    /// the inputs. Inputs that are numbers are zero-dimensional tensors there, or given by --input.
    #[arg(long, value_name = "FILE.safetensors")]
    pub(crate) inputs: Option<PathBuf>,
    /// The file to write the outputs to, under the names 00, 01, …
    #[arg(long, value_name = "FILE.safetensors")]
    pub(crate) outputs: Option<PathBuf>,
    /// Reference outputs that were recorded elsewhere: report the difference from them. They are in this file under the names
    /// 00, 01, …, or under the names of the outputs, `logits` for `['logits']`.
    #[arg(long, value_name = "FILE.safetensors")]
    pub(crate) compare: Option<PathBuf>,
    /// Print inputs and outputs, weights and operators, and run nothing.
    #[arg(long)]
    pub(crate) list: bool,
    /// Print which operators are missing here and where the model needs them, and run nothing. Fails if there are any.
    #[arg(long)]
    pub(crate) check: bool,
    /// Print each call and each kernel to stderr.
    #[arg(long)]
    pub(crate) trace: bool,
    /// Print where the time goes, by operator and by module, as the mean of this many runs.
    #[arg(long, value_name = "RUNS", num_args = 0..=1, default_missing_value = "10",
        value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) profile: Option<u32>,
    /// With --profile, write it as a picture.
    #[arg(long, value_name = "FILE.svg", requires = "profile")]
    pub(crate) picture: Option<PathBuf>,
    /// The layers around the run, from the outermost inwards.
    #[arg(long, value_name = "LAYER,…", value_delimiter = ',', default_value = "inference")]
    pub(crate) layers: Vec<Layer>,
    /// Record the program, and fuse chains of element-wise calls on a GPU: print which, and with --profile the effect
    /// on the time of a run.
    #[arg(long)]
    pub(crate) fuse: bool,
    /// Fold batch normalisation into the convolution before it, which saves a pass over its result.
    #[arg(long)]
    pub(crate) fold_batch_norm: bool,
    /// The device for the weights, which also replaces every device that the program names.
    #[arg(long, default_value = "cpu")]
    pub(crate) device: Device,
}

/// The layers that a run can use.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Layer {
    /// Inference mode: no gradients, and no bookkeeping for them.
    Inference,
    /// Gradients are recorded, as they are outside of all modes.
    Autograd,
    /// In lower precision, as with `torch.autocast`.
    Autocast,
    /// Functionalized: without in-place writes.
    Functionalize,
    /// Sizes and types only, without elements.
    Fake,
}
