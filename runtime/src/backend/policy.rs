//! What happens when an operator falls back to the CPU: the call is counted, and reported or refused.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use crate::bail;
use crate::device::DeviceType;
use crate::error::Result;
use crate::operator::OperatorHandle;
use crate::warning::warn;

/// What [`cpu_fallback`](super::cpu_fallback) does besides running the operator.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum FallbackPolicy {
    /// Counts the call.
    Silent,
    /// Also warns the first time that an operator falls back.
    #[default]
    Warn,
    /// Refuses the call, for programs that must run on the device alone.
    Error,
}

#[derive(Default)]
struct Ledger {
    policies: BTreeMap<DeviceType, FallbackPolicy>,
    counts: BTreeMap<(DeviceType, String), u64>,
}

static LEDGER: Mutex<Ledger> = Mutex::new(Ledger { policies: BTreeMap::new(), counts: BTreeMap::new() });

/// Sets what happens from now on where operators of a device type fall back, for all threads.
pub fn set_fallback_policy(kind: DeviceType, policy: FallbackPolicy) {
    LEDGER.lock().unwrap_or_else(PoisonError::into_inner).policies.insert(kind, policy);
}

/// How often each operator fell back on devices of a type, by name: the operators for which a kernel is worth writing.
pub fn fallback_counts(kind: DeviceType) -> Vec<(String, u64)> {
    let ledger = LEDGER.lock().unwrap_or_else(PoisonError::into_inner);
    let of_kind = ledger.counts.iter().filter(|((other, _), _)| *other == kind);
    of_kind.map(|((_, operator), count)| (operator.clone(), *count)).collect()
}

/// Resets the counts; the next fallback of every operator warns again.
pub fn reset_fallback_counts(kind: DeviceType) {
    let mut ledger = LEDGER.lock().unwrap_or_else(PoisonError::into_inner);
    ledger.counts.retain(|(other, _), _| *other != kind);
}

/// Counts a call that falls back.
///
/// # Errors
/// The policy refuses the call.
pub(super) fn count_call(kind: DeviceType, operator: OperatorHandle) -> Result<()> {
    let mut ledger = LEDGER.lock().unwrap_or_else(PoisonError::into_inner);
    let policy = ledger.policies.get(&kind).copied().unwrap_or_default();
    if policy == FallbackPolicy::Error {
        drop(ledger);
        bail!(
            MissingKernel,
            "{operator} has no kernel for {kind}, and falling back to the CPU is refused here\n  \
             help: `set_fallback_policy` allows it"
        );
    }
    let count = ledger.counts.entry((kind, operator.to_string())).or_default();
    *count += 1;
    let is_first = *count == 1;
    drop(ledger); // a listener of warnings may query the counts
    if is_first && policy == FallbackPolicy::Warn {
        warn(format_args!(
            "{operator} has no kernel for {kind}, so it runs on the CPU, with copies there and back; \
             a kernel at {} makes it faster",
            kind.dispatch_key().name() // what a registration writes, even if the device has a name of its own
        ));
    }
    Ok(())
}
