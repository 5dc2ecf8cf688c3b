//! Replays what PyTorch answered, as recorded in files of rows, through the public face of this project.
//!
//! Each file has a module under `files` that says how one of its rows is replayed. A row passes, fails, or is
//! skipped with a reason: a skipped row is a gap, not a pass. Nothing here looks at the id of a row.

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
    /// All of them, in the order in which they build on each other.
    pub fn all() -> &'static [File] {
        files::ALL
    }

    /// The file of a name, which may have its extensions: `schemas` or `schemas.jsonl.gz`.
    ///
    /// # Errors
    /// No file that is known has this name; the message lists those that are.
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

    /// A file as it is replayed through a layer that is to change nothing: `functionalize`, `trace`, or `fake`, which
    /// compares everything but elements.
    pub fn through(layer: &str) -> Option<&'static File> {
        files::THROUGH.iter().find(|(name, _)| *name == layer).map(|(_, file)| file)
    }

    /// Replays the rows that a folder has of this file; nothing where it has none.
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
