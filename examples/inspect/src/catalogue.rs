//! The catalogue: what the registry, the sources and the documentation's tables say about each operator, as a single
//! page that needs no server and loads nothing.

use std::collections::BTreeSet;
use std::path::Path;

use serde_json::{Value, json};
use torch_library::{KernelInfo, OperatorInfo};

use crate::command::list::schema;

mod coverage;
mod sources;

use coverage::Coverage;
use sources::Sources;

const PAGE: &str = include_str!("catalogue/page.html");
const STYLE: &str = include_str!("catalogue/style.css");
const SCRIPT: &str = include_str!("catalogue/script.js");

/// The page about these operators. It has documentation, derivatives and coverage if the files with this information
/// are in the folder.
pub(crate) fn page(operators: &[OperatorInfo], folder: &Path) -> String {
    let (mut sources, coverage) = (Sources::new(folder), Coverage::read(folder));
    let entries: Value = operators.iter().map(|info| entry(info, &mut sources, &coverage)).collect();
    let data = json!({ "models": coverage.models, "operators": entries });
    // Within a script element, only `<` could begin the end tag.
    let data = data.to_string().replace('<', "\\u003c");
    PAGE.replace("/*style*/", STYLE).replace("/*script*/", SCRIPT).replace("/*data*/", &data)
}

/// An operator's data for the page. The keys are single letters, since most of the page is this data.
fn entry(info: &OperatorInfo, sources: &mut Sources<'_>, coverage: &Coverage) -> Value {
    let (operator, active) = (info.operator, info.kernels.iter().filter(|kernel| kernel.is_active));
    let name = operator.to_string();
    let mut entry = json!({
        "n": name,
        "s": schema(info),
        "p": place(operator.place().file(), operator.place().line),
        "k": info.kernels.iter().map(kernel).collect::<Value>(),
        "l": layers(active.clone()),
    });
    let mut add = |letter: &str, value: Value| {
        if !(value.is_null() || value.as_array().is_some_and(Vec::is_empty)) {
            entry[letter] = value;
        }
    };
    add("t", operator.tags().into());
    add("d", sources.documentation(operator).into());
    let derivative =
        active.filter(|kernel| is_autograd(kernel)).find_map(|kernel| sources.derivative(operator, kernel));
    add("v", derivative.into());
    add("m", coverage.models_with(&name));
    add("o", coverage.rows_of(&name));
    entry
}

/// A kernel as `[key, function, place, flags]`.
fn kernel(kernel: &KernelInfo) -> Value {
    let flags = [
        (kernel.is_fallthrough, "fallthrough"),
        (kernel.is_boxed && !kernel.is_fallthrough, "boxed"),
        (kernel.overrides, "override"),
        (!kernel.is_active, "replaced"),
    ];
    let flags: Vec<_> = flags.iter().filter(|(is_set, _)| *is_set).map(|(_, flag)| *flag).collect();
    let place = place(kernel.place.file(), kernel.place.line);
    json!([kernel.key.to_string(), kernel.function, place, flags.join(", ")])
}

fn place(file: &str, line: u32) -> String {
    if file.is_empty() { String::new() } else { format!("{file}:{line}") }
}

fn is_autograd(kernel: &KernelInfo) -> bool {
    kernel.key.to_string().starts_with("Autograd")
}

/// The layers that have a kernel for the operator, named as in the table of operators.
fn layers<'a>(kernels: impl Iterator<Item = &'a KernelInfo>) -> BTreeSet<&'static str> {
    let layer = |kernel: &KernelInfo| match kernel.key.to_string().as_str() {
        key if key.starts_with("Autograd") => Some("autograd"),
        key if key.starts_with("Autocast") => Some("autocast"),
        "FuncTorchBatched" | "FuncTorchBatchedDecomposition" => Some("vmap"),
        "Functionalize" => Some("functionalize"),
        "CompositeImplicitAutograd" => Some("implicit"),
        _ => None,
    };
    kernels.filter(|kernel| !kernel.is_fallthrough).filter_map(layer).collect()
}
