//! Converts arguments in the rows' notation to values.

use std::cell::Cell;

use serde_json::Value as Json;
use torch_library::element::Complex64;
use torch_library::{
    DType, Device, DispatchKeySet, Result, Scalar, Storage, Tensor, Value, backend, bail, match_dtype,
};

thread_local! {
    /// The device on which the tensors of rows are made.
    static DEVICE: Cell<Device> = const { Cell::new(Device::CPU) };
}

/// Makes the tensors of rows on a device while a function runs.
pub(crate) fn on_device<R>(device: Device, run: impl FnOnce() -> R) -> R {
    let before = DEVICE.replace(device);
    let outcome = run(); // it replays rows, and catches their panics
    DEVICE.set(before);
    outcome
}

/// The value that an argument in a row stands for.
///
/// # Errors
/// It does not describe a value that operators take.
pub(crate) fn decode(json: &Json) -> Result<Value<'static>> {
    decode_with(json, &|_| None)
}

/// Like [`decode`], where `{"var": name}` is the variable of that name.
///
/// # Errors
/// The same, and a name that is not a variable.
pub(crate) fn decode_with(json: &Json, variable: &dyn Fn(&str) -> Option<Tensor>) -> Result<Value<'static>> {
    Ok(match json {
        Json::Null => Value::None,
        Json::Bool(value) => Value::Bool(*value),
        Json::String(text) => text.clone().into(),
        Json::Array(list) => {
            self::list(list.iter().map(|json| decode_with(json, variable)).collect::<Result<_>>()?)?
        }
        Json::Number(number) => match number.as_i64() {
            Some(value) => Value::Int(value),
            None => Value::Float(float(json)?),
        },
        Json::Object(fields) => {
            let text = |name: &str| fields.get(name).and_then(Json::as_str);
            if let Some(keys) = text("keyset") {
                Value::Tensor(tensor_with_keys(keys)?)
            } else if fields.contains_key("re") {
                match number(json)? {
                    Scalar::Complex(value) => Value::Complex(value),
                    _ => bail!(NotSupported, "no value is written {json}"),
                }
            } else if let Some(value) = fields.get("f") {
                Value::Float(float(value)?)
            } else if let Some(name) = text("dtype") {
                Value::DType(name.parse()?)
            } else if let Some(name) = text("memory_format") {
                Value::MemoryFormat(name.parse()?)
            } else if let Some(name) = text("device") {
                Value::Device(name.parse()?)
            } else if let Some(tensor) = fields.get("tensor") {
                Value::Tensor(self::tensor(tensor)?)
            } else if let Some(tensor) = text("var").and_then(variable) {
                Value::Tensor(tensor)
            } else {
                bail!(NotSupported, "no value is written {json}")
            }
        }
    })
}

/// A list whose elements all have the same type.
fn list(values: Vec<Value<'static>>) -> Result<Value<'static>> {
    let all = |is: fn(&Value<'_>) -> bool| values.iter().all(is);
    let is_tensor = |value: &Value<'_>| value.as_tensor().is_some();
    let scalar = |value: &Value<'_>| match value {
        Value::Int(value) => Some(Scalar::Int(*value)),
        Value::Float(value) => Some(Scalar::Float(*value)),
        Value::Bool(value) => Some(Scalar::Bool(*value)),
        Value::Complex(value) => Some(Scalar::Complex(*value)),
        _ => None,
    };
    Ok(if all(|value| matches!(value, Value::Int(_))) {
        values
            .iter()
            .filter_map(|value| if let Value::Int(value) = value { Some(*value) } else { None })
            .collect::<Vec<_>>()
            .into()
    } else if all(|value| matches!(value, Value::Bool(_))) {
        values.iter().map(|value| matches!(value, Value::Bool(true))).collect::<Vec<_>>().into()
    } else if all(|value| matches!(value, Value::Int(_) | Value::Float(_))) {
        let floats = values.iter().filter_map(scalar).map(|scalar| scalar.cast::<f64>());
        floats.collect::<Vec<_>>().into()
    } else if values.iter().all(is_tensor) {
        values.iter().filter_map(Value::as_tensor).cloned().collect::<Vec<_>>().into()
    } else if values.iter().all(|value| value.is_none() || is_tensor(value)) {
        values.iter().map(|value| value.as_tensor().cloned()).collect::<Vec<_>>().into()
    } else if let Some(scalars) = values.iter().map(scalar).collect::<Option<Vec<_>>>() {
        scalars.into()
    } else {
        let types: Vec<_> = values.iter().map(Value::type_name).collect();
        bail!(Type, "no list has elements of the types {}", types.join(", "))
    })
}

/// A tensor that carries these keys.
fn tensor_with_keys(bits: &str) -> Result<Tensor> {
    match bits.parse() {
        Ok(bits) => Ok(Tensor::from([1f32]).with_key_set(DispatchKeySet::from_raw(bits))),
        Err(_) => bail!(Argument, "{bits:?} is no set of keys"),
    }
}

/// A tensor over a storage of its own.
pub(crate) fn tensor(json: &Json) -> Result<Tensor> {
    let dtype: DType = json["dtype"].as_str().unwrap_or_default().parse()?;
    let (Some(sizes), Some(strides), Some(offset), Some(elements)) = (
        integers(&json["sizes"]),
        integers(&json["strides"]),
        json["offset"].as_i64(),
        json["storage"].as_array(),
    ) else {
        bail!(NotSupported, "no tensor is written {json}")
    };
    let storage = match_dtype!(dtype, T => {
        let elements = elements.iter().map(|element| Ok(number(element)?.cast::<T>()));
        Storage::from_vec(elements.collect::<Result<Vec<T>>>()?)
    });
    let elements = (storage.nbytes() / dtype.size()) as i64;
    let keys = Tensor::empty(&[0], dtype, Device::CPU)?.key_set();
    let all = Tensor::from_storage(storage, &[elements], &[1], 0, dtype, keys)?;
    let all = match DEVICE.get() {
        Device::CPU => all,
        device => backend::on_device(&all, device)?,
    };
    let tensor = all.strided_view(&sizes, &strides, offset)?;
    if json["requires_grad"] == true {
        tensor.set_requires_grad(true)?;
    }
    Ok(tensor)
}

/// A list of integers, if it is one.
pub(crate) fn integers(json: &Json) -> Option<Vec<i64>> {
    json.as_array()?.iter().map(Json::as_i64).collect()
}

/// A number of any kind.
pub(crate) fn number(json: &Json) -> Result<Scalar> {
    Ok(match json {
        Json::Bool(value) => Scalar::Bool(*value),
        Json::Object(_) => Scalar::Complex(Complex64::new(float(&json["re"])?, float(&json["im"])?)),
        _ => match json.as_i64() {
            Some(value) => Scalar::Int(value),
            None => Scalar::Float(float(json)?),
        },
    })
}

/// A number; the rows write numbers that JSON lacks, such as NaN, as words.
pub(crate) fn float(json: &Json) -> Result<f64> {
    let value = json.as_f64().or_else(|| match json.as_str()? {
        "nan" => Some(f64::NAN),
        "inf" => Some(f64::INFINITY),
        "-inf" => Some(f64::NEG_INFINITY),
        _ => None,
    });
    match value {
        Some(value) => Ok(value),
        None => bail!(Type, "no number is written {json}"),
    }
}
