//! What common work takes on the first adapter, by single calls and fused, and how much memory is held for it.
//!
//! ```sh
//! cargo bench -p torch-library-wgpu --bench figures [-- WORD…]
//! ```
//!
//! Prints a table of milliseconds, the medians of turns that both sides take; with words, those rows whose names have one of
//! them. A side is asked for as many calls in a row as take some time, and waits once for the device. `WGPU_ADAPTER_NAME` chooses the adapter.

mod rows;

use std::time::{Duration, Instant};

use torch_library::Result;

/// Calls as often as asked, and waits until they are done.
type Run = Box<dyn FnMut(u32) -> Result<()>>;

struct Row {
    name: &'static str,
    run: Run,
}

/// Of each side so long a turn, and so many of them.
const TURN: Duration = Duration::from_millis(150);
const TURNS: usize = 5;

fn main() -> Result<()> {
    let words: Vec<String> = std::env::args().skip(1).filter(|word| word != "--bench").collect();
    let is_wanted = |name: &str| words.is_empty() || words.iter().any(|word| name.contains(word.as_str()));
    println!("{}\n", rows::adapter()?);
    println!("| milliseconds | single calls | fused |\n|---|---:|---:|");
    let mut fused = rows::rows(true)?;
    for mut row in rows::rows(false)?.into_iter().filter(|row| is_wanted(row.name)) {
        let other = fused.iter_mut().find(|other| other.name == row.name);
        let mut runs: Vec<&mut Run> =
            std::iter::once(&mut row.run).chain(other.map(|row| &mut row.run)).collect();
        let counts = runs.iter_mut().map(|run| count(run)).collect::<Result<Vec<_>>>()?;
        let mut samples = vec![Vec::new(); runs.len()];
        for _ in 0..TURNS {
            for ((run, count), samples) in runs.iter_mut().zip(&counts).zip(&mut samples) {
                let start = Instant::now();
                run(*count)?;
                samples.push(start.elapsed().as_secs_f64() * 1e3 / f64::from(*count));
            }
        }
        let mut cells = samples.into_iter().map(|mut samples| {
            samples.sort_by(f64::total_cmp);
            format!("{:.3}", samples[samples.len() / 2])
        });
        let (single, fused) =
            (cells.next().unwrap_or_default(), cells.next().unwrap_or_else(|| "–".to_owned()));
        println!("| {} | {single} | {fused} |", row.name);
    }
    println!("\n{}", rows::memory()?);
    Ok(())
}

/// How many calls make a turn, after some that warm up.
fn count(run: &mut Run) -> Result<u32> {
    run(3)?;
    let start = Instant::now();
    run(1)?;
    let one = start.elapsed().max(Duration::from_micros(1));
    let some = (TURN.as_secs_f64() / 8.0 / one.as_secs_f64()).ceil().clamp(1.0, 2000.0) as u32;
    let start = Instant::now();
    run(some)?;
    let each = start.elapsed().as_secs_f64() / f64::from(some);
    Ok((TURN.as_secs_f64() / each).ceil().clamp(1.0, 10_000.0) as u32)
}
