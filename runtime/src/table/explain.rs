//! Explains an entry of a dispatch table: the rules in order, and the verdict of each.

use std::fmt;

use super::{ALIASES, Fallbacks, Registration, Source, is_below, serves};
use crate::DispatchKey;

/// The verdict of a rule about a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Verdict {
    /// The rule decides the entry.
    Taken {
        /// Whether the kernel is a fallthrough, so that calls skip the key.
        is_fallthrough: bool,
    },
    /// No kernel is registered for the rule.
    NoKernel,
    /// There is a kernel, but it does not cover this key.
    NotCovered,
    /// There is a kernel, but a backend below this autograd key has its own, to which the kernel's derivative does not
    /// apply.
    BackendKernel(DispatchKey),
    /// There is a kernel, but also one whose derivative is written separately.
    ExplicitKernel,
    /// There is a kernel, but a backend below this key has one too, and the key has to serve both: calls fail.
    Ambiguous(DispatchKey),
}

/// The rules that were applied to a runtime key, in order, up to the one that decided.
///
/// ```
/// use torch_library::DispatchKey;
/// use torch_library::table::{Fallbacks, Registration, explain};
///
/// let at = |key| Registration { key, kernel: (), is_fallthrough: false };
/// let registrations = [at(DispatchKey::CPU), at(DispatchKey::CompositeImplicitAutograd)];
/// let why = explain(&registrations, &Fallbacks::new(), DispatchKey::AutogradCPU);
/// assert_eq!(
///     why.to_string(),
///     "AutogradCPU: missing\n  \
///        kernel at AutogradCPU: none\n  \
///        CompositeExplicitAutogradNonFunctional: none\n  \
///        CompositeExplicitAutograd: none\n  \
///        CompositeImplicitAutogradNestedTensor: none\n  \
///        CompositeImplicitAutograd: does not apply, CPU has a kernel of its own\n  \
///        Autograd: none\n  \
///        FuncTorchBatchedDecomposition: none\n  \
///        backend fallback: none\n"
/// );
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Explanation {
    /// The runtime key.
    pub key: DispatchKey,
    /// The rule that decided the entry.
    pub source: Source,
    /// The rules and their verdicts; a rule is identified by its source of kernels.
    pub steps: Vec<(Source, Verdict)>,
}

/// Explains the entry of a key, with the same result as [`Table::compute`](super::Table::compute), by applying one rule
/// after another. No rule applies to aliases and building blocks, which calls never dispatch on.
pub fn explain<K: Copy>(
    registrations: &[Registration<K>],
    fallbacks: &Fallbacks<K>,
    key: DispatchKey,
) -> Explanation {
    let mut steps = Vec::new();
    let rules =
        [Source::Kernel].into_iter().chain(ALIASES.map(Source::Alias)).chain([Source::BackendFallback]);
    for rule in rules {
        if !key.is_runtime() {
            break;
        }
        let verdict = verdict_of(rule, registrations, fallbacks, key);
        steps.push((rule, verdict));
        match verdict {
            Verdict::Taken { .. } => return Explanation { key, source: rule, steps },
            Verdict::Ambiguous(_) => {
                return Explanation { key, source: Source::AmbiguousAutogradOther, steps };
            }
            _ => {}
        }
    }
    Explanation { key, source: Source::Missing, steps }
}

/// What a rule says about a key.
fn verdict_of<K: Copy>(
    rule: Source,
    registrations: &[Registration<K>],
    fallbacks: &Fallbacks<K>,
    key: DispatchKey,
) -> Verdict {
    let registered_at = |wanted: DispatchKey| {
        registrations.iter().rfind(|registration| registration.key.registration_key() == wanted)
    };
    let registered = match rule {
        Source::Kernel => registered_at(key).map(|registration| registration.is_fallthrough),
        Source::Alias(alias) => registered_at(alias).map(|registration| registration.is_fallthrough),
        _ => fallbacks.get(key).kernel.map(|_| fallbacks.get(key).is_fallthrough),
    };
    let Some(is_fallthrough) = registered else { return Verdict::NoKernel };
    let Source::Alias(alias) = rule else { return Verdict::Taken { is_fallthrough } };
    if !serves(alias, key) {
        return Verdict::NotCovered;
    }
    if alias == DispatchKey::CompositeImplicitAutograd {
        let mut keys = registrations.iter().map(|registration| registration.key.registration_key());
        return match keys.find(|backend| is_below(*backend, key)) {
            Some(backend) if key == DispatchKey::AutogradOther => Verdict::Ambiguous(backend),
            Some(backend) => Verdict::BackendKernel(backend),
            None if registered_at(DispatchKey::CompositeExplicitAutograd).is_some() => {
                Verdict::ExplicitKernel
            }
            None => Verdict::Taken { is_fallthrough },
        };
    }
    Verdict::Taken { is_fallthrough }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Verdict::Taken { is_fallthrough: false } => write!(f, "taken"),
            Verdict::Taken { is_fallthrough: true } => write!(f, "taken: a fallthrough, calls skip this key"),
            Verdict::NoKernel => write!(f, "none"),
            Verdict::NotCovered => write!(f, "does not cover this key"),
            Verdict::BackendKernel(backend) => write!(f, "does not apply, {backend} has a kernel of its own"),
            Verdict::ExplicitKernel => write!(f, "does not apply, CompositeExplicitAutograd has a kernel"),
            Verdict::Ambiguous(backend) => {
                write!(f, "ambiguous, {backend} has a kernel of its own; register one at AutogradOther")
            }
        }
    }
}

impl fmt::Display for Explanation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}: {}", self.key, self.source)?;
        for (rule, verdict) in &self.steps {
            match rule {
                Source::Kernel => writeln!(f, "  kernel at {}: {verdict}", self.key)?,
                Source::Alias(alias) => writeln!(f, "  {alias}: {verdict}")?,
                _ => writeln!(f, "  {rule}: {verdict}")?,
            }
        }
        Ok(())
    }
}
