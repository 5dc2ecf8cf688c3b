//! From the returns of a call to text and JSON.

use serde_json::{Value as Json, json};
use torch_library::{Result, Scalar, Tensor, Value, match_dtype};

/// For people: tensors as they are printed, everything else as JSON.
pub(crate) fn text(value: &Value<'_>) -> Result<String> {
    Ok(match value {
        Value::Tensors(_) | Value::TensorsMut(_) => {
            value.tensors().iter().map(|x| format!("{x}\n")).collect()
        }
        value => match value.as_tensor() {
            Some(tensor) => format!("{tensor}\n"),
            None => format!("{}\n", json(value)?),
        },
    })
}

/// For machines: tensors are written so that they can be arguments again.
pub(crate) fn json(value: &Value<'_>) -> Result<Json> {
    fn all<T>(items: &[T], write: impl Fn(&T) -> Result<Json>) -> Result<Json> {
        items.iter().map(write).collect()
    }
    let number = |scalar: &Scalar| Ok(number(*scalar));
    Ok(match value {
        Value::None => Json::Null,
        Value::Bool(value) => json!(value),
        Value::Int(value) => json!(value),
        Value::Float(value) => number(&Scalar::Float(*value))?,
        Value::Complex(value) => number(&Scalar::Complex(*value))?,
        Value::Str(text) => json!(text),
        Value::DType(dtype) => json!(dtype.to_string()),
        Value::Layout(layout) => json!(layout.to_string()),
        Value::MemoryFormat(format) => json!(format.to_string()),
        Value::Device(device) => json!(device.to_string()),
        Value::Generator(generator) => json!(generator.initial_seed()),
        Value::Tensors(_) | Value::TensorsMut(_) => all(value.tensors(), tensor)?,
        Value::OptionalTensors(tensors) => {
            all(tensors, |optional| optional.as_ref().map_or(Ok(Json::Null), tensor))?
        }
        Value::Ints(list) => json!(list),
        Value::Floats(list) => all(list, |value| number(&Scalar::Float(*value)))?,
        Value::Bools(list) => json!(list),
        Value::Scalars(list) => all(list, number)?,
        Value::Strs(list) => json!(list),
        other => match other.as_tensor() {
            Some(of) => tensor(of)?,
            None => json!(format!("{other:?}")),
        },
    })
}

/// A number, as a tensor's element or alone. JSON has no NaN, infinity or complex numbers.
fn number(scalar: Scalar) -> Json {
    match scalar {
        Scalar::Bool(value) => json!(value),
        Scalar::Int(value) => json!(value),
        Scalar::Float(value) if value.is_finite() => json!(value),
        Scalar::Float(value) => json!(value.to_string().to_lowercase()),
        Scalar::Complex(value) => json!({ "re": number(value.re.into()), "im": number(value.im.into()) }),
    }
}

fn tensor(tensor: &Tensor) -> Result<Json> {
    let values = match_dtype!(tensor.dtype(), T => {
        let elements = tensor.to_vec::<T>()?;
        elements.into_iter().map(|x| Ok(number(Scalar::from_element(x)?))).collect::<Result<Json>>()?
    });
    Ok(json!({
        "dtype": tensor.dtype().to_string(),
        "sizes": tensor.sizes(),
        "strides": tensor.strides(),
        "values": values,
    }))
}
