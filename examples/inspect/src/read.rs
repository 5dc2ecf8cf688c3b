//! From JSON to the values of a call, with the types of its schema.

use std::str::FromStr;

use serde_json::Value as Json;
use torch_library::element::Complex64;
use torch_library::{DType, Generator, Result, Scalar, Tensor, Value, bail, ensure, match_dtype};
use torch_library_schema::{Argument, Type};

/// Reads the value of an argument.
///
/// # Errors
/// The JSON is not a value of the argument's type.
pub(crate) fn argument(json: &Json, argument: &Argument) -> Result<Value<'static>> {
    value(json, &argument.ty).map_err(|error| error.context(format!("argument `{}`", argument.name)))
}

fn value(json: &Json, ty: &Type) -> Result<Value<'static>> {
    Ok(match (ty, json) {
        (Type::Optional(_), Json::Null) => Value::None,
        (Type::Optional(inner), json) => value(json, inner)?,
        // A number is also accepted for a tensor or a list of fixed length; the call converts it.
        (Type::Tensor, Json::Number(_) | Json::Bool(_)) => scalar(json)?.into(),
        (Type::Tensor, json) => tensor(json)?.into(),
        (Type::Scalar | Type::Complex, json) => scalar(json)?.into(),
        (Type::Float, json) => scalar(json)?.to::<f64>()?.into(),
        (Type::Str, Json::String(text)) => text.clone().into(),
        (Type::ScalarType, Json::String(text)) => Value::DType(parsed(text)?),
        (Type::Layout, Json::String(text)) => Value::Layout(parsed(text)?),
        (Type::MemoryFormat, Json::String(text)) => Value::MemoryFormat(parsed(text)?),
        (Type::Device, Json::String(text)) => Value::Device(parsed(text)?),
        (Type::Generator, Json::Number(seed)) => match seed.as_u64() {
            Some(seed) => Generator::with_seed(seed).into(),
            None => bail!(Argument, "{seed} is no seed: a generator is written as its seed, 0 or more"),
        },
        (Type::List(element), Json::Array(items)) => list(items, element)?,
        (_, Json::Bool(value)) => Value::Bool(*value),
        (_, Json::Number(number)) if number.is_i64() || number.is_f64() => scalar(json)?.into(),
        (ty, json) => bail!(Type, "{json} is no {ty}"),
    })
}

fn list(items: &[Json], element: &Type) -> Result<Value<'static>> {
    fn all<T>(items: &[Json], read: impl Fn(&Json) -> Result<T>) -> Result<Vec<T>> {
        items.iter().map(read).collect()
    }
    Ok(match element {
        Type::Tensor => all(items, tensor)?.into(),
        Type::Optional(_) => {
            all(items, |json| Some(json).filter(|json| !json.is_null()).map(tensor).transpose())?.into()
        }
        Type::Float => all(items, |json| scalar(json)?.to::<f64>())?.into(),
        Type::Bool => all(items, |json| scalar(json)?.to::<bool>())?.into(),
        Type::Scalar => all(items, scalar)?.into(),
        Type::Int | Type::SymInt => all(items, integer)?.into(),
        Type::Str => all(items, text)?.into(),
        other => bail!(Type, "lists of {other} cannot be passed"),
    })
}

fn text(json: &Json) -> Result<String> {
    match json.as_str() {
        Some(text) => Ok(text.to_owned()),
        None => bail!(Type, "{json} is no str"),
    }
}

fn integer(json: &Json) -> Result<i64> {
    match json.as_i64() {
        Some(value) => Ok(value),
        None => bail!(Type, "{json} is no int"),
    }
}

/// A number: `1`, `1.5`, `true`, `"inf"`, `{"re": 1, "im": 2}`.
fn scalar(json: &Json) -> Result<Scalar> {
    let float = |json: &Json| match json {
        Json::Number(number) => number.as_f64(),
        Json::String(text) => f64::from_str(text).ok(),
        _ => None,
    };
    if let Json::Object(parts) = json
        && let Some((re, im)) = parts.get("re").and_then(float).zip(parts.get("im").and_then(float))
    {
        return Ok(Complex64::new(re, im).into());
    }
    match (json, json.as_i64(), float(json)) {
        (Json::Bool(value), ..) => Ok((*value).into()),
        (_, Some(value), _) => Ok(value.into()),
        (_, None, Some(value)) => Ok(value.into()),
        _ => bail!(Type, "{json} is no number"),
    }
}

/// A tensor: nested lists of numbers, or `{"dtype": …, "sizes": …, "values": …}`, where only the values are required.
fn tensor(json: &Json) -> Result<Tensor> {
    let (mut sizes, mut elements) = (Vec::new(), Vec::new());
    let Json::Object(parts) = json else {
        flatten(json, 0, &mut sizes, &mut elements)?;
        return of_elements(&elements, &sizes, None);
    };
    let Some(values) = parts.get("values") else {
        bail!(Type, "{json} is no tensor: it has no `values`");
    };
    flatten(values, 0, &mut sizes, &mut elements)?;
    let (mut dtype, mut requires_grad) = (None, false);
    for (part, value) in parts {
        match (part.as_str(), value) {
            ("values", _) => {}
            ("strides", Json::Array(_)) => {} // a result has them; read as an argument, it is contiguous
            ("sizes", Json::Array(items)) => sizes = items.iter().map(integer).collect::<Result<_>>()?,
            ("dtype", Json::String(name)) => dtype = Some(parsed(name)?),
            ("requires_grad", Json::Bool(requires)) => requires_grad = *requires,
            _ => bail!(
                Type,
                "a tensor has no part {part:?} that is {value}: it has `values`, and may have `sizes`, `dtype` and \
                 `requires_grad`"
            ),
        }
    }
    let tensor = of_elements(&elements, &sizes, dtype)?;
    if requires_grad {
        tensor.set_requires_grad(true)?;
    }
    Ok(tensor)
}

/// Reads nested lists: the sizes are those of the first list at each depth, and all others must match.
fn flatten(json: &Json, depth: usize, sizes: &mut Vec<i64>, elements: &mut Vec<Scalar>) -> Result<()> {
    let Json::Array(items) = json else {
        ensure!(depth == sizes.len(), Shape, "{json} is a number where other places have lists");
        elements.push(scalar(json)?);
        return Ok(());
    };
    let size = items.len() as i64;
    if depth == sizes.len() && elements.is_empty() {
        sizes.push(size);
    }
    ensure!(
        sizes.get(depth) == Some(&size),
        Shape,
        "the list {json} has {size} items, but others in its place have another number"
    );
    items.iter().try_for_each(|item| flatten(item, depth + 1, sizes, elements))
}

/// A tensor of numbers; without a dtype, it gets the one that `torch.tensor` would choose.
fn of_elements(elements: &[Scalar], sizes: &[i64], dtype: Option<DType>) -> Result<Tensor> {
    let any = |is: fn(&Scalar) -> bool| elements.iter().any(is);
    let dtype = dtype.unwrap_or_else(|| match () {
        () if any(|x| matches!(x, Scalar::Complex(_))) => DType::Complex64,
        () if elements.is_empty() || any(|x| matches!(x, Scalar::Float(_))) => DType::DEFAULT,
        () if any(|x| matches!(x, Scalar::Int(_))) => DType::Int64,
        () => DType::Bool,
    });
    match_dtype!(dtype, T => {
        Tensor::from_vec(elements.iter().map(|x| x.to::<T>()).collect::<Result<Vec<T>>>()?, sizes)
    })
}

fn parsed<T: FromStr<Err = torch_library::Error>>(text: &str) -> Result<T> {
    text.parse()
}

#[cfg(test)]
mod tests {
    use torch_library_schema::{Mode, Schema};

    use super::*;

    #[test]
    fn a_text_in_a_list_is_one() {
        let schema = Schema::parse("a(str[] names) -> ()", Mode::Strict).unwrap();
        let read = |json: &str| argument(&serde_json::from_str(json).unwrap(), &schema.arguments[0]);
        let names = read(r#"["a", "b"]"#).unwrap();
        assert!(matches!(names, Value::Strs(names) if *names == ["a", "b"]));
        assert_eq!(read(r#"["a", 1]"#).unwrap_err().to_string(), "argument `names`: 1 is no str");
    }
}
