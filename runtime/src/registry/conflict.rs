//! Conflicts between registrations: all are found at once and reported together, with their source locations.

use std::borrow::Cow;
use std::fmt;

use crate::device::DeviceType;
use crate::key::DispatchKey;
use crate::operator::Place;

/// Registrations that contradict each other.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Conflict {
    /// A namespace is declared twice, and neither declaration says `extends`.
    Namespace {
        /// The namespace.
        namespace: String,
        /// The source locations, in order.
        places: Vec<Place>,
    },
    /// An operator is declared twice.
    Operator {
        /// The operator's full name.
        operator: String,
        /// The source locations, each with its schema.
        places: Vec<(Place, String)>,
    },
    /// An operator has two kernels for one key, and not exactly one of them says `override`.
    Kernel {
        /// The operator's full name.
        operator: String,
        /// The key.
        key: DispatchKey,
        /// The source locations, with the functions' names.
        places: Vec<(Place, Cow<'static, str>)>,
    },
    /// There are two fallbacks for one key.
    Fallback {
        /// The key.
        key: DispatchKey,
        /// The source locations, with the functions' names.
        places: Vec<(Place, Cow<'static, str>)>,
    },
    /// There are two backends for one device type.
    Backend {
        /// The device type.
        kind: DeviceType,
        /// The source locations, with the backends' names.
        places: Vec<(Place, &'static str)>,
    },
    /// A plug-in was compiled with other sources of this crate, so nothing that it registers can be used.
    Build {
        /// The module of the plug-in.
        module: &'static str,
    },
    /// A kernel is registered for an operator that no linked library declares.
    Undeclared {
        /// The operator's full name.
        operator: String,
        /// The source location of the kernel.
        place: Place,
    },
    /// A kernel is registered for an operator other than the one it was made for.
    Foreign {
        /// The operator's full name.
        operator: String,
        /// The name of the operator whose types the kernel has.
        made_for: String,
        /// The key.
        key: DispatchKey,
        /// The source location of the kernel.
        place: Place,
    },
}

impl fmt::Display for Conflict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Conflict::Namespace { namespace, places } => {
                write!(f, "namespace `{namespace}` is declared {} times", places.len())?;
                places.iter().try_for_each(|place| write!(f, "\n     at {place}"))?;
                write!(f, "\n     help: let one declare it, and write `extends` in the others")
            }
            Conflict::Operator { operator, places } => {
                write!(f, "operator `{operator}` is declared {} times", places.len())?;
                places.iter().try_for_each(|(place, schema)| write!(f, "\n     at {place}: {schema}"))?;
                write!(f, "\n     help: keep one, or give the other a name or an overload of its own")
            }
            Conflict::Kernel { operator, key, places } => {
                write!(f, "operator `{operator}` has {} kernels for {key}", places.len())?;
                places
                    .iter()
                    .try_for_each(|(place, function)| write!(f, "\n     `{function}` at {place}"))?;
                write!(
                    f,
                    "\n     help: keep one, or write `override` on the one that is to replace the other"
                )
            }
            Conflict::Fallback { key, places } => {
                write!(f, "there are {} fallbacks for {key}", places.len())?;
                places
                    .iter()
                    .try_for_each(|(place, function)| write!(f, "\n     `{function}` at {place}"))?;
                write!(f, "\n     help: keep one: a key has one fallback, which serves all operators")
            }
            Conflict::Backend { kind, places } => {
                write!(f, "there are {} backends for {}", places.len(), kind.name())?;
                places.iter().try_for_each(|(place, name)| write!(f, "\n     `{name}` at {place}"))?;
                write!(f, "\n     help: keep one, or give the other a device type that no backend serves")
            }
            Conflict::Build { module } => {
                write!(
                    f,
                    "the plug-in with the module `{module}` was compiled with other sources of torch-library than this \
                     program\n     help: compile both again, from the same sources"
                )
            }
            Conflict::Undeclared { operator, place } => {
                write!(
                    f,
                    "a kernel is registered for `{operator}`, which no linked library declares\n     at {place}\n     \
                     help: link the crate that declares it (`use that_crate as _;`), or pass its library to `register!` as well"
                )
            }
            Conflict::Foreign { operator, made_for, key, place } => {
                write!(
                    f,
                    "a kernel of `{made_for}` is registered for `{operator}` at {key}\n     at {place}\n     \
                     help: register it for `{made_for}`; a kernel has the types of the operator that it was made for"
                )
            }
        }
    }
}

/// All conflicts as one message; `None` if there are none.
pub(super) fn report(conflicts: &[Conflict]) -> Option<String> {
    if conflicts.is_empty() {
        return None;
    }
    let count = match conflicts.len() {
        1 => "1 conflict".to_owned(),
        n => format!("{n} conflicts"),
    };
    let mut report = format!("the registrations of this program contradict each other: {count}");
    for (index, conflict) in conflicts.iter().enumerate() {
        report.push_str(&format!("\n  {}. {conflict}", index + 1));
    }
    Some(report)
}
