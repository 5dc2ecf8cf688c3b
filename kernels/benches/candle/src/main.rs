//! How fast are candle's kernels? The rows of [`rows.rs`](../../compare/rows.rs) that candle has, under the same names.

use candle_core::Error;

#[path = "../../compare/memory.rs"]
mod memory;
mod rows;
#[path = "../../compare/serve.rs"]
mod serve;

fn main() -> Result<(), Error> {
    serve::run(&rows::all(), |_| None)
}
