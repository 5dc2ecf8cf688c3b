//! The dispatch table of one operator, for inspection.

use std::fmt;

use super::KernelInfo;
use super::compute::Row;
use super::entry::Entry;
use super::state::State;
use crate::key::DispatchKey;
use crate::operator::{Operator, OperatorHandle};
use crate::table::{self, Mask, Source};

/// The present dispatch table for one name.
///
/// Its [`Display`](fmt::Display) form has one line for each key with a kernel.
///
/// PyTorch: `Dispatcher::dumpComputedTable`.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct TableInfo {
    /// The name: `aten::add.Tensor`.
    pub name: String,
    /// The operator; `None` while there are only kernels.
    pub operator: Option<OperatorHandle>,
    /// One row for each runtime key, in the order of [`DispatchKey::runtime_keys`].
    pub rows: Vec<RowInfo>,
    /// The mask, which removes the keys that calls skip.
    pub mask: Mask,
    /// The kernels registered for this name, by key; a kernel that is replaced comes after the one that replaces it.
    pub kernels: Vec<KernelInfo>,
}

/// Where calls with this highest key go.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct RowInfo {
    /// The key.
    pub key: DispatchKey,
    /// The rule that decided.
    pub source: Source,
    /// The kernel; `None` if the row is missing or ambiguous.
    pub kernel: Option<KernelInfo>,
}

impl TableInfo {
    /// The row of a runtime key.
    pub fn row(&self, key: DispatchKey) -> Option<&RowInfo> {
        self.rows.get(key.slot()?)
    }

    /// Whether a kernel is registered for exactly this key, which may be an alias.
    ///
    /// PyTorch: `OperatorHandle::hasKernelForDispatchKey`.
    pub fn has_kernel_for(&self, key: DispatchKey) -> bool {
        self.kernels.iter().any(|kernel| kernel.key == key.registration_key())
    }
}

impl State {
    pub(super) fn table_info(&self, entry: &Entry) -> TableInfo {
        let table = self.table(entry);
        let row = |(key, row): (&DispatchKey, &table::Entry<_>)| row_info(*key, row);
        TableInfo {
            name: entry.name.to_string(),
            operator: entry.operator().map(|operator| operator.handle()),
            rows: DispatchKey::runtime_keys().iter().zip(table.entries()).map(row).collect(),
            mask: table.mask().clone(),
            kernels: entry.kernels(),
        }
    }

    /// A row of an operator's table.
    pub(super) fn row_of(&self, operator: &'static Operator, key: DispatchKey) -> Option<RowInfo> {
        let table = self.table(self.entry(operator).ok()?);
        key.is_runtime().then(|| row_info(key, &table.get(key)))
    }
}

fn row_info(key: DispatchKey, row: &table::Entry<Row<'_>>) -> RowInfo {
    RowInfo { key, source: row.source, kernel: row.kernel.map(|kernel| kernel.info(true)) }
}

/// Prints `CPU: add at src/cpu.rs:12 (crate myops) [kernel]`.
impl fmt::Display for RowInfo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: ", self.key)?;
        if let Some(kernel) = &self.kernel {
            write!(f, "{kernel} ")?;
        }
        write!(f, "[{}]", self.source)
    }
}

impl fmt::Display for TableInfo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let rows = self.rows.iter().filter(|row| row.source != Source::Missing);
        rows.into_iter().try_for_each(|row| writeln!(f, "{row}"))
    }
}
