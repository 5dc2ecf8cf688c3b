//! Simplifies a graph: drops unused calls, and merges calls that compute the same.

use std::collections::{HashMap, HashSet};

use super::argument::Id;
use super::effects::{Memory, is_random, written};
use super::graph::Graph;
use super::print::call;

impl Graph {
    /// Drops calls whose results are not used: not by an output, nor by a call that stays, nor through a write to a
    /// tensor that is visible outside. Returns the number of dropped calls.
    ///
    /// PyTorch: `torch::jit::EliminateDeadCode`.
    pub fn eliminate_dead_code(&mut self) -> usize {
        let memory = Memory::of(self);
        // Inputs, constants and outputs are visible outside the graph.
        let outside = self.inputs.iter().chain(self.constants.iter().map(|(id, _)| id)).chain(&self.outputs);
        let mut seen: HashSet<Id> = outside.map(|id| memory.root(*id)).collect();
        let mut needed: HashSet<Id> = self.outputs.iter().copied().collect();
        let mut kept = vec![false; self.nodes.len()];
        for (index, node) in self.nodes.iter().enumerate().rev() {
            let has_effect = node.outputs.is_empty()
                || is_random(node)
                || written(node).iter().any(|id| seen.contains(&memory.root(*id)));
            if has_effect || node.defines().any(|id| needed.contains(&id)) {
                kept[index] = true;
                needed.extend(node.uses());
                seen.extend(node.uses().map(|id| memory.root(id)));
            }
        }
        let before = self.nodes.len();
        let mut kept = kept.into_iter();
        self.nodes.retain(|_| kept.next().unwrap_or(true));
        self.constants.retain(|(id, _)| needed.contains(id));
        before - self.nodes.len()
    }

    /// Merges calls that compute the same from the same values, if there is no write to their memory in between, and
    /// none to that of the results at all. Returns the number of removed calls.
    ///
    /// PyTorch: `torch::jit::EliminateCommonSubexpression`.
    pub fn merge_common_subexpressions(&mut self) -> usize {
        let memory = Memory::of(self);
        let touched: HashSet<Id> = self.nodes.iter().flat_map(written).map(|id| memory.root(id)).collect();
        let outputs: HashSet<Id> = self.outputs.iter().copied().collect();
        let returned: HashSet<Id> = self.outputs.iter().map(|id| memory.root(*id)).collect();
        let mut names: HashMap<Id, Id> = HashMap::new();
        let mut writes: HashMap<Id, usize> = HashMap::new();
        let mut first: HashMap<(String, Vec<usize>), Vec<Id>> = HashMap::new();
        let before = self.nodes.len();
        self.nodes.retain_mut(|node| {
            let renamed = |id: Id| names.get(&id).copied().unwrap_or(id);
            node.arguments.iter_mut().for_each(|argument| argument.rename(&renamed));
            let (defines, written): (Vec<Id>, _) = (node.defines().collect(), written(node));
            // A call that writes stays even if all that it returns is new: the second of two equal ones writes again.
            if !written.is_empty()
                || defines.is_empty()
                || is_random(node)
                || defines.iter().any(|id| touched.contains(&memory.root(*id)))
            {
                for id in written {
                    *writes.entry(memory.root(id)).or_default() += 1;
                }
                return true;
            }
            // Identifies equal calls on memory with equally many writes.
            let versions = node.uses().map(|id| writes.get(&memory.root(id)).copied().unwrap_or(0)).collect();
            let key = (call(node), versions);
            // Two outputs remain two tensors, with memory of their own: the caller may write to one of them.
            let is_returned = |id: &Id| {
                let root = memory.root(*id);
                outputs.contains(id)
                    || returned.contains(&root) && node.uses().all(|used| memory.root(used) != root)
            };
            match first.get(&key) {
                Some(same) if !defines.iter().any(is_returned) => {
                    names.extend(defines.into_iter().zip(same.iter().copied()));
                    false
                }
                Some(_) => true,
                None => {
                    first.insert(key, defines);
                    true
                }
            }
        });
        before - self.nodes.len()
    }
}
