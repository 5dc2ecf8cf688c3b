//! The side effects of calls, according to their schemas.
//!
//! A `Tensor(a!)` is written, a `Tensor(a)` may share memory with the return that has the same name, and a tensor
//! without an annotation is neither written nor shared. Random operators have a tag.

use super::argument::Id;
use super::graph::{Graph, Node};

/// The values that may share memory, as a union-find structure: each points to a representative.
pub(super) struct Memory {
    parent: Vec<Id>,
    /// The number of values for which each representative stands.
    size: Vec<usize>,
}

impl Memory {
    /// The sharing according to the schemas, and that of inputs and constants, which may be views of each other.
    pub(super) fn of(graph: &Graph) -> Self {
        let mut memory = Memory::of_count(graph.values.len());
        let mut outside = graph.inputs.iter().copied().chain(graph.constants.iter().map(|(id, _)| *id));
        if let Some(first) = outside.next() {
            outside.for_each(|other| memory.share(first, other));
        }
        for node in &graph.nodes {
            memory.share_by_schema(node);
        }
        memory
    }

    /// As many values, none of which share memory.
    fn of_count(count: usize) -> Self {
        Memory { parent: (0..count).collect(), size: vec![1; count] }
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
        if a == b {
            return;
        }
        // The smaller set joins the larger one, so that paths have logarithmic lengths.
        let (from, to) = if self.size[a] <= self.size[b] { (a, b) } else { (b, a) };
        self.parent[from] = to;
        self.size[to] += self.size[from];
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn representatives_are_near_however_values_are_joined() {
        let count = 1 << 10;
        let joins: [fn(Id) -> (Id, Id); 4] =
            [|id| (0, id), |id| (id, 0), |id| (id - 1, id), |id| (id, id - 1)];
        for join in joins {
            let mut memory = Memory::of_count(count);
            (1..count).map(join).for_each(|(a, b)| memory.share(a, b));
            for id in 0..count {
                let path = std::iter::successors(Some(id), |id| Some(memory.parent[*id]));
                assert!(path.take(11).any(|id| id == memory.root(0)), "%{id}");
            }
        }
    }
}
