//! Gradients in the rows of `kernels`, and code shared with the rows of other files.

use serde_json::Value as Json;
use torch_library::element::Complex64;
use torch_library::{Tensor, Value, autograd};
use torch_library_kernels::aten;

use super::kernels::summands;
use crate::compare;
use crate::operators::{self, Arguments};
use crate::report::{Check, Unmet, equal, error_iff};
use crate::rows::Row;
use crate::values;

/// Checks the nodes and the gradients of a row, in a separate run.
pub(super) fn check(row: &Json) -> Check {
    if !(row.has("grads") || row.has("grad_error") || row.has("grad_fn")) {
        return Ok(());
    }
    let operator = operators::find(row.text("op")?)?;
    let arguments = Arguments::of(row)?;
    let inputs = arguments.tensors();
    for (path, input) in &inputs {
        let is_named = row["grads"].as_object().is_none_or(|grads| grads.contains_key(path));
        if is_named && input.dtype().is_differentiable() {
            input.set_requires_grad(true)?;
        }
    }
    let wants_error = row.has("grad_error");
    let outputs = match arguments.call(operator) {
        Err(_) if wants_error => return Ok(()),
        outputs => outputs?,
    };
    if let Some(nodes) = row["grad_fn"].as_object() {
        for (index, name) in nodes {
            let output = index.parse().ok().and_then(|index: usize| outputs.get(index)?.as_tensor());
            let node = output.map(Tensor::grad_fn).transpose()?.flatten();
            equal("grad_fn", node.map(|node| node.name()), name.as_str())?;
        }
    }
    if !row.has("grad_weights") && !wants_error {
        return Ok(());
    }
    let outcome = row["grad_weights"].as_array().map_or(Ok(()), |weights| {
        let loss = loss(weights, |weights| {
            outputs.get(weights["output"].as_u64()? as usize).and_then(Value::as_tensor).cloned()
        })?;
        loss.backward()
    });
    let Some(()) = error_iff("the gradient run", wants_error, outcome)? else { return Ok(()) };
    let summands = summands(row.text("op")?, &inputs, &outputs).max(sum_of_gradient(&inputs, &outputs));
    let wanted = row["grads"].as_object().into_iter().flatten();
    for (path, want) in wanted {
        let input = inputs.iter().find(|(known, _)| known == path).map(|(_, input)| input);
        let grad = input.and_then(Tensor::grad);
        gradient(grad.as_ref(), want, summands, &outputs)
            .map_err(|unmet| unmet.at(format!("gradient of {path}")))?;
    }
    Ok(())
}

/// The number of output elements that contribute to one element of a gradient, roughly.
fn sum_of_gradient(inputs: &[(String, Tensor)], outputs: &[Value<'_>]) -> usize {
    let largest = outputs.iter().filter_map(Value::as_tensor).map(Tensor::numel).max().unwrap_or(1);
    let smallest = inputs.iter().map(|(_, input)| input.numel()).min().unwrap_or(1).max(1);
    (largest / smallest).max(1) as usize
}

/// The sum of the real parts of `(output * weights).sum()` over the entries of a row.
pub(super) fn loss(
    entries: &[Json],
    output: impl Fn(&Json) -> Option<Tensor>,
) -> torch_library::Result<Tensor> {
    let mut loss: Option<Tensor> = None;
    for entry in entries {
        let Some(output) = output(entry) else {
            torch_library::bail!(Argument, "a loss of an output that is not there: {entry}")
        };
        let weights = entry.get("values").or_else(|| entry.get("weights"));
        let weights: Vec<Complex64> = weights
            .and_then(Json::as_array)
            .into_iter()
            .flatten()
            .map(|weight| Ok(values::number(weight)?.cast()))
            .collect::<torch_library::Result<_>>()?;
        let weights = aten::view(&Tensor::from_vec(weights, &[output.numel()])?, output.sizes())?;
        let is_complex = output.dtype().is_complex();
        let weights = if is_complex { weights } else { aten::real(&weights)? };
        let weights = aten::to_device(&weights, output.device(), output.dtype())?;
        let term = aten::sum(&aten::mul_Tensor(&output, &weights)?)?;
        let term = if is_complex { aten::real(&term)? } else { term };
        loss = Some(match loss {
            Some(loss) => aten::add_Tensor(&loss, &term)?,
            None => term,
        });
    }
    loss.map_or_else(|| Tensor::zeros(&[], torch_library::DType::Float64, torch_library::Device::CPU), Ok)
}

/// Compares a gradient with a row's, where `null` means none.
///
/// The tolerance is that of the least precise output that the gradient came through.
pub(super) fn gradient(got: Option<&Tensor>, want: &Json, summands: usize, outputs: &[Value<'_>]) -> Check {
    match (got, want.is_null()) {
        (None, true) => Ok(()),
        (Some(got), true) => Err(Unmet::failed("no gradient", format!("{got:?}"))),
        (None, false) => Err(Unmet::failed(want, "no gradient")),
        (Some(got), false) => {
            equal("sizes", Some(got.sizes().to_vec()), values::integers(want.field("sizes")?))?;
            equal("dtype", got.dtype().to_string().as_str(), want.text("dtype")?)?;
            let through = outputs.iter().filter_map(Value::as_tensor).map(Tensor::dtype);
            let tolerance = through
                .chain([got.dtype()])
                .map(|dtype| compare::tolerance(dtype, summands))
                .fold(0.0, f64::max);
            compare::elements(got, want.list("values")?, tolerance)
        }
    }
}

/// Runs the backward pass of a loss that may need no gradient at all.
pub(super) fn backward(loss: &Tensor) -> torch_library::Result<()> {
    autograd::backward(&[loss], &[], autograd::GradOptions::new())
}
