//! The errors of autograd, and their messages.

use torch_library::autograd::{self, Context, Function, GradOptions, gradcheck};
use torch_library::guard::{InferenceMode, no_grad};
use torch_library::prelude::*;
use torch_library_kernels::aten;
use torch_library_kernels::prelude::*;

torch_library! {
    pub mod refused {
        total(Tensor[] tensors) -> Tensor;
    }
}

#[torch_impl(refused, CPU)]
fn total(tensors: &[Tensor]) -> Result<Tensor> {
    tensors[0].add(&tensors[1])
}

torch_library::derivatives! {
    in refused;
    total(Tensor[] tensors) -> Tensor {
        tensors => vec![grad.clone(); metadata(tensors).len() + 1],
    }
}

/// An operation with any number of gradients, of any number of elements, which optionally writes to its input.
struct Made {
    gradients: usize,
    elements: i64,
    writes: bool,
}

impl Function for Made {
    fn name(&self) -> &'static str {
        "MadeBackward"
    }

    fn forward(&self, context: &mut Context, inputs: &[&Tensor]) -> Result<Vec<Tensor>> {
        if self.writes {
            context.mark_dirty(inputs[0]);
            return Ok(vec![inputs[0].clone()]);
        }
        Ok(vec![inputs[0].copy()?])
    }

    fn backward(&self, _: &Context, _: Vec<Option<Tensor>>) -> Result<Vec<Option<Tensor>>> {
        let gradient = aten::ones::with(&[self.elements]).dtype(Some(DType::Float64)).call()?;
        Ok(vec![Some(gradient); self.gradients])
    }
}

/// Returns its input, or a view of it.
struct Passed {
    whole: bool,
}

impl Function for Passed {
    fn name(&self) -> &'static str {
        "PassedBackward"
    }

    fn forward(&self, _: &mut Context, inputs: &[&Tensor]) -> Result<Vec<Tensor>> {
        Ok(vec![if self.whole { inputs[0].clone() } else { inputs[0].view(&[2])? }])
    }

    fn backward(&self, _: &Context, grads: Vec<Option<Tensor>>) -> Result<Vec<Option<Tensor>>> {
        Ok(grads)
    }
}

fn leaf() -> Tensor {
    let x = Tensor::from([1.0, 2.0]);
    x.set_requires_grad(true).unwrap();
    x
}

#[track_caller]
fn check<T>(outcome: Result<T>, words: &str) {
    let error = outcome.err().expect("an error").to_string();
    assert!(error.contains(words), "{error}");
}

#[test]
fn first_gradients_that_do_not_fit() {
    let y = leaf().mul(2).unwrap();
    let backward = |grads: &[Option<Tensor>]| autograd::backward(&[&y], grads, GradOptions::new());
    check(backward(&[None, None]), "expected a gradient for each of 1 outputs, but got 2");
    let three = Some(Tensor::from([1.0, 2.0, 3.0]));
    check(backward(&[three]), "the gradient of output 0 has sizes [3], but the output has [2]");
}

#[test]
fn functions_whose_gradients_do_not_fit() -> Result<()> {
    let backward = |gradients, elements| {
        let y = autograd::apply(Made { gradients, elements, writes: false }, &[&leaf()])?.remove(0);
        y.sum()?.backward()
    };
    backward(1, 2)?;
    check(backward(2, 2), "MadeBackward has 1 inputs, but its backward returned 2 gradients");
    let sizes = "MadeBackward returned a gradient of sizes [3] for its input 0, but the input has [2]";
    check(backward(1, 3), sizes);
    let list = refused::total(&[leaf(), leaf()])?;
    check(
        list.sum()?.backward(),
        "the formula for `tensors` of refused::total returned 3 gradients for a list of length 2",
    );
    Ok(())
}

#[test]
fn writes_by_functions_that_gradients_cannot_follow() {
    let write =
        |x: &Tensor, y: &Tensor| autograd::apply(Made { gradients: 2, elements: 2, writes: true }, &[x, y]);
    check(write(&leaf(), &leaf()), "MadeBackward cannot write in place to a leaf that requires grad");
    let integers = Tensor::from([1, 2]);
    check(
        write(&integers, &leaf()),
        "MadeBackward cannot be recorded: it writes to a tensor of int32, which has no",
    );
}

#[test]
fn views_by_functions_are_not_written_to() -> Result<()> {
    for whole in [true, false] {
        let x = leaf();
        let mut y = autograd::apply(Passed { whole }, &[&x])?.remove(0);
        assert!(y.is_view() && !y.is_same(&x));
        check(y.mul_(2), "was made by a custom function");
        y.sum()?.backward()?;
        assert_eq!(x.grad().unwrap().to_vec::<f64>()?, [1.0, 1.0]);
    }
    Ok(())
}

#[test]
fn tensors_without_gradients() -> Result<()> {
    check(Tensor::from([1, 2]).set_requires_grad(true), "a tensor of int32 cannot require grad");
    let (x, plain) = (leaf(), Tensor::from([1.0]));
    let y = x.mul(2)?;
    check(y.set_requires_grad(false), "only a leaf can stop requiring grad");
    y.set_requires_grad(true)?; // it does
    check(x.set_grad(Some(plain.clone())), "[2] of float64 on cpu, not [1] of float64 on cpu");
    check(plain.retain_grad(), "the gradient of a tensor that does not require grad cannot be retained");
    check(
        plain.register_hook(|_| Ok(None)),
        "a gradient hook cannot be registered on a tensor that does not require grad",
    );
    let mut view = x.select(0, 0)?;
    check(aten::detach_(&mut view), "a view cannot be detached in place");
    Ok(())
}

#[test]
fn inference_tensors_are_not_saved() -> Result<()> {
    let inference = {
        let _mode = InferenceMode::new(true);
        Tensor::from([1.0, 2.0]).copy()?
    };
    check(leaf().mul(&inference), "an inference tensor cannot be saved for the backward pass");
    let base = leaf().mul(1)?;
    let mut view = {
        let _mode = InferenceMode::new(true);
        base.select(0, 0)?
    };
    check(view.mul_(2), "was made in inference mode");
    Ok(())
}

#[test]
fn views_whose_base_was_written_to() -> Result<()> {
    let mut base = leaf().mul(1)?;
    let view = no_grad(|| base.select(0, 0))?;
    base.mul_(2)?;
    let words = "the base of a view was written to in place, while gradients are recorded, but this view \
        was made while";
    check(view.grad_fn(), words);
    check(view.mul(2), words);
    Ok(())
}

#[test]
fn functions_that_cannot_be_checked() {
    let twice = |x: &[Tensor]| Ok(vec![x[0].mul(2)?]);
    let single = leaf().to_dtype(DType::Float32).unwrap().detach().unwrap();
    single.set_requires_grad(true).unwrap();
    let words = "input 0 of gradcheck is float32, neither float64 nor complex128";
    check(gradcheck(twice, &[single], Default::default()), words);
    let calls = std::cell::Cell::new(0);
    let fewer = |x: &[Tensor]| {
        calls.set(calls.get() + 1);
        if calls.get() > 1 { Ok(Vec::new()) } else { Ok(vec![x[0].mul(2)?]) }
    };
    let words = "the function returned fewer outputs for another input";
    check(gradcheck(fewer, &[leaf()], Default::default()), words);
}

#[test]
fn statistics_that_require_grad() -> Result<()> {
    let x = Tensor::from([[1.0, 2.0]]);
    let (mean, rstd) = (Tensor::from([[1.5]]), Tensor::from([[2.0]]));
    mean.set_requires_grad(true)?;
    let (grad, ..) =
        aten::native_layer_norm_backward(&x, &x, &[2], &mean, &rstd, None, None, &[true, false, false])?;
    check(grad.sum()?.backward(), "the gradient of a normalisation has no derivative with respect to `mean`");
    Ok(())
}

#[test]
fn arguments_that_cannot_require_grad() -> Result<()> {
    let (x, weight) = (Tensor::from([[0.5, -0.5]]), Tensor::from([1.0, 2.0]));
    weight.set_requires_grad(true)?;
    let loss = || aten::nll_loss::with(&x, &Tensor::from([1i64])).weight(Some(&weight)).call();
    check(loss(), "there is no derivative with respect to `weight`, which requires grad; detach it");
    no_grad(|| loss().map(drop))
}

#[test]
fn saved_tensors_that_nobody_has_a_use_for() -> Result<()> {
    let (x, y) = (leaf(), leaf());
    let mut a = x.mul(2)?;
    let product = a.mul(&y)?.sum()?;
    a.add_(1)?;
    let of_x = autograd::grad(&[&product], &[&x], &[], GradOptions::new());
    check(of_x, "MulBackward0 saved a tensor for its backward pass that has since been written to in place");
    let view = no_grad(|| x.view(&[2]))?; // of a leaf, with no way to it
    let mut y = view.exp()?;
    no_grad(|| aten::exp_(&mut y).map(drop))?;
    check(
        y.sum()?.backward(),
        "ExpBackward0 saved a tensor for its backward pass that has since been written to in place",
    );
    Ok(())
}

#[test]
fn saved_tensors_that_were_detached_in_place() -> Result<()> {
    let x = leaf();
    let mut y = x.mul(2)?;
    let product = y.mul(&x)?.sum()?;
    aten::detach_(&mut y)?;
    let words = "MulBackward0 saved a tensor for its backward pass that has since been detached in place: \
                 output 0 of MulBackward1";
    check(product.backward(), words);
    let mut result = x.exp()?;
    let sum = result.sum()?;
    aten::detach_(&mut result)?; // a node's own output may be
    sum.backward()
}

#[test]
fn leaves_that_are_none_any_more() -> Result<()> {
    let mut x = leaf();
    let sum = x.sum()?;
    aten::detach_(&mut x)?;
    sum.backward()?;
    assert!(x.grad().is_none());
    let sum = leaf().sum()?;
    let mut x = leaf();
    let total = x.sum()?.add(&sum)?;
    aten::detach_(&mut x)?;
    x.mul_(&leaf())?;
    check(total.backward(), "a gradient arrived at a tensor that is no longer a leaf");
    Ok(())
}

#[test]
fn views_from_before_their_base_had_a_history() -> Result<()> {
    let base = Tensor::from([1.0, 2.0]);
    let (mut first, mut second) = (base.view(&[2])?, base.view(&[2])?);
    first.mul_(&leaf())?;
    let words = "exp_ cannot write in place to a view that was a leaf when its base was written to";
    check(aten::exp_(&mut second), words);
    assert_eq!(second.grad_fn()?.map(|node| node.name()), Some("AsStridedBackward0"));
    aten::exp_(&mut second)?; // its history is known now
    Ok(())
}

#[test]
fn leaves_that_changed_their_sizes() -> Result<()> {
    let (mut x, ones) = (leaf(), Tensor::from([[1.0, 1.0], [1.0, 1.0]]));
    let sum = x.mul(&ones)?.sum()?;
    no_grad(|| aten::unsqueeze_(&mut x, 0).map(drop))?;
    sum.backward()?;
    assert_eq!(x.grad().unwrap().sizes(), [1, 2]); // broadcast to what the leaf is now
    let mut x = Tensor::from([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]);
    x.set_requires_grad(true)?;
    let sum = x.mul(2)?.sum()?;
    no_grad(|| aten::transpose_(&mut x, 0, 1).map(drop))?;
    check(sum.backward(), "sizes [3, 2] and [2, 3] do not broadcast");
    Ok(())
}
