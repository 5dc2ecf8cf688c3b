//! Measures the constants of the cost model between two processes: `mpirun -n 2 constants`.
//!
//! Prints the latency of a message and the time that a process spends on sending one, in microseconds, and the
//! bandwidth in GB/s at which large ones follow each other.

use std::time::{Duration, Instant};

use torch_library::prelude::*;
use torch_library_distributed::{Options, Received, Tag, Transport};
use torch_library_mpi::Session;

const ROUNDS: usize = 2000;
/// The length of a part of a collective.
const LARGE: usize = 128 << 10;

fn main() -> Result<()> {
    let mut found = None;
    let session = Session::start_over(Options::default(), |mut transport| {
        found = Some(measure(&mut *transport));
        transport
    })?;
    if let Some([latency, sending, bandwidth]) = found.transpose()?
        && session.world().rank() == 0
    {
        println!("{:.2} {:.3} {:.2}", latency * 1e6, sending * 1e6, bandwidth / 1e9);
    }
    session.finish()
}

/// The latency and the time per message in seconds, and the bandwidth in bytes per second.
fn measure(transport: &mut dyn Transport) -> Result<[f64; 3]> {
    ensure!(
        transport.size() == 2,
        Argument,
        "two processes measure this, and there are {}",
        transport.size()
    );
    let is_first = transport.rank() == 0;
    pass_to_and_fro(transport, is_first, ROUNDS / 10)?; // a warm-up, to allocate memory
    let latency = pass_to_and_fro(transport, is_first, ROUNDS)? / (2 * ROUNDS) as f64;
    stream(transport, is_first, 64, ROUNDS)?;
    let sending = stream(transport, is_first, 64, ROUNDS)? / ROUNDS as f64;
    stream(transport, is_first, LARGE, ROUNDS)?;
    let bandwidth = (LARGE * ROUNDS) as f64 / stream(transport, is_first, LARGE, ROUNDS)?;
    Ok([latency, sending, bandwidth])
}

fn pass_to_and_fro(transport: &mut dyn Transport, is_first: bool, rounds: usize) -> Result<f64> {
    let begun = Instant::now();
    for _ in 0..rounds {
        if is_first {
            transport.send(1, Tag::Data, vec![0; 64])?;
            take(transport, 1)?;
        } else {
            take(transport, 0)?;
            transport.send(0, Tag::Data, vec![0; 64])?;
        }
    }
    Ok(begun.elapsed().as_secs_f64())
}

/// Sends messages from the first rank to the second, which receives each, and confirms when it has all; eight are in
/// flight at a time.
fn stream(transport: &mut dyn Transport, is_first: bool, length: usize, count: usize) -> Result<f64> {
    const AHEAD: usize = 8;
    let begun = Instant::now();
    for number in 0..count {
        let is_answered = number % AHEAD == AHEAD - 1;
        if is_first {
            transport.send(1, Tag::Data, vec![0; length])?;
            if is_answered {
                take(transport, 1)?;
            }
        } else {
            take(transport, 0)?;
            if is_answered {
                transport.send(0, Tag::Data, vec![0])?;
            }
        }
    }
    Ok(begun.elapsed().as_secs_f64())
}

fn take(transport: &mut dyn Transport, from: usize) -> Result<()> {
    match transport.receive(from, Tag::Data, Instant::now() + Duration::from_secs(10))? {
        Received::Message(_) => Ok(()),
        other => bail!(Io, "rank {from}: {other:?}"),
    }
}
