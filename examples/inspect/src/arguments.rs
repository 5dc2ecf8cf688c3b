//! The command line. The documentation comments here are the output of `inspect help`.

use std::path::PathBuf;

use clap::{Parser, Subcommand};

/// Shows which operators this program has, where their calls go, and why.
#[derive(Parser)]
#[command(name = "inspect", version, max_term_width = 110, disable_help_subcommand = false)]
pub(crate) struct Arguments {
    /// Answer in JSON.
    #[arg(long, global = true)]
    pub(crate) json: bool,
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Subcommand)]
pub(crate) enum Command {
    /// List operators: schema, keys that have a kernel, place of the declaration.
    List {
        /// Only names with this prefix: `aten`, `aten::add`.
        name: Option<String>,
    },
    /// Show which kernel each dispatch key runs, and by which rule.
    Table {
        /// The operator: `aten::add.Tensor`.
        operator: String,
        /// Print one line for each key, instead of one paragraph for each kernel.
        #[arg(long)]
        all: bool,
    },
    /// Explain a call: what happens to each key, which kernel runs, which rules chose it.
    Explain {
        /// The operator: `aten::add.Tensor`.
        operator: String,
        /// The keys of the arguments [default: those of a tensor on the CPU].
        #[arg(long, value_name = "KEY,…", value_delimiter = ',')]
        keys: Vec<String>,
        /// Keys that the thread includes, besides the default ones. They are no longer excluded by default.
        #[arg(long, value_name = "KEY,…", value_delimiter = ',')]
        include: Vec<String>,
        /// Keys that the thread excludes, besides the default ones.
        #[arg(long, value_name = "KEY,…", value_delimiter = ',')]
        exclude: Vec<String>,
    },
    /// List the kernels registered for exactly a key, or all kernels.
    Registrations {
        /// The key, which may be an alias: `CPU`, `Autograd`.
        key: Option<String>,
    },
    /// List kernels of operators that are not defined.
    Dangling,
    /// Compare the operators and kernels with those of another build: those that `inspect list --json` wrote to a file
    /// there. Fails if they differ.
    Compare {
        /// The file.
        saved: PathBuf,
        /// Only names with this prefix: `aten`, `aten::add`.
        name: Option<String>,
    },
    /// Recompute everything, and compare it with what calls use. Fails if there is a problem.
    Check,
    /// Show the table of an operator that has kernels for these keys only.
    Whatif {
        /// The keys, which may be aliases; `KEY=fallthrough` for a fallthrough.
        #[arg(long, required = true, value_name = "KEY,…", value_delimiter = ',')]
        register: Vec<String>,
        /// Print one line for each key, instead of one paragraph for each kernel.
        #[arg(long)]
        all: bool,
    },
    /// Call an operator: `inspect call aten::add.Tensor '[1, 2]' '[3, 4.5]' alpha=2`.
    ///
    /// Each argument is JSON, read as the schema asks. A tensor is a number, nested lists of numbers, or the output of `--json`:
    /// `{"dtype": "float64", "sizes": [2, 2], "values": [1, 2, 3, 4]}`. `null` is None; words need no quotes: `dtype=int64`.
    Call {
        /// The operator: `aten::add.Tensor`.
        operator: String,
        /// VALUE, or NAME=VALUE.
        #[arg(allow_negative_numbers = true)]
        arguments: Vec<String>,
    },
    /// Write the catalogue: a single page about all operators that can be searched and opened without a server.
    Html {
        /// The file to write.
        out: PathBuf,
        /// The folder with the sources and `docs/`, which contain the documentation, derivatives and coverage.
        #[arg(long, value_name = "FOLDER", default_value = ".")]
        sources: PathBuf,
    },
    /// Read schemas from standard input, one per line, and print them in canonical form. Fails if one is invalid.
    Schema {
        /// Accept everything that PyTorch accepts, not just what can be declared here.
        #[arg(long)]
        pytorch: bool,
    },
}
