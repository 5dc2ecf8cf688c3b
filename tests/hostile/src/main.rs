//! Hostile programs: each tries, without `unsafe`, to corrupt memory, to race, to abort or to hang.
//!
//! `hostile NAME` runs one, `hostile --list` lists their names. A program succeeds with exit status 0: every result was correct
//! or an `Err`. Anything else (a wrong value is a panic) is a failure. README.md beside this crate says what each one tries.
#![forbid(unsafe_code)]

mod harness;
#[cfg(feature = "kernels")]
mod kernels;
mod runtime;

use std::process::ExitCode;

use torch_library::Result;

/// A program's name and function.
type Program = (&'static str, fn() -> Result<()>);

/// Declares modules of programs, each of which is a function, and collects them in `PROGRAMS`.
macro_rules! programs {
    ($($module:ident: $($program:ident)+;)+) => {
        $(mod $module;)+

        /// Every program of these modules.
        pub(crate) const PROGRAMS: &[crate::Program] = &[$($((stringify!($program), $module::$program),)+)+];
    };
}
use programs;

#[cfg(feature = "kernels")]
const FAMILIES: &[&[Program]] = &[runtime::PROGRAMS, kernels::PROGRAMS];
#[cfg(not(feature = "kernels"))]
const FAMILIES: &[&[Program]] = &[runtime::PROGRAMS];

fn main() -> ExitCode {
    let wanted = std::env::args().nth(1).unwrap_or_default();
    let mut programs = FAMILIES.iter().copied().flatten();
    if wanted == "--list" {
        programs.for_each(|(name, _)| println!("{name}"));
        return ExitCode::SUCCESS;
    }
    let Some((_, run)) = programs.find(|(name, _)| *name == wanted) else {
        eprintln!("usage: hostile NAME, or --list; there is no program {wanted:?}");
        return ExitCode::FAILURE;
    };
    // One line per panic: some programs panic thousands of times.
    std::panic::set_hook(Box::new(|panic| eprintln!("{panic}")));
    let end = run();
    harness::report();
    match end {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{wanted}: {error}");
            ExitCode::FAILURE
        }
    }
}
