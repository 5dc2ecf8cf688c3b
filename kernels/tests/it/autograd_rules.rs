//! Rules of the graph that do not show in values of plain programs: the order of nodes, counters, sharing.

use std::sync::{Arc, Mutex};

use torch_library::autograd::{self, Context, Function, GradOptions};
use torch_library::guard::no_grad;
use torch_library::prelude::*;
use torch_library_kernels::aten;
use torch_library_kernels::prelude::*;

fn leaf(values: &[f64]) -> Result<Tensor> {
    let x = Tensor::from_slice(values, &[values.len() as i64])?;
    x.set_requires_grad(true)?;
    Ok(x)
}

fn grad_of(tensor: &Tensor) -> Vec<f64> {
    tensor.grad().expect("a gradient").to_vec().unwrap()
}

#[test]
fn hooks_run_in_the_order_they_came_and_what_is_retained_is_final() -> Result<()> {
    for is_computed in [true, false] {
        let x = leaf(&[1.0])?;
        let y = if is_computed { x.mul(1)? } else { x.clone() };
        y.retain_grad()?;
        y.register_hook(|grad| grad.mul(10).map(Some))?;
        y.register_hook(|grad| grad.add(2).map(Some))?;
        y.sum()?.backward()?;
        assert_eq!((grad_of(&y), grad_of(&x)), (vec![12.0], vec![12.0]));
    }
    Ok(())
}

#[test]
fn of_two_nodes_that_are_ready_the_later_one_runs_first() -> Result<()> {
    let x = leaf(&[1.0])?;
    let (a, b) = (x.mul(2)?, x.mul(3)?);
    let order = Arc::new(Mutex::new(Vec::new()));
    for (name, tensor) in [("a", &a), ("b", &b)] {
        let order = order.clone();
        tensor.register_hook(move |_| {
            order.lock().unwrap().push(name);
            Ok(None)
        })?;
    }
    for sum in [a.add(&b)?, b.add(&a)?] {
        autograd::backward(&[&sum], &[], GradOptions::new().retain_graph(true))?;
    }
    assert_eq!(*order.lock().unwrap(), ["b", "a", "b", "a"]);
    Ok(())
}

/// Declares a write that it does not do.
struct Touch;

impl Function for Touch {
    fn name(&self) -> &'static str {
        "TouchBackward"
    }

    fn forward(&self, context: &mut Context, inputs: &[&Tensor]) -> Result<Vec<Tensor>> {
        context.mark_dirty(inputs[0]);
        Ok(vec![inputs[0].clone()])
    }

    fn backward(&self, _: &Context, grads: Vec<Option<Tensor>>) -> Result<Vec<Option<Tensor>>> {
        Ok(grads)
    }
}

#[test]
fn a_dirty_input_is_counted_as_written_to() -> Result<()> {
    let x = leaf(&[3.0])?;
    for y in [x.mul(2)?, Tensor::from([1.0])] {
        let before = y.version();
        autograd::apply(Touch, &[&y])?;
        assert_eq!(y.version(), before + 1);
    }
    let y = x.mul(2)?;
    let square = y.mul(&y)?;
    autograd::apply(Touch, &[&y])?;
    let error = square.backward().unwrap_err().to_string();
    assert!(error.contains("since been written to in place"), "{error}");
    Ok(())
}

#[test]
fn a_view_of_a_view_made_without_grad_mode_is_not_written_to() -> Result<()> {
    let x = leaf(&[1.0, 2.0])?;
    let base = x.mul(2)?;
    let quiet = no_grad(|| base.slice(0, 0, 2, 1))?;
    let mut part = quiet.select(0, 0)?;
    assert!(part.base().is_some_and(|of_part| of_part.is_same(&base)), "the base of a view is none");
    let error = part.mul_(2).unwrap_err().to_string();
    assert!(error.contains("made while grad mode was off"), "{error}");
    Ok(())
}

#[test]
fn elu_has_a_scale_for_each_side_and_for_its_input() -> Result<()> {
    let x = leaf(&[-1.0, -0.25, 0.5])?;
    let elu = |x: &[Tensor]| -> Result<Vec<Tensor>> {
        Ok(vec![aten::elu::call(&x[0], 0.7.into(), 1.5.into(), 0.3.into())?])
    };
    autograd::gradcheck(elu, std::slice::from_ref(&x), Default::default())?;
    elu(std::slice::from_ref(&x))?[0].sum()?.backward()?;
    let below = |x: f64| 0.7 * 1.5 * 0.3 * (0.3 * x).exp();
    for (got, want) in grad_of(&x).into_iter().zip([below(-1.0), below(-0.25), 1.5]) {
        assert!((got - want).abs() < 1e-12, "{got} instead of {want}");
    }
    Ok(())
}

/// Neither belongs to it in PyTorch's `hardswish_backward`.
#[test]
fn hardswish_has_not_the_slope_of_its_middle_at_its_ends() -> Result<()> {
    let x = leaf(&[-3.5, -3.0, 0.0, 3.0, 3.5])?;
    aten::hardswish(&x)?.sum()?.backward()?;
    assert_eq!(grad_of(&x), [0.0, 0.0, 0.5, 1.0, 1.0]);
    Ok(())
}

#[test]
fn a_gradient_that_somebody_holds_is_nobody_elses() -> Result<()> {
    let (x, first) = (leaf(&[1.0, 2.0])?, Tensor::from([1.0, 1.0]));
    autograd::backward(&[&x], &[Some(first.clone())], GradOptions::new())?;
    x.grad().expect("a gradient").mul_(5)?;
    assert_eq!(first.to_vec::<f64>()?, [1.0, 1.0]);
    // Two of them meet at one node.
    let (x, y) = (leaf(&[1.0, 2.0])?, leaf(&[0.0, 0.0])?);
    let sum = x.add(&y)?;
    autograd::backward(&[&sum, &sum], &[Some(first.clone()), Some(first.clone())], GradOptions::new())?;
    assert_eq!((grad_of(&x), first.to_vec::<f64>()?), (vec![2.0, 2.0], vec![1.0, 1.0]));
    // Leaves that get the same gradient get one each.
    x.grad().expect("a gradient").mul_(5)?;
    assert_eq!(grad_of(&y), [2.0, 2.0]);
    Ok(())
}

/// A sum whose gradient is one number in memory, which nothing else holds.
struct Sum;

impl Function for Sum {
    fn name(&self) -> &'static str {
        "SumBackward"
    }

    fn forward(&self, _: &mut Context, inputs: &[&Tensor]) -> Result<Vec<Tensor>> {
        Ok(vec![inputs[0].sum()?])
    }

    fn backward(&self, _: &Context, grads: Vec<Option<Tensor>>) -> Result<Vec<Option<Tensor>>> {
        let number = grads[0].as_ref().expect("of the only output").to_vec::<f64>()?[0];
        Ok(vec![Some(Tensor::from([number]).strided_view(&[3], &[0], 0)?)])
    }
}

#[test]
fn a_gradient_that_is_one_number_in_memory_takes_no_other_in() -> Result<()> {
    let x = leaf(&[1.0, 2.0, 3.0])?;
    let sum = || -> Result<Tensor> { Ok(autograd::apply(Sum, &[&x])?.remove(0)) };
    let twice = sum()?.add(&sum()?.mul(4)?)?;
    twice.backward()?;
    assert_eq!(grad_of(&x), [5.0, 5.0, 5.0]);
    Ok(())
}

#[test]
fn a_write_to_a_part_counts_from_where_the_whole_begins() -> Result<()> {
    let x = leaf(&[7.0])?;
    let whole = Tensor::from([0.0, 0.0, 0.0, 0.0]).strided_view(&[3], &[1], 1)?;
    aten::copy_(&mut aten::narrow(&whole, 0, 1, 1)?, &x)?;
    whole.mul(&Tensor::from([2.0, 3.0, 5.0]))?.sum()?.backward()?;
    assert_eq!(grad_of(&x), [3.0]);
    Ok(())
}

#[test]
fn a_gradient_lies_as_its_leaf_does() -> Result<()> {
    let x = Tensor::from([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]).t()?;
    let x = x.detach()?;
    x.set_requires_grad(true)?;
    let row_major = Tensor::from([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]);
    for _ in 0..2 {
        x.mul(&row_major)?.sum()?.backward()?;
        assert_eq!(x.grad().expect("a gradient").strides(), [1, 3]);
    }
    assert_eq!(grad_of(&x), [2.0, 4.0, 6.0, 8.0, 10.0, 12.0]);
    Ok(())
}

#[test]
fn gradients_are_recorded_for_those_alone_who_ask() -> Result<()> {
    let x = leaf(&[3.0])?;
    x.mul(&x)?.backward()?;
    assert!(!x.grad().expect("a gradient").requires_grad());
    x.set_grad(None)?;
    let square = x.mul(&x)?;
    autograd::backward(&[&square], &[], GradOptions::new().create_graph(true))?;
    let grad = x.grad().expect("a gradient");
    assert!(grad.requires_grad());
    // The graph is kept if asked for, without a warning.
    square.backward()
}

/// Nodes that keep their results, which come back with the history of those nodes.
#[test]
fn a_graph_of_gradients_is_freed_with_them() -> Result<()> {
    let operators: [fn(&Tensor) -> Result<Tensor>; 3] = [aten::exp, aten::tanh, aten::sqrt];
    for operator in operators {
        let (x, kept) = (leaf(&[0.5])?, Arc::new(()));
        let y = operator(&x)?;
        let of_hook = kept.clone();
        y.register_hook(move |_| {
            let _held = &of_hook;
            Ok(None)
        })?;
        let grads = autograd::grad(&[&y], &[&x], &[], GradOptions::new().create_graph(true))?;
        assert!(grads[0].as_ref().is_some_and(Tensor::requires_grad));
        assert_eq!(Arc::strong_count(&kept), 2, "the node of the result has its hook");
        drop((y, grads));
        assert_eq!(Arc::strong_count(&kept), 1, "and goes with the last that leads to it");
    }
    Ok(())
}

#[test]
fn each_input_gets_its_own_gradient_in_the_order_asked() -> Result<()> {
    let (x, y) = (leaf(&[2.0])?, leaf(&[5.0])?);
    let product = x.mul(&y)?;
    let options = GradOptions::new().retain_graph(true);
    let grads = |inputs: &[&Tensor]| -> Result<Vec<f64>> {
        let grads = autograd::grad(&[&product], inputs, &[], options)?;
        grads.iter().map(|grad| grad.as_ref().expect("a gradient").item()?.to()).collect()
    };
    assert_eq!(grads(&[&x, &y])?, [5.0, 2.0]);
    assert_eq!(grads(&[&y, &x, &y])?, [2.0, 5.0, 2.0]);
    Ok(())
}

#[test]
fn equal_extremes_share_a_gradient() -> Result<()> {
    let x = leaf(&[2.0, 1.0, 2.0])?;
    aten::amax::call(&x, &[0], false)?.backward()?;
    assert_eq!(grad_of(&x), [0.5, 0.0, 0.5]);
    Ok(())
}

#[test]
fn there_is_no_slope_at_a_bound_that_is_a_number() -> Result<()> {
    let x = leaf(&[0.0, 1.0, 2.0])?;
    let bounds = [(Some(1.0), None), (None, Some(1.0)), (Some(1.0), Some(2.0))];
    for ((min, max), want) in bounds.into_iter().zip([[0.0, 0.0, 1.0], [1.0, 0.0, 0.0], [0.0, 0.0, 0.0]]) {
        x.set_grad(None)?;
        x.clamp(min.map(Scalar::from), max.map(Scalar::from))?.sum()?.backward()?;
        assert_eq!(grad_of(&x), want);
    }
    Ok(())
}

/// Has the right value, but claims a derivative of zero everywhere.
struct Steep;

impl Function for Steep {
    fn name(&self) -> &'static str {
        "SteepBackward"
    }

    fn forward(&self, _: &mut Context, inputs: &[&Tensor]) -> Result<Vec<Tensor>> {
        Ok(vec![aten::reciprocal(inputs[0])?])
    }

    fn backward(&self, _: &Context, grads: Vec<Option<Tensor>>) -> Result<Vec<Option<Tensor>>> {
        grads.into_iter().map(|grad| grad.map(|grad| aten::zeros_like(&grad)).transpose()).collect()
    }
}

#[test]
fn a_number_is_not_near_an_infinite_difference() -> Result<()> {
    let steep = |inputs: &[Tensor]| autograd::apply(Steep, &[&inputs[0]]);
    // One step below, the reciprocal is infinite.
    let error = autograd::gradcheck(steep, &[leaf(&[1e-6])?], Default::default()).unwrap_err().to_string();
    assert!(error.contains("is 0, but finite differences give"), "{error}");
    Ok(())
}

#[test]
fn no_number_is_the_derivative_of_no_number() -> Result<()> {
    let root = |inputs: &[Tensor]| Ok(vec![aten::sqrt(&inputs[0])?]);
    let inputs = [leaf(&[-1.0])?];
    let error = autograd::gradcheck(root, &inputs, Default::default()).unwrap_err().to_string();
    assert_eq!(
        error,
        "the derivative of output 0, element 0, with respect to input 0, element 0, is NaN, but finite differences \
         give NaN"
    );
    Ok(())
}

#[test]
fn a_comparison_in_place_has_a_gradient_of_zero_for_both_operands() -> Result<()> {
    type Compared = for<'a> fn(&'a mut Tensor, &Tensor) -> Result<&'a mut Tensor>;
    let all: [Compared; 6] = [
        aten::eq__Tensor,
        aten::ne__Tensor,
        aten::lt__Tensor,
        aten::le__Tensor,
        aten::gt__Tensor,
        aten::ge__Tensor,
    ];
    for compare in all {
        let (bound, mut written) = (leaf(&[0.5])?, Tensor::from([1.0, 0.25]));
        compare(&mut written, &bound)?;
        assert!(written.requires_grad());
        written.sum()?.backward()?;
        assert_eq!(grad_of(&bound), [0.0]);
    }
    let x = leaf(&[1.0, 2.0])?;
    let mut written = x.mul(2)?;
    aten::le__Scalar(&mut written, 2.into())?;
    written.sum()?.backward()?;
    assert_eq!(grad_of(&x), [0.0, 0.0]);
    Ok(())
}

#[test]
fn polygamma_in_place_has_the_slope_of_the_next_order() -> Result<()> {
    let x = leaf(&[0.5, 2.5])?;
    let mut written = x.mul(1)?;
    aten::polygamma_(&mut written, 1)?;
    written.sum()?.backward()?;
    let slope = aten::polygamma(2, &aten::detach(&x)?)?;
    assert_eq!(grad_of(&x), slope.to_vec::<f64>()?);
    Ok(())
}

#[test]
fn the_gradient_of_pairs_may_lie_in_any_way() -> Result<()> {
    let x = Tensor::from([[[Complex64::new(1.0, 2.0)]]]);
    x.set_requires_grad(true)?;
    aten::view_as_real(&x)?.permute(&[2, 1, 3, 0])?.mul(2)?.sum()?.backward()?;
    let grad = x.grad().expect("a gradient").to_vec::<Complex64>()?;
    assert_eq!(grad, [Complex64::new(2.0, 2.0)]);
    Ok(())
}
