//! Replays PyTorch's answers, recorded as rows of files, through the public interface of this project.
//!
//! Each file has a module under `files` that replays its rows. A row passes, fails, or is skipped
//! with a reason: a skipped row is a gap, not a pass. The ids of rows are never used.

mod compare;
pub mod fuzz;
pub mod hostile;
pub mod kit;
mod operators;
pub mod perturb;
mod report;
mod rows;
mod stock;
mod values;

mod files;

use std::path::Path;

use torch_library::{Error, Result};

pub use report::{Failure, Report};

/// A file of rows that this runner knows.
pub struct File {
    /// Its name without extensions: `dispatch_tables`.
    pub name: &'static str,
    replay: fn(&[serde_json::Value], &mut Report),
}

impl File {
    /// All files, in the order in which they build on each other.
    pub fn all() -> &'static [File] {
        files::ALL
    }

    /// Finds a file by its name, with or without extensions: `schemas` or `schemas.jsonl.gz`.
    ///
    /// # Errors
    /// There is no file of this name; the message lists the known ones.
    pub fn named(name: &str) -> Result<&'static File> {
        let stem = name.split('.').next().unwrap_or(name);
        files::ALL.iter().find(|file| file.name == stem).ok_or_else(|| {
            let known: Vec<_> = files::ALL.iter().map(|file| file.name).collect();
            Error::new(
                torch_library::ErrorKind::Argument,
                format!("no file named {name:?} is known; these are: {}", known.join(", ")),
            )
        })
    }

    /// A file to be replayed through a layer that must not change the results: `functionalize`, `trace`, or `fake`, for
    /// which everything but elements is compared.
    pub fn through(layer: &str) -> Option<&'static File> {
        files::THROUGH.iter().find(|(name, _)| *name == layer).map(|(_, file)| file)
    }

    /// Replays the rows that a folder has of this file; `None` if it has none.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn replay(&self, folder: &Path) -> Result<Option<Report>> {
        let Some(rows) = rows::read(folder, self.name)? else { return Ok(None) };
        let mut report = Report::new(self.name);
        (self.replay)(&rows, &mut report);
        Ok(Some(report))
    }
}
