//! Rows without a usable kernel, and the errors for calls that reach one.

use torch_library_schema::{Type, Value as _};

use super::KernelInfo;
use super::explain::Fate;
use super::state::State;
use crate::device::Device;
use crate::error::{Error, ErrorKind};
use crate::guard::LocalDispatchKeySet;
use crate::key::{DispatchKey, DispatchKeySet};
use crate::operator::kernel::BoxedKernel;
use crate::operator::{Operator, OperatorHandle};
use crate::signature;
use crate::tensor::Tensor;
use crate::value::{Stack, Value};

/// There is neither a kernel nor a fallback.
pub(super) const MISSING: BoxedKernel =
    BoxedKernel::new(|_, operator, keys, stack| Err(no_kernel(operator, keys, stack)));
/// A composite kernel and a backend's kernel both apply to `AutogradOther`.
pub(super) const AMBIGUOUS: BoxedKernel =
    BoxedKernel::new(|_, operator, _, stack| Err(ambiguous(operator, stack)));
/// A fallthrough was reached because no key is left below it.
pub(super) const FALLTHROUGH: BoxedKernel =
    BoxedKernel::new(|_, operator, keys, stack| Err(fallthrough(operator, keys, stack)));
/// There are two fallbacks for the key.
pub(super) const IN_CONFLICT: BoxedKernel = BoxedKernel::new(|_, operator, _, _| {
    Err(in_conflict_error(operator, super::of(operator).lock().report()))
});

pub(super) fn no_kernel(operator: &'static Operator, keys: DispatchKeySet, stack: &Stack<'_>) -> Error {
    let key = keys.highest_priority();
    let dropped = dropped(operator, keys, stack);
    if let (DispatchKey::Undefined, "", Some(error)) = (key, &dropped[..], mistyped(operator, stack)) {
        return error;
    }
    let call = match key {
        DispatchKey::Undefined if dropped.is_empty() => "a call without tensors".to_owned(),
        DispatchKey::Undefined => "a call that is left without keys".to_owned(),
        key => key.to_string(),
    };
    let unlinked = super::of(operator).lock().unlinked(operator, key);
    let help = match (devices(operator, key, stack), &unlinked) {
        (Some(devices), _) => {
            format!("\n  help: the tensors are on different devices, {devices}: move them to one")
        }
        (None, None) => remedy(operator, key, &dropped),
        (None, Some(_)) => String::new(),
    };
    let cause = unlinked.unwrap_or_default();
    refusal(operator, stack, &format!("has no kernel for {call}{cause}"), &dropped, &help)
}

/// The devices of the tensors, if there are several, and the call failed for one of them.
fn devices(operator: &'static Operator, key: DispatchKey, stack: &Stack<'_>) -> Option<String> {
    let arguments = operator.handle().arguments(stack).unwrap_or_default();
    let mut devices: Vec<Device> = Vec::new();
    for device in arguments.iter().flat_map(Value::all_tensors).map(Tensor::device) {
        if !devices.contains(&device) {
            devices.push(device);
        }
    }
    let is_of_device = devices.iter().any(|device| device.kind.dispatch_key() == key);
    let names = || devices.iter().map(Device::to_string).collect::<Vec<_>>().join(" and ");
    (is_of_device && devices.len() > 1).then(names)
}

/// The error for a boxed call with a value of another type than the schema's, which may stand where a tensor was meant.
fn mistyped(operator: &'static Operator, stack: &Stack<'_>) -> Option<Error> {
    let (schema, values) = (operator.schema().ok()?, operator.handle().arguments(stack).ok()?);
    let mut arguments = schema.arguments.iter().zip(values).enumerate();
    let (index, (argument, value)) = arguments.find(|(_, (argument, value))| !value.is_a(&argument.ty))?;
    Some(signature::mistyped(operator, index, &argument.ty.to_string(), value.type_name()))
}

fn ambiguous(operator: &'static Operator, stack: &Stack<'_>) -> Error {
    let what = "has both a CompositeImplicitAutograd kernel and one for a backend under AutogradOther, \
                so it is not clear which differentiates it";
    let help =
        "\n  help: register a kernel for AutogradOther, or the composite one for CompositeExplicitAutograd";
    refusal(operator, stack, what, "", help)
}

fn fallthrough(operator: &'static Operator, keys: DispatchKeySet, stack: &Stack<'_>) -> Error {
    let what = format!("falls through at {}, and no key is left below it", keys.highest_priority());
    refusal(operator, stack, &what, &dropped(operator, keys, stack), "")
}

/// An error with the problem, the arguments, the fate of their keys, the existing kernels, and a hint.
fn refusal(operator: &'static Operator, stack: &Stack<'_>, what: &str, dropped: &str, help: &str) -> Error {
    let arguments = describe(operator.handle(), stack);
    let available = super::of(operator).lock().available(operator);
    Error::new(ErrorKind::MissingKernel, format!("{operator} {what}{arguments}{dropped}{available}{help}"))
}

/// The error if nothing is registered for the key of a call by key.
pub(super) fn none_for_key(operator: &Operator, key: DispatchKey, available: &str) -> Error {
    let message =
        format!("{operator} has neither a kernel registered for {key} nor a fallback there{available}");
    Error::new(ErrorKind::MissingKernel, message)
}

/// The error if the registration for the key of a call by key cannot be called.
pub(super) fn falls_through(operator: &Operator, key: DispatchKey, kernel: &KernelInfo) -> Error {
    let message = format!("{operator} falls through at {key}, so there is nothing to call: {kernel}");
    Error::new(ErrorKind::MissingKernel, message)
}

pub(super) fn in_conflict_error(operator: &Operator, report: Option<String>) -> Error {
    let report = report.unwrap_or_default();
    Error::new(ErrorKind::Conflict, format!("{operator} cannot be called\n{report}"))
}

/// One line for each argument that brings keys, at most four.
fn describe(operator: OperatorHandle, stack: &Stack<'_>) -> String {
    let Ok(arguments) = operator.arguments(stack) else { return String::new() };
    let mut lines = String::new();
    let tensors = arguments.iter().enumerate().filter(|(_, value)| !value.dispatch_keys().is_empty());
    for (index, value) in tensors.clone().take(4) {
        let (argument, keys) = (operator.operator().argument(index), Value::dispatch_keys(value));
        lines += &format!("\n  {argument}: {} with {keys}", value.type_name());
    }
    let more = tensors.count().saturating_sub(4);
    if more > 0 {
        lines += &format!("\n  and {more} more");
    }
    lines
}

/// The fate of the arguments' keys, if none is left for the call.
fn dropped(operator: &'static Operator, keys: DispatchKeySet, stack: &Stack<'_>) -> String {
    let arguments = operator.handle().arguments(stack).unwrap_or_default();
    let brought =
        arguments.iter().fold(DispatchKeySet::EMPTY, |all, argument| all | Value::dispatch_keys(argument));
    let table = super::of(operator).table(&operator.to_string());
    let (DispatchKey::Undefined, Ok(table)) = (keys.highest_priority(), table) else { return String::new() };
    let call = table.explain(brought, LocalDispatchKeySet::current());
    let mut lines = String::new();
    let reason = |fate| match fate {
        Fate::Excluded => "excluded by the thread",
        Fate::Skipped => "skipped, as their kernel is a fallthrough",
        Fate::Taken | Fate::Below => "not handed on by the kernel above",
    };
    for wanted in [Fate::Excluded, Fate::Skipped, Fate::Below].map(reason) {
        let keys = call.layers.iter().filter(|layer| reason(layer.fate) == wanted).map(|layer| layer.row.key);
        let keys = keys.filter(|key| *key != DispatchKey::Undefined && brought.has(*key));
        let names: Vec<_> = keys.map(|key| key.to_string()).collect();
        if !names.is_empty() {
            lines += &format!("\n  {wanted}: {}", names.join(", "));
        }
    }
    lines
}

impl State {
    /// A list of the existing kernels.
    pub(super) fn available(&self, operator: &'static Operator) -> String {
        let Ok(entry) = self.entry(operator) else { return String::new() };
        let kernels: Vec<_> = entry.kernels().into_iter().filter(|kernel| kernel.is_active).collect();
        match kernels.len() {
            0 => "\n  it has no kernels at all".to_owned(),
            1..=4 => {
                kernels.iter().map(|kernel| format!("\n  kernel for {}: {kernel}", kernel.key)).collect()
            }
            _ => {
                let keys: Vec<_> = kernels.iter().map(|kernel| kernel.key.to_string()).collect();
                format!("\n  kernels for {}", keys.join(", "))
            }
        }
    }

    /// A hint about what to link, unless it is linked already: the crate that the declarations of the operator or its
    /// namespace name, otherwise any crate with kernels for the key.
    fn unlinked(&self, operator: &'static Operator, key: DispatchKey) -> Option<String> {
        if key == DispatchKey::FuncTorchBatched && !self.names.have_aten() {
            return Some(
                ", and the fallback that runs it one example at a time is not linked; did you forget \
                 `use torch_library_kernels as _;`?"
                    .to_owned(),
            );
        }
        let namespace = operator.spec().namespace;
        let of_namespace = self.entries.iter().filter(|entry| entry.name.namespace() == namespace);
        let mut registrations = of_namespace.flat_map(|entry| &entry.registrations);
        let of_operator = self.kernels_in.get(&operator.to_string());
        let krate = of_operator.or_else(|| self.kernels_in.get(namespace)).copied();
        let is_linked = match krate {
            Some(krate) => registrations.any(|registration| registration.place.krate() == krate),
            // A missing kernel for Meta is more likely not written than not linked.
            None => key == DispatchKey::Meta || registrations.any(|registration| registration.key == key),
        };
        if is_linked || key == DispatchKey::Undefined {
            return None;
        }
        let lacks = match of_operator {
            Some(_) => "the crate with its kernels is not linked".to_owned(),
            None => format!("no linked crate registers any {key} kernel in {namespace}"),
        };
        let krate = krate.unwrap_or("the_crate_with_the_kernels");
        Some(format!(", and {lacks}; did you forget `use {krate} as _;`?"))
    }
}

/// The most likely remedy.
fn remedy(operator: &'static Operator, key: DispatchKey, dropped: &str) -> String {
    match key {
        DispatchKey::Undefined if !dropped.is_empty() => String::new(), // the reasons in `dropped` say what to do
        DispatchKey::Undefined => {
            let help = "register one for CompositeExplicitAutograd, or for BackendSelect to choose a backend";
            match tensor_arguments(operator) {
                tensors if tensors.is_empty() => format!("\n  help: {help}"),
                tensors => format!(
                    "\n  help: give at least one tensor in {tensors}, which says where to go; or {help}"
                ),
            }
        }
        DispatchKey::Meta => format!(
            "\n  help: write one with `#[torch_impl({}, Meta)]`: it makes results of the right sizes, and no data",
            operator.spec().namespace
        ),
        // The macro knows no name that a private backend has taken.
        key => {
            format!("\n  help: write one with `#[torch_impl({}, {})]`", operator.spec().namespace, key.name())
        }
    }
}

/// The names of the arguments that may hold tensors: "`self` or `tensors`".
fn tensor_arguments(operator: &'static Operator) -> String {
    let Ok(schema) = operator.schema() else { return String::new() };
    let tensors = schema.arguments.iter().filter(|argument| holds_tensors(&argument.ty));
    tensors.map(|argument| format!("`{}`", argument.name)).collect::<Vec<_>>().join(" or ")
}

fn holds_tensors(ty: &Type) -> bool {
    match ty {
        Type::Tensor => true,
        Type::List(inner) | Type::Optional(inner) => holds_tensors(inner),
        _ => false,
    }
}
