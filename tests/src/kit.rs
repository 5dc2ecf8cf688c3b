//! Tests for any backend, in one call: memory and copies, recorded answers, views, versions, gradients, and operators
//! against their schemas.
//!
//! ```no_run
//! use torch_library_tests::kit::Kit;
//!
//! let report = Kit::new("npu".parse().unwrap()).run();
//! print!("{report}");
//! report.into_result().unwrap();
//! ```
//!
//! A backend passes with the hooks and the fallback alone; every kernel that it has must then give the same answers.
//! An error counts as a failure where PyTorch gives a result, whatever its kind: a kernel leaves the types that it does
//! not support to the fallback.

mod checks;
mod memory;
mod operators;

use std::fmt;

use torch_library::backend::{FallbackPolicy, set_fallback_policy};
use torch_library::{Device, DeviceType, Error, ErrorKind, Result};

use crate::files::{kernels, programs};
use crate::report::{Report, Unmet};
use crate::{rows, values};

/// The recorded answers that need no other files: results of operators, and programs with views, writes and gradients.
const ANSWERS: [(&str, &[u8]); 2] = [
    ("kernels", include_bytes!("../golden/kernels.jsonl.gz")),
    ("programs", include_bytes!("../golden/programs.jsonl.gz")),
];

/// More recorded answers, thousands of rows.
const WIDER: [(&str, &[u8]); 3] = [
    ("derivatives", include_bytes!("../golden/derivatives/kernels.jsonl.gz")),
    ("wider kernels", include_bytes!("../golden/wider/kernels.jsonl.gz")),
    ("wider programs", include_bytes!("../golden/wider/programs.jsonl.gz")),
];

/// A device, and which tests to leave out.
#[derive(Clone, Copy, Debug)]
pub struct Kit {
    device: Device,
    is_wide: bool,
}

/// The results of the tests.
#[derive(Debug)]
pub struct KitReport {
    device: Device,
    /// One report for each part of the tests.
    pub parts: Vec<Report>,
}

impl Kit {
    /// Creates the tests for a device, which may be the CPU.
    pub fn new(device: Device) -> Kit {
        Kit { device, is_wide: true }
    }

    /// Leaves out the longer files of recorded answers: for emulated devices.
    #[must_use]
    pub fn quick(self) -> Kit {
        Kit { is_wide: false, ..self }
    }

    /// Runs all tests, without the warnings for operators that fall back to the CPU.
    pub fn run(self) -> KitReport {
        if self.device.kind != DeviceType::Cpu {
            set_fallback_policy(self.device.kind, FallbackPolicy::Silent);
        }
        let mut parts = vec![memory::run(self.device), checks::run(self.device), operators::run(self.device)];
        let wider = WIDER.iter().filter(|_| self.is_wide);
        parts.extend(ANSWERS.iter().chain(wider).map(|(name, bytes)| self.answers(name, bytes)));
        set_fallback_policy(self.device.kind, FallbackPolicy::default());
        KitReport { device: self.device, parts }
    }

    fn answers(self, name: &'static str, bytes: &[u8]) -> Report {
        let mut report = Report::new(name);
        match rows::of_bytes(bytes) {
            Ok(rows) => values::on_device(self.device, || match name.contains("programs") {
                true => programs::replay(&rows, &mut report),
                false => kernels::replay(&rows, &mut report),
            }),
            Err(error) => report.row(&serde_json::Value::Null, name, || Err(Unmet::from(error))),
        }
        report
    }
}

impl KitReport {
    /// The number of rows and tests that failed.
    pub fn failed(&self) -> usize {
        self.parts.iter().map(|part| part.failed.len()).sum()
    }

    /// Whether all passed.
    ///
    /// # Errors
    /// Lists the failures.
    pub fn into_result(self) -> Result<()> {
        match self.failed() {
            0 => Ok(()),
            _ => Err(Error::new(ErrorKind::Kernel, self.to_string())),
        }
    }
}

impl fmt::Display for KitReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}: {} failed", self.device, self.failed())?;
        self.parts.iter().try_for_each(|part| f.write_str(&part.render(5)))
    }
}

/// A test and its name, which says what must hold.
type Test = (&'static str, fn(Device) -> Result<()>);

/// Runs named tests, as rows of a report.
fn tests(name: &'static str, tests: &[Test], device: Device) -> Report {
    let mut report = Report::new(name);
    for (label, test) in tests {
        report.row(&serde_json::Value::Null, label, || test(device).map_err(Unmet::from));
    }
    report
}

/// Fails a test unless two things are equal.
fn same<T: PartialEq + fmt::Debug>(what: &str, got: T, want: T) -> Result<()> {
    torch_library::ensure!(got == want, Kernel, "{what}: {got:?} instead of {want:?}");
    Ok(())
}
