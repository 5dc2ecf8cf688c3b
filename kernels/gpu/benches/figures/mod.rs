//! What common work takes on a device, by single calls and, where the backend does that, fused; and how much memory is held
//! for it.
//!
//! Prints a table of milliseconds, the medians of turns that both sides take. Words on the command line choose the rows whose
//! names have one of them; `--large` is for GPUs, and has sizes that a processor would take minutes for. A side is asked for
//! as many calls in a row as take some time, and waits once for the device.

mod measure;
mod rows;

use measure::Run;
use torch_library::prelude::*;
use torch_library::tracer::Graph;
use torch_library::{Error, backend};

/// A program that was recorded, as few launches.
pub(crate) type Program = Box<dyn Fn(&[Tensor]) -> Result<()>>;

/// What is measured.
#[derive(Clone, Copy)]
pub(crate) struct Backend {
    pub(crate) device: Device,
    pub(crate) fuse: Option<fn(Graph) -> Program>,
}

struct Row {
    name: &'static str,
    run: Run<Error>,
    fused: Option<Run<Error>>,
}

pub(crate) fn print(name: &str, backend: Backend) -> Result<()> {
    let (options, words): (Vec<String>, Vec<String>) =
        std::env::args().skip(1).partition(|word| word.starts_with("--"));
    let is_large = options.iter().any(|option| option == "--large");
    let is_wanted = |name: &str| words.is_empty() || words.iter().any(|word| name.contains(word.as_str()));
    println!("{name}\n\n| milliseconds | single calls | fused |\n|---|---:|---:|");
    for mut row in backend.rows(is_large)?.into_iter().filter(|row| is_wanted(row.name)) {
        let mut sides: Vec<&mut Run<Error>> = std::iter::once(&mut row.run).chain(&mut row.fused).collect();
        let times = measure::milliseconds(&mut sides)?;
        let fused = times.get(1).map_or_else(|| "–".to_owned(), |time| format!("{time:.3}"));
        println!("| {} | {:.3} | {fused} |", row.name, times[0]);
    }
    println!("\n{}", memory(backend.device)?);
    Ok(())
}

/// What is held of the device, and what was asked for.
fn memory(device: Device) -> Result<String> {
    let mib = |bytes: usize| bytes as f64 / f64::from(1 << 20);
    Ok(backend::memory_stats(device)?.map_or_else(String::new, |stats| {
        format!(
            "{:.0} MiB asked for now, {:.0} at the most; {:.0} held of the device",
            mib(stats.requested),
            mib(stats.peak_allocated),
            mib(stats.reserved)
        )
    }))
}
