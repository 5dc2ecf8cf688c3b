//! What common work takes on the first adapter, by single calls and fused, and how much memory is held for it.
//!
//! ```sh
//! cargo bench -p torch-library-wgpu --bench figures [-- WORD…]
//! ```
//!
//! Prints a table of milliseconds, the medians of turns that both sides take; with words, those rows whose names have
//! one of them. A side is asked for as many calls in a row as take some time, and waits once for the device.
//! `WGPU_ADAPTER_NAME` chooses the adapter. `kernels/wgpu/benches/figures.sh` puts burn and candle beside it.

mod measure;
mod rows;

use measure::Run;
use torch_library::{Error, Result};

struct Row {
    name: &'static str,
    run: Run<Error>,
}

fn main() -> Result<()> {
    let words: Vec<String> = std::env::args().skip(1).filter(|word| word != "--bench").collect();
    let is_wanted = |name: &str| words.is_empty() || words.iter().any(|word| name.contains(word.as_str()));
    println!("{}\n", rows::adapter()?);
    println!("| milliseconds | single calls | fused |\n|---|---:|---:|");
    let mut fused = rows::rows(true)?;
    for mut row in rows::rows(false)?.into_iter().filter(|row| is_wanted(row.name)) {
        let other = fused.iter_mut().find(|other| other.name == row.name);
        let mut sides: Vec<&mut Run<Error>> =
            std::iter::once(&mut row.run).chain(other.map(|row| &mut row.run)).collect();
        let times = measure::milliseconds(&mut sides)?;
        let fused = times.get(1).map_or_else(|| "–".to_owned(), |time| format!("{time:.3}"));
        println!("| {} | {:.3} | {fused} |", row.name, times[0]);
    }
    println!("\n{}", rows::memory()?);
    Ok(())
}
