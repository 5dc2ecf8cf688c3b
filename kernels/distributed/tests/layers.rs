//! Derivatives, Meta, traces and `opcheck` of the operators.

use torch_library::autograd::{self, GradOptions};
use torch_library::opcheck::{Check, OpCheck};
use torch_library::prelude::*;
use torch_library::tracer;
use torch_library_distributed::{
    _c10d_functional as functional, _c10d_functional_autograd as differentiable, Options, ProcessGroup, c10d,
    threads,
};
use torch_library_kernels::aten;
use torch_library_kernels::prelude::*;
use torch_library_kernels::vmap::{Vmap, vmap};

fn ranks(count: usize, body: impl Fn(&ProcessGroup) -> Result<()> + Sync) {
    let options = Options::default().blocking(true);
    for (rank, result) in threads::run_with(count, options, body).into_iter().enumerate() {
        if let Err(error) = result {
            panic!("rank {rank}: {error}");
        }
    }
}

fn text(text: &'static str) -> Value<'static> {
    Value::Str(text.into())
}

/// The gradient of `sum(weight * collective(x))`, where the weight of a rank is its number plus 1.
fn gradient(group: &ProcessGroup, collective: impl Fn(&Tensor) -> Result<Tensor>) -> Result<Vec<f64>> {
    let x = Tensor::from([1.0, 2.0]);
    x.set_requires_grad(true)?;
    let y = functional::wait_tensor(&collective(&x)?)?;
    let loss = y.mul(group.rank() as f64 + 1.0)?.sum()?;
    let grads = autograd::grad(&[&loss], &[&x], &[], GradOptions::new())?;
    grads[0].as_ref().expect("there is one").to_vec()
}

#[test]
fn gradients_come_back_from_all_ranks() {
    ranks(2, |group| {
        let first = group.rank() == 0;
        let sum = gradient(group, |x| functional::all_reduce(x, "sum", "world"))?;
        assert_eq!(sum, [3.0, 3.0]); // 1 + 2, of both losses
        assert_eq!(gradient(group, |x| functional::all_reduce(x, "avg", "world"))?, [1.5, 1.5]);
        assert_eq!(gradient(group, |x| functional::all_reduce(x, "SUM", "world"))?, [3.0, 3.0]);
        assert!(gradient(group, |x| functional::all_reduce(x, "max", "world")).is_err());
        let gathered = gradient(group, |x| differentiable::all_gather_into_tensor(x, 2, "world"))?;
        assert_eq!(gathered, [3.0, 3.0]);
        let scattered = gradient(group, |x| differentiable::reduce_scatter_tensor(x, "sum", 2, "world"))?;
        assert_eq!(scattered, [1.0, 2.0]);
        let exchanged = gradient(group, |x| differentiable::all_to_all_single(x, &[], &[], "world"))?;
        assert_eq!(exchanged, [1.0, 2.0]);
        let sent = gradient(group, |x| functional::broadcast(x, 0, "world"))?;
        assert_eq!(sent, if first { [3.0, 3.0] } else { [0.0, 0.0] });
        Ok(())
    });
}

/// The gradients of a sum over ranks include other ranks' losses, so finite differences on one rank only agree with
/// them if there is one rank.
#[test]
fn functional_collectives_pass_opcheck() {
    for count in [1, 2] {
        ranks(count, move |group| {
            let size = group.size() as i64;
            let first = 1.0 + group.rank() as f64;
            let x = || Value::from(Tensor::from([[first, 2.0], [3.0, 4.0]]));
            let list = || Value::Tensors(vec![Tensor::from([1.0]), Tensor::from([2.0, 3.0])].into());
            let cases = [
                (functional::all_reduce::handle(), vec![x(), text("sum"), text("world")]),
                (functional::all_reduce_::handle(), vec![x(), text("sum"), text("world")]),
                (functional::all_reduce_coalesced::handle(), vec![list(), text("avg"), text("world")]),
                (functional::all_gather_into_tensor::handle(), vec![x(), size.into(), text("world")]),
                (
                    functional::all_gather_into_tensor_coalesced::handle(),
                    vec![list(), size.into(), text("world")],
                ),
                (
                    functional::reduce_scatter_tensor::handle(),
                    vec![x(), text("sum"), size.into(), text("world")],
                ),
                (
                    functional::all_to_all_single::handle(),
                    vec![x(), Value::Ints(vec![].into()), Value::Ints(vec![].into()), text("world")],
                ),
                (functional::broadcast::handle(), vec![x(), 0i64.into(), text("world")]),
                (functional::broadcast_::handle(), vec![x(), 0i64.into(), text("world")]),
                (functional::wait_tensor::handle(), vec![x()]),
                (functional::wait_tensors::handle(), vec![list()]),
                (differentiable::all_gather_into_tensor::handle(), vec![x(), size.into(), text("world")]),
            ];
            for (operator, sample) in cases {
                let mut check = OpCheck::new(operator);
                if size > 1 {
                    check = check.without(Check::Gradient).without(Check::SecondGradient);
                }
                let is_source = operator == functional::broadcast_::handle() && group.rank() == 0;
                if size == 1 || is_source {
                    check = check.without(Check::Mutation); // the same numbers are written again
                }
                check.run([sample]).into_result()?;
            }
            Ok(())
        });
    }
}

#[test]
fn collectives_in_place_pass_opcheck() {
    ranks(2, |group| {
        let first = group.rank() as f64;
        let list = || Value::Tensors(vec![Tensor::from([first]), Tensor::from([2.0])].into());
        let one = || Value::Tensors(vec![Tensor::from([7.0])].into());
        let now = || Value::Bool(false);
        let cases = [
            (c10d::allreduce_::handle(), vec![list(), text("world"), text("sum"), Value::None, now()]),
            (c10d::broadcast_::handle(), vec![list(), text("world"), 1i64.into(), 0i64.into(), now()]),
            (c10d::allgather_::handle(), vec![list(), one(), text("world"), now()]),
            (c10d::reduce_scatter_::handle(), vec![one(), list(), text("world"), text("sum"), now()]),
            (c10d::alltoall_::handle(), vec![list(), list(), text("world"), now()]),
        ];
        for (operator, sample) in cases {
            let mut check = OpCheck::new(operator);
            if operator == c10d::broadcast_::handle() && group.rank() == 1 {
                check = check.without(Check::Mutation); // the source
            }
            check.run([sample]).into_result()?;
        }
        Ok(())
    });
}

#[test]
fn sizes_are_known_without_a_group() -> Result<()> {
    let x = Tensor::empty(&[4, 3], DType::Float32, Device::META)?;
    assert_eq!(functional::all_gather_into_tensor(&x, 8, "none")?.sizes(), [32, 3]);
    assert_eq!(functional::reduce_scatter_tensor(&x, "sum", 2, "none")?.sizes(), [2, 3]);
    assert_eq!(functional::all_to_all_single(&x, &[1, 2], &[2, 2], "none")?.sizes(), [3, 3]);
    assert!(functional::reduce_scatter_tensor(&x, "sum", 3, "none").is_err());
    assert!(functional::all_gather_into_tensor(&x, i64::MAX, "none").is_err());
    Ok(())
}

#[test]
fn a_trace_holds_the_collectives_and_runs_again() {
    ranks(2, |group| {
        let x = Tensor::from([1.0, group.rank() as f64]);
        let (_, graph) = tracer::trace(&[x], |inputs| {
            let sum = functional::all_reduce(&inputs[0], "sum", "world")?;
            Ok(vec![functional::wait_tensor(&sum)?.mul(2.0)?])
        })?;
        let text = graph.to_string();
        assert!(
            text.contains("_c10d_functional::all_reduce") && text.contains("_c10d_functional::wait_tensor")
        );
        let again = graph.run(&[Tensor::from([5.0, 5.0])])?;
        assert_eq!(again[0].to_vec::<f64>()?, [20.0, 20.0]);
        Ok(())
    });
}

type Collective<'a> = &'a dyn Fn(&Tensor) -> Result<Tensor>;

/// Not blocking: results are complete after waiting for them, within the vmap or after it.
#[test]
fn examples_of_a_vmap_travel_together() {
    let results = threads::run(2, |group| {
        let rank = group.rank() as f64;
        let numbers = |times: f64| (0..12).map(|at| f64::from(at) * times).collect::<Vec<_>>();
        let x = Tensor::from_vec(numbers(1.0 + rank), &[3, 4])?;
        let whole = |collective: Collective<'_>| {
            let rows = (0..3).map(|at| functional::wait_tensor(&collective(&x.select_int(0, at)?)?));
            aten::stack(&rows.collect::<Result<Vec<_>>>()?)
        };
        let collectives: [Collective<'_>; 5] = [
            &|x| functional::all_reduce(x, "sum", "world"),
            &|x| functional::broadcast(x, 1, "world"),
            &|x| functional::all_gather_into_tensor(x, 2, "world"),
            &|x| functional::reduce_scatter_tensor(x, "sum", 2, "world"),
            &|x| functional::all_to_all_single(x, &[], &[], "world"),
        ];
        for (number, collective) in collectives.into_iter().enumerate() {
            let expected = whole(collective)?.reshape(&[-1])?.to_vec::<f64>()?;
            let found = vmap([&x], |[row]| functional::wait_tensor(&collective(&row)?))?;
            assert_eq!(found.reshape(&[-1])?.to_vec::<f64>()?, expected, "{number}");
            let columns = Vmap::new().in_dims([Some(1)]).out_dims([Some(1)]); // the batch need not be first
            let flat = |inputs: &[Tensor]| Ok(vec![functional::wait_tensor(&collective(&inputs[0])?)?]);
            let found = columns.run(&[x.transpose(0, 1)?], flat)?;
            assert_eq!(found[0].transpose(0, 1)?.reshape(&[-1])?.to_vec::<f64>()?, expected, "{number}");
        }
        let own = x.add(0.0)?;
        let sum = |[row]: [Tensor; 1]| {
            let mut row = row;
            functional::all_reduce_(&mut row, "sum", "world")?;
            Ok(row)
        };
        vmap([&own], sum)?;
        assert_eq!(own.reshape(&[-1])?.to_vec::<f64>()?, numbers(3.0));
        Ok(())
    });
    results.into_iter().for_each(|result| result.unwrap_or_else(|error| panic!("{error}")));
}
