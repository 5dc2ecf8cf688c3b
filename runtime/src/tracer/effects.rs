//! The side effects of calls, according to their schemas.
//!
//! A `Tensor(a!)` is written, a `Tensor(a)` may share memory with the return that has the same name, and a tensor
//! without an annotation is neither written nor shared. Random operators have a tag.

use super::argument::Id;
use super::graph::{Graph, Node};

/// The values that may share memory, as a union-find structure: each points to a representative.
pub(super) struct Memory {
    parent: Vec<Id>,
}

impl Memory {
    /// The sharing according to the schemas, and that of inputs and constants, which may be views of each other.
    pub(super) fn of(graph: &Graph) -> Self {
        let mut memory = Memory { parent: (0..graph.values.len()).collect() };
        let mut outside = graph.inputs.iter().copied().chain(graph.constants.iter().map(|(id, _)| *id));
        if let Some(first) = outside.next() {
            outside.for_each(|other| memory.share(first, other));
        }
        for node in &graph.nodes {
            memory.share_by_schema(node);
        }
        memory
    }

    fn share_by_schema(&mut self, node: &Node) {
        let Ok(schema) = node.operator.schema() else { return };
        for (returned, output) in schema.returns.iter().zip(&node.outputs) {
            let Some(alias) = &returned.alias else { continue };
            let shared: Vec<Id> = schema
                .arguments
                .iter()
                .zip(&node.arguments)
                .filter(|(argument, _)| {
                    let sets = argument.alias.as_deref().map(|of| [&of.before, &of.after]);
                    sets.is_some_and(|sets| {
                        alias.after.is_wildcard() || sets.iter().any(|set| set.intersects(&alias.after))
                    }) || argument.alias.as_deref().is_some_and(|of| {
                        alias.contained.iter().any(|inner| inner.after.intersects(&of.before))
                    })
                })
                .flat_map(|(_, argument)| argument.uses())
                .collect();
            for id in output.defines() {
                shared.iter().for_each(|other| self.share(id, *other));
            }
        }
    }

    pub(super) fn root(&self, mut id: Id) -> Id {
        while self.parent[id] != id {
            id = self.parent[id];
        }
        id
    }

    fn share(&mut self, a: Id, b: Id) {
        let (a, b) = (self.root(a), self.root(b));
        self.parent[a] = b;
    }
}

/// The values whose memory a call writes.
pub(super) fn written(node: &Node) -> Vec<Id> {
    let Ok(schema) = node.operator.schema() else { return Vec::new() };
    let arguments = schema.arguments.iter().zip(&node.arguments);
    arguments.filter(|(argument, _)| argument.is_mutable()).flat_map(|(_, value)| value.uses()).collect()
}

pub(super) fn is_random(node: &Node) -> bool {
    node.operator.tags().contains(&"nondeterministic_seeded")
}
