//! `perturb FOLDER ROUNDS [--huge | --move] [--twice] [--seed SEED] [--from ROW] [--to ROW]`: makes the recorded calls of a folder ROUNDS times,
//! each time with one or two things changed. Prints calls that panic or take long, and exits if a call does not end; with
//! `PERTURB_TRACE`, prints each row before its first call. `--huge` runs one row per operator; there, slow calls are expected.
//! `--twice` makes each call twice and compares the results: in a build with `--cfg exact_blocks`, memory that is not zeroed has other
//! contents each time, so that an element that a kernel does not write differs. `--move` moves and writes the tensors of a call whenever
//! its kernel calls an operator; it is for builds with a sanitizer, which sees what a kernel then does, and panics are no failures.

use std::path::Path;
use std::process::ExitCode;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use torch_library::{Result, bail};
use torch_library_tests::perturb::{Calls, End, How};

const USAGE: &str =
    "usage: perturb FOLDER ROUNDS [--huge | --move] [--twice] [--seed SEED] [--from ROW] [--to ROW]";

/// The number of the call that is running.
static CALL: AtomicUsize = AtomicUsize::new(0);

/// The parsed command line.
struct Settings {
    seed: usize,
    from: usize,
    to: usize,
    rounds: usize,
    how: How,
    is_twice: bool,
    traces: bool,
}

fn main() -> Result<ExitCode> {
    let (mut numbers, mut words) = ([0, 0, usize::MAX], Vec::new());
    let (mut how, mut is_twice) = (How::Changed, false);
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        match ["--seed", "--from", "--to"].iter().position(|option| *option == argument) {
            Some(place) => match arguments.next().and_then(|text| text.parse().ok()) {
                Some(number) => numbers[place] = number,
                None => bail!(Argument, "{USAGE}"),
            },
            None if argument == "--huge" => how = How::Huge,
            None if argument == "--move" => how = How::Moved,
            None if argument == "--twice" => is_twice = true,
            None => words.push(argument),
        }
    }
    let [folder, rounds] = &words[..] else { bail!(Argument, "{USAGE}") };
    let Ok(rounds) = rounds.parse() else { bail!(Argument, "{USAGE}") };
    let [seed, from, to] = numbers;
    let calls = Calls::read(Path::new(folder))?;
    let traces = std::env::var_os("PERTURB_TRACE").is_some();
    let settings = Settings { seed, from, to: to.min(calls.len()), rounds, how, is_twice, traces };
    watch(Duration::from_secs(if how == How::Huge { 1 } else { 20 }));
    std::panic::set_hook(Box::new(|info| eprintln!("{:?}", info.location())));
    Ok(if run(&calls, &settings) { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Makes all calls; false if one panicked.
fn run(calls: &Calls, settings: &Settings) -> bool {
    let (mut returned, mut refused, mut failed) = (0, 0, 0);
    for row in settings.from..settings.to {
        if settings.how == How::Huge && row > 0 && calls.operator(row) == calls.operator(row - 1) {
            continue; // one row per operator
        }
        if settings.traces {
            eprintln!("row {row} {}", calls.operator(row));
        }
        for round in 0..settings.rounds {
            let call = || {
                let mut state = (settings.seed as u64) << 48 | (row as u64) << 20 | round as u64;
                CALL.fetch_add(1, Ordering::Relaxed);
                calls.call(row, settings.how, &mut |bound| below(&mut state, bound))
            };
            let start = Instant::now();
            let end = call();
            if settings.is_twice && end != call() {
                failed += 1;
                println!("row {row} round {round}: equal calls differ: {end:.2000?}");
            }
            match end {
                Ok(None) => break,
                Ok(Some(End::Returned { .. })) => returned += 1,
                Ok(Some(End::Refused)) => refused += 1,
                Err(_) if settings.how == How::Moved => refused += 1,
                Err(text) => {
                    failed += 1;
                    println!("row {row} round {round}: panicked: {text}");
                }
            }
            if start.elapsed() > Duration::from_secs(2) {
                println!("row {row} round {round}: {} took {:?}", calls.operator(row), start.elapsed());
            }
        }
    }
    println!("{returned} calls returned, {refused} were refused, {failed} failed");
    failed == 0
}

/// Exits the process if a call does not end.
fn watch(patience: Duration) {
    std::thread::spawn(move || {
        let mut seen = (0, Instant::now());
        loop {
            std::thread::sleep(Duration::from_millis(500));
            let call = CALL.load(Ordering::Relaxed);
            if call != seen.0 {
                seen = (call, Instant::now());
            } else if seen.1.elapsed() > patience {
                eprintln!("does not end");
                std::process::exit(3);
            }
        }
    });
}

/// SplitMix64.
fn below(state: &mut u64, bound: usize) -> usize {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut z = *state;
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    ((z ^ (z >> 31)) % bound as u64) as usize
}
