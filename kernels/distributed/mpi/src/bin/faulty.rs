//! Lets one rank do something wrong: `mpirun -n 4 faulty RANK KIND`. The others print the error that they get, and exit
//! with 1.
//!
//! Kinds: `ends`, `killed`, `hangs`, `shape`, `dtype`, `order`, `nothing`; `dies-moving`, `hangs-moving` in the
//! middle of a large tensor.

use std::time::{Duration, Instant};

use torch_library::prelude::*;
use torch_library_distributed::{
    _c10d_functional as functional, Call, Failure, Options, Received, Tag, Transport, algorithms, labelled,
};
use torch_library_mpi::Session;

/// How long ranks wait for each other.
const LIMIT: Duration = Duration::from_secs(2);
/// The number of elements of a tensor that is sent in many parts, and the number of parts before the fault.
const LARGE: i64 = 8 << 20;
const GOOD_PARTS: usize = 20;

/// A transport that fails at one message in the middle of a collective.
struct Faulty {
    inner: Box<dyn Transport>,
    /// The number of parts of collectives that were sent.
    parts: usize,
    fault: fn(),
}

impl Transport for Faulty {
    fn name(&self) -> &'static str {
        self.inner.name()
    }

    fn rank(&self) -> usize {
        self.inner.rank()
    }

    fn size(&self) -> usize {
        self.inner.size()
    }

    fn send(&mut self, to: usize, tag: Tag, message: Vec<u8>) -> Result<()> {
        self.parts += usize::from(tag == Tag::Data);
        if tag == Tag::Data && self.parts == GOOD_PARTS {
            (self.fault)();
        }
        self.inner.send(to, tag, message)
    }

    fn receive(&mut self, from: usize, tag: Tag, deadline: Instant) -> Result<Received> {
        self.inner.receive(from, tag, deadline)
    }

    fn unsent(&mut self) -> Result<Option<usize>> {
        self.inner.unsent()
    }

    fn split(&mut self, members: &[usize]) -> Result<Box<dyn Transport>> {
        self.inner.split(members)
    }

    fn collective(
        &mut self,
        call: &Call,
        input: &[u8],
        output: &mut [u8],
        deadline: Instant,
    ) -> Result<(), Failure> {
        algorithms::run(self, call, input, output, deadline)
    }
}

fn main() -> Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let (odd, kind) = match &arguments[..] {
        [rank, kind] => (rank.parse::<usize>().ok(), kind.as_str()),
        _ => bail!(Argument, "usage: faulty RANK KIND"),
    };
    let fault: Option<fn()> = match kind {
        "dies-moving" => Some(|| std::process::abort()),
        "hangs-moving" => Some(|| std::thread::sleep(LIMIT * 4)),
        _ => None,
    };
    let (elements, options) = (if fault.is_some() { LARGE } else { 2 }, Options::default().timeout(LIMIT));
    let session = Session::start_over(options, |inner| match fault {
        Some(fault) if odd == Some(inner.rank()) => Box::new(Faulty { inner, parts: 0, fault }),
        _ => inner,
    })?;
    let rank = session.world().rank();
    let begun = Instant::now();
    sum(&ones(DType::Float32, 2)?)?; // one collective without a fault
    let result = match kind {
        _ if odd != Some(rank) || fault.is_some() => sum(&ones(DType::Float32, elements)?),
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
            drop(session); // lets the other ranks report, too
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
