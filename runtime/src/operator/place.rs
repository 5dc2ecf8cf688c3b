//! Source locations, for listings and messages.

use std::cmp::Ordering;
use std::fmt;
use std::panic::Location;
use std::sync::{Mutex, PoisonError};

use once_cell::sync::Lazy;
use rustc_hash::FxHashSet;

/// A module in its source file. All places in it share one of these: the records of a program have thousands of places.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct SourceModule {
    /// The source file as the compiler names it; empty for places outside the program's source.
    pub file: &'static str,
    /// The module path; its first segment is the crate. Empty if only the file is known.
    pub path: &'static str,
}

/// A source location.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Place {
    /// The module, with its file.
    pub module: &'static SourceModule,
    /// The line, from 1.
    pub line: u32,
    /// The column, from 1.
    pub column: u32,
}

impl Place {
    /// The source file as the compiler names it.
    pub fn file(&self) -> &'static str {
        self.module.file
    }

    /// The crate.
    pub fn krate(&self) -> &'static str {
        let path = self.module.path;
        path.split("::").next().unwrap_or(path)
    }

    /// The location of a caller. The module that it needs is leaked once for each file.
    pub(crate) fn of(location: &Location<'static>) -> Self {
        static FILES: Lazy<Mutex<FxHashSet<&'static SourceModule>>> = Lazy::new(Mutex::default);
        let module = SourceModule { file: location.file(), path: "" };
        let mut files = FILES.lock().unwrap_or_else(PoisonError::into_inner);
        let module = files.get(&module).copied().unwrap_or_else(|| {
            let module: &'static SourceModule = Box::leak(Box::new(module));
            files.insert(module);
            module
        });
        Place { module, line: location.line(), column: location.column() }
    }
}

/// Ordered by file, then by position in the file.
impl Ord for Place {
    fn cmp(&self, other: &Self) -> Ordering {
        let key = |place: &Place| (place.file(), place.line, place.column, place.module.path);
        key(self).cmp(&key(other))
    }
}

impl PartialOrd for Place {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.file(), self.line)?;
        if !self.module.path.is_empty() {
            write!(f, " (crate {})", self.krate())?;
        }
        Ok(())
    }
}
