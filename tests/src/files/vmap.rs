//! `vmap`: operators, and programs of several, run on batches.

use std::collections::HashMap;

use serde_json::{Value as Json, json};
use torch_library::{DType, Device, Error, ErrorKind, Result, Tensor, Value};
use torch_library_kernels::aten;
use torch_library_kernels::vmap::{self, Vmap};

use super::kernels::summands;
use crate::compare;
use crate::operators::{self, Arguments};
use crate::report::{Check, Report, Unmet, equal, error_iff};
use crate::rows::Row;
use crate::values;

/// The variables that a function sees, including those of the enclosing functions.
type Variables = HashMap<String, Tensor>;

pub(crate) fn replay(rows: &[Json], report: &mut Report) {
    for row in rows {
        let what = if row.has("op") { &row["op"] } else { &row["fn"] };
        let label =
            format!("{} {what} {} in {} out {}", row["kind"], row["tag"], row["in_dims"], row["out_dims"]);
        report.row(row, &label.chars().take(300).collect::<String>(), || match row.text("kind")? {
            "vmap" | "vmap_mid_arg" | "vmap_grad" => of_operator(row),
            "vmap_program" => program(row),
            other => Err(Unmet::failed(format!("a row of kind {other:?}"), "none of this name")),
        });
    }
}

/// Batch dimensions in a row: a list of numbers and nulls, or one for all inputs.
fn dims(json: &Json) -> Vec<Option<i64>> {
    match json {
        Json::Array(list) => list.iter().map(Json::as_i64).collect(),
        one => vec![one.as_i64()],
    }
}

fn tensors(json: &[Json]) -> Result<Vec<Tensor>> {
    json.iter().map(values::tensor).collect()
}

fn of_operator(row: &Json) -> Check {
    let inputs = tensors(row.list("tensors")?)?;
    let (in_dims, out_dims) = (row.list("in_dims")?, row.list("out_dims")?);
    let outcome = nested(in_dims, out_dims, &inputs, &|examples| match row.has("argnums") {
        true => gradients(row, examples),
        false => call(row, examples),
    });
    let operator = operators::find(row.text("op")?)?;
    let outcome = operators::skip_missing(operator, outcome)?;
    let Some(outputs) = error_iff("the call", row.has("error"), outcome)? else { return Ok(()) };
    compare_all(row, &inputs, &outputs)?;
    for (path, want) in row["mutated"].as_object().into_iter().flatten() {
        let index: usize = path.parse().map_err(|_| Unmet::failed("the path of an input", path))?;
        let tolerance = compare::tolerance(inputs[index].dtype(), inputs[index].numel() as usize);
        let outcome = compare::elements(&inputs[index], want.list("values")?, tolerance);
        outcome.map_err(|unmet| unmet.at(format!("input {path} after the call")))?;
    }
    Ok(())
}

/// Runs nested vmaps, the outermost first.
fn nested(
    in_dims: &[Json],
    out_dims: &[Json],
    inputs: &[Tensor],
    f: &dyn Fn(&[Tensor]) -> Result<Vec<Tensor>>,
) -> Result<Vec<Tensor>> {
    let [outer, inner @ ..] = in_dims else { return f(inputs) };
    let [out, out_inner @ ..] = out_dims else { return f(inputs) };
    let level = Vmap::new().in_dims(dims(outer)).out_dims(dims(out));
    level.run(inputs, |examples| nested(inner, out_inner, examples, f))
}

/// The operator of a row, on one example.
fn call(row: &Json, examples: &[Tensor]) -> Result<Vec<Tensor>> {
    let mut positional: Vec<Value<'static>> = match row["tensor_list_first"] == true {
        true => vec![examples.to_vec().into()],
        false => examples.iter().cloned().map(Value::Tensor).collect(),
    };
    let rest = Arguments::of(&json!({"args": row["rest"]}))?.positional;
    if row["kind"] == "vmap_mid_arg" {
        positional.insert(1, values::decode(&row["mid"])?);
    }
    positional.extend(rest);
    let named = row["kwargs"].as_object().into_iter().flatten();
    let named = named.map(|(name, value)| Ok((name.as_str(), values::decode(value)?)));
    let arguments = Arguments { positional, named: named.collect::<Result<_>>()? };
    returned(arguments, row["op"].as_str().unwrap_or_default())
}

/// The gradients of the sum of the operator's result for one example.
fn gradients(row: &Json, examples: &[Tensor]) -> Result<Vec<Tensor>> {
    let positions: Vec<usize> = row["argnums"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(Json::as_u64)
        .map(|n| n as usize)
        .collect();
    let inputs: Vec<Tensor> = positions.iter().map(|position| examples[*position].clone()).collect();
    vmap::grads(&inputs, |inputs| {
        let mut examples = examples.to_vec();
        for (position, input) in positions.iter().zip(inputs) {
            examples[*position] = input.clone();
        }
        let outputs = call(row, &examples)?;
        let first = outputs
            .first()
            .map_or_else(|| Tensor::zeros(&[], DType::DEFAULT, Device::CPU), |t| Ok(t.clone()))?;
        aten::sum(&first)
    })
}

fn returned(arguments: Arguments<'_>, operator: &str) -> Result<Vec<Tensor>> {
    let outputs = arguments.call(torch_library::Dispatcher::global().find(operator)?)?;
    let tensor = |output: &Value<'_>| match output.as_tensor() {
        Some(tensor) => Ok(tensor.clone()),
        None => Err(Error::new(ErrorKind::Type, format!("{operator} returned a {}", output.type_name()))),
    };
    outputs.iter().map(tensor).collect()
}

fn program(row: &Json) -> Check {
    let inputs = tensors(row.list("tensors")?)?;
    let mut captured = Variables::new();
    for (name, tensor) in row["captured"].as_object().into_iter().flatten() {
        captured.insert(name.clone(), values::tensor(tensor)?);
    }
    let level = Vmap::new().in_dims(dims(&row["in_dims"])).out_dims(dims(&row["out_dims"]));
    let outcome = level.run(&inputs, |examples| run(&row["fn"], examples, &captured));
    match error_iff("the program", row.has("error"), outcome)? {
        Some(outputs) => compare_all(row, &inputs, &outputs),
        None => Ok(()),
    }
}

/// Runs a function of a program with these arguments.
fn run(function: &Json, arguments: &[Tensor], around: &Variables) -> Result<Vec<Tensor>> {
    let list = |name: &str| function[name].as_array().into_iter().flatten();
    let mut variables = around.clone();
    variables
        .extend(list("params").zip(arguments).map(|(name, tensor)| (text(name).to_owned(), tensor.clone())));
    for step in list("body") {
        let outputs = self::step(step, &variables)?;
        let names = step["out"].as_array().into_iter().flatten();
        variables.extend(names.map(|name| text(name).to_owned()).zip(outputs));
    }
    list("ret").map(|name| variable(text(name), &variables)).collect()
}

fn step(step: &Json, variables: &Variables) -> Result<Vec<Tensor>> {
    let Some(function) = step.get("vmap") else {
        let arguments = Arguments::with_variables(step, &|name| variables.get(name).cloned())?;
        return returned(arguments, text(&step["op"]));
    };
    let arguments = step["args"].as_array().into_iter().flatten();
    let arguments = arguments.map(|argument| variable(text(&argument["var"]), variables));
    let level = Vmap::new().in_dims(dims(&step["in_dims"])).out_dims(dims(&step["out_dims"]));
    level.run(&arguments.collect::<Result<Vec<_>>>()?, |examples| run(function, examples, variables))
}

fn text(json: &Json) -> &str {
    json.as_str().unwrap_or_default()
}

fn variable(name: &str, variables: &Variables) -> Result<Tensor> {
    let missing = || Error::new(ErrorKind::Argument, format!("no variable {name:?}"));
    variables.get(name).cloned().ok_or_else(missing)
}

fn compare_all(row: &Json, inputs: &[Tensor], outputs: &[Tensor]) -> Check {
    let want = row.list("outputs")?;
    equal("number of outputs", outputs.len(), want.len())?;
    let named: Vec<_> = inputs.iter().map(|input| (String::new(), input.clone())).collect();
    let as_values: Vec<_> = outputs.iter().map(Value::TensorRef).collect();
    // A program contains only a few sums.
    let summands = match row["op"].as_str() {
        Some(operator) => summands(operator, &named, &as_values),
        None => inputs.iter().map(Tensor::numel).max().unwrap_or(1) as usize,
    };
    for (index, (got, want)) in outputs.iter().zip(want).enumerate() {
        values_equal(got, want, summands).map_err(|unmet| unmet.at(format!("output {index}")))?;
    }
    Ok(())
}

/// Compares dtype, sizes and elements; strides and offsets are up to the implementation.
fn values_equal(got: &Tensor, want: &Json, summands: usize) -> Check {
    equal("dtype", got.dtype().to_string().as_str(), want.text("dtype")?)?;
    equal("sizes", Some(got.sizes().to_vec()), values::integers(want.field("sizes")?))?;
    compare::elements(got, want.list("values")?, compare::tolerance(got.dtype(), summands))
}
