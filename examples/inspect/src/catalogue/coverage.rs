//! Reads the documentation's tables about operators: which of PyTorch's tests pass, and which models call them.

use std::collections::HashMap;
use std::fs;
use std::path::Path;

use serde_json::{Value, json};

/// The tables that were found.
#[derive(Default)]
pub(crate) struct Coverage {
    pub(crate) models: Vec<String>,
    /// The models that call an operator, by position in the list, and how often.
    calls: HashMap<String, Vec<(usize, u64)>>,
    rows: HashMap<String, Value>,
}

impl Coverage {
    /// Reads `docs/opinfo.md` and `docs/model_operators.md`, as far as they exist.
    pub(crate) fn read(folder: &Path) -> Self {
        let mut coverage = Coverage::default();
        let text = |name: &str| fs::read_to_string(folder.join("docs").join(name)).unwrap_or_default();
        coverage.read_models(&text("model_operators.md"));
        coverage.read_rows(&text("opinfo.md"));
        coverage
    }

    fn read_models(&mut self, text: &str) {
        for cells in lines(text).filter(|cells| cells.len() == 2) {
            let Some(model) = quoted(cells[0]) else { continue };
            for call in cells[1].split(", ") {
                let Some((name, count)) = call.rsplit_once(' ') else { continue };
                let (Some(name), Ok(count)) = (quoted(name), count.parse()) else { continue };
                self.calls.entry(name.to_owned()).or_default().push((self.models.len(), count));
            }
            self.models.push(model.to_owned());
        }
    }

    fn read_rows(&mut self, text: &str) {
        let part = text.split("\n## ").find(|part| part.starts_with("By operator")).unwrap_or_default();
        for cells in lines(part).filter(|cells| cells.len() == 6) {
            let Some(name) = quoted(cells[0]) else { continue };
            let number = |at: usize| cells[at].parse::<u64>().unwrap_or(0);
            let row = json!([number(1), number(2), number(3), number(4), cells[5]]);
            self.rows.insert(format!("aten::{name}"), row);
        }
    }

    /// The models that call an operator, as `[[model, calls], …]`.
    pub(crate) fn models_with(&self, operator: &str) -> Value {
        self.calls.get(operator).map_or(Value::Null, |calls| json!(calls))
    }

    /// The test rows of an operator, as `[rows, passed, failed, skipped, dtypes]`.
    pub(crate) fn rows_of(&self, operator: &str) -> Value {
        self.rows.get(operator).cloned().unwrap_or(Value::Null)
    }
}

/// The cells of each row of the tables in a text.
fn lines(text: &str) -> impl Iterator<Item = Vec<&str>> {
    let cells = |line: &'_ str| line.strip_prefix('|')?.strip_suffix('|').map(str::len);
    text.lines().filter_map(move |line| {
        cells(line)?;
        Some(line[1..line.len() - 1].split('|').map(str::trim).collect())
    })
}

fn quoted(cell: &str) -> Option<&str> {
    cell.strip_prefix('`')?.strip_suffix('`')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_say_which_models_call_an_operator_and_which_rows_pass() {
        let mut coverage = Coverage::default();
        coverage.read_models("| `a` | `aten::relu` 2, `aten::mm` 1 |\n| `b` | `aten::relu` 3 |\n");
        coverage.read_rows(
            "| `x` | 9 | 9 | | | |\n\n## By operator\n\n| `relu` | 4 | 3 | 1 |  | bool, float32 |\n",
        );
        assert_eq!(coverage.models, ["a", "b"]);
        assert_eq!(coverage.models_with("aten::relu"), json!([[0, 2], [1, 3]]));
        assert_eq!(coverage.rows_of("aten::relu"), json!([4, 3, 1, 0, "bool, float32"]));
        assert!(coverage.rows_of("aten::x").is_null() && coverage.models_with("aten::x").is_null());
    }
}
