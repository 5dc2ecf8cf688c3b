//! The command line. What stands here as documentation is what `inspect help` prints.

use std::path::PathBuf;

use clap::{Parser, Subcommand};

/// Which operators this program has, where their calls go, and why.
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
    /// List operators: schema, keys that have a kernel, where it is declared.
    List {
        /// Only names that begin like this: `aten`, `aten::add`.
        name: Option<String>,
    },
    /// Show where each dispatch key leads, and by which rule.
    Table {
        /// The operator: `aten::add.Tensor`.
        operator: String,
        /// One line for each key, instead of one paragraph for each kernel.
        #[arg(long)]
        all: bool,
    },
    /// Explain a call: what becomes of each key, which kernel runs, which rules chose it.
    Explain {
        /// The operator: `aten::add.Tensor`.
        operator: String,
        /// The keys of the arguments [default: those of a tensor on the CPU].
        #[arg(long, value_name = "KEY,…", value_delimiter = ',')]
        keys: Vec<String>,
        /// Keys that the thread includes, besides the usual ones. One that is usually excluded no longer is.
        #[arg(long, value_name = "KEY,…", value_delimiter = ',')]
        include: Vec<String>,
        /// Keys that the thread excludes, besides the usual ones.
        #[arg(long, value_name = "KEY,…", value_delimiter = ',')]
        exclude: Vec<String>,
    },
    /// List the kernels registered for exactly a key, or all kernels.
    Registrations {
        /// The key, which may be an alias: `CPU`, `Autograd`.
        key: Option<String>,
    },
    /// List kernels of operators that nobody defined.
    Dangling,
    /// Compute everything anew, and compare it with what calls use. Fails where something is wrong.
    Check,
    /// Show the table of an operator that has kernels for these keys, and no others.
    Whatif {
        /// The keys, which may be aliases; `KEY=fallthrough` for a fallthrough.
        #[arg(long, required = true, value_name = "KEY,…", value_delimiter = ',')]
        register: Vec<String>,
        /// One line for each key, instead of one paragraph for each kernel.
        #[arg(long)]
        all: bool,
    },
    /// Call an operator: `inspect call aten::add.Tensor '[1, 2]' '[3, 4.5]' alpha=2`.
    ///
    /// Each argument is JSON, read as the schema asks. A tensor is a number, nested lists of numbers, or what `--json` prints:
    /// `{"dtype": "float64", "sizes": [2, 2], "values": [1, 2, 3, 4]}`. `null` is None; words need no quotes: `dtype=int64`.
    Call {
        /// The operator: `aten::add.Tensor`.
        operator: String,
        /// VALUE, or NAME=VALUE.
        #[arg(allow_negative_numbers = true)]
        arguments: Vec<String>,
    },
    /// Write the catalogue: one page about all operators, to search, which opens without a server.
    Html {
        /// Where the page goes.
        out: PathBuf,
        /// The folder with the sources and `docs/`, from which documentation, derivatives and coverage are.
        #[arg(long, value_name = "FOLDER", default_value = ".")]
        sources: PathBuf,
    },
    /// Read schemas from standard input, one on each line, and write them in canonical form. Fails where one is wrong.
    Schema {
        /// Accept what PyTorch accepts, instead of what may be declared here.
        #[arg(long)]
        pytorch: bool,
    },
}
