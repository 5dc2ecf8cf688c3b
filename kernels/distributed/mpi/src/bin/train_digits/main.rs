//! Learns to read digits on several processes: `mpirun -n 4 train_digits`.
//!
//! The data and the network are those of `examples/digits`. All processes have the same batches, and each computes with
//! its part of each batch, so the losses are those of one process.

use std::path::PathBuf;

use torch_library::{Error, ErrorKind, Result};
use torch_library_distributed::Options;
use torch_library_mpi::Session;

#[path = "../../../../../../examples/digits/data.rs"]
#[expect(dead_code, reason = "of the example's module this program needs less than the example")]
mod data;
#[path = "../../../../../../examples/digits/network.rs"]
#[expect(dead_code, reason = "the same: it stays on the CPU")]
mod network;
#[path = "../../../../../../examples/digits/progress.rs"]
#[expect(dead_code, reason = "the same")]
mod progress;
mod training;

const USAGE: &str = "\
train_digits: a network learns to read handwritten digits, on several processes

Usage: mpirun -n 4 train_digits [OPTIONS]

Options:
  --epochs N         How often each digit is seen (default 3)
  --accumulate N     Add up the gradients of so many batches before a step (default 1)
  --clip NORM        Shorten gradients to this norm
  --zero             Shard the optimiser's state over the processes
  --bf16             Send gradients as bfloat16
  --autocast         Compute and send gradients in autocast's bfloat16
  --checkpoint FILE  Write a checkpoint there after each epoch, by one process
  --resume FILE      Go on from a checkpoint, whatever number of processes wrote it
  --losses FILE      Write the loss of each step there, one a line
";

/// The command line arguments.
struct Asked {
    epochs: u64,
    accumulate: usize,
    clip: f64,
    zero: bool,
    bf16: bool,
    autocast: bool,
    checkpoint: Option<PathBuf>,
    resume: Option<PathBuf>,
    losses: Option<PathBuf>,
}

fn main() -> Result<()> {
    let Some(asked) = parse()? else {
        print!("{USAGE}");
        return Ok(());
    };
    let session = Session::start(Options::default())?;
    training::run(session.world(), &asked)?;
    session.finish()
}

/// Parses the arguments; `None` if help was asked for.
fn parse() -> Result<Option<Asked>> {
    use lexopt::Arg::{Long, Short};
    use lexopt::ValueExt;
    let wrong = |error: lexopt::Error| Error::new(ErrorKind::Argument, format!("{error}\n\n{USAGE}"));
    let mut asked = Asked {
        epochs: 3,
        accumulate: 1,
        clip: f64::INFINITY,
        zero: false,
        bf16: false,
        autocast: false,
        checkpoint: None,
        resume: None,
        losses: None,
    };
    let mut arguments = lexopt::Parser::from_env();
    while let Some(argument) = arguments.next().map_err(wrong)? {
        match argument {
            Long("epochs") => {
                asked.epochs = arguments.value().and_then(|value| value.parse()).map_err(wrong)?
            }
            Long("accumulate") => {
                asked.accumulate = arguments.value().and_then(|value| value.parse()).map_err(wrong)?;
            }
            Long("clip") => asked.clip = arguments.value().and_then(|value| value.parse()).map_err(wrong)?,
            Long("zero") => asked.zero = true,
            Long("bf16") => asked.bf16 = true,
            Long("autocast") => asked.autocast = true,
            Long("checkpoint") => asked.checkpoint = Some(arguments.value().map_err(wrong)?.into()),
            Long("resume") => asked.resume = Some(arguments.value().map_err(wrong)?.into()),
            Long("losses") => asked.losses = Some(arguments.value().map_err(wrong)?.into()),
            Long("help") | Short('h') => return Ok(None),
            other => return Err(wrong(other.unexpected())),
        }
    }
    Ok(Some(asked))
}
