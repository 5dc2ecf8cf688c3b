//! Measures a training step on several processes: `mpirun -n 2 train_step`. `bench.sh` also measures gloo.
//!
//! Three linear layers of 1024 × 1024, a batch of 256 examples of which each process takes its part, SGD. Prints the
//! milliseconds of a step, of one that does not send gradients, and of one that sends them after the backward pass.

use std::time::Instant;

use torch_library::prelude::*;
use torch_library_distributed::{
    DataParallelOptions, DistributedDataParallel, Options, ProcessGroup, c10d, shard,
};
use torch_library_kernels::optim::{Optimizer, Sgd};
use torch_library_kernels::prelude::*;
use torch_library_kernels::{aten, init};
use torch_library_mpi::Session;

const LAYERS: usize = 3;
const WIDTH: i64 = 1024;
const BATCH: i64 = 256;
const REPEATS: usize = 15;

fn main() -> Result<()> {
    let session = Session::start(Options::default())?;
    let [step, unsent, after] = measure(session.world())?;
    if session.world().rank() == 0 {
        println!("{:.2} {:.2} {:.2}", step * 1e3, unsent * 1e3, after * 1e3);
    }
    session.finish()
}

fn measure(group: &ProcessGroup) -> Result<[f64; 3]> {
    let generator = Generator::with_seed(0);
    let weight = |_| init::kaiming_uniform(&[WIDTH, WIDTH], &generator);
    let weights = (0..LAYERS).map(weight).collect::<Result<Vec<_>>>()?;
    let named = weights.iter().enumerate().map(|(layer, weight)| (format!("{layer}.weight"), weight.clone()));
    // A bucket for each layer, so that one is sent while the next one is computed.
    let options = DataParallelOptions::default().bucket_bytes((WIDTH * WIDTH * 4) as usize);
    let parallel = DistributedDataParallel::new(named, group, options)?;
    let mut optimizer = Sgd::new(weights.clone(), 1e-3)?;
    let whole = init::normal(&[BATCH, WIDTH], 0.0, 1.0, &generator)?.detach()?;
    let [x] = shard([&whole], group)?.tensors;
    let backward = || {
        let hidden = |x: Tensor, weight: &Tensor| aten::linear(&x, weight)?.relu();
        let y = weights.iter().try_fold(x.clone(), hidden)?;
        y.mul(&y)?.mean()?.backward()
    };
    let mut step = |overlaps: bool, is_sent: bool| {
        optimizer.zero_grad()?;
        if overlaps { backward() } else { parallel.no_sync(backward) }?;
        if is_sent {
            parallel.finish()?;
        }
        optimizer.step()
    };
    Ok([
        median(group, || step(true, true))?,
        median(group, || step(false, false))?,
        median(group, || step(false, true))?,
    ])
}

fn median(group: &ProcessGroup, mut body: impl FnMut() -> Result<()>) -> Result<f64> {
    let nothing = Tensor::zeros(&[0], DType::UInt8, Device::CPU)?;
    let mut times = Vec::new();
    for _ in 0..REPEATS + 2 {
        c10d::barrier::with(&nothing, group.name(), &[]).async_op(false).call()?;
        let begun = Instant::now();
        body()?;
        times.push(begun.elapsed().as_secs_f64());
    }
    times.drain(..2); // the first ones allocate memory
    times.sort_by(f64::total_cmp);
    Ok(times[times.len() / 2])
}
