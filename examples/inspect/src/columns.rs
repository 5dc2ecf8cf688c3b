//! Rows of cells, printed in columns.

use std::fmt;

/// Rows of cells; each column is as wide as its widest cell.
pub(crate) struct Columns(Vec<Vec<String>>);

impl<const N: usize> FromIterator<[String; N]> for Columns {
    fn from_iter<I: IntoIterator<Item = [String; N]>>(lines: I) -> Self {
        Columns(lines.into_iter().map(Vec::from).collect())
    }
}

impl fmt::Display for Columns {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut widths = Vec::new();
        for line in &self.0 {
            widths.resize(widths.len().max(line.len()), 0);
            for (width, cell) in widths.iter_mut().zip(line) {
                *width = (*width).max(cell.chars().count());
            }
        }
        for line in &self.0 {
            let cells: Vec<_> =
                line.iter().zip(&widths).map(|(cell, width)| format!("{cell:<width$}")).collect();
            writeln!(f, "  {}", cells.join("  ").trim_end())?;
        }
        Ok(())
    }
}
