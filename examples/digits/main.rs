//! The demonstration: real digits through operators of four crates, with everything that the dispatcher did on the way,
//! and a network that learns to read them.
//!
//! `glyphs` declares the operators and has kernels for the CPU; `glyphs-tape` has kernels for a backend of its own;
//! `glyphs-extra` adds operators to the namespace; `glyphs-fused` adds one for networks, with what autograd, autocast and
//! vmap need to know of it. None of the four crates knows this program.

use std::path::PathBuf;
use std::process::ExitCode;

use torch_library::{DType, Error, ErrorKind, Result};

#[cfg(feature = "cuda")]
use torch_library_cuda as _;
#[cfg(feature = "wgpu")]
use torch_library_wgpu as _;

use data::Digits;
use output::print;
use pipeline::Outcome;

mod curve;
mod data;
mod graph;
mod learning;
mod network;
mod output;
mod per_example;
mod picture;
mod pipeline;
mod progress;
mod report;
mod settings;
mod signals;
mod training;

const USAGE: &str = "\
digits: handwritten digits, averaged and learnt by operators of four crates

Usage: cargo run --release --bin digits [-- OPTIONS]

Options:
  --data FILE          Read these digits (gzip, lines `pixel,…,pixel,class`) instead of the built-in ones;
                       at most 50000 digits, in lines of at most 512 bytes
  --all                List the whole registry, not just what the crates of the demonstration registered
  --epochs N           Train until the network has seen each digit so often (default 15; 0 trains nothing)
  --seed N             Begin and shuffle with these random numbers (default 0)
  --device NAME        Train there: cpu (default), tape, or wgpu or cuda where it was built with that feature
  --autocast bf16|f16  Train in lower precision where it does no harm
  --checkpoint FILE    Keep the state of training there (safetensors; by default beside the program)
  --resume FILE        Continue from such a file, with the same data and options, and keep the state there
  --predictions FILE   Write what each digit of the test was taken for (lines `row,class,prediction`)
  --curve FILE         Write the loss curve there (SVG; by default beside the program)
  --trace FILE         Write the graph of one forward pass (SVG, or Graphviz for a name that ends in .dot)
  --per-example-grads  Measure the gradient of each test digit by itself
  -h, --help           Print this

Every fifth row is for testing. Ctrl-C, SIGTERM and SIGHUP stop after the current step and leave a checkpoint; the
exit code is 128 and the number of the signal. Training also stops after an epoch whose line nobody reads.
";

/// The parsed command line.
enum Command {
    Help,
    Run { data: Option<PathBuf>, all: bool, learning: learning::Options },
}

fn main() -> ExitCode {
    match parse(lexopt::Parser::from_env()).and_then(run) {
        Ok(code) => ExitCode::from(code),
        Err(error) if output::is_closed(&error) => ExitCode::from(output::CLOSED_PIPE),
        Err(error) => {
            output::complain(&error);
            ExitCode::FAILURE
        }
    }
}

fn parse(mut arguments: lexopt::Parser) -> Result<Command> {
    use lexopt::Arg::{Long, Short};
    use lexopt::ValueExt;
    let wrong = |error: lexopt::Error| {
        Error::new(ErrorKind::Argument, format!("{error}\n  help: `--help` lists the options"))
    };
    let (mut data, mut all, mut learning) = (None, false, learning::Options::default());
    while let Some(argument) = arguments.next().map_err(wrong)? {
        let name = match argument {
            Long(name) => name.to_owned(),
            Short('h') => "help".to_owned(),
            other => return Err(wrong(other.unexpected())),
        };
        let mut value = || arguments.value().map_err(wrong);
        match name.as_str() {
            "data" => data = Some(value()?.into()),
            "all" => all = true,
            "epochs" => learning.epochs = value()?.parse().map_err(wrong)?,
            "seed" => learning.seed = Some(value()?.parse().map_err(wrong)?),
            "device" => learning.device = value()?.parse().map_err(wrong)?,
            "autocast" => learning.precision = Some(value()?.parse_with(precision).map_err(wrong)?),
            "checkpoint" => learning.checkpoint = Some(value()?.into()),
            "resume" => learning.resume = Some(value()?.into()),
            "predictions" => learning.predictions = Some(value()?.into()),
            "curve" => learning.curve = Some(value()?.into()),
            "trace" => learning.trace = Some(value()?.into()),
            "per-example-grads" => learning.per_example_grads = true,
            "help" => return Ok(Command::Help),
            _ => return Err(wrong(Long(&name).unexpected())),
        }
    }
    Ok(Command::Run { data, all, learning })
}

fn precision(name: &str) -> Result<DType, &'static str> {
    match name {
        "bf16" => Ok(DType::BFloat16),
        "f16" => Ok(DType::Float16),
        _ => Err("it is bf16 or f16"),
    }
}

/// Runs the program and prints the results. Returns the exit code.
fn run(command: Command) -> Result<u8> {
    let Command::Run { data, all, learning } = command else { return print(USAGE).map(|()| 0) };
    torch_library::init()?;
    let digits = match data {
        Some(path) => Digits::open(&path)?,
        None => Digits::built_in()?,
    };
    let registry = report::registry(all);
    let (outcome, trace) = report::traced(|| pipeline::run(&digits))?;
    let results = results(&digits, &outcome)?;
    print(&format!(
        "{results}\n\
         Registry: operator, key, crate, place\n\n{registry}\n\
         Trace: operator called, key, crate and place of the kernel (`tape` is the new name of PrivateUse1)\n\n{trace}"
    ))?;
    match learning.epochs {
        0 => Ok(0),
        _ => learning::run(&outcome.images, &digits.labels, &learning),
    }
}

/// The results for the digits: sizes and strides, mean pictures, and how well these classify.
fn results(digits: &Digits, outcome: &Outcome) -> Result<String> {
    let Outcome { formats, tape: (taped, runs), means, ink, recognised, .. } = outcome;
    let count = digits.labels.numel();
    let formats = report::formats(formats);

    let pixels: Vec<f32> = means.to_vec()?;
    let pictures = pixels.chunks(data::SIDE * data::SIDE).zip(ink).enumerate();
    let pictures = pictures.map(|(class, (pixels, ink))| (format!("{class}   ink {ink:.1}"), pixels));
    let pictures = picture::rows(&pictures.collect::<Vec<_>>(), data::SIDE, 5);

    let share = 100.0 * *recognised as f64 / count as f64;
    Ok(format!(
        "{count} digits\n\n{formats}\n\
         Class means\n\n{pictures}\
         On tape, {taped} pixels are {runs} runs.\n\
         {recognised} digits ({share:.1} %) are nearest to the mean of their own class.\n"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn means_are_those_of_a_plain_computation() -> Result<()> {
        let digits = Digits::built_in()?;
        let (pixels, labels): (Vec<f32>, Vec<i64>) = (digits.images.to_vec()?, digits.labels.to_vec()?);
        for (class, mean) in pipeline::run(&digits)?.means.to_vec::<f32>()?.chunks(64).enumerate() {
            let of_class: Vec<_> =
                pixels.chunks(64).zip(&labels).filter(|(_, label)| **label == class as i64).collect();
            for (pixel, mean) in mean.iter().enumerate() {
                let sum: f32 = of_class.iter().map(|(pixels, _)| pixels[pixel]).sum();
                let plain = sum / (16 * of_class.len()) as f32;
                assert!((mean - plain).abs() < 1e-6, "class {class}, pixel {pixel}: {mean} is not {plain}");
            }
        }
        Ok(())
    }
}
