//! `autocast`: which types reach the kernels, what they compute, and how often tensors are cast.

use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use serde_json::{Value as Json, json};
use torch_library::autocast::{self, Autocast, AutocastGuard};
use torch_library::guard::{InferenceMode, NoGradGuard};
use torch_library::observe::Observer;
use torch_library::{
    DType, DeviceType, DispatchKey, Dispatcher, Error, ErrorKind, Library, LibraryKind, RuntimeKernel,
    Tensor, Value,
};
use torch_library_kernels::aten;
use torch_library_kernels::autocast::Policy;

use super::gradients;
use super::kernels::summands;
use crate::compare;
use crate::operators::{self, Arguments};
use crate::report::{Check, Report, Unmet, equal, error_iff};
use crate::rows::Row;
use crate::values;

const CPU: DeviceType = DeviceType::Cpu;

pub(crate) fn replay(rows: &[Json], report: &mut Report) {
    for row in rows {
        let label = format!("{} {}{}{}", row["kind"], row["op"], row["case"], row["tag"]).replace("null", "");
        report.row(row, &label, || match row.text("kind")? {
            "policy" => policy(row),
            "call" => call(row),
            "program" => program(row),
            other => Err(Unmet::failed(format!("a row of kind {other:?}"), "none of this name")),
        });
    }
}

fn policy(row: &Json) -> Check {
    let operator = operators::find(row.text("op")?)?;
    let installed = torch_library_kernels::autocast::policies();
    let installed = installed.iter().find(|(known, _)| *known == operator).map(|(_, policy)| policy);
    let want = match row.text("policy")? {
        "lower_precision_fp" => Policy::LowerPrecision,
        "fp32" => Policy::Float32,
        "promote" => Policy::Promote,
        other => return Err(Unmet::failed(format!("a policy {other:?}"), "none of this name")),
    };
    equal("policy", installed, Some(&want))?;
    for (name, probe) in row.field("probes")?.as_object().into_iter().flatten() {
        self::probe(row, name, probe).map_err(|unmet| unmet.at(name))?;
    }
    Ok(())
}

/// Checks the argument types that reach the kernel just below autocast.
fn probe(row: &Json, name: &str, probe: &Json) -> Check {
    let operator = operators::find(row.text("op")?)?;
    let seen = Arc::new(Mutex::new(Json::Null));
    let write = seen.clone();
    let kernel = RuntimeKernel::boxed(move |operator, _, stack| {
        let types = operator.arguments(stack)?.iter().filter_map(types_of).collect();
        *write.lock().unwrap_or_else(PoisonError::into_inner) = Json::Array(types);
        Err(Error::new(ErrorKind::Kernel, "the probe has seen enough"))
    });
    let mut library = Library::open(Dispatcher::global(), LibraryKind::Implementation, "aten", None)?;
    let name_of = [operator.name(), operator.overload()];
    library.implement(name_of.join(".").trim_end_matches('.'), DispatchKey::AutogradCPU, kernel)?;

    let types: Vec<&str> = flat(probe.field("in")?).iter().filter_map(|json| json.as_str()).collect();
    let mut types = types.into_iter();
    let arguments = json!({
        "args": filled(row.field("args")?, &mut types),
        "kwargs": filled(row.field("kwargs")?, &mut types),
    });
    let arguments = Arguments::of(&arguments)?;
    let dtype = if name.ends_with("_autocast_f16") { DType::Float16 } else { DType::BFloat16 };
    let region = Autocast::on(CPU).dtype(dtype).enabled(!name.ends_with("_disabled"));
    drop(region.run(|| arguments.call(operator))); // it returns the probe's error
    let seen = seen.lock().unwrap_or_else(PoisonError::into_inner).clone();
    equal("types", seen, probe.field("seen")?.clone())
}

/// The elements of nested lists, flattened.
fn flat(json: &Json) -> Vec<&Json> {
    match json {
        Json::Array(list) => list.iter().flat_map(flat).collect(),
        other => vec![other],
    }
}

/// Fills a template of arguments with tensors of these types.
fn filled<'t>(template: &Json, types: &mut impl Iterator<Item = &'t str>) -> Json {
    match template {
        Json::String(text) if text == "T" => json!({"tensor": {
            "dtype": types.next(), "sizes": [2, 2], "strides": [2, 1], "offset": 0, "storage": [1, 1, 1, 1],
        }}),
        Json::Array(list) => list.iter().map(|element| filled(element, types)).collect(),
        Json::Object(fields) => {
            fields.iter().map(|(name, field)| (name.clone(), filled(field, types))).collect()
        }
        other => other.clone(),
    }
}

fn types_of(value: &Value<'_>) -> Option<Json> {
    let list = |tensors: &[Tensor]| tensors.iter().map(|tensor| tensor.dtype().to_string()).collect();
    match value {
        Value::Tensors(tensors) => Some(list(tensors)),
        Value::OptionalTensors(tensors) => Some(list(&tensors.iter().flatten().cloned().collect::<Vec<_>>())),
        value => value.as_tensor().map(|tensor| tensor.dtype().to_string().into()),
    }
}

fn call(row: &Json) -> Check {
    let operator = operators::find(row.text("op")?)?;
    let arguments = Arguments::of(row)?;
    let inputs = arguments.tensors();
    let state = row.field("autocast")?;
    let dtype: DType = state.text("dtype")?.parse()?;
    let region = Autocast::on(CPU).dtype(dtype).enabled(state.flag("enabled"));
    let outcome = operators::skip_missing(operator, region.run(|| arguments.call(operator)))?;
    let Some(outputs) = error_iff("the call", row.has("error"), outcome)? else { return Ok(()) };

    let summands = summands(row.text("op")?, &inputs, &outputs);
    let inputs_and_region = inputs.iter().map(|(_, input)| input.dtype());
    let coarsest = inputs_and_region.chain(state.flag("enabled").then_some(dtype));
    let coarsest = coarsest.map(|dtype| compare::tolerance(dtype, summands)).fold(0.0, f64::max);
    let want = row.list("outputs")?;
    equal("number of outputs", outputs.len(), want.len())?;
    for (got, want) in outputs.iter().zip(want) {
        let Some(got) = got.as_tensor() else { return Err(Unmet::failed(want, got.type_name())) };
        equal("dtype", got.dtype().to_string().as_str(), want.text("dtype")?)?;
        equal("sizes", Some(got.sizes().to_vec()), values::integers(want.field("sizes")?))?;
        let tolerance = coarsest.max(compare::tolerance(got.dtype(), summands));
        compare::elements(got, want.list("values")?, tolerance)?;
    }
    if row.has("grads") { gradients(row, region, coarsest) } else { Ok(()) }
}

/// The gradients of a call under autocast, computed in a separate run. The backward pass is outside of the region.
fn gradients(row: &Json, region: Autocast, tolerance: f64) -> Check {
    let arguments = Arguments::of(row)?;
    let inputs = arguments.tensors();
    let grads = row.field("grads")?;
    for (path, input) in &inputs {
        input.set_requires_grad(grads.get(path).is_some())?;
    }
    let outputs = region.run(|| arguments.call(operators::find(row.text("op")?)?).map_err(Unmet::from))?;
    let loss = gradients::loss(row.list("grad_weights")?, |weights| {
        let output = outputs.get(weights["output"].as_u64()? as usize)?.as_tensor()?;
        aten::to_dtype(output, DType::Float32).ok()
    })?;
    gradients::backward(&loss)?;
    for (path, input) in &inputs {
        if let Some(want) = grads.get(path) {
            let got = input.grad().ok_or_else(|| Unmet::failed(want, "no gradient").at(path))?;
            equal("dtype", got.dtype().to_string().as_str(), want.text("dtype")?)?;
            let outcome = compare::elements(&got, want.list("values")?, tolerance);
            outcome.map_err(|unmet| unmet.at(format!("gradient of {path}")))?;
        }
    }
    Ok(())
}

/// A region that a program has entered and not left.
#[expect(dead_code, reason = "guards are dropped, never read")]
enum Region {
    Autocast(AutocastGuard),
    NoGrad(NoGradGuard),
    Inference(InferenceMode),
}

fn program(row: &Json) -> Check {
    let mut variables = HashMap::new();
    for variable in row.list("init")? {
        variables.insert(variable.text("var")?, values::tensor(variable)?);
    }
    let mut regions = Regions(Vec::new());
    let casts = Arc::new(AtomicUsize::new(0));
    let counter = casts.clone();
    let _observer = Observer::new(move |event| {
        if event.call.is_some_and(|call| call.operator.name() == "_to_copy") {
            counter.fetch_add(1, Ordering::Relaxed);
        }
    })
    .on_this_thread();
    for (index, step) in row.list("steps")?.iter().enumerate() {
        casts.store(0, Ordering::Relaxed);
        let done = self::step(step, &mut variables, &mut regions.0);
        let state = || {
            equal("autocast enabled", autocast::is_enabled(CPU), step.flag("autocast_enabled"))?;
            equal("autocast dtype", autocast::dtype(CPU).to_string().as_str(), step.text("autocast_dtype")?)?;
            match step["casts"].as_u64() {
                Some(want) => equal("casts", casts.load(Ordering::Relaxed) as u64, want),
                None => Ok(()),
            }
        };
        done.and_then(|()| state()).map_err(|unmet| unmet.at(format!("step {}", index + 1)))?;
    }
    Ok(())
}

/// The open regions, which are left in reverse order, also if a step fails.
struct Regions(Vec<Region>);

impl Drop for Regions {
    fn drop(&mut self) {
        while self.0.pop().is_some() {}
    }
}

fn step<'r>(step: &'r Json, variables: &mut HashMap<&'r str, Tensor>, regions: &mut Vec<Region>) -> Check {
    match step.text("do")? {
        "enter_autocast" => {
            let mut region = Autocast::on(CPU);
            if step.has("dtype") {
                region = region.dtype(step.text("dtype")?.parse()?);
            }
            if let Some(enabled) = step["cache_enabled"].as_bool() {
                region = region.cache_enabled(enabled);
            }
            regions.push(Region::Autocast(region.enabled(step["enabled"] != false).enter()));
        }
        "enter_no_grad" => regions.push(Region::NoGrad(NoGradGuard::new())),
        "enter_inference_mode" => regions.push(Region::Inference(InferenceMode::new(true))),
        "exit" => drop(regions.pop()),
        "call" => {
            let operator = operators::find(step.text("op")?)?;
            let arguments = Arguments::with_variables(step, &|name| variables.get(name).cloned())?;
            let outputs = operators::skip_missing(operator, arguments.call(operator))??;
            let output = outputs.first().and_then(Value::as_tensor);
            let Some(output) = output else { return Err(Unmet::failed("a tensor", "none")) };
            equal("dtype", output.dtype().to_string().as_str(), step.text("dtype")?)?;
            variables.insert(step.text("out")?, output.clone());
        }
        other => return Err(Unmet::failed(format!("a step {other:?}"), "none of this name")),
    }
    Ok(())
}
