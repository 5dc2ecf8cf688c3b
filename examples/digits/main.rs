//! The demonstration: real digits through operators of three crates, with everything the dispatcher did on the way.
//!
//! `glyphs` declares the operators and has kernels for the CPU; `glyphs-tape` has kernels for a backend of its own;
//! `glyphs-extra` adds operators to the namespace. None of the three knows this program.

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
  --registry NS List the operators of namespace NS instead of `glyphs`; `all` lists every namespace
  -h, --help    Print this
";

/// Why the trace has a key that the registry has under another name.
const TAPE: &str = "`tape` is the name that `glyphs_tape` gave to PrivateUse1";

/// What was asked for.
enum Command {
    Help,
    Run { data: Option<PathBuf>, namespace: String },
}

fn main() -> ExitCode {
    match parse(lexopt::Parser::from_env()).and_then(run) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("digits: {error}");
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
    let (mut data, mut namespace) = (None, "glyphs".to_owned());
    while let Some(argument) = arguments.next().map_err(wrong)? {
        match argument {
            Long("data") => data = Some(arguments.value().map_err(wrong)?.into()),
            Long("registry") => {
                namespace = arguments.value().and_then(ValueExt::string).map_err(wrong)?;
            }
            Long("help") | Short('h') => return Ok(Command::Help),
            other => return Err(wrong(other.unexpected())),
        }
    }
    Ok(Command::Run { data, namespace })
}

fn run(command: Command) -> Result<()> {
    let Command::Run { data, namespace } = command else {
        print!("{USAGE}");
        return Ok(());
    };
    torch_library::init()?;
    let digits = match data {
        Some(path) => Digits::open(&path)?,
        None => Digits::built_in()?,
    };
    let registry = report::registry(&namespace)?;
    let (outcome, trace) = report::traced(|| pipeline::run(&digits))?;
    show(&digits, &outcome)?;
    println!("\nRegistry: operator, key, crate, place\n\n{registry}");
    println!("Trace: operator called, key, crate and place of the kernel ({TAPE})\n\n{trace}");
    Ok(())
}

/// Prints what became of the digits.
fn show(digits: &Digits, outcome: &Outcome) -> Result<()> {
    println!("{} digits\n\n{}", digits.labels.numel(), report::formats(&outcome.formats));

    let pixels: Vec<f32> = outcome.means.to_vec()?;
    let pictures = pixels.chunks(data::SIDE * data::SIDE).zip(&outcome.ink).enumerate();
    let pictures = pictures.map(|(class, (pixels, ink))| (format!("{class}   ink {ink:.1}"), pixels));
    print!("Class means\n\n{}", picture::rows(&pictures.collect::<Vec<_>>(), data::SIDE, 5));

    let (pixels, runs) = outcome.tape;
    println!("On tape, {pixels} pixels are {runs} runs.");
    let share = 100.0 * outcome.recognised as f64 / digits.labels.numel() as f64;
    println!("{} digits ({share:.1} %) are nearest to the mean of their own class.", outcome.recognised);
    Ok(())
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
