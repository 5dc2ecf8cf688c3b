//! Partitioning a graph into groups of calls: writes, views and random numbers keep their order.

use torch_library::prelude::*;
use torch_library::tracer::{Graph, Interpreter, trace};

torch_library! {
    mod partition_test {
        shift(Tensor self, float by=1.) -> Tensor;
        sum(Tensor self, Tensor other) -> Tensor;
        other(Tensor self) -> Tensor;
        fill_(Tensor(a!) self, float by) -> Tensor(a!);
        same(Tensor(a) self) -> Tensor(a);
        #[tags(nondeterministic_seeded)]
        noise(Tensor self) -> Tensor;
    }
}

#[torch_impl(partition_test, CPU)]
mod kernels {
    use super::*;

    fn shift(this: &Tensor, by: f64) -> Result<Tensor> {
        Tensor::from_vec(this.to_vec::<f64>()?.into_iter().map(|x| x + by).collect(), this.sizes())
    }

    fn sum(this: &Tensor, other: &Tensor) -> Result<Tensor> {
        let pairs = this.to_vec::<f64>()?.into_iter().zip(other.to_vec::<f64>()?);
        Tensor::from_vec(pairs.map(|(a, b)| a + b).collect(), this.sizes())
    }

    fn other(this: &Tensor) -> Result<Tensor> {
        shift(this, 0.5)
    }

    fn fill_(this: &mut Tensor, by: f64) -> Result<&mut Tensor> {
        let count = this.numel() as usize;
        this.fill_from(std::iter::repeat_n(by, count))?;
        Ok(this)
    }

    fn same(this: &Tensor) -> Result<Tensor> {
        this.strided_view(this.sizes(), this.strides(), this.storage_offset())
    }

    fn noise(this: &Tensor) -> Result<Tensor> {
        shift(this, 2.0)
    }
}

use partition_test::{fill_, noise, other, same, shift, sum};

fn x() -> Tensor {
    Tensor::from([1.0, -2.0])
}

fn numbers(tensors: &[Tensor]) -> Vec<Vec<f64>> {
    tensors.iter().map(|tensor| tensor.to_vec().unwrap()).collect()
}

/// Traces `f`, groups all calls except `other`, and checks that running the groups in order gives the same results.
fn groups(f: impl Fn(&Tensor) -> Result<Vec<Tensor>>) -> (Vec<Vec<usize>>, Graph) {
    let (_, graph) = trace(&[x()], |inputs| f(&inputs[0])).unwrap();
    let groups = graph.partition(|node| node.operator().name() != "other");
    let mut order: Vec<usize> = groups.concat();
    let input = x();
    let mut run = Interpreter::new(&graph, std::slice::from_ref(&input)).unwrap();
    order.iter().for_each(|node| run.call(*node).unwrap());
    let expected = x();
    assert_eq!(numbers(&run.outputs().unwrap()), numbers(&f(&expected).unwrap()));
    assert_eq!(numbers(&[input]), numbers(&[expected]));
    order.sort_unstable();
    assert_eq!(order, (0..graph.nodes().len()).collect::<Vec<_>>());
    (groups, graph)
}

fn shift1(x: &Tensor) -> Result<Tensor> {
    shift::call(x, 1.0)
}

#[test]
fn a_chain_and_a_diamond_are_one_group() {
    let (found, graph) = groups(|x| {
        let y = shift1(x)?;
        Ok(vec![sum(&shift::call(&y, 2.0)?, &shift::call(&y, 3.0)?)?])
    });
    assert_eq!(found, [vec![0, 1, 2, 3]]);
    assert_eq!((graph.inputs(), graph.outputs(), graph.value_count()), (&[0][..], &[4][..], 5));
    let known = graph.tensor_type(4).unwrap();
    assert_eq!((known.dtype(), known.sizes()), (DType::Float64, &[2][..]));
    assert!(graph.tensor_type(5).is_none());
}

#[test]
fn what_stands_between_does_not_cut_a_group_that_goes_around_it() {
    // 0 → other → 3 and 0 → 2 → 3: call 0 cannot be in one group with call 3, which needs the result of `other`.
    let (found, _) = groups(|x| {
        let y = shift1(x)?;
        let apart = other(&y)?;
        let z = shift1(&y)?;
        Ok(vec![sum(&apart, &z)?])
    });
    assert_eq!(found, [vec![0, 2], vec![1], vec![3]]);
    let (found, _) = groups(|x| {
        let y = other(x)?;
        let a = shift1(x)?; // independent of `other`, but runs in the group that needs it
        let z = sum(&a, &shift1(&y)?)?;
        Ok(vec![shift1(&z)?])
    });
    assert_eq!(found, [vec![0], vec![1, 2, 3, 4]]);
}

#[test]
fn calls_without_a_value_in_common_are_two_groups() {
    let (found, _) = groups(|x| Ok(vec![shift1(&shift1(x)?)?, shift1(&shift1(x)?)?]));
    assert_eq!(found, [vec![0, 1], vec![2, 3]]);
}

#[test]
fn writes_are_between_the_same_reads() {
    let (found, _) = groups(|x| {
        let mut y = shift1(x)?;
        let before = shift1(&y)?;
        fill_(&mut y, 7.0)?;
        let after = shift1(&y)?;
        Ok(vec![sum(&before, &after)?])
    });
    assert_eq!(found, [vec![0, 1], vec![2], vec![3, 4]]);
    // Also if the write goes through a view.
    let (found, _) = groups(|x| {
        let y = shift1(x)?;
        let before = shift1(&y)?;
        fill_(&mut same(&y)?, 7.0)?;
        Ok(vec![sum(&before, &shift1(&y)?)?])
    });
    assert_eq!(found, [vec![0, 1], vec![2], vec![3], vec![4, 5]]);
}

#[test]
fn inputs_may_be_views_of_one_another() {
    let memory = x();
    let (_, graph) = trace(&[memory.clone(), memory.strided_view(&[2], &[1], 0).unwrap()], |inputs| {
        let before = shift1(&inputs[1])?;
        fill_(&mut inputs[0].clone(), 7.0)?;
        Ok(vec![before, shift1(&inputs[1])?])
    })
    .unwrap();
    assert_eq!(graph.partition(|_| true), [vec![0], vec![1], vec![2]]);
}

#[test]
fn random_numbers_and_views_stay_alone() {
    let (found, _) = groups(|x| {
        let a = shift1(&noise(x)?)?;
        let b = shift1(&noise(x)?)?;
        Ok(vec![sum(&a, &same(&b)?)?])
    });
    assert_eq!(found, [vec![0], vec![2], vec![1], vec![3], vec![4], vec![5]]);
}

#[test]
fn a_run_by_hand_says_what_is_missing() {
    let (_, graph) = trace(&[x()], |inputs| Ok(vec![shift1(&shift1(&inputs[0])?)?])).unwrap();
    assert!(Interpreter::new(&graph, &[]).is_err());
    let mut run = Interpreter::new(&graph, &[x()]).unwrap();
    assert!(run.outputs().unwrap_err().to_string().contains("%2 is used before it is defined"));
    assert!(run.call(1).unwrap_err().to_string().contains("%1 is used before it is defined"));
    assert!(run.call(2).unwrap_err().to_string().contains("a graph of 2 calls has no call 2"));
    assert!(run.set(3, x()).unwrap_err().to_string().contains("has no %3"));
    assert!(run.tensor(99).is_err());
    run.free(99);
    run.set(1, x()).unwrap();
    run.call(1).unwrap();
    assert_eq!(numbers(&run.outputs().unwrap()), [[2.0, -1.0]]);
    run.free(2);
    assert!(run.outputs().is_err());
}
