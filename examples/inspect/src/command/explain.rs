//! `inspect explain`: what happens to each key of a call, which kernel runs, which rules chose it.

use std::fmt::Write;

use serde_json::{Value, json};
use torch_library::guard::LocalDispatchKeySet;
use torch_library::table::Source;
use torch_library::{CallInfo, DispatchKey, DispatchKeySet, Dispatcher, Fate, Layer, Result, Tensor, bail};

use crate::answer::Answer;
use crate::columns::Columns;
use crate::json;

pub(crate) fn answer(
    operator: &str,
    keys: &[String],
    include: &[String],
    exclude: &[String],
) -> Result<Answer> {
    let arguments = if keys.is_empty() { Tensor::from(0.0).key_set() } else { key_set(keys)? };
    let (include, exclude) = (key_set(include)?, key_set(exclude)?);
    let thread = LocalDispatchKeySet {
        included: DispatchKeySet::DEFAULT_INCLUDED | include,
        excluded: (DispatchKeySet::DEFAULT_EXCLUDED - include) | exclude,
    };
    let call = Dispatcher::global().explain(operator, arguments, thread)?;
    Ok(Answer::new(text(&call), json(&call)))
}

/// The set of keys with these names.
fn key_set(names: &[String]) -> Result<DispatchKeySet> {
    let mut keys = DispatchKeySet::EMPTY;
    for name in names {
        let key: DispatchKey = name.trim().parse()?;
        if !key.is_runtime() {
            bail!(Argument, "no call has the key {key}: it stands for {}", listed(key.expansion()));
        }
        keys = keys.add(key);
    }
    Ok(keys)
}

fn text(call: &CallInfo) -> String {
    let sets: Columns = [
        ("keys of the arguments", call.arguments),
        ("included by the thread", call.thread.included),
        ("excluded by the thread", call.thread.excluded),
        ("handed to the kernel", call.keys),
    ]
    .into_iter()
    .map(|(what, keys)| [what.to_owned(), listed(keys)])
    .collect();
    let layers: Columns = call
        .layers
        .iter()
        .map(|layer| [layer.row.key.to_string(), layer.fate.to_string(), told(layer)])
        .collect();
    let rules: Columns = rules(call).map(|(rule, verdict)| [rule, verdict]).collect();
    let mut text = format!("{}\n\n{sets}\nFrom the highest key\n\n{layers}", call.name);
    let _ = write!(text, "\nRules for {}\n\n{rules}", call.explanation.key);
    text
}

/// The kernel of a layer, or the reason why there is none.
fn told(layer: &Layer) -> String {
    let row = &layer.row;
    match (layer.fate, &row.kernel) {
        (Fate::Excluded, _) => "by the thread".to_owned(),
        (_, Some(kernel)) => format!("{kernel} [{}]", row.source),
        (_, None) => format!("[{}]: the call fails", row.source),
    }
}

/// The rules that were applied, and the result of each.
fn rules(call: &CallInfo) -> impl Iterator<Item = (String, String)> {
    call.explanation.steps.iter().map(|(rule, verdict)| {
        let rule = match rule {
            Source::Kernel => format!("kernel for {}", call.explanation.key),
            Source::Alias(alias) => format!("kernel for {alias}"),
            other => other.to_string(),
        };
        (rule, verdict.to_string())
    })
}

/// The names of keys, as `CPU, AutogradCPU`.
fn listed(keys: DispatchKeySet) -> String {
    let names: Vec<_> = keys.iter().map(|key| key.to_string()).collect();
    if names.is_empty() { "none".to_owned() } else { names.join(", ") }
}

fn json(call: &CallInfo) -> Value {
    let layer = |layer: &Layer| {
        let mut row = json::row(&layer.row);
        row["fate"] = layer.fate.to_string().into();
        row
    };
    json!({
        "name": call.name,
        "arguments": json::keys(call.arguments),
        "included": json::keys(call.thread.included),
        "excluded": json::keys(call.thread.excluded),
        "keys": json::keys(call.keys),
        "layers": call.layers.iter().map(layer).collect::<Value>(),
        "rules": rules(call).map(|(rule, verdict)| json!({ "rule": rule, "verdict": verdict })).collect::<Value>(),
    })
}
