//! Plants the bugs of `rules.txt` in a copy of the tree, one at a time, and checks that a test detects each:
//! `cargo run -p torch-library-mutations -- [PART OF A NAME | CRATE]…`.
//!
//! All mutations that can be switched are in the copy at once, each behind `__flip(its number)`, which reads an
//! environment variable. So the copy is built once, and a mutation costs one run of the tests that are named for it.
//! Those that no run-time switch can make (a constant, a declaration) are built one by one, after the others.
//!
//! Prints a line for each mutation; exits with 1 if one was not detected.

mod copy;
mod rules;
mod tests;

use std::path::Path;
use std::process::ExitCode;
use std::time::Instant;

use copy::Copy;
use rules::{Flip, Kind};
use tests::{Binaries, Verdict};

type Result<T> = std::result::Result<T, String>;

fn main() -> ExitCode {
    match run() {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

/// Whether every mutation was detected.
fn run() -> Result<bool> {
    let root =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().map_err(|e| e.to_string())?;
    let flips = rules::read(&root.join("tests/mutations/rules.txt"))?;
    let parts: Vec<String> = std::env::args().skip(1).collect();
    let fits = |flip: &Flip, part: &String| flip.name.contains(part) || flip.package() == part;
    let is_chosen = |flip: &&Flip| parts.is_empty() || parts.iter().any(|part| fits(flip, part));
    let chosen: Vec<&Flip> = flips.iter().filter(is_chosen).collect();
    let (switched, built): (Vec<&Flip>, Vec<&Flip>) =
        chosen.into_iter().partition(|flip| flip.kind == Kind::Switched);

    let started = Instant::now();
    let copy = Copy::new(&root, &flips)?;
    copy.plant(None)?;
    let packages: Vec<&str> = switched.iter().chain(&built).map(|flip| flip.package()).collect();
    let binaries = Binaries::build(&copy, &packages)?;
    println!("built in {} s", started.elapsed().as_secs());
    let mut outcomes = tests::judge(&binaries, &switched)?;
    tests::pass_unflipped(&binaries, &built)?;
    for flip in built {
        outcomes.push(alone(&copy, flip)?);
    }
    copy.plant(None)?;

    let unnoticed: Vec<_> = outcomes.iter().filter(|(_, verdict)| !verdict.is_noticed()).collect();
    for (name, verdict) in &unnoticed {
        println!("NOT NOTICED: {name}{}", verdict.remark());
    }
    println!(
        "{} of {} flips were noticed, in {} s",
        outcomes.len() - unnoticed.len(),
        outcomes.len(),
        started.elapsed().as_secs()
    );
    Ok(unnoticed.is_empty())
}

/// Builds the copy with one more mutation, and runs its tests.
fn alone(copy: &Copy, flip: &Flip) -> Result<(String, Verdict)> {
    let started = Instant::now();
    copy.plant(Some(flip))?;
    let verdict = match Binaries::build(copy, &[flip.package()]) {
        Ok(binaries) => binaries.verdict(flip, 0)?,
        Err(error) => Verdict::DoesNotBuild(error),
    };
    verdict.print(&flip.name, started);
    Ok((flip.name.clone(), verdict))
}
