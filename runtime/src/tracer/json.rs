//! A graph as JSON, for other programs.

use super::argument::Id;
use super::graph::Graph;
use super::print::call;

impl Graph {
    /// The graph as one JSON document: values with their types, and calls as text with the values that they use and
    /// define.
    ///
    /// ```
    /// # fn main() -> torch_library::Result<()> {
    /// let graph: torch_library::tracer::Graph = "graph(%0: float32[2]) { return %0 }".parse()?;
    /// assert_eq!(
    ///     graph.to_json(),
    ///     concat!(
    ///         r#"{"values":[{"name":"%0","dtype":"float32","sizes":[2]}],"inputs":["%0"],"constants":[],"#,
    ///         r#""nodes":[],"outputs":["%0"],"notes":[]}"#
    ///     )
    /// );
    /// # Ok(())
    /// # }
    /// ```
    pub fn to_json(&self) -> String {
        let values = self.used().map(|id| {
            let ty = &self.values[id];
            format!(r#"{{"name":"%{id}","dtype":"{}","sizes":{:?}}}"#, ty.dtype, ty.sizes)
        });
        let nodes = self.nodes.iter().map(|node| {
            format!(
                r#"{{"operator":{},"call":{},"uses":{},"defines":{}}}"#,
                quoted(&node.operator.to_string()),
                quoted(&call(node)),
                names(node.uses()),
                names(node.defines())
            )
        });
        format!(
            r#"{{"values":{},"inputs":{},"constants":{},"nodes":{},"outputs":{},"notes":{}}}"#,
            list(values),
            names(self.inputs.iter().copied()),
            names(self.constants.iter().map(|(id, _)| *id)),
            list(nodes),
            names(self.outputs.iter().copied()),
            list(self.notes.iter().map(|note| quoted(note)))
        )
    }

    /// All values that are defined.
    pub(super) fn used(&self) -> impl Iterator<Item = Id> {
        let constants = self.constants.iter().map(|(id, _)| *id);
        self.inputs.iter().copied().chain(constants).chain(self.nodes.iter().flat_map(|node| node.defines()))
    }
}

fn list(elements: impl Iterator<Item = String>) -> String {
    format!("[{}]", elements.collect::<Vec<_>>().join(","))
}

fn names(ids: impl Iterator<Item = Id>) -> String {
    list(ids.map(|id| format!("\"%{id}\"")))
}

/// A text as a JSON string.
fn quoted(text: &str) -> String {
    let mut quoted = String::from("\"");
    for c in text.chars() {
        match c {
            '"' | '\\' => quoted.extend(['\\', c]),
            c if c.is_control() => quoted.push_str(&format!("\\u{:04x}", u32::from(c))),
            c => quoted.push(c),
        }
    }
    quoted.push('"');
    quoted
}
