//! Measures an all-reduce for tensors from 1 KB to 256 MB: `mpirun -n 2 all_reduce`. `bench.sh` also measures gloo.
//!
//! Prints a line for each size: kilobytes, microseconds, GB/s.

use std::time::Instant;

use torch_library::prelude::*;
use torch_library_distributed::{Options, c10d};
use torch_library_mpi::Session;

fn main() -> Result<()> {
    let session = Session::start(Options::default())?;
    for kilobytes in [1, 16, 256, 4096, 65536, 262_144] {
        let mut x = [Tensor::full(&[kilobytes * 256], 1, DType::Float32, Device::CPU)?];
        let repeats = if kilobytes > 1024 { 9 } else { 200 };
        let mut times = Vec::new();
        for _ in 0..repeats + 2 {
            c10d::barrier::with(&x[0], "world", &[]).async_op(false).call()?;
            let begun = Instant::now();
            c10d::allreduce_::with(&mut x, "world", "avg", None).async_op(false).call()?;
            times.push(begun.elapsed().as_secs_f64());
        }
        times.drain(..2); // the first ones allocate memory
        times.sort_by(f64::total_cmp);
        if session.world().rank() == 0 {
            let (median, bytes) = (times[times.len() / 2], kilobytes as f64 * 1024.0);
            println!("{kilobytes} {:.1} {:.3}", median * 1e6, bytes / median / 1e9);
        }
    }
    session.finish()
}
