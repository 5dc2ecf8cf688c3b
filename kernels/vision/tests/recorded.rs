//! Calls that `record.py` wrote, with torchvision's results and gradients.

use std::collections::BTreeMap;
use std::path::Path;

use torch_library::autograd;
use torch_library::prelude::*;
use torch_library::schema::Type;
use torch_library::{DType, Dispatcher, FromReturn};
use torch_library_kernels::aten;
use torch_library_kernels::data::safetensors;
use torch_library_vision as _;

/// The tolerated difference of a result from torchvision's, relative to the largest number in it.
fn tolerance(dtype: DType) -> f64 {
    if dtype == DType::Float64 { 1e-12 } else { 2e-6 }
}

fn assert_close(what: &str, found: &Tensor, expected: &Tensor) {
    assert_eq!((found.sizes(), found.dtype()), (expected.sizes(), expected.dtype()), "{what}");
    let values = |tensor: &Tensor| -> Vec<f64> {
        aten::_to_copy::with(tensor).dtype(Some(DType::Float64)).call().unwrap().to_vec().unwrap()
    };
    let (found, expected, dtype) = (values(found), values(expected), expected.dtype());
    let largest = expected.iter().fold(1e-3, |largest: f64, value| largest.max(value.abs()));
    for (place, (found, expected)) in found.iter().zip(&expected).enumerate() {
        let distance = (found - expected).abs() / largest;
        assert!(distance <= tolerance(dtype), "{what}, element {place}: {found}, torchvision has {expected}");
    }
}

/// The call of a file: operator and arguments, in the order of the schema.
fn arguments(operator: OperatorHandle, file: &BTreeMap<String, Tensor>) -> Result<Vec<Value<'static>>> {
    let arguments = operator.schema()?.arguments.iter().map(|declared| {
        let saved = &file[&declared.name];
        Ok(match declared.ty {
            Type::Tensor => Value::Tensor(saved.clone()),
            Type::Float => Value::Float(saved.item()?.to()?),
            Type::Bool => Value::Bool(saved.item()?.to::<f64>()? != 0.0),
            _ => Value::Int(saved.item()?.to::<f64>()? as i64),
        })
    });
    arguments.collect()
}

fn replay(name: &str, file: &BTreeMap<String, Tensor>) -> Result<()> {
    let base = name.split("_f32").next().and_then(|name| name.split("_f64").next()).unwrap();
    let operator = Dispatcher::global().find(&format!("torchvision::{base}"))?;
    let wanted: Vec<&str> = file.keys().filter_map(|name| name.strip_prefix("grad_")).collect();
    wanted.iter().try_for_each(|name| file[*name].set_requires_grad(true))?;
    let mut stack = Stack::from_iter(arguments(operator, file)?);
    operator.call_boxed(&mut stack)?;
    let results: Vec<Tensor> = stack.into_iter().map(Tensor::from_return).collect::<Result<_>>()?;
    for (place, result) in results.iter().enumerate() {
        assert_close(&format!("{name}: result {place}"), result, &file[&format!("result{place}")]);
    }
    if wanted.is_empty() {
        return Ok(());
    }
    let inputs: Vec<_> = wanted.iter().map(|name| &file[*name]).collect();
    let weight = file["weight0"].clone();
    let gradients = autograd::grad(&[&results[0]], &inputs, &[Some(weight)], Default::default())?;
    for (input, gradient) in wanted.iter().zip(gradients) {
        let gradient = gradient.unwrap_or_else(|| panic!("{name}: no gradient for {input}"));
        assert_close(&format!("{name}: gradient of {input}"), &gradient, &file[&format!("grad_{input}")]);
    }
    Ok(())
}

#[test]
fn results_and_gradients_are_torchvisions() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/recorded");
    let mut count = 0;
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_stem().unwrap().to_str().unwrap().to_owned();
        let file = safetensors::from_bytes(&std::fs::read(&path).unwrap()).unwrap();
        replay(&name, &file).unwrap_or_else(|error| panic!("{name}: {error}"));
        count += 1;
    }
    assert_eq!(count, 24);
}
