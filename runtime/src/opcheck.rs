//! Tests any registered operator against its own schema: does it do with its arguments what it says, and nothing else?
//! And its layers against what they stand for: gradients, batches, casts.
//!
//! ```
//! use torch_library::opcheck::{Check, OpCheck};
//! use torch_library::prelude::*;
//!
//! torch_library! {
//!     pub mod opcheck_docs {
//!         double(Tensor self) -> Tensor;
//!     }
//! }
//!
//! #[torch_impl(opcheck_docs, CPU)]
//! fn double(this: &Tensor) -> Result<Tensor> {
//!     let mut same = this.clone(); // the same memory, not a copy of it
//!     same.fill_from(this.to_vec::<f64>()?.iter().map(|x| 2.0 * x))?;
//!     Ok(same)
//! }
//!
//! # fn main() -> Result<()> {
//! let report = OpCheck::new(opcheck_docs::double::handle()).run([vec![Value::from(Tensor::from([1.0, 2.0]))]]);
//! let faults: Vec<Check> = report.faults.iter().map(|fault| fault.check).collect();
//! assert_eq!(faults, [Check::Mutation, Check::Aliasing, Check::Meta]);
//! assert!(report.to_string().contains("writes to `self`, which the schema only reads"));
//! # Ok(())
//! # }
//! ```
//!
//! # What is checked
//!
//! See [`Check`]. Each sample is a list of arguments in the order of the schema; what is left out at the end takes its
//! default. Samples are copied for every call, on the device where they live, so that they stay as they are.
//!
//! Boxed and typed calls run one function, from which the macros make both faces of a kernel. What a kernel that is
//! written for the stack leaves there is checked against the schema instead, as typed callers would take it.

use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::error::{Error, ErrorKind, Result};
use crate::key::DispatchKey;
use crate::operator::OperatorHandle;
use crate::registry::{self, RowInfo};
use crate::table::Source;
use crate::value::Value;

mod arguments;
mod batches;
mod call;
mod casts;
mod compare;
mod contract;
mod gradients;
mod layouts;
mod meta;
mod siblings;

/// What is looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Check {
    /// The operator has a kernel for the CPU, and its registrations do not contradict each other.
    Registration,
    /// It accepts the samples, and does not panic.
    Accepts,
    /// What it returns fits the schema in number and types.
    Returns,
    /// It gives the same result again.
    Deterministic,
    /// It writes to what the schema says it writes to, and to nothing else: values, geometry, storage.
    Mutation,
    /// It counts its writes, and no others.
    Version,
    /// What it returns shares memory with what the schema says, and with nothing else.
    Aliasing,
    /// On `meta` it gives the same sizes, strides and dtypes.
    Meta,
    /// The layout of its inputs in memory does not matter: strides, offset, expanded and transposed ones.
    Layouts,
    /// Tensors without elements are accepted or refused, in the same way on the CPU and on `meta`.
    Empty,
    /// The variant in place gives the same result.
    InPlace,
    /// The variant with `out` gives the same result, in the memory that was passed.
    Out,
    /// Where the operator has a kernel for autograd, its gradients are those that differences give, and none is lost.
    /// Looked at with samples of few elements in double precision, at which the operator has to be smooth.
    Gradient,
    /// So are the gradients of its gradients.
    SecondGradient,
    /// In vmap it gives what a loop over the examples gives, or says that it is not supported.
    Vmap,
    /// Where the operator has a kernel for autocast, it gives what a call with inputs that were cast before gives.
    Autocast,
}

/// Something that is wrong with an operator.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// Which check found it.
    pub check: Check,
    /// What is wrong, with which sample.
    pub message: String,
}

/// What a check of an operator found.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Report {
    /// The operator: `aten::add.Tensor`.
    pub operator: String,
    /// How often it was called.
    pub calls: usize,
    /// Which layers above the kernels were looked at: those that the operator has, and that the samples fit.
    pub layers: Vec<Check>,
    /// What is wrong; nothing, if all is well.
    pub faults: Vec<Fault>,
}

/// A check of an operator: which operator, and what not to look at.
pub struct OpCheck {
    operator: OperatorHandle,
    skipped: Vec<Check>,
}

impl OpCheck {
    /// A check of everything.
    pub fn new(operator: OperatorHandle) -> Self {
        OpCheck { operator, skipped: Vec::new() }
    }

    /// Leaves something out.
    #[must_use]
    pub fn without(mut self, check: Check) -> Self {
        self.skipped.push(check);
        self
    }

    /// Runs the operator with these samples. Each kind of fault is reported for the first sample that shows it.
    pub fn run(&self, samples: impl IntoIterator<Item = Vec<Value<'static>>>) -> Report {
        let mut session = Session::new(self.operator, &self.skipped);
        session.registration();
        if session.faults.is_empty() {
            let mut written = Vec::new();
            for sample in samples {
                session.sample(sample, &mut written);
            }
            session.never_written(&written);
        }
        session.faults.sort_by_key(|fault| fault.check);
        let Session { calls, layers, faults, .. } = session;
        Report { operator: self.operator.to_string(), calls, layers, faults }
    }
}

/// Tests an operator against its own schema, see the [module](self).
///
/// # Errors
/// Everything that was found.
pub fn opcheck(
    operator: OperatorHandle,
    samples: impl IntoIterator<Item = Vec<Value<'static>>>,
) -> Result<()> {
    OpCheck::new(operator).run(samples).into_result()
}

impl Report {
    /// Whether nothing is wrong.
    ///
    /// # Errors
    /// Everything that was found.
    pub fn into_result(self) -> Result<()> {
        match self.faults.is_empty() {
            true => Ok(()),
            false => Err(Error::new(ErrorKind::Kernel, self.to_string())),
        }
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let counted = |count: usize, what| format!("{count} {what}{}", if count == 1 { "" } else { "s" });
        let (faults, calls) = (counted(self.faults.len(), "fault"), counted(self.calls, "call"));
        write!(f, "{}: {faults} in {calls}", self.operator)?;
        self.faults.iter().try_for_each(|Fault { check, message }| write!(f, "\n  {check:?}: {message}"))
    }
}

/// The state of one check.
struct Session<'a> {
    operator: OperatorHandle,
    skipped: &'a [Check],
    calls: usize,
    layers: Vec<Check>,
    faults: Vec<Fault>,
}

impl<'a> Session<'a> {
    fn new(operator: OperatorHandle, skipped: &'a [Check]) -> Self {
        Session { operator, skipped, calls: 0, layers: Vec::new(), faults: Vec::new() }
    }

    fn wants(&self, check: Check) -> bool {
        !self.skipped.contains(&check)
    }

    /// Notes a fault, unless this check found one before or is left out.
    fn fault(&mut self, check: Check, message: impl Into<String>) {
        if self.wants(check) && self.faults.iter().all(|fault| fault.check != check) {
            self.faults.push(Fault { check, message: message.into() });
        }
    }

    fn has_tag(&self, tag: &str) -> bool {
        self.operator.tags().contains(&tag)
    }

    /// Whether results are to be the same each time.
    fn is_deterministic(&self) -> bool {
        !self.has_tag("nondeterministic_seeded") && !self.has_tag("nondeterministic_bitwise")
    }

    /// What the operator's table has at a key.
    fn row(&self, key: DispatchKey) -> Option<RowInfo> {
        let table = registry::of(self.operator.operator()).table(&self.operator.to_string()).ok()?;
        table.rows.into_iter().find(|row| row.key == key)
    }

    /// Whether somebody wrote a kernel for this operator and this key.
    fn has_kernel(&self, key: DispatchKey) -> bool {
        let row = self.row(key).filter(|row| row.source != Source::BackendFallback);
        row.and_then(|row| row.kernel)
            .is_some_and(|kernel| key == DispatchKey::AutogradCPU || !kernel.is_fallthrough)
    }

    /// Notes what the check of a layer finds, or what it fails with. Tells whether that was nothing.
    fn passes(&mut self, check: Check, run: impl FnOnce() -> Result<Option<String>>) -> bool {
        if !self.layers.contains(&check) {
            self.layers.push(check);
        }
        let found = catch_unwind(AssertUnwindSafe(run));
        let message = match found {
            Ok(Ok(message)) => message,
            Ok(Err(error)) => Some(error.to_string()),
            Err(panic) => Some(format!("panics: {}", call::text_of(&*panic))),
        };
        message.map(|message| self.fault(check, message)).is_none()
    }

    fn registration(&mut self) {
        if let Err(error) = self.operator.operator().resolved() {
            return self.fault(Check::Registration, error.to_string());
        }
        if self.row(DispatchKey::CPU).is_none_or(|row| row.kernel.is_none()) {
            self.fault(Check::Registration, "has no kernel for the CPU");
        }
        if self.has_tag("inplace_view") && !self.operator.name().ends_with('_') {
            self.fault(
                Check::Registration,
                "has the tag `inplace_view`, and a name that does not end with `_`",
            );
        }
    }

    /// Everything with one sample.
    fn sample(&mut self, sample: Vec<Value<'static>>, written: &mut Vec<bool>) {
        let values = match arguments::normalize(self.operator, sample) {
            Ok(values) => values,
            Err(error) => return self.fault(Check::Accepts, error.to_string()),
        };
        let Some(expected) = self.contract(&values, written) else { return };
        self.meta(&values, &expected);
        if self.is_deterministic() {
            self.layouts(&values);
            self.siblings(&values, &expected);
            self.gradients(&values);
            self.casts(&values);
            self.batches(&values, &expected);
        }
        self.empty(&values);
    }
}
