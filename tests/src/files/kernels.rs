//! `kernels`: what each operator computes on the CPU.

use serde_json::Value as Json;
use torch_library::{Tensor, Value};

use super::gradients;
use crate::compare;
use crate::operators::{self, Arguments};
use crate::report::{Check, Report, Unmet, equal, error_iff};
use crate::rows::Row;

/// A path to an input, and the tensor there.
type Input = (String, Tensor);

pub(crate) fn replay(rows: &[Json], report: &mut Report) {
    for row in rows {
        let text = |name: &str| row[name].as_str().unwrap_or_default().to_owned();
        let label = format!("{} {} {} {}", text("op"), text("tag"), row["args"], row["kwargs"]);
        report.row(row, &shortened(&label), || check(row));
    }
}

fn shortened(label: &str) -> String {
    label.chars().take(300).collect()
}

fn check(row: &Json) -> Check {
    let operator = operators::find(row.text("op")?)?;
    let wants_error = row.has("error");
    let arguments = match Arguments::of(row) {
        // If the call must fail, its arguments may fail already: too many dimensions are an error at once.
        Err(_) if wants_error => return Ok(()),
        arguments => arguments.map_err(|error| Unmet::from(error).at("arguments"))?,
    };
    let inputs = arguments.tensors();
    let before: Vec<_> = inputs.iter().map(|(_, input)| whole_storage(input)).collect();
    let outcome = operators::skip_missing(operator, arguments.call(operator))?;
    let Some(outputs) = error_iff("the call", wants_error, outcome)? else { return Ok(()) };

    let summands = summands(row.text("op")?, &inputs, &outputs);
    let want = row.list("outputs")?;
    equal("number of outputs", outputs.len(), want.len())?;
    for (index, (got, want)) in outputs.iter().zip(want).enumerate() {
        output(got, want, &inputs, summands).map_err(|unmet| unmet.at(format!("output {index}")))?;
    }
    for ((path, input), before) in inputs.iter().zip(before) {
        match row["mutated"].get(path) {
            Some(want) => compare::tensor(input, want, summands),
            None => equal("unchanged", whole_storage(input) == before, true),
        }
        .map_err(|unmet| unmet.at(format!("input {path} after the call")))?;
    }
    gradients::check(row)
}

fn output(got: &Value<'_>, want: &Json, inputs: &[Input], summands: usize) -> Check {
    let tensor = match (got, want) {
        (Value::None, Json::Null) => return Ok(()),
        (got, want) => got.as_tensor().ok_or_else(|| Unmet::failed(want, got.type_name()))?,
    };
    compare::tensor(tensor, want, summands)?;
    let of = |is: &dyn Fn(&Tensor) -> bool| {
        inputs.iter().filter(|(_, input)| is(input)).map(|(path, _)| path.clone()).collect::<Vec<_>>()
    };
    let paths = |name: &str| if want.has(name) { want.texts(name) } else { Ok(Vec::new()) };
    // Empty storages have no addresses to compare.
    let shares = |input: &Tensor| input.shares_storage_with(tensor) && tensor.storage().nbytes() > 0;
    equal("shares storage with", of(&shares), paths("shares_storage_with")?)?;
    equal("is the same object as", of(&|input| input.is_same(tensor)), paths("is_same_object_as")?)
}

/// The contents of a tensor's whole storage, to detect any write.
fn whole_storage(tensor: &Tensor) -> Option<Vec<u8>> {
    let (storage, dtype) = (tensor.storage(), tensor.dtype());
    let elements = (storage.nbytes() / dtype.size()) as i64;
    let whole = tensor.strided_view(&[elements], &[1], 0).ok()?;
    torch_library::match_dtype!(dtype, T => {
        let elements = whole.to_vec::<T>().ok()?;
        Some(elements.iter().flat_map(|element| format!("{element:?} ").into_bytes()).collect())
    })
}

/// The approximate number of terms that an element of a result sums: the tolerance grows with it.
pub(super) fn summands(operator: &str, inputs: &[Input], outputs: &[Value<'_>]) -> usize {
    const SUMS: [&str; 31] = [
        "sum",
        "mean",
        "var",
        "std",
        "var_mean",
        "std_mean",
        "norm",
        "linalg_vector_norm",
        "prod",
        "cumsum",
        "logsumexp",
        "mm",
        "bmm",
        "addmm",
        "baddbmm",
        "addbmm",
        "addmv",
        "matmul",
        "linear",
        "mv",
        "dot",
        "conv1d",
        "conv2d",
        "convolution",
        "softmax",
        "_softmax",
        "log_softmax",
        "_log_softmax",
        "layer_norm",
        "native_layer_norm",
        "batch_norm",
    ];
    let name = operator.trim_start_matches("aten::").split('.').next().unwrap_or(operator);
    let is_sum =
        SUMS.contains(&name) || name.contains("norm") || name.contains("pool") || name.contains("loss");
    if !is_sum {
        return 1;
    }
    let inputs = inputs.iter().map(|(_, input)| input);
    let largest = inputs.clone().map(Tensor::numel).max().unwrap_or(1);
    let longest = inputs.clone().flat_map(Tensor::sizes).copied().max().unwrap_or(1);
    let results = outputs.iter().filter_map(Value::as_tensor).map(Tensor::numel).max().unwrap_or(1).max(1);
    // A convolution sums over one filter.
    let filter = match name.contains("conv") {
        true => inputs.clone().nth(1).map_or(1, |weight| weight.numel() / weight.size(0).unwrap_or(1).max(1)),
        false => 1,
    };
    (largest / results).max(longest).max(filter) as usize
}
