//! The demonstration: real digits through operators of three crates, with everything the dispatcher did on the way.
//!
//! `glyphs` declares the operators and has kernels for the CPU; `glyphs-tape` has kernels for a backend of its own;
//! `glyphs-extra` adds operators to the namespace. None of the three knows this program.

use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;

use torch_library::{Error, ErrorKind, Result};

use data::Digits;
use pipeline::Outcome;

mod data;
mod picture;
mod pipeline;
mod progress;
mod report;

const USAGE: &str = "\
digits: mean pictures of handwritten digits, by operators of three crates

Usage: cargo run --release --bin digits [-- OPTIONS]

Options:
  --data FILE   Read these digits (gzip, lines `pixel,…,pixel,class`) instead of the built-in ones
  --all         List the whole registry, not just what the three crates of the demonstration registered
  -h, --help    Print this
";

/// What was asked for.
enum Command {
    Help,
    Run { data: Option<PathBuf>, all: bool },
}

fn main() -> ExitCode {
    let done = parse(lexopt::Parser::from_env()).and_then(run).and_then(|text| print(&text));
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("digits: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Prints; a reader who has seen enough and closes the pipe is no error.
fn print(text: &str) -> Result<()> {
    match std::io::stdout().write_all(text.as_bytes()) {
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => Err(error.into()),
        _ => Ok(()),
    }
}

fn parse(mut arguments: lexopt::Parser) -> Result<Command> {
    use lexopt::Arg::{Long, Short};
    let wrong = |error: lexopt::Error| {
        Error::new(ErrorKind::Argument, format!("{error}\n  help: `--help` lists the options"))
    };
    let (mut data, mut all) = (None, false);
    while let Some(argument) = arguments.next().map_err(wrong)? {
        match argument {
            Long("data") => data = Some(arguments.value().map_err(wrong)?.into()),
            Long("all") => all = true,
            Long("help") | Short('h') => return Ok(Command::Help),
            other => return Err(wrong(other.unexpected())),
        }
    }
    Ok(Command::Run { data, all })
}

/// What is printed.
fn run(command: Command) -> Result<String> {
    let Command::Run { data, all } = command else { return Ok(USAGE.to_owned()) };
    torch_library::init()?;
    let digits = match data {
        Some(path) => Digits::open(&path)?,
        None => Digits::built_in()?,
    };
    let registry = report::registry(all);
    let (outcome, trace) = report::traced(|| pipeline::run(&digits))?;
    let results = results(&digits, &outcome)?;
    Ok(format!(
        "{results}\n\
         Registry: operator, key, crate, place\n\n{registry}\n\
         Trace: operator called, key, crate and place of the kernel (`tape` is the new name of PrivateUse1)\n\n{trace}"
    ))
}

/// What became of the digits: sizes and strides, mean pictures, how far these go.
fn results(digits: &Digits, outcome: &Outcome) -> Result<String> {
    let Outcome { formats, tape: (taped, runs), means, ink, recognised } = outcome;
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
