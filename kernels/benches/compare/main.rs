//! How fast are our kernels? One side of [`compare.sh`](../compare.sh), which puts PyTorch beside them.
//!
//! `cargo bench -p torch-library-kernels --bench compare -- mm conv2d` measures the rows whose names contain one of
//! the words, all of them if there is none, and prints one JSON line for each. With `--serve` it measures what it
//! is told to: a line `NAME<tab>MILLISECONDS` in, a line out; the name may be a call of any operator (see
//! [`call`]).

use torch_library::guard::InferenceMode;
use torch_library::prelude::*;

mod call;
mod memory;
mod rows;
mod serve;

fn main() -> Result<()> {
    let _inference = InferenceMode::new(true);
    serve::run(&rows::all(), call::row)
}
