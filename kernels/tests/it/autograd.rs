//! Gradients: the graph, the backward pass, and mistakes that must be errors.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

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

fn values(tensor: &Tensor) -> Vec<f64> {
    tensor.to_vec().unwrap()
}

fn grad_of(x: &Tensor) -> Vec<f64> {
    values(&x.grad().expect("a gradient"))
}

#[test]
fn a_gradient_reaches_every_leaf_and_adds_up() -> Result<()> {
    let (x, y) = (leaf(&[1.0, 2.0])?, leaf(&[3.0, 4.0])?);
    x.mul(&y)?.add(&x)?.sum()?.backward()?;
    assert_eq!((grad_of(&x), grad_of(&y)), (vec![4.0, 5.0], vec![1.0, 2.0]));
    x.sum()?.backward()?;
    assert_eq!(grad_of(&x), [5.0, 6.0]);
    x.set_grad(None)?;
    assert!(x.grad().is_none());
    Ok(())
}

#[test]
fn what_was_broadcast_is_summed() -> Result<()> {
    let (row, column) = (leaf(&[1.0, 2.0, 3.0])?, leaf(&[10.0, 20.0])?);
    row.mul(&column.unsqueeze(1)?)?.sum()?.backward()?;
    assert_eq!((grad_of(&row), grad_of(&column)), (vec![30.0; 3], vec![6.0; 2]));
    Ok(())
}

#[test]
fn nodes_have_pytorchs_names() -> Result<()> {
    let x = leaf(&[1.0])?;
    let y = x.exp()?.mul(2)?;
    let node = y.grad_fn()?.expect("it was computed");
    assert_eq!(node.name(), "MulBackward1");
    let before = node.edges()[0].as_ref().expect("an edge");
    assert_eq!((before.node.name(), before.input_nr), ("ExpBackward0", 0));
    let end = before.node.edges()[0].as_ref().expect("an edge");
    assert_eq!(end.node.name(), "AccumulateGrad");
    assert!(x.is_leaf()? && !y.is_leaf()? && y.requires_grad());
    Ok(())
}

/// The names of the nodes from a result to a leaf, over first inputs.
fn nodes(result: &Tensor) -> Result<Vec<&'static str>> {
    let mut node = result.grad_fn()?;
    let mut names = Vec::new();
    while let Some(known) = node {
        names.push(known.name());
        node = known.edges().iter().flatten().next().map(|edge| edge.node.clone());
    }
    Ok(names)
}

#[test]
fn composites_have_the_nodes_of_pytorch() -> Result<()> {
    let x = aten::ones::with(&[2, 3, 4]).dtype(Some(DType::Float64)).call()?;
    x.set_requires_grad(true)?;
    let ones = |sizes: &[i64]| aten::ones::with(sizes).dtype(Some(DType::Float64)).call();
    assert_eq!(nodes(&x.reshape(&[6, 4])?)?, ["ViewBackward0", "AccumulateGrad"]);
    let half = x.narrow(2, 0, 2)?;
    assert_eq!(nodes(&half.reshape(&[6, 2])?)?[..2], ["ReshapeAliasBackward0", "SliceBackward0"]);
    let copied = ["UnsafeViewBackward0", "CloneBackward0", "SliceBackward0"];
    assert_eq!(nodes(&half.reshape(&[12])?)?[..3], copied);

    let swapped = x.transpose(0, 1)?; // not a tall matrix
    let product = aten::matmul(&swapped, &ones(&[4, 2])?)?;
    assert_eq!(nodes(&product)?[..2], ["UnsafeViewBackward0", "BmmBackward0"]);
    let weight = ones(&[5, 3])?;
    weight.set_requires_grad(true)?;
    let product = aten::matmul(&weight, &x)?;
    assert_eq!(nodes(&product)?[..3], ["CloneBackward0", "TransposeBackward0", "UnsafeViewBackward0"]);
    assert_eq!(
        nodes(&aten::linear::with(&x, &ones(&[2, 4])?).bias(Some(&ones(&[])?)).call()?)?[0],
        "AddBackward0"
    );

    let image = x.unsqueeze(0)?;
    let image = aten::contiguous::with(&image).memory_format(MemoryFormat::ChannelsLast).call()?;
    let pooled = aten::adaptive_avg_pool2d(&image, &[1, 1])?;
    assert_eq!(nodes(&pooled)?[..2], ["AsStridedBackward1", "MeanBackward1"]);
    Ok(())
}

#[test]
fn nothing_is_recorded_where_nobody_asks() -> Result<()> {
    let x = leaf(&[1.0])?;
    assert!(no_grad(|| x.mul(2))?.is_leaf()?);
    assert!(!no_grad(|| x.mul(2))?.requires_grad());
    let detached = x.mul(2)?.detach()?;
    assert!(detached.is_leaf()? && !detached.requires_grad() && !detached.is_view());
    assert!(aten::argmax(&x)?.is_leaf()?);
    Ok(())
}

#[test]
fn a_second_pass_needs_the_graph() -> Result<()> {
    let x = leaf(&[2.0])?;
    let y = x.mul(&x)?.sum()?;
    autograd::backward(&[&y], &[], GradOptions::new().retain_graph(true))?;
    y.backward()?;
    assert_eq!(grad_of(&x), [8.0]);
    let error = y.backward().unwrap_err().to_string();
    assert!(error.contains("MulBackward0") && error.contains("retain_graph(true)"), "{error}");
    Ok(())
}

#[test]
fn gradients_have_gradients() -> Result<()> {
    let x = leaf(&[2.0, 3.0])?;
    let cube = x.mul(&x)?.mul(&x)?.sum()?;
    let create = GradOptions::new().create_graph(true);
    let first = autograd::grad(&[&cube], &[&x], &[], create)?.remove(0).expect("a gradient");
    assert_eq!(values(&first), [12.0, 27.0]);
    let second = autograd::grad(&[&first.sum()?], &[&x], &[], create)?.remove(0).expect("a gradient");
    assert_eq!(values(&second), [12.0, 18.0]);
    let third = autograd::grad(&[&second.sum()?], &[&x], &[], GradOptions::new())?.remove(0);
    assert_eq!(values(&third.expect("a gradient")), [6.0, 6.0]);
    assert!(x.grad().is_none(), "`grad` accumulates nothing");
    Ok(())
}

#[test]
fn inputs_that_do_not_matter_are_told() -> Result<()> {
    let (x, y) = (leaf(&[1.0])?, leaf(&[1.0])?);
    let loss = x.sum()?;
    let keep = GradOptions::new().retain_graph(true);
    let error = autograd::grad(&[&loss], &[&x, &y], &[], keep).unwrap_err().to_string();
    assert!(error.contains("input 1") && error.contains("allow_unused"), "{error}");
    let grads = autograd::grad(&[&loss], &[&x, &y], &[], keep.allow_unused(true))?;
    assert!(grads[0].is_some() && grads[1].is_none());
    let error = autograd::grad(&[&loss], &[&Tensor::from([1.0])], &[], keep).unwrap_err().to_string();
    assert!(error.contains("does not require grad"), "{error}");
    Ok(())
}

#[test]
fn gradients_with_respect_to_what_was_computed() -> Result<()> {
    let x = leaf(&[3.0])?;
    let y = x.mul(2)?;
    let z = y.mul(&y)?.sum()?;
    let grads = autograd::grad(&[&z], &[&y, &x], &[], GradOptions::new())?;
    let grads: Vec<_> = grads.iter().flatten().map(values).collect();
    assert_eq!(grads, [vec![12.0], vec![24.0]]);
    Ok(())
}

#[test]
fn the_first_gradient_must_be_known() -> Result<()> {
    let x = leaf(&[1.0, 2.0])?;
    let error = x.mul(2)?.backward().unwrap_err().to_string();
    assert!(error.contains("[2]") && error.contains("pass its gradient"), "{error}");
    let first = Tensor::from([1.0, 10.0]);
    autograd::backward(&[&x.mul(2)?], &[Some(first)], GradOptions::new())?;
    assert_eq!(grad_of(&x), [2.0, 20.0]);
    let error = Tensor::from([1.0]).backward().unwrap_err().to_string();
    assert!(error.contains("does not require grad"), "{error}");
    Ok(())
}

#[test]
fn a_changed_saved_tensor_is_an_error() -> Result<()> {
    let x = leaf(&[1.0, 2.0])?;
    let mut y = x.mul(3)?;
    let z = y.mul(&y)?.sum()?;
    y.mul_(2)?;
    let error = z.backward().unwrap_err().to_string();
    for part in ["MulBackward0", "output 0 of MulBackward1", "saved at version 0", "now at version 1"] {
        assert!(error.contains(part), "{part} in {error}");
    }
    Ok(())
}

#[test]
fn leaves_that_require_grad_are_not_written_to() -> Result<()> {
    let mut x = leaf(&[1.0, 2.0])?;
    let error = x.mul_(2).unwrap_err().to_string();
    assert!(error.contains("mul_") && error.contains("a leaf that requires grad"), "{error}");
    let error = x.select(0, 0)?.mul_(2).unwrap_err().to_string();
    assert!(error.contains("a view of a leaf"), "{error}");
    assert_eq!((values(&x), x.version()), (vec![1.0, 2.0], 0));
    no_grad(|| x.mul_(2).map(drop))?;
    assert_eq!((values(&x), x.version()), (vec![2.0, 4.0], 1));
    Ok(())
}

#[test]
fn a_view_keeps_its_history_when_its_base_is_detached() -> Result<()> {
    let (x, mut base) = (leaf(&[1.0, 2.0])?, Tensor::from([0.0, 0.0]));
    let view = base.narrow(0, 0, 2)?;
    base.copy_(&x)?;
    assert_eq!(view.grad_fn()?.map(|node| node.name()), Some("AsStridedBackward0"));
    aten::detach_(&mut base)?;
    assert!(!base.requires_grad() && view.requires_grad() && !view.is_leaf()?);
    Ok(())
}

#[test]
fn a_write_to_a_view_is_one_to_its_base() -> Result<()> {
    let x = leaf(&[1.0, 2.0, 3.0])?;
    let base = x.mul(2)?;
    let earlier = base.select(0, 1)?;
    let mut view = base.slice(0, 1, 3, 1)?;
    view.mul_(10)?;
    assert_eq!(base.grad_fn()?.map(|node| node.name()), Some("CopySlices"));
    assert_eq!(earlier.grad_fn()?.map(|node| node.name()), Some("AsStridedBackward0"));
    assert!(view.base().is_some_and(|known| known.is_same(&base)));
    autograd::backward(&[&earlier], &[], GradOptions::new().retain_graph(true))?;
    assert_eq!(grad_of(&x), [0.0, 20.0, 0.0]);
    x.set_grad(None)?;
    base.sum()?.backward()?;
    assert_eq!(grad_of(&x), [2.0, 20.0, 20.0]);
    Ok(())
}

#[test]
fn views_that_gradients_cannot_follow_are_not_written_to() -> Result<()> {
    let x = leaf(&[1.0, 2.0])?;
    let base = x.mul(2)?;
    let mut quiet = no_grad(|| base.select(0, 0))?;
    let error = quiet.mul_(&x.select(0, 0)?).unwrap_err().to_string();
    assert!(error.contains("made while grad mode was off"), "{error}");
    let mut parts = aten::split_Tensor(&base, 1)?;
    let error = parts[0].mul_(2).unwrap_err().to_string();
    assert!(error.contains("one of several views"), "{error}");
    Ok(())
}

#[test]
fn hooks_see_and_replace_gradients() -> Result<()> {
    let x = leaf(&[1.0])?;
    let y = x.mul(2)?;
    y.retain_grad()?;
    let calls = Arc::new(AtomicUsize::new(0));
    let seen = calls.clone();
    let doubled = y.register_hook(move |grad| {
        seen.fetch_add(1, Ordering::Relaxed);
        grad.mul(2).map(Some)
    })?;
    x.register_hook(|grad| grad.add(1).map(Some))?;
    let z = y.sum()?;
    autograd::backward(&[&z], &[], GradOptions::new().retain_graph(true))?;
    assert_eq!((grad_of(&x), grad_of(&y)), (vec![5.0], vec![2.0]));
    doubled.remove();
    x.set_grad(None)?;
    z.backward()?;
    assert_eq!((grad_of(&x), calls.load(Ordering::Relaxed)), (vec![3.0], 1));
    Ok(())
}

#[test]
fn hooks_of_a_leaf_run_where_its_gradient_is_returned() -> Result<()> {
    let x = leaf(&[1.0, 2.0])?;
    let hook = x.register_hook(|grad| grad.mul(10).map(Some))?;
    let grad = || autograd::grad(&[&x.mul(3)?.sum()?], &[&x], &[], GradOptions::new());
    assert_eq!(values(&grad()?[0].clone().unwrap()), [30.0, 30.0]);
    assert!(x.grad().is_none());
    let grad_of_two_steps = autograd::grad(&[&x.mul(3)?.exp()?.sum()?], &[&x], &[], GradOptions::new())?;
    assert!(values(grad_of_two_steps[0].as_ref().unwrap())[0] > 600.0);
    hook.remove();
    assert_eq!(values(&grad()?[0].clone().unwrap()), [3.0, 3.0]);
    Ok(())
}

#[test]
fn a_deep_graph_needs_no_deep_stack() -> Result<()> {
    let x = leaf(&[1.0])?;
    let mut y = x.clone();
    for _ in 0..100_000 {
        y = y.add(1)?;
    }
    y.backward()?;
    assert_eq!(grad_of(&x), [1.0]);
    let mut dropped = x.clone();
    for _ in 0..100_000 {
        dropped = dropped.mul(&x)?;
    }
    drop(dropped);
    Ok(())
}

#[test]
fn threads_share_a_graph() -> Result<()> {
    let x = leaf(&[1.0, 2.0])?;
    let shared = x.mul(&x)?;
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..4)
            .map(|_| {
                scope.spawn(|| {
                    for _ in 0..50 {
                        let loss = shared.sum()?;
                        autograd::backward(&[&loss], &[], GradOptions::new().retain_graph(true))?;
                    }
                    Ok::<(), Error>(())
                })
            })
            .collect();
        threads.into_iter().try_for_each(|thread| thread.join().expect("no panic"))
    })?;
    assert_eq!(grad_of(&x), [400.0, 800.0]);
    Ok(())
}

#[test]
fn integer_results_have_no_gradient() -> Result<()> {
    let x = leaf(&[1.0])?;
    let error = aten::sum::with(&x).dtype(Some(DType::Int64)).call().unwrap_err().to_string();
    assert!(error.contains("SumBackward0") && error.contains("int64"), "{error}");
    assert!(Tensor::from([1]).set_requires_grad(true).is_err());
    Ok(())
}

/// `x * factor`, with a saved input and a saved output.
struct Scale(f64);

impl Function for Scale {
    fn name(&self) -> &'static str {
        "ScaleBackward"
    }

    fn forward(&self, context: &mut Context, inputs: &[&Tensor]) -> Result<Vec<Tensor>> {
        let output = inputs[0].mul(self.0)?;
        context.save_for_backward(&[inputs[0], &output]);
        Ok(vec![output])
    }

    fn backward(&self, context: &Context, grads: Vec<Option<Tensor>>) -> Result<Vec<Option<Tensor>>> {
        assert_eq!(values(&context.saved()[0].mul(self.0)?), values(&context.saved()[1]));
        Ok(vec![grads[0].as_ref().map(|grad| grad.mul(self.0)).transpose()?])
    }
}

#[test]
fn functions_have_derivatives_of_their_own() -> Result<()> {
    let x = leaf(&[1.0, 2.0])?;
    let scale = |inputs: &[Tensor]| autograd::apply(Scale(3.0), &[&inputs[0]]);
    assert_eq!(scale(std::slice::from_ref(&x))?[0].grad_fn()?.map(|node| node.name()), Some("ScaleBackward"));
    autograd::gradcheck(scale, std::slice::from_ref(&x), Default::default())?;
    autograd::gradgradcheck(scale, &[x], Default::default())
}

/// Claims that the derivative of a square is 1.
struct Wrong;

impl Function for Wrong {
    fn name(&self) -> &'static str {
        "WrongBackward"
    }

    fn forward(&self, _: &mut Context, inputs: &[&Tensor]) -> Result<Vec<Tensor>> {
        Ok(vec![inputs[0].mul(inputs[0])?])
    }

    fn backward(&self, _: &Context, grads: Vec<Option<Tensor>>) -> Result<Vec<Option<Tensor>>> {
        Ok(grads)
    }
}

#[test]
fn gradcheck_finds_a_wrong_derivative() -> Result<()> {
    let wrong = |inputs: &[Tensor]| autograd::apply(Wrong, &[&inputs[0]]);
    let error = autograd::gradcheck(wrong, &[leaf(&[3.0])?], Default::default()).unwrap_err().to_string();
    assert!(
        error.contains("is 1, but finite differences give 6")
            || error.contains("is 1, but finite differences give 5.99"),
        "{error}"
    );
    Ok(())
}

#[test]
fn gradients_of_complex_numbers_are_pytorchs() -> Result<()> {
    let complex = |values: [(f64, f64); 2]| -> Result<Tensor> {
        let z = Tensor::from(values.map(|(re, im)| Complex64::new(re, im)));
        z.set_requires_grad(true)?;
        Ok(z)
    };
    let (z, w) = (complex([(1.0, 2.0), (-0.5, 0.25)])?, complex([(3.0, -1.0), (2.0, 1.0)])?);
    let x = leaf(&[1.5, -2.0])?;
    z.mul(&w)?.mul(&x)?.add(&z.exp()?.div(&w)?)?.abs()?.sum()?.backward()?;
    let expected = [
        (&z, [1.8715377895139225, 3.5457373537374957, -3.691325158434986, 2.134733793455961]),
        (&w, [3.312833901554962, -0.5350016171471603, 0.9140904624520466, 0.4050582064827962]),
    ];
    for (tensor, expected) in expected {
        let grad = tensor.grad().expect("a gradient").to_vec::<Complex64>()?;
        let parts = grad.iter().flat_map(|z| [z.re, z.im]);
        assert!(
            grad.len() == 2 && parts.zip(expected).all(|(part, expected)| (part - expected).abs() < 1e-12),
            "{grad:?}"
        );
    }
    // The gradient of a real tensor is real, although it was multiplied by complex ones.
    let of_x = grad_of(&x);
    let expected = [7.048114956304814, -1.2497297057022319];
    assert!(
        of_x.len() == 2 && of_x.iter().zip(expected).all(|(part, expected)| (part - expected).abs() < 1e-12),
        "{of_x:?}"
    );
    Ok(())
}

#[test]
fn a_tensor_is_printed_with_where_it_comes_from() -> Result<()> {
    let x = leaf(&[1.0, 2.0])?;
    assert_eq!(x.to_string(), "tensor([1., 2.], dtype=torch.float64, requires_grad=True)");
    let mut y = x.mul(2)?;
    assert_eq!(y.to_string(), "tensor([2., 4.], dtype=torch.float64, grad_fn=<MulBackward1>)");
    let view = no_grad(|| y.select(0, 0))?;
    y.mul_(2)?;
    assert_eq!(view.to_string(), "tensor(4., dtype=torch.float64, grad_fn=<Invalid>)");
    Ok(())
}

#[test]
fn a_write_without_a_derivative_has_that_of_what_it_computes() -> Result<()> {
    let x = leaf(&[0.25, 0.5, 0.75])?;
    let (mut y, z) = (x.mul(2)?, aten::logit(&x.mul(2)?.mul(0.5)?)?);
    y.mul_(0.5)?;
    let mut part = y.slice(0, 0, 2, 1)?;
    let returned = aten::logit_(&mut part)?.clone();
    assert!(returned.is_same(&part));
    y.sum()?.backward()?;
    assert_eq!(values(&y)[..2], values(&z)[..2]);
    let expected = [1.0 / (0.25 * 0.75), 4.0, 1.0];
    let grads = grad_of(&x);
    assert!(grads.len() == 3 && grads.iter().zip(expected).all(|(grad, slope)| (grad - slope).abs() < 1e-9));
    // The function may return a tensor without a gradient.
    let x = leaf(&[0.25, 0.5, 0.75])?;
    let mut y = x.mul(2)?;
    aten::eq__Scalar(&mut y, 1.into())?;
    y.sum()?.backward()?;
    assert_eq!((values(&y), grad_of(&x)), (vec![0.0, 1.0, 0.0], vec![0.0; 3]));
    let error = aten::logit_(&mut leaf(&[0.5])?).unwrap_err().to_string();
    assert!(error.contains("logit_ cannot write in place to a leaf"), "{error}");
    Ok(())
}

#[test]
fn what_becomes_whole_leaves_the_graph() -> Result<()> {
    let x = Tensor::from([1.5, -2.5]);
    x.set_requires_grad(true)?;
    let whole = aten::to_dtype(&x, DType::Int64)?;
    assert_eq!((whole.requires_grad(), whole.to_vec::<i64>()?), (false, vec![1, -2]));
    assert!(aten::to_dtype(&x, DType::Float32)?.requires_grad());
    Ok(())
}

#[test]
fn writes_leave_the_nodes_of_their_operators() -> Result<()> {
    let x = Tensor::from([[1.0, 2.0], [3.0, 4.0]]);
    x.set_requires_grad(true)?;
    let name = |tensor: &Tensor| tensor.grad_fn().map(|node| node.map(|node| node.name()));
    let mut sums = aten::clone(&x)?;
    aten::cumsum_(&mut sums, 0)?;
    assert_eq!(name(&sums)?, Some("CumsumBackward0"));
    let mut products = aten::clone(&x)?;
    aten::cumprod_(&mut products, 1)?;
    assert_eq!(name(&products)?, Some("CumprodBackward0"));
    let mut filled = aten::clone(&x)?;
    aten::index_fill__int_Scalar(&mut filled, 1, &Tensor::from([0i64]), 7.into())?;
    assert_eq!(name(&filled)?, Some("IndexFillBackward0"));
    assert_eq!(name(&aten::movedim_int(&x, 1, 1)?)?, Some("PermuteBackward0"));
    assert_eq!(name(&aten::movedim_int(&x.sum()?, 0, -1)?)?, Some("AliasBackward0"));
    products.sum()?.add(&sums.sum()?)?.add(&filled.sum()?)?.backward()?;
    // From the products 1 + y and x, from the sums 1 for each later row, from the filled part the second column.
    assert_eq!(x.grad().map(|grad| grad.to_vec::<f64>()).transpose()?, Some(vec![5.0, 4.0, 6.0, 5.0]));
    Ok(())
}

#[test]
fn a_part_of_the_memory_before_a_tensor_has_a_gradient() -> Result<()> {
    let x = Tensor::from([0.0, 1.0, 2.0, 3.0]).strided_view(&[3], &[1], 1)?;
    let src = Tensor::from([5.0, 6.0]);
    x.set_requires_grad(true)?;
    src.set_requires_grad(true)?;
    let scattered = aten::as_strided_scatter::call(&x, &src, &[2], &[1], Some(0))?;
    assert_eq!(scattered.to_vec::<f64>()?, [6.0, 2.0, 3.0]);
    scattered.mul(&Tensor::from([1.0, 10.0, 100.0]))?.sum()?.backward()?;
    let gradient = |tensor: &Tensor| tensor.grad().map(|grad| grad.to_vec::<f64>()).transpose();
    assert_eq!((gradient(&x)?, gradient(&src)?), (Some(vec![0.0, 10.0, 100.0]), Some(vec![0.0, 1.0])));
    Ok(())
}

#[test]
fn running_products_have_gradients_at_zeros() -> Result<()> {
    const WEIGHTS: [f64; 4] = [1.0, 10.0, 100.0, 1000.0];
    for row in [
        [2.0, 3.0, -4.0, 5.0],
        [0.0, 3.0, 4.0, 5.0],
        [2.0, 0.0, 4.0, 0.0],
        [0.0, 0.0, 5.0, 6.0],
        [2.0, 3.0, 4.0, 0.0],
    ] {
        let x = Tensor::from(row);
        x.set_requires_grad(true)?;
        x.cumprod(0)?.mul(&Tensor::from(WEIGHTS))?.sum()?.backward()?;
        let product = |at: usize, last: usize| -> f64 {
            (0..=last).filter(|other| *other != at).map(|other| row[other]).product()
        };
        let want = (0..4).map(|at| (at..4).map(|last| WEIGHTS[last] * product(at, last)).sum());
        let found = x.grad().map(|grad| grad.to_vec::<f64>()).transpose()?;
        assert_eq!(found, Some(want.collect::<Vec<f64>>()), "{row:?}");
    }
    Ok(())
}
