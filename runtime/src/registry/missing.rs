//! Rows that no kernel can fill: what happens when a call reaches one, and what it is told.

use once_cell::sync::Lazy;

use super::state::State;
use crate::error::{Error, ErrorKind, Result};
use crate::kernel::BoxedKernel;
use crate::key::{DispatchKey, DispatchKeySet};
use crate::operator::OperatorHandle;
use crate::value::{Stack, Value};

/// There is neither a kernel nor a fallback.
pub(super) static MISSING: Lazy<BoxedKernel> = Lazy::new(|| BoxedKernel::new(missing));
/// A composite kernel and a backend's kernel both want `AutogradOther`.
pub(super) static AMBIGUOUS: Lazy<BoxedKernel> = Lazy::new(|| BoxedKernel::new(ambiguous));
/// A fallthrough was reached because nothing is left below it.
pub(super) static FALLTHROUGH: Lazy<BoxedKernel> = Lazy::new(|| BoxedKernel::new(fallthrough));

fn missing(operator: OperatorHandle, keys: DispatchKeySet, stack: &mut Stack<'_>) -> Result<()> {
    let arguments = describe(operator, stack);
    let dispatcher = super::of(operator.operator());
    let state = dispatcher.lock();
    let key = keys.highest_priority();
    let message = match key {
        DispatchKey::Undefined => format!("{operator} has no kernel for a call without tensors{arguments}"),
        key => format!("{operator} has no kernel for {key}{arguments}"),
    };
    Err(Error::new(
        ErrorKind::MissingKernel,
        message + &state.available(operator) + &state.remedy(operator, key),
    ))
}

fn ambiguous(operator: OperatorHandle, _: DispatchKeySet, stack: &mut Stack<'_>) -> Result<()> {
    let arguments = describe(operator, stack);
    let state = super::of(operator.operator()).lock();
    Err(Error::new(
        ErrorKind::MissingKernel,
        format!(
            "{operator} has both a CompositeImplicitAutograd kernel and one for a backend under AutogradOther, so it is \
             not clear which differentiates it{arguments}{}\n  \
             help: register a kernel for AutogradOther, or the composite one for CompositeExplicitAutograd",
            state.available(operator)
        ),
    ))
}

fn fallthrough(operator: OperatorHandle, keys: DispatchKeySet, stack: &mut Stack<'_>) -> Result<()> {
    let arguments = describe(operator, stack);
    let key = keys.highest_priority();
    Err(Error::new(
        ErrorKind::MissingKernel,
        format!("{operator} falls through at {key}, and no key is left below it{arguments}"),
    ))
}

/// A line for each argument that brings keys; at most four.
fn describe(operator: OperatorHandle, stack: &Stack<'_>) -> String {
    let Ok(arguments) = operator.arguments(stack) else { return String::new() };
    let schema = operator.schema().ok();
    let mut lines = String::new();
    let tensors = arguments.iter().enumerate().filter(|(_, value)| !value.dispatch_keys().is_empty());
    for (index, value) in tensors.clone().take(4) {
        let name =
            schema.as_ref().and_then(|schema| schema.arguments.get(index)).map(|argument| &argument.name);
        let name = name.map_or_else(String::new, |name| format!(" `{name}`"));
        let keys = Value::dispatch_keys(value);
        lines += &format!("\n  argument {}{name}: {} with {keys}", index + 1, value.type_name());
    }
    let more = tensors.count().saturating_sub(4);
    if more > 0 {
        lines += &format!("\n  and {more} more");
    }
    lines
}

impl State {
    /// The kernels that there are.
    fn available(&self, operator: OperatorHandle) -> String {
        let Some(info) = self.entry(operator.operator()).and_then(super::Entry::info) else {
            return String::new();
        };
        let kernels: Vec<_> = info.kernels.iter().filter(|kernel| kernel.is_active).collect();
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

    /// What would most likely help.
    fn remedy(&self, operator: OperatorHandle, key: DispatchKey) -> String {
        let namespace = operator.namespace();
        let mut same_namespace = self
            .entries
            .iter()
            .filter(|entry| entry.operator().is_some_and(|other| other.spec().namespace == namespace))
            .flat_map(|entry| &entry.registrations);
        if same_namespace.any(|registration| registration.key == key || registration.key.covers(key)) {
            return format!("\n  help: write one with `#[torch_impl({namespace}, {key})]`");
        }
        let krate = self.kernels_in.get(namespace).copied().unwrap_or("the_crate_with_the_kernels");
        format!(
            "\n  no linked crate registers any {key} kernel in {namespace}; did you forget `use {krate} as _;`?"
        )
    }
}
