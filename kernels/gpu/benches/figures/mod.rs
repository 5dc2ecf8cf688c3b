//! How long common work takes on a device, by single calls and, if the backend can do that, fused; and how much memory it
//! holds.
//!
//! Prints a table of milliseconds, the medians over turns that both sides take alternately. Words on the command line select
//! the rows whose names contain one of them; `--large` is for GPUs, with sizes that would take a processor minutes. In each
//! turn a side makes as many calls as take some time, and then waits once for the device.

mod measure;
mod rows;

use measure::Run;
use torch_library::prelude::*;
use torch_library::tracer::Graph;
use torch_library::{Error, backend};

/// A recorded program, fused into few launches.
pub(crate) type Program = Box<dyn Fn(&[Tensor]) -> Result<()>>;

/// The device that is measured, and how.
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

/// The memory that is held on the device, and the memory that was requested.
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
