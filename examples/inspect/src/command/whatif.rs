//! `inspect whatif`: the table of an operator that has kernels for the given keys only.

use serde_json::{Value, json};
use torch_library::table::{Fallbacks, Registration, Table};
use torch_library::{DispatchKey, Dispatcher, Result, bail};

use crate::answer::Answer;
use crate::json;
use crate::rows::{self, Row};

/// Computes the table without registering anything. The fallbacks are those of the program.
///
/// PyTorch: `torch._python_dispatcher.PythonDispatcher`.
pub(crate) fn answer(register: &[String], all: bool) -> Result<Answer> {
    let wanted = register.iter().map(|text| parse(text)).collect::<Result<Vec<_>>>()?;
    let keys: Vec<_> = wanted.iter().map(|(key, _)| *key).collect();
    if let Some(twice) = keys.iter().enumerate().find(|(index, key)| keys[..*index].contains(key)) {
        bail!(Argument, "{} is given twice", twice.1);
    }
    let labels: Vec<_> = keys.iter().map(|key| format!("kernel for {key}")).collect();
    let registrations = wanted.iter().zip(&labels);
    let registrations: Vec<_> = registrations
        .map(|(&(key, is_fallthrough), label)| Registration { key, kernel: &**label, is_fallthrough })
        .collect();
    let known: Vec<_> =
        Dispatcher::global().fallbacks().into_iter().filter(|kernel| kernel.is_active).collect();
    let known: Vec<_> = known.iter().map(|kernel| (kernel, kernel.to_string())).collect();
    let mut fallbacks = Fallbacks::new();
    for (kernel, label) in &known {
        fallbacks.set(kernel.key, Some((&**label, kernel.is_fallthrough)))?;
    }
    let table = Table::compute(&registrations, &fallbacks);
    let rows: Vec<_> =
        DispatchKey::runtime_keys().iter().map(|key| Row::new(*key, table.get(*key))).collect();
    let names: Vec<_> = keys.iter().map(ToString::to_string).collect();
    let text = format!("An operator with kernels for {}\n\n{}", names.join(", "), rows::text(&rows, all));
    let json =
        json!({ "registered": json::keys(keys), "rows": rows.iter().map(Row::json).collect::<Value>() });
    Ok(Answer::new(text, json))
}

/// Parses `CPU` or `CPU=fallthrough`.
fn parse(text: &str) -> Result<(DispatchKey, bool)> {
    match text.trim().split_once('=') {
        None => Ok((text.trim().parse()?, false)),
        Some((key, "fallthrough")) => Ok((key.parse()?, true)),
        Some((key, other)) => {
            bail!(Argument, "{key} has no kernel {other:?}: write `{key}` or `{key}=fallthrough`")
        }
    }
}
