//! `print`: writes a text with the values of the program in it.

use torch_library::prelude::*;

/// The text of a step, with its arguments in the places of `{}`.
///
/// # Errors
/// A place with a name, a number or a format; more places than arguments; a value that is not shown.
pub(crate) fn text(format: &str, arguments: &[Value<'_>]) -> Result<String> {
    let (mut text, mut rest, mut arguments) = (String::new(), format, arguments.iter());
    while let Some(at) = rest.find(['{', '}']) {
        text.push_str(&rest[..at]);
        rest = &rest[at..];
        let after = ["{{", "}}", "{}"].into_iter().find_map(|part| rest.strip_prefix(part));
        let Some(after) = after else {
            bail!(NotSupported, "print with the format {format:?}: only places `{{}}` are supported")
        };
        match &rest[..2] {
            "{}" => text.push_str(&shown(arguments.next())?),
            brace => text.push_str(&brace[..1]),
        }
        rest = after;
    }
    Ok(text + rest)
}

fn shown(argument: Option<&Value<'_>>) -> Result<String> {
    Ok(match argument {
        Some(Value::Int(number)) => number.to_string(),
        Some(Value::Float(number)) => format!("{number:?}"),
        Some(Value::Bool(yes)) => if *yes { "True" } else { "False" }.to_owned(),
        Some(Value::Str(text)) => text.to_string(),
        Some(Value::None) => "None".to_owned(),
        Some(value) => match value.as_tensor() {
            // As in Python, where such a tensor is formatted like its number.
            Some(tensor) if tensor.dim() == 0 && !tensor.is_wrapper() => shown(Some(&tensor.item()?.into()))?,
            Some(tensor) => tensor.to_string(),
            None => bail!(NotSupported, "print of {}", value.type_name()),
        },
        None => bail!(Argument, "print has more places than arguments"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_shown_in_their_places() {
        let values = [Value::Int(3), Value::Float(2.0), Value::Bool(true), Value::from(Tensor::from([1i64]))];
        assert_eq!(text("a {} {{b}} {}{}, {}", &values).unwrap(), "a 3 {b} 2.0True, tensor([1])");
        assert_eq!(text("nothing", &[]).unwrap(), "nothing");
        assert_eq!(text("{}", &[Value::from(Tensor::from(0.5f32))]).unwrap(), "0.5");
        for refused in ["{0}", "{x}", "{:.2f}", "}", "{", "{} {} {} {} {}"] {
            assert!(text(refused, &values).is_err(), "{refused}");
        }
    }
}
