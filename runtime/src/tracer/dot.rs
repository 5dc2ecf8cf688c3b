//! A graph as a picture.

use std::collections::HashMap;
use std::fmt::Write as _;

use super::argument::Id;
use super::graph::Graph;

impl Graph {
    /// The graph in the DOT language of Graphviz: `dot -Tsvg` draws it.
    ///
    /// ```
    /// # fn main() -> torch_library::Result<()> {
    /// let graph: torch_library::tracer::Graph = "graph(%0: float32[2]) { return %0 }".parse()?;
    /// assert!(graph.to_dot().starts_with("digraph {"));
    /// # Ok(())
    /// # }
    /// ```
    pub fn to_dot(&self) -> String {
        let mut dot =
            String::from("digraph {\n  node [shape=box, style=rounded, fontname=\"sans-serif\"];\n");
        let mut from: HashMap<Id, String> = HashMap::new();
        // Writing to a string does not fail.
        for id in &self.inputs {
            let _ = writeln!(dot, "  v{id} [label=\"%{id}\", shape=ellipse];");
            from.insert(*id, format!("v{id}"));
        }
        for (id, _) in &self.constants {
            let _ = writeln!(dot, "  v{id} [label=\"constant\", shape=ellipse, style=dashed];");
            from.insert(*id, format!("v{id}"));
        }
        for (index, node) in self.nodes.iter().enumerate() {
            let _ = writeln!(dot, "  n{index} [label=\"{}\"];", node.operator);
            for id in node.uses() {
                self.edge(&mut dot, &from, id, &format!("n{index}"));
            }
            from.extend(node.defines().map(|id| (id, format!("n{index}"))));
        }
        for (index, id) in self.outputs.iter().enumerate() {
            let _ = writeln!(dot, "  out{index} [label=\"output {index}\", shape=ellipse];");
            self.edge(&mut dot, &from, *id, &format!("out{index}"));
        }
        dot.push_str("}\n");
        dot
    }

    fn edge(&self, dot: &mut String, from: &HashMap<Id, String>, id: Id, to: &str) {
        if let Some(from) = from.get(&id) {
            let _ = writeln!(dot, "  {from} -> {to} [label=\"{}\"];", self.values[id]);
        }
    }
}
