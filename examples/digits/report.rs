//! The dispatcher's own information, as tables: the registry, and a trace of calls.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use torch_library::{Dispatcher, OperatorInfo, Place, Result, Tensor, trace};

use crate::pipeline::Formats;
use crate::progress::Progress;

/// Lines of cells, printed in columns.
#[derive(Default)]
pub(crate) struct Table(Vec<Vec<String>>);

impl Table {
    pub(crate) fn push(&mut self, line: impl IntoIterator<Item = String>) {
        self.0.push(line.into_iter().collect());
    }
}

/// The lines, each column as wide as its widest cell.
impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let width = |cell: &String| cell.chars().count();
        let columns = self.0.iter().map(Vec::len).max().unwrap_or(0);
        let widest = |column| self.0.iter().filter_map(|line| line.get(column)).map(width).max();
        let widths: Vec<_> = (0..columns).map(|column| widest(column).unwrap_or(0)).collect();
        for line in &self.0 {
            let cells: Vec<_> =
                line.iter().zip(&widths).map(|(cell, width)| format!("{cell:<width$}")).collect();
            writeln!(f, "  {}", cells.join("  ").trim_end())?;
        }
        Ok(())
    }
}

/// Sizes and strides before and after a change of memory format.
pub(crate) fn formats(formats: &[Formats]) -> Table {
    let mut table = Table::default();
    for Formats { name, before, after } in formats {
        let line = |x: &Tensor| [format!("sizes {:?}", x.sizes()), format!("strides {:?}", x.strides())];
        let note = if after.shares_storage_with(before) { "already so: no copy" } else { "" };
        table.push([(*name).to_owned()].into_iter().chain(line(before)));
        let name = "  contiguous(channels_last)".to_owned();
        table.push([name].into_iter().chain(line(after)).chain([note.to_owned()]));
    }
    table
}

/// The crates of the demonstration.
const CRATES: [&str; 4] = ["glyphs", "glyphs_extra", "glyphs_fused", "glyphs_tape"];

/// Which crates declared operators and registered kernels, and where: those of the demonstration, or all linked ones.
pub(crate) fn registry(all: bool) -> Table {
    let mut table = Table::default();
    for OperatorInfo { operator, kernels, .. } in Dispatcher::global().operators() {
        let kernels = kernels.iter().map(|kernel| (kernel.key.name(), kernel.place));
        for (key, place) in [("declared", operator.place())].into_iter().chain(kernels) {
            if all || CRATES.contains(&place.krate()) {
                let [krate, at] = origin(place);
                table.push([operator.to_string(), key.to_owned(), krate, at]);
            }
        }
    }
    table
}

/// Runs a function and lists the calls that it made, in order: operator, key, crate and place of the kernel.
///
/// # Errors
/// The function's own.
pub(crate) fn traced<T>(run: impl FnOnce() -> Result<T>) -> Result<(T, Table)> {
    let table = Arc::new(Mutex::new(Table::default()));
    let (listener, progress) = (table.clone(), Progress::computing());
    let guard = trace::listen(move |event| {
        progress.say(event.operator.to_string());
        let operator = format!("{:1$}{2}", "", 2 * event.depth, event.operator);
        let [krate, at] = event.kernel.as_ref().map_or_else(Default::default, |kernel| {
            let [krate, at] = origin(kernel.place);
            // Kernels of the library itself have no place in this program's sources.
            if kernel.place.file().is_empty() { [krate, kernel.function.to_string()] } else { [krate, at] }
        });
        let line = [operator, event.key.to_string(), krate, at];
        listener.lock().unwrap_or_else(PoisonError::into_inner).push(line);
    });
    let result = run()?;
    drop(guard);
    let table = std::mem::take(&mut *table.lock().unwrap_or_else(PoisonError::into_inner));
    Ok((result, table))
}

fn origin(place: Place) -> [String; 2] {
    [place.krate().to_owned(), format!("{}:{}", place.file(), place.line)]
}
