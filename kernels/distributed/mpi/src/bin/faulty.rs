//! One rank does something wrong: `mpirun -n 4 faulty RANK KIND`. The others print what they hear of it, and exit with 1.
//!
//! Kinds: `ends`, `killed`, `hangs`, `shape`, `dtype`, `order`, `nothing`.

use std::time::{Duration, Instant};

use torch_library::prelude::*;
use torch_library_distributed::{_c10d_functional as functional, Options, labelled};
use torch_library_mpi::Session;

/// How long ranks wait for each other.
const LIMIT: Duration = Duration::from_secs(2);

fn main() -> Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let (odd, kind) = match &arguments[..] {
        [rank, kind] => (rank.parse::<usize>().ok(), kind.as_str()),
        _ => bail!(Argument, "usage: faulty RANK KIND"),
    };
    let session = Session::start(Options::default().timeout(LIMIT))?;
    let rank = session.world().rank();
    let begun = Instant::now();
    sum(&ones(DType::Float32, 2)?)?; // once, all is well
    let result = match kind {
        _ if odd != Some(rank) => sum(&ones(DType::Float32, 2)?),
        "ends" => std::process::exit(0),
        "killed" => std::process::abort(),
        "hangs" => {
            std::thread::sleep(LIMIT * 4);
            Ok(())
        }
        "shape" => sum(&ones(DType::Float32, 3)?),
        "dtype" => sum(&ones(DType::Float64, 2)?),
        "order" => {
            functional::wait_tensor(&functional::broadcast(&ones(DType::Float32, 2)?, 0, "world")?).map(drop)
        }
        "nothing" => sum(&ones(DType::Float32, 2)?),
        _ => bail!(Argument, "no fault is called {kind:?}"),
    };
    match result {
        Ok(()) if kind == "nothing" => session.finish(),
        Ok(()) => Ok(()),
        Err(error) => {
            println!(
                "rank {rank} heard after {} ms: {}",
                begun.elapsed().as_millis(),
                error.to_string().replace('\n', " ")
            );
            drop(session); // lets others speak, too
            std::process::exit(1)
        }
    }
}

fn ones(dtype: DType, count: i64) -> Result<Tensor> {
    Tensor::full(&[count], 1, dtype, Device::CPU)
}

fn sum(x: &Tensor) -> Result<()> {
    labelled("parameter `out.weight`", || {
        functional::wait_tensor(&functional::all_reduce(x, "sum", "world")?).map(drop)
    })
}
