//! `inspect call`: calls an operator, boxed, with arguments from the command line.

use serde_json::{Value as Json, json};
use torch_library::{Dispatcher, Error, ErrorKind, Result, Value};
use torch_library_schema::Schema;

use crate::answer::Answer;
use crate::{read, write};

pub(crate) fn answer(operator: &str, texts: &[String]) -> Result<Answer> {
    let operator = Dispatcher::global().find(operator)?;
    let schema = operator.schema()?;
    let (mut arguments, mut named) = (Vec::new(), Vec::new());
    for text in texts {
        match split_name(text) {
            Some((name, text)) => named.push((name, value(text, schema, schema.argument_index(name))?)),
            None => arguments.push(value(text, schema, Some(arguments.len()))?),
        }
    }
    let returns = operator.call_with(arguments, named)?;
    let (mut text, mut json) = (String::new(), Vec::new());
    for value in returns {
        text += &write::text(&value)?;
        json.push(write::json(&value)?);
    }
    Ok(Answer::new(text, json!({ "operator": operator.to_string(), "returns": json })))
}

/// The value of an argument; `None` for one that the schema does not have, which the call itself reports.
fn value(text: &str, schema: &Schema, index: Option<usize>) -> Result<Value<'static>> {
    match index.and_then(|index| schema.arguments.get(index)) {
        Some(argument) => read::argument(&json(text)?, argument),
        None => Ok(Value::None),
    }
}

/// Splits `alpha=2` into name and value; a value that happens to contain `=` stays whole.
fn split_name(text: &str) -> Option<(&str, &str)> {
    let (name, value) = text.split_once('=')?;
    let is_name = !name.is_empty() && name.chars().all(|c| c == '_' || c.is_ascii_alphanumeric());
    is_name.then_some((name, value))
}

/// Parses JSON, or a word without quotes.
fn json(text: &str) -> Result<Json> {
    match serde_json::from_str(text) {
        Ok(json) => Ok(json),
        Err(_) if !text.starts_with(['[', '{', '"']) => Ok(Json::String(text.to_owned())),
        Err(error) => Err(Error::new(ErrorKind::Argument, format!("{text} is no JSON: {error}"))),
    }
}
