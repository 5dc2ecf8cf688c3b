//! Groups the calls of a graph that a backend can fuse, and orders all calls accordingly.

use std::collections::{BTreeSet, HashMap};

use super::argument::Id;
use super::effects::{Memory, is_random, written};
use super::graph::{Graph, Node};

impl Graph {
    /// Groups calls to be fused, and orders all calls so that each group is contiguous: returns a list of groups, each
    /// a list of indices of [nodes](Graph::nodes). Executed group by group, and call by call within a group, the
    /// program computes the same as in its own order. The calls of a group are connected: each uses a value of another
    /// one, or computes one for it.
    ///
    /// `fits` says which calls may be fused. Of these, calls that write, return memory shared with an argument, are
    /// random, or return no tensor are never fused. Reads stay on the same side of writes to the same memory.
    ///
    /// ```
    /// use torch_library::prelude::*;
    /// use torch_library::tracer;
    ///
    /// torch_library! {
    ///     pub mod partition_docs {
    ///         /// Adds a number to each element.
    ///         shift(Tensor self, float by) -> Tensor;
    ///         /// The elements from the last to the first.
    ///         turned(Tensor self) -> Tensor;
    ///     }
    /// }
    ///
    /// #[torch_impl(partition_docs, CPU)]
    /// mod kernels {
    ///     use super::*;
    ///
    ///     fn shift(this: &Tensor, by: f64) -> Result<Tensor> {
    ///         Tensor::from_vec(this.to_vec::<f64>()?.into_iter().map(|x| x + by).collect(), this.sizes())
    ///     }
    ///
    ///     fn turned(this: &Tensor) -> Result<Tensor> {
    ///         Tensor::from_vec(this.to_vec::<f64>()?.into_iter().rev().collect(), this.sizes())
    ///     }
    /// }
    ///
    /// # fn main() -> Result<()> {
    /// use partition_docs::{shift, turned};
    ///
    /// let (_, graph) = tracer::trace(&[Tensor::from([1.0, 2.0])], |inputs| {
    ///     let x = shift(&shift(&inputs[0], 1.0)?, 2.0)?;
    ///     Ok(vec![shift(&turned(&x)?, 3.0)?])
    /// })?;
    /// let groups = graph.partition(|node| node.operator().name() == "shift");
    /// assert_eq!(groups, [vec![0, 1], vec![2], vec![3]]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// PyTorch: `torch.fx.passes.infra.partitioner.CapabilityBasedPartitioner`.
    pub fn partition(&self, fits: impl Fn(&Node) -> bool) -> Vec<Vec<usize>> {
        let before = self.dependencies();
        let mut after: Vec<Vec<usize>> = vec![Vec::new(); self.nodes.len()];
        for (node, needed) in before.iter().enumerate() {
            needed.iter().for_each(|other| after[*other].push(node));
        }
        let is_joined: Vec<bool> = self.nodes.iter().map(|node| is_pure(node) && fits(node)).collect();
        let mut missing: Vec<usize> = before.iter().map(BTreeSet::len).collect();
        // The calls that can be made now; calls that are not fused come first, so that groups become as large as
        // possible.
        let mut ready = [BTreeSet::new(), BTreeSet::new()];
        for node in (0..self.nodes.len()).filter(|node| missing[*node] == 0) {
            ready[usize::from(is_joined[node])].insert(node);
        }
        let mut groups = Vec::new();
        let mut group = Vec::new();
        loop {
            let place = usize::from(ready[0].is_empty() || !group.is_empty());
            let Some(node) = ready[place].pop_first() else {
                if group.is_empty() {
                    return groups;
                }
                groups.extend(self.connected(&std::mem::take(&mut group)));
                continue;
            };
            match is_joined[node] {
                true => group.push(node),
                false => groups.push(vec![node]),
            }
            for next in &after[node] {
                missing[*next] -= 1;
                if missing[*next] == 0 {
                    ready[usize::from(is_joined[*next])].insert(*next);
                }
            }
        }
    }

    /// For each call, the calls that have to be made before it.
    fn dependencies(&self) -> Vec<BTreeSet<usize>> {
        let memory = Memory::of(self);
        let mut makers: HashMap<Id, usize> = HashMap::new();
        let mut writers: HashMap<Id, usize> = HashMap::new();
        let mut readers: HashMap<Id, Vec<usize>> = HashMap::new();
        let mut effect = None;
        let mut all = Vec::with_capacity(self.nodes.len());
        for (at, node) in self.nodes.iter().enumerate() {
            let mut before: BTreeSet<usize> = node.uses().filter_map(|id| makers.get(&id).copied()).collect();
            let writes: BTreeSet<Id> = written(node).into_iter().map(|id| memory.root(id)).collect();
            for root in node.uses().map(|id| memory.root(id)).collect::<BTreeSet<_>>() {
                before.extend(writers.get(&root));
                match writes.contains(&root) {
                    true => {
                        before.extend(readers.remove(&root).unwrap_or_default());
                        writers.insert(root, at);
                    }
                    false => readers.entry(root).or_default().push(at),
                }
            }
            if is_random(node) || node.defines().next().is_none() {
                before.extend(effect.replace(at));
            }
            makers.extend(node.defines().map(|id| (id, at)));
            before.remove(&at);
            all.push(before);
        }
        all
    }

    /// The connected components of a list of calls, where a shared value connects.
    fn connected(&self, nodes: &[usize]) -> Vec<Vec<usize>> {
        let mut parts: Vec<Vec<usize>> = Vec::new();
        let makers: HashMap<Id, usize> =
            nodes.iter().flat_map(|node| self.nodes[*node].defines().map(|id| (id, *node))).collect();
        for node in nodes.iter().copied().collect::<BTreeSet<_>>() {
            let needed: BTreeSet<usize> =
                self.nodes[node].uses().filter_map(|id| makers.get(&id).copied()).collect();
            let (joined, others): (Vec<_>, Vec<_>) =
                parts.into_iter().partition(|part| part.iter().any(|other| needed.contains(other)));
            parts = others;
            let mut part = joined.concat();
            part.push(node);
            part.sort_unstable();
            parts.push(part);
        }
        parts
    }
}

/// Whether a call does nothing but return new tensors, which are the same each time.
fn is_pure(node: &Node) -> bool {
    let Ok(schema) = node.operator.schema() else { return false };
    let has_alias = schema.is_mutable() || schema.returns.iter().any(|returned| returned.alias.is_some());
    !has_alias && !is_random(node) && node.defines().next().is_some()
}
