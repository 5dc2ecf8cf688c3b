//! `inspect table`: which kernel each dispatch key of an operator runs, and by which rule.

use std::fmt::Write;

use serde_json::{Value, json};
use torch_library::{Dispatcher, KernelInfo, Result, TableInfo};

use crate::answer::Answer;
use crate::columns::Columns;
use crate::json;
use crate::rows::{self, Row};

pub(crate) fn answer(operator: &str, all: bool) -> Result<Answer> {
    let table = Dispatcher::global().table(operator)?;
    let mut text = heading(&table)?;
    let kernels = table.kernels.iter();
    let kernels = kernels.map(|kernel| [kernel.key.to_string(), with_flags(kernel)]);
    let _ = write!(text, "\nKernels\n\n{}\nTable\n\n", kernels.collect::<Columns>());
    text += &rows::text(&table.rows.iter().map(Row::from).collect::<Vec<_>>(), all);
    let json = json!({
        "name": table.name,
        "defined": table.operator.is_some(),
        "kernels": table.kernels.iter().map(json::kernel).collect::<Value>(),
        "rows": table.rows.iter().map(json::row).collect::<Value>(),
    });
    Ok(Answer::new(text, json))
}

/// A description of the operator, and the place of its declaration.
fn heading(table: &TableInfo) -> Result<String> {
    let Some(operator) = table.operator else {
        return Ok(format!("{} has kernels, but nobody defined it\n", table.name));
    };
    let mut text = format!("{}\n  declared at {}\n", operator.schema()?, operator.place());
    if !operator.tags().is_empty() {
        let _ = writeln!(text, "  tags: {}", operator.tags().join(", "));
    }
    Ok(text)
}

/// The kernel, with its flags.
pub(crate) fn with_flags(kernel: &KernelInfo) -> String {
    let flags = [
        (kernel.is_boxed && !kernel.is_fallthrough, "boxed"),
        (kernel.overrides, "override"),
        (!kernel.is_active, "inactive: another one replaces it"),
    ];
    let flags: Vec<_> = flags.iter().filter(|(is_set, _)| *is_set).map(|(_, flag)| *flag).collect();
    if flags.is_empty() { kernel.to_string() } else { format!("{kernel} ({})", flags.join(", ")) }
}
