//! What the dispatcher tells about itself, as tables: the registry, and a trace of calls.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use torch_library::{Dispatcher, Error, ErrorKind, OperatorInfo, Place, Result, Tensor, trace};

use crate::pipeline::Formats;

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

/// Sizes and strides, before and after a change of memory format.
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

/// All kernels of a namespace, or of `all`: operator, key, crate, place.
///
/// # Errors
/// There is no such namespace.
pub(crate) fn registry(namespace: &str) -> Result<Table> {
    let operators = Dispatcher::global().operators();
    let mut table = Table::default();
    let wanted = |info: &&OperatorInfo| namespace == "all" || info.operator.namespace() == namespace;
    for OperatorInfo { operator, kernels, .. } in operators.iter().filter(wanted) {
        let kernels = kernels.iter().map(|kernel| (kernel.key.name().to_owned(), kernel.place));
        for (key, place) in [("declared".to_owned(), operator.place())].into_iter().chain(kernels) {
            let [krate, at] = origin(place);
            table.push([operator.to_string(), key, krate, at]);
        }
    }
    if table.0.is_empty() {
        let mut known: Vec<_> = operators.iter().map(|info| info.operator.namespace()).collect();
        known.dedup(); // operators come by name
        let message = format!(
            "no operator is in namespace {namespace:?}\n  help: there are {}, or `all`",
            known.join(", ")
        );
        return Err(Error::new(ErrorKind::Argument, message));
    }
    Ok(table)
}

/// Runs something and lists the calls that it made, in order: operator, key, crate and place of the kernel.
///
/// # Errors
/// Whatever it returns.
pub(crate) fn traced<T>(run: impl FnOnce() -> Result<T>) -> Result<(T, Table)> {
    let table = Arc::new(Mutex::new(Table::default()));
    let listener = table.clone();
    let guard = trace::listen(move |event| {
        let operator = format!("{:1$}{2}", "", 2 * event.depth, event.operator);
        let [krate, at] = event.kernel.as_ref().map_or_else(Default::default, |kernel| origin(kernel.place));
        let line = [operator, event.key.to_string(), krate, at];
        listener.lock().unwrap_or_else(PoisonError::into_inner).push(line);
    });
    let result = run()?;
    drop(guard);
    let table = std::mem::take(&mut *table.lock().unwrap_or_else(PoisonError::into_inner));
    Ok((result, table))
}

fn origin(place: Place) -> [String; 2] {
    [place.krate().to_owned(), format!("{}:{}", place.file, place.line)]
}
