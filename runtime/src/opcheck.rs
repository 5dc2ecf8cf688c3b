//! Tests any registered operator against its schema: whether it does with its arguments what the schema says, and
//! nothing else. Also tests its layers (gradients, batching rules, casts) against what they stand for.
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
//! let x = Tensor::from([1.0, 2.0]);
//! let report = OpCheck::new(opcheck_docs::double::handle()).run([vec![Value::from(&x)]]);
//! let faults: Vec<Check> = report.faults.iter().map(|fault| fault.check).collect();
//! assert_eq!(faults, [Check::Mutation, Check::Aliasing, Check::Meta, Check::Layouts]);
//! assert!(report.to_string().contains("writes to `self`, which the schema only reads"));
//! # Ok(())
//! # }
//! ```
//!
//! # What is checked
//!
//! See [`Check`]. Each sample is a list of arguments in the order of the schema; arguments left out at the end take
//! their defaults. Samples are copied for every call, on their device, so they stay unchanged. A sample that cannot be
//! copied, such as a tensor on `meta`, is the fault [`Check::Accepts`].
//!
//! An operator that returns tensors and has no kernel for `Meta` has the fault [`Check::Meta`]. The other checks are
//! made nevertheless, on the CPU; only the comparison of the two in [`Check::Empty`] is skipped. (The CPU's kernel is
//! still called without elements, and must not panic.) It is the same if [`OpCheck::without`] leaves out
//! [`Check::Meta`], for an operator that is to have no such kernel. An operator tagged `data_dependent_output` or
//! `dynamic_output_shape` is not called on `meta` either, and [`Check::Vmap`] is skipped for it.
//!
//! Boxed and typed calls run the same function, from which the macros make both forms of a kernel. For a boxed kernel,
//! the values that it leaves on the stack are instead checked against the schema, since typed callers rely on their
//! types.

use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::device::DeviceType;
use crate::ensure;
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
mod functional;
mod gradients;
mod layouts;
mod meta;
mod siblings;

/// The aspects that are checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Check {
    /// The operator has a kernel for the CPU, unless the samples are on another device, and its registrations do not
    /// conflict.
    Registration,
    /// The operator accepts the samples, and does not panic.
    Accepts,
    /// The returns fit the schema in number and types.
    Returns,
    /// A second call gives the same result.
    Deterministic,
    /// The operator writes to the arguments that the schema marks, and to nothing else: values, geometry, storage.
    Mutation,
    /// The operator bumps the version of what it writes, and no other.
    Version,
    /// The results share memory with no arguments but those that the schema names. They need not share it with these:
    /// some operators return a view or a copy, as `reshape` does.
    Aliasing,
    /// On `meta` the results have the same sizes, strides, offsets and dtypes, and share memory with the same
    /// arguments; these have the same geometry afterwards, and returns that are no tensors have the same value.
    Meta,
    /// The memory layout of the inputs does not matter: strides, offset, expanded and transposed tensors.
    Layouts,
    /// Tensors without elements are accepted or refused, in the same way on the CPU and on `meta`.
    Empty,
    /// The in-place variant gives the same result.
    InPlace,
    /// The `out` variant gives the same result, in the memory that was passed.
    Out,
    /// If the operator has an autograd kernel, its gradients agree with finite differences, and none is lost. Only
    /// checked for samples with few elements in double precision, at which the operator has to be smooth. An operator
    /// whose derivative is another one on purpose, such as rounding with a straight-through estimate, leaves this and
    /// the next check out, by [`OpCheck::without`].
    Gradient,
    /// The same for second derivatives.
    SecondGradient,
    /// Under vmap the result is that of a loop over the examples, or the operator says that it is not supported.
    Vmap,
    /// If the operator has an autocast kernel, the result is that of a call with inputs that were cast before.
    Autocast,
    /// In a [functionalized](mod@crate::functionalize) program, where the functional variant of an operator that writes
    /// runs instead, results and written arguments are the same, or the operator says that it is not supported.
    Functionalize,
}

/// A fault of an operator.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// The check that found it.
    pub check: Check,
    /// What is wrong, and with which sample.
    pub message: String,
}

/// The result of checking an operator.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Report {
    /// The operator: `aten::add.Tensor`.
    pub operator: String,
    /// How often the operator was called.
    pub calls: usize,
    /// The layers that were checked: those that the operator has, and that the samples are suitable for.
    pub layers: Vec<Check>,
    /// The faults; empty if there are none.
    pub faults: Vec<Fault>,
}

/// A check of an operator, from which some aspects may be left out.
///
/// ```
/// use torch_library::opcheck::{Check, OpCheck};
/// use torch_library::prelude::*;
///
/// torch_library! {
///     pub mod clocks {
///         /// Different at each call.
///         ticks(Tensor self) -> int;
///     }
/// }
///
/// #[torch_impl(clocks, CPU)]
/// fn ticks(_: &Tensor) -> Result<i64> {
///     use std::sync::atomic::{AtomicI64, Ordering};
///
///     static TICKS: AtomicI64 = AtomicI64::new(0);
///     Ok(TICKS.fetch_add(1, Ordering::Relaxed))
/// }
///
/// # fn main() -> Result<()> {
/// let samples = || [vec![Value::from(Tensor::from([1.0]))]];
/// let faults = |check: OpCheck| check.run(samples()).faults.into_iter().map(|fault| fault.check).collect::<Vec<_>>();
/// assert!(faults(OpCheck::new(clocks::ticks::handle())).contains(&Check::Deterministic));
/// let rest = faults(OpCheck::new(clocks::ticks::handle()).without(Check::Deterministic));
/// assert!(!rest.contains(&Check::Deterministic));
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct OpCheck {
    operator: OperatorHandle,
    skipped: Vec<Check>,
}

impl OpCheck {
    /// Checks all aspects.
    pub fn new(operator: OperatorHandle) -> Self {
        OpCheck { operator, skipped: Vec::new() }
    }

    /// Leaves out an aspect.
    #[must_use]
    pub fn without(mut self, check: Check) -> Self {
        self.skipped.push(check);
        self
    }

    /// Runs the operator with these samples. Each kind of fault is reported only for the first sample that shows it.
    pub fn run<'v>(&self, samples: impl IntoIterator<Item = Vec<Value<'v>>>) -> Report {
        let owned = |sample: Vec<Value<'v>>| sample.into_iter().map(Value::into_owned).collect();
        let mut samples = samples.into_iter().map(owned).peekable();
        let mut session = Session::new(self.operator, &self.skipped);
        session.registration(samples.peek().is_some_and(is_elsewhere));
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

/// Tests an operator against its schema, see the [module](self).
///
/// # Errors
/// All faults that were found; no samples.
pub fn opcheck<'v>(
    operator: OperatorHandle,
    samples: impl IntoIterator<Item = Vec<Value<'v>>>,
) -> Result<()> {
    let report = OpCheck::new(operator).run(samples);
    ensure!(
        report.calls > 0 || !report.faults.is_empty(),
        Argument,
        "{operator}: there are no samples, so nothing was checked"
    );
    report.into_result()
}

impl Report {
    /// Succeeds if there are no faults.
    ///
    /// # Errors
    /// All faults that were found.
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

/// Whether a sample is for a backend: one of its tensors is on a device with memory of its own.
fn is_elsewhere(sample: &Vec<Value<'static>>) -> bool {
    let kinds = sample.iter().flat_map(Value::tensors).map(|tensor| tensor.device().kind);
    kinds.into_iter().any(|kind| !matches!(kind, DeviceType::Cpu | DeviceType::Meta))
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

    /// Records a fault, unless this check was left out or has found one already.
    fn fault(&mut self, check: Check, message: impl Into<String>) {
        if self.wants(check) && self.faults.iter().all(|fault| fault.check != check) {
            self.faults.push(Fault { check, message: message.into() });
        }
    }

    fn has_tag(&self, tag: &str) -> bool {
        self.operator.tags().contains(&tag)
    }

    /// Whether results have to be the same each time.
    fn is_deterministic(&self) -> bool {
        !self.has_tag("nondeterministic_seeded") && !self.has_tag("nondeterministic_bitwise")
    }

    /// The row of the operator's table for a key.
    fn row(&self, key: DispatchKey) -> Option<RowInfo> {
        let table = registry::of(self.operator.operator()).table(&self.operator.to_string()).ok()?;
        table.rows.into_iter().find(|row| row.key == key)
    }

    /// Whether a kernel is registered for this operator and this key.
    fn has_kernel(&self, key: DispatchKey) -> bool {
        let row = self.row(key).filter(|row| row.source != Source::BackendFallback);
        row.and_then(|row| row.kernel)
            .is_some_and(|kernel| key == DispatchKey::AutogradCPU || !kernel.is_fallthrough)
    }

    /// Records what the check of a layer finds, or the error that it fails with. Returns whether there was neither.
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

    fn registration(&mut self, elsewhere: bool) {
        if let Err(error) = self.operator.operator().resolved() {
            return self.fault(Check::Registration, error.to_string());
        }
        if !elsewhere && self.row(DispatchKey::CPU).is_none_or(|row| row.kernel.is_none()) {
            self.fault(Check::Registration, "has no kernel for the CPU");
        }
        if self.has_tag("inplace_view") && !self.operator.name().ends_with('_') {
            self.fault(
                Check::Registration,
                "has the tag `inplace_view`, and a name that does not end with `_`",
            );
        }
    }

    /// Runs all checks with one sample.
    fn sample(&mut self, sample: Vec<Value<'static>>, written: &mut Vec<bool>) {
        let values = match arguments::normalize(self.operator, sample) {
            Ok(values) => values,
            Err(error) => return self.fault(Check::Accepts, error.to_string()),
        };
        let Some(expected) = self.contract(&values, written) else { return };
        self.meta(&values, &expected);
        if self.is_deterministic() {
            self.layouts(&values);
            self.siblings(&values, &expected.returns);
            self.gradients(&values);
            self.casts(&values);
            self.batches(&values, &expected.returns);
            self.functional(&values, &expected);
        }
        self.empty(&values);
    }
}
