//! The shortest backward pass: a single node between the output and the leaves, so nothing has to be sorted or counted.

use super::{GradOptions, check_count, set_grad_mode, validate_output};
use crate::autograd::accumulate;
use crate::autograd::hooks::Hooks;
use crate::autograd::node::{Call, Edge, Node};
use crate::error::Result;
use crate::recursion;
use crate::tensor::Tensor;

/// A pass through one node.
pub(super) struct Single<'p> {
    node: &'p Node,
    gradient: &'p Tensor,
    /// For each input, the index of the edge that leads to it.
    edges: Vec<usize>,
}

impl<'p> Single<'p> {
    /// The pass from these roots to these inputs, if it consists of one node whose edges lead to distinct leaves.
    pub(super) fn of(roots: &'p [(Edge, Tensor)], inputs: &[Option<Edge>]) -> Option<Single<'p>> {
        let [(Edge { node, .. }, gradient)] = roots else { return None };
        let edges = node.edges();
        let is_plain = {
            let state = node.state();
            state.hooks.is_none() && state.inputs.len() == 1
        };
        let leads_to_a_leaf = |edge: &Edge| edge.node.edges().is_empty() && edge.input_nr == 0;
        let is_first_to_its_node = |index: usize, edge: &Edge| {
            !edges[..index].iter().flatten().any(|other| other.node.is_same(&edge.node))
        };
        let mut along = edges.iter().enumerate().filter_map(|(index, edge)| Some((index, edge.as_ref()?)));
        let is_single = edges.len() <= 8
            && is_plain
            && along.all(|(index, edge)| leads_to_a_leaf(edge) && is_first_to_its_node(index, edge));
        if !is_single {
            return None;
        }
        let edge_to = |input: &Option<Edge>| {
            let input = input.as_ref()?;
            edges.iter().position(|edge| edge.as_ref().is_some_and(|edge| edge.node.is_same(&input.node)))
        };
        let edges = inputs.iter().map(edge_to).collect::<Option<Vec<_>>>()?;
        Some(Single { node, gradient, edges })
    }

    /// Runs the node, and returns a gradient for each input.
    pub(super) fn run(self, options: GradOptions) -> Result<Vec<Option<Tensor>>> {
        if recursion::is_exhausted() {
            return Err(recursion::error(&"a backward pass"));
        }
        let _grad_mode = set_grad_mode(options);
        let wanted = self.edges.iter().fold(0, |wanted, index| wanted | 1 << index);
        let call = Call { node: self.node, wanted };
        let mut grads = self.node.run(&call, vec![Some(self.gradient.clone())])?;
        if !options.retain_graph.unwrap_or(options.create_graph) {
            self.node.release();
        }
        check_count(self.node, &grads)?;
        for (index, edge) in self.node.edges().iter().enumerate() {
            let Some(slot) = grads.get_mut(index) else { break };
            let (Some(edge), Some(gradient)) = (edge, slot.take()) else { continue };
            let mut arrived = [Some(validate_output(options, self.node, index, edge, gradient)?)];
            if self.edges.contains(&index) {
                let hooks = Hooks::snapshot(&edge.node.state().hooks);
                if let Some(hooks) = hooks {
                    hooks.run(&mut arrived)?;
                }
                if let Some(leaf) = edge.node.leaf() {
                    accumulate::run_hooks(&leaf, &mut arrived)?;
                }
            }
            [*slot] = arrived;
        }
        Ok(self.edges.iter().map(|index| grads.get(*index).cloned().flatten()).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::super::Pass;
    use super::*;
    use crate::autograd::edge::gradient_edge;
    use crate::autograd::{self, Context, Function};

    /// A function of two inputs, whose gradients are the result's gradient and twice that, each only where it is
    /// wanted.
    struct Twice;

    impl Function for Twice {
        fn name(&self) -> &'static str {
            "Twice"
        }

        fn forward(&self, _: &mut Context, _: &[&Tensor]) -> Result<Vec<Tensor>> {
            Ok(vec![Tensor::from([0.0])])
        }

        fn backward(&self, context: &Context, grads: Vec<Option<Tensor>>) -> Result<Vec<Option<Tensor>>> {
            let of = |index: usize, factor: f64| -> Result<Option<Tensor>> {
                let gradient = grads[0].as_ref().filter(|_| context.needs_input_grad(index));
                let values = gradient.map(Tensor::to_vec::<f64>).transpose()?;
                Ok(values.map(|values| Tensor::from([values[0] * factor])))
            };
            Ok(vec![of(0, 1.0)?, of(1, 2.0)?])
        }
    }

    fn leaf() -> Tensor {
        let leaf = Tensor::from([1.0]);
        leaf.set_requires_grad(true).unwrap();
        leaf
    }

    fn values(gradients: Vec<Option<Tensor>>) -> Vec<Option<f64>> {
        gradients
            .into_iter()
            .map(|gradient| gradient.map(|value| value.to_vec::<f64>().unwrap()[0]))
            .collect()
    }

    /// The gradients by the single-node pass, and by the general pass.
    fn both(operands: [&Tensor; 2], inputs: &[&Tensor]) -> [Vec<Option<f64>>; 2] {
        let (output, keep) =
            (autograd::apply(Twice, &operands).unwrap().remove(0), GradOptions::new().retain_graph(true));
        let roots = || vec![(gradient_edge(&output).unwrap().unwrap(), Tensor::from([3.0]))];
        let edges: Vec<_> = inputs.iter().map(|input| gradient_edge(input).unwrap()).collect();
        let (roots, same_roots) = (roots(), roots());
        let single = Single::of(&roots, &edges).expect("it is one").run(keep).unwrap();
        [single, Pass::new(&same_roots, Some(&edges), keep).run(same_roots).unwrap()].map(values)
    }

    #[test]
    fn it_computes_what_the_general_pass_computes() {
        let (x, y) = (leaf(), leaf());
        assert_eq!(both([&x, &y], &[&y, &x]), [[Some(6.0), Some(3.0)]; 2]);
        assert_eq!(both([&x, &y], &[&x]), [[Some(3.0)]; 2]);
        assert_eq!(both([&x, &Tensor::from([1.0])], &[&x, &x]), [[Some(3.0); 2]; 2]);
    }

    #[test]
    fn other_graphs_take_the_general_pass() {
        let (x, y) = (leaf(), leaf());
        let is_single = |output: &Tensor, input: &Tensor| {
            let roots = vec![(gradient_edge(output).unwrap().unwrap(), Tensor::from([3.0]))];
            Single::of(&roots, &[gradient_edge(input).unwrap()]).is_some()
        };
        let first = autograd::apply(Twice, &[&x, &y]).unwrap().remove(0);
        let second = autograd::apply(Twice, &[&first, &y]).unwrap().remove(0);
        let same = autograd::apply(Twice, &[&x, &x]).unwrap().remove(0);
        assert!(is_single(&first, &x) && !is_single(&second, &x));
        assert!(!is_single(&same, &x), "two gradients of one leaf are added");
        assert!(!is_single(&first, &first), "the input is no leaf");
    }
}
