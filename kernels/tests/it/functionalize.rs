//! Functionalize on real operators: the functional forms of programs that write in place, and what is refused.

use torch_library::functionalize::{from_functional, functionalize, is_functional, to_functional};
use torch_library::guard::no_grad;
use torch_library::prelude::*;
use torch_library::tracer::{Graph, trace};
use torch_library_kernels::aten;
use torch_library_kernels::prelude::*;
use torch_library_kernels::vmap::vmap;

mod memory;

torch_library! {
    mod functionalize_test {
        /// Has no functional variant.
        bump_(Tensor(a!) self, Tensor by) -> Tensor(a!);
        /// Counts, and writes to two tensors.
        swap_(Tensor(a!) self, Tensor(b!) other) -> int;
        /// A view without an inverse.
        tail(Tensor(a) self) -> Tensor(a);
        plus(Tensor self, Tensor other) -> Tensor;
        plus.out(Tensor self, Tensor other, *, Tensor(a!) out) -> Tensor(a!);
        /// Moves a tensor.
        #[tags(inplace_view)]
        shrink_(Tensor(a!) self) -> Tensor(a!);
    }
}

#[torch_impl(functionalize_test, CPU)]
mod cpu {
    use super::*;

    fn bump_<'a>(this: &'a mut Tensor, by: &Tensor) -> Result<&'a mut Tensor> {
        aten::add__Tensor(this, by)
    }

    fn swap_(this: &mut Tensor, other: &mut Tensor) -> Result<i64> {
        let kept = aten::clone(this)?;
        aten::copy_(this, other)?;
        aten::copy_(other, &kept)?;
        Ok(this.numel())
    }

    fn tail(this: &Tensor) -> Result<Tensor> {
        aten::slice_Tensor::with(this).start(Some(1)).call()
    }

    fn plus(this: &Tensor, other: &Tensor) -> Result<Tensor> {
        this.add(other)
    }

    fn plus_out<'a>(this: &Tensor, other: &Tensor, out: &'a mut Tensor) -> Result<&'a mut Tensor> {
        let sum = this.add(other)?;
        if out.sizes() != sum.sizes() {
            let geometry = sum.geometry();
            out.set_storage(sum.storage().clone(), geometry.sizes(), geometry.strides(), geometry.offset())?;
        }
        aten::copy_(out, &sum)
    }

    fn shrink_(this: &mut Tensor) -> Result<&mut Tensor> {
        this.set_geometry(&[1], &[1], 0)?;
        Ok(this)
    }
}

fn x() -> Tensor {
    Tensor::from([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
}

/// Runs a program as it is and functionalized, on the same inputs; results and inputs have to be the same afterwards.
/// Returns the recorded graph of the functional one.
fn same(inputs: &[Tensor], program: impl Fn(&[Tensor]) -> Result<Vec<Tensor>>) -> Graph {
    let copies = || inputs.iter().map(aten::clone).collect::<Result<Vec<_>>>().unwrap();
    let (plain, functional) = (copies(), copies());
    let expected = program(&plain).unwrap();
    let (results, graph) = trace(&functional, |inputs| functionalize(inputs, &program)).unwrap();
    let show =
        |tensors: &[Tensor]| tensors.iter().map(|x| format!("{x} {:?}", x.strides())).collect::<Vec<_>>();
    assert_eq!(show(&results), show(&expected));
    assert_eq!(show(&functional), show(&plain), "the inputs, afterwards");
    assert!(!results.iter().any(is_functional));
    // The recorded graph does the same, also after passes, and writes to nothing but inputs.
    for steps in 0..3 {
        let mut graph: Graph = graph.to_string().parse().unwrap();
        if steps > 0 {
            graph.eliminate_dead_code();
        }
        if steps > 1 {
            graph.merge_common_subexpressions();
        }
        let again = copies();
        assert_eq!(show(&graph.run(&again).unwrap()), show(&expected));
        assert_eq!(show(&again), show(&plain), "the inputs, after {graph}");
    }
    graph
}

/// The operators of a graph.
fn calls(graph: &Graph) -> Vec<String> {
    graph.nodes().iter().map(|node| node.operator().to_string()).collect()
}

#[test]
fn a_write_through_a_view_reaches_the_base_and_other_views() {
    let graph = same(&[x()], |inputs| {
        let base = inputs[0].mul(2.0)?;
        let (row, column) = (base.select(0, 0)?, base.select(1, 0)?);
        row.clone().add_(100.0)?;
        Ok(vec![base, row, column])
    });
    assert_eq!(
        calls(&graph),
        [
            "aten::mul.Scalar",
            "aten::select.int",
            "aten::select.int",
            "aten::add.Scalar",
            "aten::select_scatter",
            "aten::select.int",
            "aten::select.int"
        ]
    );
}

#[test]
fn every_view_knows_the_way_back() {
    type View = fn(&Tensor) -> Result<Tensor>;
    let views: [View; 16] = [
        aten::alias,
        aten::t,
        aten::detach,
        |x| x.view(&[3, 2]),
        |x| x.transpose(0, 1),
        |x| x.permute(&[1, 0]),
        |x| x.unsqueeze(1),
        |x| aten::squeeze(&x.unsqueeze(1)?),
        |x| aten::squeeze_dim(&x.unsqueeze(0)?, 0),
        |x| aten::squeeze_dims(&x.unsqueeze(-1)?, &[-1]),
        |x| x.slice(1, 0, 3, 2),
        |x| aten::diagonal(x),
        |x| aten::as_strided::call(x, &[2, 2], &[1, 2], Some(1)),
        |x| Ok(aten::unbind_int::with(x).dim(1).call()?.remove(1)),
        |x| Ok(aten::split_Tensor::with(x, 2).dim(1).call()?.remove(1)),
        |x| Ok(aten::split_with_sizes::with(x, &[1, 2]).dim(-1).call()?.remove(1)),
    ];
    for view in views {
        let graph = same(&[x()], |inputs| {
            let base = aten::clone(&inputs[0])?;
            let mut view = view(&base.transpose(0, 1)?.transpose(0, 1)?)?;
            let before = view.clone();
            view.mul_(10.0)?;
            aten::sub__Scalar(&mut view, 1.into())?;
            Ok(vec![base, view, before])
        });
        assert!(graph.nodes().iter().all(|node| !node.operator().schema().unwrap().is_mutable()), "{graph}");
    }
}

#[test]
fn what_is_written_to_inputs_is_written_back() {
    let graph = same(&[x(), x()], |inputs| {
        let mut x = inputs[0].clone();
        aten::transpose_(&mut x, 0, 1)?.add_(1.0)?;
        aten::zero_(&mut x.select(0, 2)?)?;
        Ok(vec![inputs[1].add(&x.t()?)?])
    });
    let writes: Vec<_> = calls(&graph).into_iter().filter(|name| name.ends_with('_')).collect();
    assert_eq!(writes, ["aten::as_strided_", "aten::copy_"]);
    let graph = same(&[x()], |inputs| {
        let x = &mut inputs[0].clone();
        aten::mul__Scalar(aten::as_strided_::with(x, &[3], &[2]).storage_offset(Some(1)).call()?, 3.into())?;
        Ok(vec![aten::as_strided::call(x, &[6], &[1], Some(0))?])
    });
    assert!(calls(&graph).contains(&"aten::as_strided_scatter".to_owned()));
    // Nothing was written, so the graph writes nothing.
    let graph = same(&[x()], |inputs| Ok(vec![inputs[0].clone(), inputs[0].t()?]));
    assert_eq!(calls(&graph), ["aten::t"]);
}

#[test]
fn inputs_may_share_memory() {
    let run = |run: fn(&[Tensor]) -> Result<Vec<Tensor>>| {
        let memory = Tensor::from([0.0, 1.0, 2.0, 3.0, 4.0]);
        let parts = [memory.strided_view(&[3], &[1], 1)?, memory.strided_view(&[2], &[2], 0)?];
        let results = run(&parts)?;
        Ok::<_, Error>((results[0].to_vec::<f64>()?, memory.to_vec::<f64>()?))
    };
    fn program(inputs: &[Tensor]) -> Result<Vec<Tensor>> {
        aten::fill__Scalar(&mut inputs[0].clone(), 7.into())?;
        inputs[1].clone().mul_(10.0)?;
        Ok(vec![inputs[0].add(0.0)?])
    }
    let expected = (vec![7.0, 70.0, 7.0], vec![0.0, 7.0, 70.0, 7.0, 4.0]);
    assert_eq!(run(program).unwrap(), expected);
    assert_eq!(run(|inputs| functionalize(inputs, program)).unwrap(), expected);
    // Beyond the elements of the input, too.
    let beyond = |inputs: &[Tensor]| {
        aten::zero_(&mut aten::as_strided::call(&inputs[0], &[5], &[1], Some(0))?)?;
        Ok(vec![inputs[0].add(1.0)?])
    };
    assert_eq!(run(beyond).unwrap().1, [0.0; 5]);
    assert_eq!(
        run(|inputs| functionalize(inputs, |inputs| {
            aten::zero_(&mut aten::as_strided::call(&inputs[0], &[5], &[1], Some(0))?)?;
            Ok(vec![inputs[0].add(1.0)?])
        }))
        .unwrap()
        .1,
        [0.0; 5]
    );
}

#[test]
fn elements_that_show_several_times_are_put_back_once() -> Result<()> {
    let input = Tensor::from([1.0, 2.0, 3.0]).slice(0, 1, 3, 1)?; // with an offset
    let outputs = functionalize(std::slice::from_ref(&input), |x| {
        let mut rows = x[0].expand(&[2, 2])?;
        aten::fill__Scalar(&mut rows, Scalar::from(7))?;
        Ok(vec![x[0].add(1)?])
    })?;
    assert_eq!(outputs[0].to_vec::<f64>()?, [8.0, 8.0]);
    assert_eq!(input.to_vec::<f64>()?, [7.0, 7.0]);
    Ok(())
}

#[test]
fn strides_and_types_stay_those_of_the_program() {
    same(&[x(), Tensor::from([[1.5f32, 2.5], [3.5, 4.5], [5.5, 6.5]])], |inputs| {
        let mut columns = aten::clone(&inputs[1])?.t()?;
        columns.add_(&inputs[0])?; // f64 into f32, rows into columns
        let mut gaps = aten::clone(&inputs[0])?.slice(1, 0, 9, 2)?;
        aten::copy_(&mut gaps, &columns.slice(1, 1, 9, 1)?)?;
        Ok(vec![columns.view(&[2, 3])?, gaps])
    });
}

#[test]
fn operators_of_other_crates_are_made_functional_by_their_schemas() {
    let graph = same(&[x(), Tensor::from([1.0, 1.0, 1.0])], |inputs| {
        let base = aten::clone(&inputs[0])?;
        functionalize_test::bump_(&mut functionalize_test::tail(&base)?, &inputs[1])?;
        let mut row = base.select(0, 0)?;
        let count = functionalize_test::swap_(&mut row, &mut inputs[1].clone())?;
        assert_eq!(count, 3);
        Ok(vec![base])
    });
    // Each writes to a copy that was made for it; how the view is put back, its strides say.
    let copied = calls(&graph);
    assert_eq!(
        copied[..6],
        [
            "aten::clone",
            "functionalize_test::tail",
            "aten::clone",
            "functionalize_test::bump_",
            "aten::as_strided_scatter",
            "aten::select.int"
        ]
    );
}

#[test]
fn an_out_argument_gets_what_is_computed() {
    same(&[x()], |inputs| {
        let (mut empty, mut full) =
            (aten::new_empty(&inputs[0], &[0])?, aten::zeros_like(&inputs[0].t()?)?.t()?);
        let full_before = full.clone();
        functionalize_test::plus_out(&inputs[0], &inputs[0], &mut empty)?;
        functionalize_test::plus_out(&inputs[0], &inputs[0], &mut full)?;
        Ok(vec![empty, full, full_before])
    });
}

#[test]
fn lists_are_written_to() {
    let graph = same(&[x(), x()], |inputs| {
        let mut parts = aten::unbind_int(&aten::clone(&inputs[0])?)?;
        aten::_foreach_mul__Scalar(&mut parts, 3.into())?;
        aten::_foreach_zero_(&mut [inputs[1].select(0, 1)?])?;
        Ok(parts)
    });
    assert!(calls(&graph).contains(&"aten::select_scatter".to_owned()));
}

#[test]
fn gradients_flow_as_through_the_program() {
    let program = |inputs: &[Tensor]| {
        let (x, y) = (inputs[0].mul(2.0)?, inputs[1].mul(3.0)?);
        no_grad(|| y.clone().mul_(5.0).map(drop))?; // as if it had always been so
        x.select(0, 1)?.mul_(&y.select(0, 0)?)?;
        Ok(vec![x.mul(&y)?.sum()?])
    };
    let gradients = |functional: bool| {
        let inputs = [x(), x()];
        inputs.iter().try_for_each(|input| input.set_requires_grad(true))?;
        let loss = if functional { functionalize(&inputs, program)? } else { program(&inputs)? };
        let grads = torch_library::autograd::grad(
            &[&loss[0]],
            &[&inputs[0], &inputs[1]],
            &[],
            torch_library::autograd::GradOptions::new().create_graph(true),
        )?;
        // Once more, through the backward pass.
        let again: Vec<_> = grads.iter().flatten().map(|grad| grad.sum()).collect::<Result<_>>()?;
        aten::add_Tensor(&again[0], &again[1])?.backward()?;
        let tensors = grads.into_iter().chain(inputs.iter().map(Tensor::grad));
        tensors.map(|grad| grad.map(|grad| grad.to_vec::<f64>()).transpose()).collect::<Result<Vec<_>>>()
    };
    assert_eq!(gradients(true).unwrap(), gradients(false).unwrap());
}

#[test]
fn a_training_step_becomes_a_program_without_writes() {
    let step = |inputs: &[Tensor]| {
        let weight = aten::detach(&inputs[0])?;
        weight.set_requires_grad(true)?;
        let loss = aten::relu(&weight.mul(&inputs[1])?)?.sum()?;
        loss.backward()?;
        let grad = weight.grad().unwrap();
        no_grad(|| aten::sub__Tensor::with(&mut inputs[0].clone(), &grad).alpha(0.1).call().map(drop))?;
        Ok(vec![aten::detach(&loss)?])
    };
    let graph = same(&[x(), x()], step);
    let writes: Vec<_> =
        calls(&graph).into_iter().filter(|name| name.contains('_') && name.ends_with('_')).collect();
    assert_eq!(writes, ["aten::copy_"]);
}

#[test]
fn vmap_works_inside() {
    same(&[x(), Tensor::from([1.0, 1.0, 1.0])], |inputs| {
        let sums = vmap([&inputs[0]], |[row]| {
            let mut row = aten::clone(&row)?;
            row.add_(&inputs[1])?;
            row.sum()
        })?;
        Ok(vec![sums])
    });
}

/// The message with which a functional program fails.
fn refusal(program: impl Fn(&Tensor) -> Result<Tensor>) -> String {
    let error = functionalize(&[x()], |inputs| Ok(vec![program(&inputs[0])?])).unwrap_err();
    error.to_string()
}

#[test]
fn what_operators_refuse_stays_refused() {
    let expanded = |x: &Tensor| x.select(0, 0)?.expand(&[2, 3]);
    let message = refusal(|x| expanded(x)?.add_(x).cloned());
    assert!(message.contains("several elements share one memory location"), "{message}");
    let message = refusal(|x| x.clone().add_(&x.unsqueeze(0)?.expand(&[2, 2, 3])?).cloned());
    assert!(message.starts_with("aten::add_.Tensor"), "{message}");
    let message = refusal(|x| aten::add__Tensor(&mut x.slice(1, 0, 2, 1)?.t()?, x).cloned());
    assert!(message.starts_with("aten::add_.Tensor"), "{message}");
    // A fill writes the same number everywhere.
    same(&[x()], |inputs| {
        let row = aten::clone(&inputs[0])?.slice(0, 0, 1, 1)?;
        aten::fill__Scalar(&mut row.expand(&[4, 2, 3])?, 9.into())?;
        Ok(vec![row])
    });
}

#[test]
fn what_has_no_functional_form_is_an_error() {
    let outside = x();
    let message = refusal(|x| outside.clone().add_(x).cloned());
    assert_eq!(
        message,
        "aten::add_.Tensor would write values of a functional program to a tensor that was made outside of it\n  \
         help: make that tensor an input, or write to a copy"
    );
    let message = refusal(|x| functionalize_test::shrink_(&mut x.clone()).cloned());
    assert_eq!(
        message,
        "functionalize_test::shrink_ moves a tensor to other memory, which cannot be functionalized\n  \
         help: compute a new tensor instead"
    );
    let bytes = |x: &Tensor| functionalize_test::tail(&aten::view_dtype(x, DType::Float32)?);
    let message = refusal(|x| bytes(x)?.add_(1.0).cloned());
    assert!(message.contains("a view of float64 as float32 is written to"), "{message}");
    let in_vmap = vmap([&x()], |[row]| {
        Ok(functionalize(&[row.slice(0, 0, 2, 1)?, row], |inputs| Ok(inputs.to_vec()))?.remove(0))
    });
    assert!(in_vmap.unwrap_err().to_string().contains("functionalize outside of vmap"));
}

#[test]
fn a_functional_program_runs_for_each_example() {
    let program = |inputs: &[Tensor]| {
        let mut sum = aten::add_Tensor(&inputs[0], &inputs[1])?;
        sum.slice(0, 1, 3, 1)?.mul_(10.0)?;
        inputs[0].clone().add_(&sum)?;
        Ok(vec![sum.neg_()?.clone()])
    };
    let (rows, same) = (x(), Tensor::from([1.0, 2.0, 3.0]));
    let (plain, functional) = (aten::clone(&rows).unwrap(), aten::clone(&rows).unwrap());
    let expected = vmap([&plain], |[row]| Ok(program(&[row, same.clone()])?.remove(0))).unwrap();
    let got =
        vmap([&functional], |[row]| Ok(functionalize(&[row, same.clone()], program)?.remove(0))).unwrap();
    assert_eq!(got.to_vec::<f64>().unwrap(), expected.to_vec::<f64>().unwrap());
    assert_eq!(functional.to_vec::<f64>().unwrap(), plain.to_vec::<f64>().unwrap());
}

#[test]
fn a_functional_tensor_is_a_leaf_of_its_own() {
    let plain = x();
    let functional = to_functional(&plain).unwrap();
    functional.clone().add_(1.0).unwrap();
    assert_eq!(functional.version(), 1);
    assert_eq!(
        from_functional(&functional).unwrap().to_vec::<f64>().unwrap(),
        [2.0, 3.0, 4.0, 5.0, 6.0, 7.0]
    );
    assert_eq!(plain.to_vec::<f64>().unwrap(), x().to_vec::<f64>().unwrap());
    assert!(from_functional(&plain).unwrap().is_same(&plain) && !is_functional(&plain));
}

#[test]
fn classes_are_told_apart_whatever_hides_them() -> Result<()> {
    let classes = Tensor::from([2i64, 0]);
    let counted = |count: i64| {
        functionalize(std::slice::from_ref(&classes), |x| Ok(vec![aten::one_hot::call(&x[0], count)?]))
    };
    for count in [-1, 3] {
        assert_eq!(counted(count)?[0].to_vec::<i64>()?, [0, 0, 1, 1, 0, 0], "{count}");
    }
    assert_eq!(aten::one_hot::call(&torch_library::fake::to_fake(&classes)?, 3)?.sizes(), [2, 3]);
    assert!(aten::one_hot::call(&torch_library::fake::to_fake(&classes)?, -1).is_err());
    Ok(())
}

#[test]
fn masks_select_what_is_written() -> Result<()> {
    let (numbers, mask) = (x(), Tensor::from([[true, false, false], [false, true, true]]));
    let program = |inputs: &[Tensor]| {
        let mut this = inputs[0].clone();
        aten::index_put_(&mut this, &[Some(inputs[1].clone())], &Tensor::from([-1.0, -2.0, -3.0]))?;
        Ok(vec![aten::neg(&this)?])
    };
    let negated = functionalize(&[numbers.clone(), mask], program)?.remove(0);
    assert_eq!(negated.to_vec::<f64>()?, [1.0, -2.0, -3.0, -4.0, 2.0, 3.0]);
    assert_eq!(numbers.to_vec::<f64>()?, [-1.0, 2.0, 3.0, 4.0, -2.0, -3.0]);
    Ok(())
}

#[test]
fn lazy_conjugates_and_negatives_are_applied_once() {
    let numbers = [Complex64::new(1.0, 2.0), Complex64::new(-3.0, 0.5)];
    same(&[Tensor::from_slice(&numbers, &[2]).unwrap()], |inputs| {
        let x = &inputs[0];
        let conj = aten::conj(x)?;
        let pieces = [aten::imag(&conj)?, aten::_neg_view(&aten::real(x)?)?];
        let pieces = pieces.iter().map(|piece| aten::add_Scalar(piece, 1.into()));
        let mut results = vec![aten::add_Tensor(x, &conj)?, aten::eq_Tensor(x, &conj)?, aten::clone(&conj)?];
        results.extend(pieces.collect::<Result<Vec<_>>>()?);
        Ok(results)
    });
    // What is written to a conjugate is conjugated in memory.
    same(&[Tensor::from_slice(&numbers, &[2]).unwrap()], |inputs| {
        let x = aten::clone(&inputs[0])?;
        let mut conj = aten::conj(&x)?;
        aten::mul__Scalar(&mut conj, Complex64::new(0.0, 2.0).into())?;
        let mut turned = aten::_neg_view(&aten::conj(&x)?)?;
        aten::add__Scalar(&mut turned, Complex64::new(1.0, 1.0).into())?;
        Ok(vec![aten::clone(&x)?, aten::clone(&conj)?, aten::clone(&turned)?])
    });
}

#[test]
fn views_without_an_inverse_are_written_for_each_example() -> Result<()> {
    type View = fn(&Tensor) -> Result<Tensor>;
    let views: [View; 2] = [|x| aten::as_strided::call(x, &[2], &[2], Some(1)), |x| aten::unfold(x, 0, 2, 2)];
    let rows = Tensor::from([[0.0, 1.0, 2.0, 3.0, 4.0], [5.0, 6.0, 7.0, 8.0, 9.0]]);
    for view in views {
        let program = |inputs: &[Tensor]| {
            let y = aten::clone(&inputs[0])?;
            view(&y)?.add_(100.0)?;
            Ok(vec![y])
        };
        let expected = vmap([&rows], |[row]| Ok(program(&[row])?.remove(0)))?;
        let got = vmap([&rows], |[row]| Ok(functionalize(&[row], program)?.remove(0)))?;
        assert_eq!(got.to_vec::<f64>()?, expected.to_vec::<f64>()?);
    }
    Ok(())
}

#[test]
fn views_of_another_type_know_the_way_back() -> Result<()> {
    let numbers = [Complex64::new(1.0, 2.0), Complex64::new(-3.0, 0.5)];
    same(&[Tensor::from_slice(&numbers, &[2])?, x()], |inputs| {
        let (c, r) = (aten::clone(&inputs[0])?, aten::clone(&inputs[1])?);
        aten::zero_(&mut aten::real(&c)?)?;
        aten::imag(&aten::conj(&c)?)?.mul_(3.0)?;
        aten::fill__Scalar(&mut aten::view_dtype(&r, DType::Int64)?.select(1, 0)?, 0.into())?;
        aten::fill__Scalar(&mut aten::view_dtype(&r, DType::Int32)?.select(1, 5)?, 0.into())?;
        let pairs = aten::view_as_complex(&aten::clone(&inputs[1])?.view(&[3, 2])?)?;
        pairs.clone().mul_(2.0)?;
        aten::zero_(&mut aten::real(&inputs[0])?)?;
        Ok(vec![c, r, pairs])
    });
    Ok(())
}
