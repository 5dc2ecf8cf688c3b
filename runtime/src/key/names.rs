//! The names of dispatch keys: printing, parsing, and the names that private backends take.

use std::borrow::Cow;
use std::fmt;
use std::panic::Location;
use std::str::FromStr;
use std::sync::{Mutex, PoisonError};

use torch_library_schema::weighted_edit_distance;

use super::{BackendComponent, DispatchKey, ROWS};
use crate::{Error, ErrorKind, Result, bail, ensure};

/// The name that a private backend has taken, and the source location.
#[derive(Clone, Copy)]
struct Claim {
    name: &'static str,
    place: &'static Location<'static>,
}

const PRIVATE: [(BackendComponent, &str); 3] = [
    (BackendComponent::PrivateUse1, "PrivateUse1"),
    (BackendComponent::PrivateUse2, "PrivateUse2"),
    (BackendComponent::PrivateUse3, "PrivateUse3"),
];

/// The names taken in this process, in the order of [`PRIVATE`].
static CLAIMS: Mutex<[Option<Claim>; PRIVATE.len()]> = Mutex::new([None; PRIVATE.len()]);

fn claims() -> [Option<Claim>; PRIVATE.len()] {
    *CLAIMS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Names a private backend for this process: its keys are then printed with that name, and both names can be parsed.
/// Repeating the call with the same name does nothing.
///
/// # Errors
/// The key is not `PrivateUse1`, `PrivateUse2` or `PrivateUse3`; the name is not an identifier or is in use already;
/// the backend has another name (the message has both source locations).
///
/// # Examples
/// ```standalone_crate
/// use torch_library::{DispatchKey, register_backend_name};
///
/// register_backend_name(DispatchKey::PrivateUse2, "npu")?;
/// assert_eq!(DispatchKey::AutogradPrivateUse2.to_string(), "Autogradnpu");
/// assert_eq!("npu".parse::<DispatchKey>()?, DispatchKey::PrivateUse2);
/// assert_eq!(DispatchKey::for_device("npu")?, DispatchKey::PrivateUse2);
/// # Ok::<(), torch_library::Error>(())
/// ```
///
/// PyTorch: `c10::register_privateuse1_backend`, for the first of the three.
#[track_caller]
pub fn register_backend_name(key: DispatchKey, name: &str) -> Result<()> {
    let place = Location::caller();
    let Some(idx) = PRIVATE.iter().position(|(backend, _)| DispatchKey::Dense.on(*backend) == key) else {
        bail!(
            Argument,
            "cannot name {key} {name:?}: only PrivateUse1, PrivateUse2 and PrivateUse3 take a name"
        );
    };
    let mut claims = CLAIMS.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(claim) = claims[idx] {
        let stock = PRIVATE[idx].1;
        ensure!(
            claim.name == name,
            Conflict,
            "{stock} is named {:?} at {} and {name:?} at {place}; a process has one name for it",
            claim.name,
            claim.place
        );
        return Ok(());
    }
    check_name(name, &*claims)?;
    claims[idx] = Some(Claim { name: String::leak(name.to_owned()), place });
    Ok(())
}

/// Rejects a name that is not an identifier, or with which two keys would be printed alike.
fn check_name(name: &str, claims: &[Option<Claim>]) -> Result<()> {
    let is_identifier = name.starts_with(|c: char| c.is_ascii_alphabetic())
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    ensure!(is_identifier, Argument, "{name:?} cannot name a backend: it must be letters, digits and `_`");
    let is_device = BackendComponent::ALL.iter().any(|backend| backend.stock_device() == Some(name));
    let ambiguous =
        private_stems().map(|stem| format!("{stem}{name}")).find(|text| parse(text, claims).is_some());
    if let Some(text) = ambiguous.or(is_device.then(|| name.to_owned())) {
        bail!(Conflict, "{name:?} cannot name a backend: {text:?} already means something else");
    }
    Ok(())
}

/// The prefixes of the backend's name in the names of its keys: none, `Sparse`, `Autograd` and so on.
fn private_stems() -> impl Iterator<Item = &'static str> {
    ROWS.iter().flatten().filter_map(|row| row.name.strip_suffix(PRIVATE[0].1))
}

fn parse(text: &str, claims: &[Option<Claim>]) -> Option<DispatchKey> {
    let exact = |text: &str| ROWS.iter().flatten().find(|row| row.name == text).map(|row| row.key);
    let renamed = |((_, stock), claim): (&(_, &str), &Option<Claim>)| {
        text.strip_suffix(claim.as_ref()?.name).and_then(|stem| exact(&format!("{stem}{stock}")))
    };
    exact(text).or_else(|| PRIVATE.iter().zip(claims).find_map(renamed))
}

impl DispatchKey {
    fn display_name(self) -> Cow<'static, str> {
        let name = self.name();
        let renamed = |((_, stock), claim): (&(_, &str), Option<Claim>)| {
            Some(Cow::Owned(format!("{}{}", name.strip_suffix(stock)?, claim?.name)))
        };
        PRIVATE.iter().zip(claims()).find_map(renamed).unwrap_or(Cow::Borrowed(name))
    }

    /// The key of dense tensors on a device, by the name of the device type: `cpu`, `cuda`, or a name that a private
    /// backend took.
    ///
    /// # Errors
    /// There is no device type with that name, or it has no dense tensors.
    ///
    /// PyTorch: `c10::computeDispatchKey`.
    pub fn for_device(device: &str) -> Result<Self> {
        let claims = claims();
        let named =
            PRIVATE.iter().zip(&claims).find(|(_, claim)| claim.is_some_and(|claim| claim.name == device));
        let backend =
            BackendComponent::ALL.into_iter().find(|backend| backend.stock_device() == Some(device));
        match (backend.or(named.map(|((backend, _), _)| *backend)), device) {
            (Some(backend), _) => Ok(DispatchKey::Dense.on(backend)),
            (None, "fpga") => Ok(DispatchKey::FPGA),
            (None, "vulkan") => Ok(DispatchKey::Vulkan),
            (None, _) => {
                let stock = BackendComponent::ALL.iter().filter_map(|backend| backend.stock_device());
                let known: Vec<_> = stock.chain(claims.iter().flatten().map(|claim| claim.name)).collect();
                bail!(
                    Device,
                    "no dispatch key for device type {device:?}: expected one of {}",
                    known.join(", ")
                )
            }
        }
    }
}

/// PyTorch's name, or the one that a private backend has taken.
impl fmt::Display for DispatchKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.display_name())
    }
}

/// Parses every name that can be printed, and nothing else.
///
/// PyTorch: `c10::parseDispatchKey`, which parses only some of the names.
impl FromStr for DispatchKey {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        parse(text, &claims()).ok_or_else(|| unknown(text))
    }
}

/// Names that PyTorch once had and no longer parses.
const OLD_NAMES: [(&str, &str); 9] = [
    ("CPUTensorId", "CPU"),
    ("CUDATensorId", "CUDA"),
    ("Autocast", "AutocastCUDA"),
    ("CatchAll", "CompositeImplicitAutograd"),
    ("Math", "CompositeImplicitAutograd"),
    ("DefaultBackend", "CompositeExplicitAutograd"),
    ("PrivateUse1_PreAutograd", "AutogradPrivateUse1"),
    ("PrivateUse2_PreAutograd", "AutogradPrivateUse2"),
    ("PrivateUse3_PreAutograd", "AutogradPrivateUse3"),
];

#[cold]
fn unknown(text: &str) -> Error {
    let hint = match OLD_NAMES.iter().find(|(old, _)| *old == text) {
        Some((_, name)) => format!("; it is {name} now"),
        None => nearest(text).map_or_else(String::new, |name| format!("; did you mean {name}?")),
    };
    Error::new(ErrorKind::Argument, format!("no dispatch key is named {text:?}{hint}"))
}

/// The cost of inserting, deleting or replacing a letter; changing its case costs 1.
const EDIT: usize = 4;

/// The most similar name, if at most a third of it differs.
fn nearest(text: &str) -> Option<Cow<'static, str>> {
    // No name is similar to a text of more than twice its length, so a text of megabytes is not compared at all.
    let names = DispatchKey::all().map(DispatchKey::display_name);
    let names = names.filter(|name| text.chars().nth(2 * name.len()).is_none());
    let (distance, name) =
        names.map(|name| (distance(text, &name), name)).min_by_key(|(distance, _)| *distance)?;
    (distance * 3 <= name.len() * EDIT).then_some(name)
}

/// The edit distance between two names.
fn distance(left: &str, right: &str) -> usize {
    let replace = |from: char, to: char| match from == to {
        true => 0,
        false if from.eq_ignore_ascii_case(&to) => 1,
        false => EDIT,
    };
    weighted_edit_distance(left, right, EDIT, replace)
}
