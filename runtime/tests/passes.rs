//! Passes over graphs with operators that write, and return new tensors all the same.

use torch_library::prelude::*;
use torch_library::tracer::{Graph, trace};

torch_library! {
    mod passes_test {
        /// A copy.
        copy(Tensor self) -> Tensor;
        /// A view of all elements.
        whole(Tensor(a) self) -> Tensor(a);
        /// Adds `x` to the state, and returns a copy of the sum.
        accumulate(Tensor(a!) state, Tensor x) -> Tensor;
    }
}

#[torch_impl(passes_test, CPU)]
fn copy(this: &Tensor) -> Result<Tensor> {
    Tensor::from_vec(this.to_vec::<f64>()?, this.sizes())
}

#[torch_impl(passes_test, CPU)]
fn whole(this: &Tensor) -> Result<Tensor> {
    this.strided_view(this.sizes(), this.strides(), 0)
}

#[torch_impl(passes_test, CPU)]
fn accumulate(state: &mut Tensor, x: &Tensor) -> Result<Tensor> {
    let sums: Vec<f64> = state.to_vec::<f64>()?.iter().zip(x.to_vec::<f64>()?).map(|(a, b)| a + b).collect();
    state.copy_from_slice(&sums)?;
    Tensor::from_vec(sums, state.sizes())
}

fn elements(tensors: &[Tensor]) -> Vec<Vec<f64>> {
    tensors.iter().map(|tensor| tensor.to_vec().unwrap()).collect()
}

/// What the graph of a function of a state, [1.0], and of [2.0] returns after all passes, and the state.
fn simplified(f: impl FnOnce(&[Tensor]) -> Result<Vec<Tensor>>) -> (Vec<Vec<f64>>, Vec<f64>, Graph) {
    let (_, mut graph) = trace(&[Tensor::from([1.0]), Tensor::from([2.0])], f).unwrap();
    graph.merge_common_subexpressions();
    graph.eliminate_dead_code();
    let inputs = [Tensor::from([1.0]), Tensor::from([2.0])];
    let outputs = graph.run(&inputs).unwrap();
    (elements(&outputs), inputs[0].to_vec().unwrap(), graph)
}

#[test]
fn what_is_read_before_a_write_is_not_what_is_read_after_it() {
    let (outputs, state, graph) = simplified(|inputs| {
        let mut state = inputs[0].clone();
        let before = passes_test::copy(&state)?;
        passes_test::accumulate(&mut state, &inputs[1])?;
        let after = passes_test::copy(&passes_test::copy(&state)?)?;
        Ok(vec![passes_test::copy(&before)?, after])
    });
    assert_eq!((outputs, state), (vec![vec![1.0], vec![3.0]], vec![3.0]), "{graph}");
}

#[test]
fn equal_calls_that_write_are_two_writes() {
    let (outputs, state, graph) = simplified(|inputs| {
        let mut state = inputs[0].clone();
        let first = passes_test::accumulate(&mut state, &inputs[1])?;
        let second = passes_test::accumulate(&mut state, &inputs[1])?;
        Ok(vec![first, passes_test::copy(&second)?])
    });
    assert_eq!((outputs, state), (vec![vec![3.0], vec![5.0]], vec![5.0]), "{graph}");
}

#[test]
fn equal_calls_that_only_read_are_merged() {
    let (outputs, _, graph) = simplified(|inputs| {
        let sum = passes_test::accumulate(&mut inputs[0].clone(), &inputs[1])?;
        let twice = || passes_test::copy(&passes_test::copy(&inputs[1])?);
        Ok(vec![sum, twice()?, twice()?])
    });
    assert_eq!(outputs, [[3.0], [2.0], [2.0]], "{graph}");
    assert_eq!(graph.nodes().len(), 4, "the inner copies are one: {graph}");
}

#[test]
fn outputs_that_view_equal_calls_have_memory_of_their_own() {
    let (_, mut graph) = trace(&[Tensor::from([1.0])], |inputs| {
        let (one, other) = (passes_test::copy(&inputs[0])?, passes_test::copy(&inputs[0])?);
        let views = [passes_test::whole(&inputs[0])?, passes_test::whole(&inputs[0])?];
        Ok(vec![
            one,
            passes_test::whole(&other)?,
            passes_test::copy(&views[0])?,
            passes_test::copy(&views[1])?,
        ])
    })
    .unwrap();
    assert_eq!(graph.merge_common_subexpressions(), 1, "the views of the input: {graph}");
    let outputs = graph.run(&[Tensor::from([1.0])]).unwrap();
    assert!(!outputs[0].shares_storage_with(&outputs[1]), "{graph}");
}
