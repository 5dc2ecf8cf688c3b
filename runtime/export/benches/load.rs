//! Measures how long an archive takes to load: `cargo bench -p torch-library-export --bench load -- MODEL.pt2`, or
//! without a name the archive of the tests.
//!
//! Operators are looked up and weights become tensors; no element is computed. Prints the minimum and the median of
//! several rounds, in milliseconds, both for reading into memory and for mapping.
#![expect(unsafe_code, reason = "a file is mapped")]

use std::time::Instant;

use torch_library::prelude::*;
use torch_library_export::{Loader, Program};

const ROUNDS: usize = 15;

/// The minimum and the median.
fn milliseconds(mut load: impl FnMut() -> Result<Program>) -> Result<(f64, f64)> {
    let mut times = Vec::with_capacity(ROUNDS);
    for _ in 0..ROUNDS {
        let start = Instant::now();
        let program = load()?;
        times.push(start.elapsed().as_secs_f64() * 1e3);
        drop(program);
    }
    times.sort_by(f64::total_cmp);
    Ok((times[0], times[ROUNDS / 2]))
}

fn main() -> Result<()> {
    let chain = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/archives/chain.pt2").to_owned();
    let path = std::env::args().skip(1).find(|argument| !argument.starts_with('-')).unwrap_or(chain);
    let bytes = std::fs::metadata(&path)?.len() as f64;
    let read = milliseconds(|| Loader::new().load(&path))?;
    // SAFETY: the file is not written to while this program runs, since nothing else uses it during a measurement.
    let mapped = milliseconds(|| unsafe { Loader::new().map(&path) })?;
    println!("{path}, {:.1} MB", bytes / 1e6);
    for (name, (least, median)) in [("read", read), ("mapped", mapped)] {
        println!("{name:8} {least:8.2} ms at least, {median:8.2} ms median");
    }
    Ok(())
}
