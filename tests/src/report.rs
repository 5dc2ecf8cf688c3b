//! The result of replaying the rows of a file.

use std::collections::BTreeMap;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};

use serde_json::{Value as Json, json};
use torch_library::Error;

/// The reason why a row did not pass.
#[derive(Debug)]
pub(crate) enum Unmet {
    /// The answer differs from PyTorch's.
    Failed {
        /// PyTorch's answer.
        expected: String,
        /// Our answer.
        got: String,
    },
    /// The row was not replayed, or not completely, for this reason.
    Skipped(String),
}

/// The result of a step of a replay.
pub(crate) type Check<T = ()> = Result<T, Unmet>;

impl Unmet {
    pub(crate) fn failed(expected: impl fmt::Display, got: impl fmt::Display) -> Self {
        Unmet::Failed { expected: expected.to_string(), got: got.to_string() }
    }

    /// Prefixes the message with what was compared.
    pub(crate) fn at(self, what: impl fmt::Display) -> Self {
        match self {
            Unmet::Failed { expected, got } => Unmet::failed(format!("{what}: {expected}"), got),
            skipped => skipped,
        }
    }
}

/// An error of ours where PyTorch has none.
impl From<Error> for Unmet {
    fn from(error: Error) -> Self {
        Unmet::failed("no error", format!("error: {error}"))
    }
}

/// Fails unless both are equal.
pub(crate) fn equal<T: PartialEq<W> + fmt::Debug, W: fmt::Debug>(what: &str, got: T, want: W) -> Check {
    if got == want { Ok(()) } else { Err(Unmet::failed(format!("{want:?}"), format!("{got:?}")).at(what)) }
}

/// Fails unless the result is an error exactly if PyTorch's is.
pub(crate) fn error_iff<T>(what: &str, wants_error: bool, got: torch_library::Result<T>) -> Check<Option<T>> {
    match (got, wants_error) {
        (Ok(value), false) => Ok(Some(value)),
        (Err(_), true) => Ok(None),
        (Ok(_), true) => Err(Unmet::failed("an error", "success").at(what)),
        (Err(error), false) => Err(Unmet::from(error).at(what)),
    }
}

/// A row whose answer differs from PyTorch's.
#[derive(Debug)]
pub struct Failure {
    /// A label of the row.
    pub row: String,
    /// PyTorch's answer.
    pub expected: String,
    /// Our answer.
    pub got: String,
}

/// The outcome of one file.
#[derive(Debug)]
pub struct Report {
    /// The file's name, without extensions.
    pub name: &'static str,
    /// The number of rows that passed.
    pub passed: usize,
    /// The rows that failed.
    pub failed: Vec<Failure>,
    /// The number of rows that were skipped, by reason.
    pub skipped: BTreeMap<String, usize>,
    /// The rows that were skipped.
    pub skipped_rows: Vec<String>,
}

impl Report {
    pub(crate) fn new(name: &'static str) -> Self {
        Report { name, passed: 0, failed: Vec::new(), skipped: BTreeMap::new(), skipped_rows: Vec::new() }
    }

    /// Replays one row, unless it is marked as not counting.
    pub(crate) fn row(&mut self, row: &Json, label: &str, check: impl FnOnce() -> Check) {
        if row["not_counted"] == true {
            return;
        }
        // A panic is a bug of ours, but only this row fails.
        let outcome = catch_unwind(AssertUnwindSafe(check))
            .unwrap_or_else(|_| Err(Unmet::failed("an answer", "a panic, see above")));
        match outcome {
            Ok(()) => self.passed += 1,
            Err(Unmet::Failed { expected, got }) => {
                self.failed.push(Failure { row: label.to_owned(), expected, got });
            }
            Err(Unmet::Skipped(reason)) => {
                *self.skipped.entry(reason).or_default() += 1;
                self.skipped_rows.push(label.to_owned());
            }
        }
    }

    /// The number of rows that were skipped.
    pub fn skips(&self) -> usize {
        self.skipped.values().sum()
    }

    /// The number of rows that count.
    pub fn rows(&self) -> usize {
        self.passed + self.failed.len() + self.skips()
    }

    /// The report for machines.
    pub fn to_json(&self) -> Json {
        let failed = self.failed.iter();
        let failed = failed.map(|f| json!({"row": f.row, "expected": f.expected, "got": f.got}));
        json!({
            "name": self.name,
            "passed": self.passed,
            "failed": self.failed.len(),
            "skipped": self.skips(),
            "rows": self.rows(),
            "failures": failed.collect::<Vec<_>>(),
            "skip_reasons": self.skipped,
            "skipped_rows": self.skipped_rows,
        })
    }

    /// The report for people, with at most this many failures.
    pub fn render(&self, failures: usize) -> String {
        let (name, passed, failed, skipped) = (self.name, self.passed, self.failed.len(), self.skips());
        let mut text =
            format!("{name}: passed {passed} failed {failed} skipped {skipped} of {}\n", self.rows());
        for (reason, count) in &self.skipped {
            text += &format!("  skipped {count}: {reason}\n");
        }
        for Failure { row, expected, got } in self.failed.iter().take(failures) {
            text += &format!("  {row}\n    expected {}\n    got      {}\n", indent(expected), indent(got));
        }
        if failed > failures {
            text += &format!("  and {} more, shown by --all\n", failed - failures);
        }
        text
    }
}

fn indent(text: &str) -> String {
    text.replace('\n', "\n             ")
}
