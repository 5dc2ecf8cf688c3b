//! `programs`: views, in-place writes and gradients, step by step.

use std::collections::BTreeMap;

use serde_json::Value as Json;
use torch_library::fake::FakeMode;
use torch_library::guard::{IncludeDispatchKeyGuard, NoGradGuard};
use torch_library::{DeviceType, DispatchKey, Result, Tensor, fake, functionalize};

use super::gradients;
use crate::compare;
use crate::operators::{self, Arguments};
use crate::report::{Check, Report, Unmet, equal, error_iff};
use crate::rows::Row;
use crate::values;

/// The variables of a program.
pub(super) type Variables = BTreeMap<String, Tensor>;

pub(crate) fn replay(rows: &[Json], report: &mut Report) {
    replay_through(rows, report, Ok);
}

/// Like [`replay`], with functional tensors: elements, geometry, versions and gradients must be the same.
pub(crate) fn functionalized(rows: &[Json], report: &mut Report) {
    let _functional = IncludeDispatchKeyGuard::new(DispatchKey::Functionalize);
    replay_through(rows, report, |tensor| {
        let functional = functionalize::to_functional(&tensor)?;
        functional.set_requires_grad(tensor.requires_grad())?;
        Ok(functional)
    });
}

/// Like [`replay`], with fake tensors: everything but elements must be the same.
pub(crate) fn fake(rows: &[Json], report: &mut Report) {
    let _fake = FakeMode::new();
    replay_through(rows, report, |tensor| fake::to_fake(&tensor));
}

fn replay_through(rows: &[Json], report: &mut Report, enter: impl Fn(Tensor) -> Result<Tensor>) {
    for row in rows {
        report.row(row, &label(row), || check(row, &enter));
    }
}

/// The names of the operators that a program calls.
pub(super) fn label(row: &Json) -> String {
    let steps = row["steps"].as_array().into_iter().flatten();
    steps.filter_map(|step| step["op"].as_str()).collect::<Vec<_>>().join(" ")
}

fn check(row: &Json, enter: impl Fn(Tensor) -> Result<Tensor>) -> Check {
    let mut variables = Variables::new();
    for init in row.list("init")? {
        variables.insert(init.text("var")?.to_owned(), enter(values::tensor(init)?)?);
    }
    for (index, step) in row.list("steps")?.iter().enumerate() {
        call(step, &mut variables).map_err(|unmet| unmet.at(format!("step {index}, {}", step["op"])))?;
    }
    for (name, want) in row.field("final")?.as_object().into_iter().flatten() {
        state(&variables, name, want).map_err(|unmet| unmet.at(format!("{name} at the end")))?;
    }
    loss_and_gradients(row, &variables)
}

/// Runs a step of a program, and names its results: one tensor, or a list of several.
pub(super) fn call(step: &Json, variables: &mut Variables) -> Check {
    let operator = operators::find(step.text("op")?)?;
    let _quiet = step.flag("no_grad").then(NoGradGuard::new);
    let arguments = Arguments::with_variables(step, &|name| variables.get(name).cloned())?;
    let inputs = arguments.tensors();
    let outcome = operators::skip_missing(operator, arguments.call(operator))?;
    if step.has("error") && outcome.is_ok() && overlap_on_device(&inputs) {
        let reason = "a write to memory that overlaps with what is read, which a backend may do by a copy";
        return Err(Unmet::Skipped(reason.to_owned()));
    }
    let Some(outputs) = error_iff("the step", step.has("error"), outcome)? else { return Ok(()) };
    let names = step["out"].as_str().into_iter();
    let several = step["outs"].as_array().into_iter().flatten().filter_map(Json::as_str);
    let names: Vec<&str> = names.chain(several).collect();
    if names.is_empty() {
        return Ok(());
    }
    equal("the number of outputs", outputs.len(), names.len())?;
    for (name, output) in names.into_iter().zip(&outputs) {
        let output = output.as_tensor().ok_or_else(|| Unmet::failed("a tensor", output.type_name()))?;
        if let Some(known) = variables.get(name) {
            equal("the output is the variable itself", output.is_same(known), true)?;
        }
        variables.insert(name.to_owned(), output.clone());
    }
    Ok(())
}

/// Whether two tensors on a device other than the CPU share memory.
fn overlap_on_device(inputs: &[(String, Tensor)]) -> bool {
    let mut rest = inputs.iter().map(|(_, tensor)| tensor);
    let on_device = |tensor: &Tensor| tensor.device().kind != DeviceType::Cpu;
    while let Some(tensor) = rest.next() {
        if on_device(tensor) && rest.clone().any(|other| other.shares_storage_with(tensor)) {
            return true;
        }
    }
    false
}

/// Compares a variable's elements, geometry and autograd history.
fn state(variables: &Variables, name: &str, want: &Json) -> Check {
    let tensor = variables.get(name).ok_or_else(|| Unmet::failed("a variable", "none"))?;
    compare::tensor(tensor, want, 1)?;
    equal("version", tensor.version(), want.integer("version")? as u64)?;
    property("requires_grad", want, Ok(Json::from(tensor.requires_grad())))?;
    property("is_leaf", want, tensor.is_leaf().map(Json::from))?;
    property("is_view", want, Ok(Json::from(tensor.is_view())))?;
    let node = tensor.grad_fn().map(|node| node.map_or(Json::Null, |node| Json::from(node.name())));
    property("grad_fn", want, node)?;
    property("output_nr", want, Ok(Json::from(tensor.output_nr())))?;
    let base = tensor.base().and_then(|base| {
        variables.iter().find(|(_, variable)| variable.is_same(&base)).map(|(name, _)| name.clone())
    });
    property("base", want, Ok(base.map_or(Json::Null, Json::from)))
}

/// Compares a property, whose query may be an error.
fn property(name: &str, want: &Json, got: torch_library::Result<Json>) -> Check {
    let Some(want) = want.get(name) else { return Ok(()) };
    match error_iff(name, want.get("error").is_some(), got)? {
        Some(got) => equal(name, &got, want),
        None => Ok(()),
    }
}

fn loss_and_gradients(row: &Json, variables: &Variables) -> Check {
    let Some(entries) = row["loss"].as_array() else { return Ok(()) };
    let wants_error = row.has("backward_error");
    let outcome = gradients::loss(entries, |entry| variables.get(entry["var"].as_str()?).cloned())
        .and_then(|loss| gradients::backward(&loss).map(|()| loss));
    let Some(loss) = error_iff("the backward pass", wants_error, outcome)? else { return Ok(()) };
    compare::elements(&loss, std::slice::from_ref(row.field("loss_value")?), 1e-10)
        .map_err(|unmet| unmet.at("loss"))?;
    for (name, want) in row["grads"].as_object().into_iter().flatten() {
        let grad = variables.get(name).and_then(Tensor::grad);
        gradients::gradient(grad.as_ref(), want, 16, &[])
            .map_err(|unmet| unmet.at(format!("gradient of {name}")))?;
    }
    Ok(())
}
