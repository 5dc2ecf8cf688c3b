//! `inspect list`: operators with their schemas, the keys that have a kernel, and the places of their declarations.

use std::fmt::Write;

use serde_json::{Value, json};
use torch_library::{Dispatcher, OperatorInfo};

use crate::answer::Answer;
use crate::json;

pub(crate) fn answer(prefix: Option<&str>) -> Answer {
    let prefix = prefix.unwrap_or_default();
    let mut operators = Dispatcher::global().operators();
    operators.retain(|info| info.operator.to_string().starts_with(prefix));
    let mut text = String::new();
    for info in &operators {
        let _ = writeln!(text, "{}\n  {}\n  {}", schema(info), info.operator.place(), kernels(info));
    }
    let count = match operators.len() {
        1 => "1 operator".to_owned(),
        count => format!("{count} operators"),
    };
    let _ = writeln!(text, "{count}");
    Answer::new(text, operators.iter().map(entry).collect())
}

/// The schema with its namespace, or the original text if it does not parse.
pub(crate) fn schema(info: &OperatorInfo) -> String {
    match info.operator.schema() {
        Ok(schema) => schema.to_string(),
        Err(_) => info.operator.schema_text().to_owned(),
    }
}

fn kernels(info: &OperatorInfo) -> String {
    let active = info.kernels.iter().filter(|kernel| kernel.is_active);
    let keys: Vec<_> = active.map(|kernel| kernel.key.to_string()).collect();
    match keys.is_empty() {
        true => "no kernels".to_owned(),
        false => format!("kernels for {}", keys.join(", ")),
    }
}

fn entry(info: &OperatorInfo) -> Value {
    json!({
        "name": info.operator.to_string(),
        "schema": schema(info),
        "tags": info.operator.tags(),
        "place": json::place(info.operator.place()),
        "in_conflict": info.in_conflict,
        "kernels": info.kernels.iter().map(json::kernel).collect::<Value>(),
    })
}
