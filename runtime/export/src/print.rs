//! `print`: writes a text with the values of the program in it.

use std::collections::HashMap;

use torch_library::prelude::*;

use crate::constant;

/// The longest text that is written at once: a short format may repeat a long value any number of times.
const LONGEST: usize = 64 << 20;

/// The format of a step: what is between the values, and which value is where.
#[derive(Debug)]
pub(crate) struct Format {
    /// The texts before each place, and the one behind the last.
    texts: Vec<String>,
    /// The number of the value in each place.
    values: Vec<usize>,
}

impl Format {
    /// Reads a format with places `{}`, `{0}` and `{name}`. Returns which of the arguments are the values, each of them
    /// once; the names of the arguments are empty for positional ones.
    ///
    /// # Errors
    /// A place that asks for a format or a part of its argument, or for an argument that does not exist.
    pub(crate) fn new(format: &str, names: &[&str]) -> Result<(Format, Vec<usize>)> {
        let (mut texts, mut values, mut arguments) = (vec![String::new()], Vec::new(), Vec::new());
        let (mut rest, mut next) = (format, 0..);
        let positional = names.iter().take_while(|name| name.is_empty()).count();
        let named: HashMap<_, _> = names.iter().copied().zip(0..).skip(positional).collect();
        let mut numbers = HashMap::new();
        while let Some(at) = rest.find(['{', '}']) {
            let last = texts.len() - 1;
            texts[last].push_str(&rest[..at]);
            rest = &rest[at..];
            if let Some(after) = rest.strip_prefix("{{").or_else(|| rest.strip_prefix("}}")) {
                texts[last].push_str(&rest[..1]);
                rest = after;
                continue;
            }
            let Some((place, after)) = rest.strip_prefix('{').and_then(|rest| rest.split_once('}')) else {
                bail!(Argument, "print with the format {format:?}, which has a single brace")
            };
            ensure!(
                place.chars().all(|c| c.is_alphanumeric() || c == '_'),
                NotSupported,
                "print with the format {format:?}: a place may have a number or a name, and nothing else"
            );
            let argument = match place.parse::<usize>() {
                _ if place.is_empty() => next.next(),
                Ok(number) => Some(number),
                Err(_) => named.get(place).copied(),
            };
            let is_there =
                |at: &usize| *at < positional || (!place.is_empty() && place.parse::<usize>().is_err());
            let Some(argument) = argument.filter(is_there) else {
                bail!(Argument, "print with the format {format:?}: there is no argument for `{{{place}}}`")
            };
            values.push(*numbers.entry(argument).or_insert_with(|| {
                arguments.push(argument);
                arguments.len() - 1
            }));
            texts.push(String::new());
            rest = after;
        }
        let last = texts.len() - 1;
        texts[last].push_str(rest);
        Ok((Format { texts, values }, arguments))
    }

    /// The text of a step, with its values in their places.
    ///
    /// # Errors
    /// A value that is not shown; a text that is too long.
    pub(crate) fn text(&self, values: &[Value<'_>]) -> Result<String> {
        let mut text = String::new();
        for (place, before) in self.texts.iter().enumerate() {
            text.push_str(before);
            if let Some(value) = self.values.get(place).and_then(|number| values.get(*number)) {
                text.push_str(&shown(value)?);
            }
            ensure!(text.len() <= LONGEST, Argument, "print of more than {LONGEST} bytes at once");
        }
        Ok(text)
    }
}

fn shown(value: &Value<'_>) -> Result<String> {
    Ok(match value.as_tensor() {
        // As in Python, where such a tensor is formatted like its number.
        Some(tensor) if tensor.dim() == 0 && !tensor.is_wrapper() => shown(&tensor.item()?.into())?,
        Some(tensor) => tensor.to_string(),
        None => match value {
            Value::Str(text) => text.to_string(),
            Value::Int(_) | Value::Float(_) | Value::Bool(_) | Value::None => constant::shown(value),
            _ => bail!(NotSupported, "print of {}", value.type_name()),
        },
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The text of these arguments with these names.
    fn text(format: &str, names: &[&str], arguments: &[Value<'_>]) -> Result<String> {
        let (format, values) = Format::new(format, names)?;
        format.text(&values.into_iter().map(|place| arguments[place].borrowed()).collect::<Vec<_>>())
    }

    #[test]
    fn values_are_shown_in_their_places() {
        let values = [Value::Int(3), Value::Float(2.0), Value::Bool(true), Value::from(Tensor::from([1i64]))];
        let text = |format, values: &[Value<'_>]| text(format, &vec![""; values.len()], values);
        assert_eq!(text("a {} {{b}} {}{}, {}", &values).unwrap(), "a 3 {b} 2.0True, tensor([1])");
        assert_eq!(text("{1} {0}{1}", &values).unwrap(), "2.0 32.0");
        assert_eq!(text("nothing", &[]).unwrap(), "nothing");
        assert_eq!(text("{}", &[Value::from(Tensor::from(0.5f32))]).unwrap(), "0.5");
        for refused in ["{4}", "{x}", "{:.2f}", "}", "{", "{} {} {} {} {}", "{0.a}", "{0!r}"] {
            assert!(text(refused, &values).is_err(), "{refused}");
        }
    }

    #[test]
    fn values_are_found_by_their_names() {
        let values = [Value::Int(3), Value::from("x"), Value::None];
        let text = |format| text(format, &["", "a", "some_b"], &values);
        assert_eq!(text("{some_b}: {a} {} {a}").unwrap(), "None: x 3 x");
        for refused in ["{c}", "{} {}", "{1}"] {
            assert!(text(refused).is_err(), "{refused}");
        }
    }

    #[test]
    fn a_value_in_many_places_is_taken_once_and_shown_up_to_a_limit() {
        let (format, values) = Format::new(&"{0}{a}".repeat(100), &["", "a"]).unwrap();
        assert_eq!((format.values.len(), values), (200, vec![0, 1]));
        let long = Value::from("x".repeat(1 << 20));
        let repeated = |count| text(&"{0}".repeat(count), &[""], std::slice::from_ref(&long));
        assert_eq!(repeated(64).unwrap().len(), LONGEST);
        let error = repeated(100_000).unwrap_err().to_string();
        assert_eq!(error, "print of more than 67108864 bytes at once");
    }
}
