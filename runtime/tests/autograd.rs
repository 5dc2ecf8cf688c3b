//! Rules of autograd that need no operators of `aten`: which tensors are views, where gradients go, what hooks see.
#![forbid(unsafe_code)]

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use torch_library::autograd::{self, Context, Function, GradOptions};
use torch_library::guard::no_grad;
use torch_library::{derivatives, prelude::*};

torch_library! {
    /// A view, an in-place operation, and operators that return tensors that they did not make.
    mod rules {
        whole(Tensor(a) self) -> Tensor(a);
        undo(Tensor(a) self) -> Tensor(a);
        derived_undo(Tensor(a) self) -> Tensor(a);
        this(Tensor(a) self) -> Tensor(a);
        second(Tensor(a) self, Tensor other) -> Tensor(a);
        copy_or_view(Tensor(a) self) -> Tensor(a);
        both(Tensor(a) self) -> Tensor(a)[];
        reread(Tensor(a) self, ScalarType dtype) -> Tensor(a);
        scale_(Tensor(a!) self, float by) -> Tensor(a!);
        sum_of_two(Tensor self, Tensor other) -> Tensor;
    }
}

#[torch_impl(rules, CPU)]
mod cpu {
    use super::*;

    fn whole(this: &Tensor) -> Result<Tensor> {
        this.strided_view(this.sizes(), this.strides(), this.storage_offset())
    }

    fn undo(this: &Tensor) -> Result<Tensor> {
        Ok(this.base().unwrap_or_else(|| this.clone()))
    }

    fn derived_undo(this: &Tensor) -> Result<Tensor> {
        undo(this)
    }

    fn this(this: &Tensor) -> Result<Tensor> {
        Ok(this.clone())
    }

    fn second(_: &Tensor, other: &Tensor) -> Result<Tensor> {
        Ok(other.clone())
    }

    /// A copy, as the schema allows.
    fn copy_or_view(this: &Tensor) -> Result<Tensor> {
        Ok(Tensor::from(this.to_vec::<f64>()?))
    }

    fn both(this: &Tensor) -> Result<Vec<Tensor>> {
        Ok(vec![undo(this)?, whole(this)?])
    }

    fn reread(this: &Tensor, dtype: DType) -> Result<Tensor> {
        let storage = this.storage().clone();
        Tensor::from_storage(
            storage,
            this.sizes(),
            this.strides(),
            this.storage_offset(),
            dtype,
            this.key_set(),
        )
    }

    fn scale_(this: &mut Tensor, by: f64) -> Result<&mut Tensor> {
        let values: Vec<f64> = this.to_vec()?;
        this.fill_from(values.into_iter().map(|value| value * by))?;
        Ok(this)
    }

    fn sum_of_two(this: &Tensor, other: &Tensor) -> Result<Tensor> {
        let (this, other) = (this.to_vec::<f64>()?, other.to_vec::<f64>()?);
        Ok(Tensor::from(this.iter().zip(other).map(|(a, b)| a + b).collect::<Vec<_>>()))
    }
}

derivatives! {
    in rules;

    copy_or_view(Tensor(a) self) -> Tensor(a) { self => grad.clone() }
    derived_undo(Tensor(a) self) -> Tensor(a) { self => grad.clone() }
    this(Tensor(a) self) -> Tensor(a) { self => grad.clone() }
    scale_(Tensor(a!) self, float by) -> Tensor(a!) { self => scaled(grad, by)? }
    sum_of_two(Tensor self, Tensor other) -> Tensor { self => scaled(grad, 1.0)?, other => scaled(grad, 1.0)? }
}

fn scaled(tensor: &Tensor, by: f64) -> Result<Tensor> {
    Ok(Tensor::from(tensor.to_vec::<f64>()?.into_iter().map(|x| x * by).collect::<Vec<_>>()))
}

fn leaf() -> Result<Tensor> {
    let leaf = Tensor::from([1.0, 2.0]);
    leaf.set_requires_grad(true)?;
    Ok(leaf)
}

fn ones() -> Option<Tensor> {
    Some(Tensor::from([1.0, 1.0]))
}

fn gradient(of: &Tensor, to: &Tensor) -> Result<Vec<f64>> {
    let grads = autograd::grad(&[of], &[to], &[ones()], GradOptions::new())?;
    grads[0].as_ref().expect("there is one").to_vec()
}

/// A copy of its input.
fn copied(x: &Tensor) -> Result<Tensor> {
    rules::sum_of_two(x, &Tensor::from([0.0, 0.0]))
}

#[test]
fn a_result_that_is_a_base_is_replaced_by_a_view_of_it() -> Result<()> {
    type Operator = fn(&Tensor) -> Result<Tensor>;
    let undos: [Operator; 3] = [rules::undo, rules::derived_undo, |x| Ok(rules::both(x)?.remove(0))];
    for undo in undos {
        let y = copied(&leaf()?)?;
        let view = rules::whole(&y)?;
        let again = undo(&view)?;
        assert!(!y.is_view() && view.base().is_some_and(|base| base.is_same(&y)));
        assert!(!again.is_same(&y) && again.base().is_some_and(|base| base.is_same(&y)));
        assert!(y.requires_grad() && again.requires_grad() && again.shares_storage_with(&y));
        assert_eq!(undo(&y)?.to_vec::<f64>()?, [1.0, 2.0]);
    }
    Ok(())
}

#[test]
fn tensors_do_not_become_views_of_unrelated_ones() -> Result<()> {
    let (a, b) = (Tensor::from([1.0]), Tensor::from([2.0]));
    let (of_a, of_b) = (rules::whole(&a)?, rules::whole(&b)?);
    let (c, d) = (rules::second(&of_a, &b)?, rules::second(&of_b, &a)?);
    // They have no memory in common with the arguments that the schema says they are views of.
    assert!([&a, &b, &c, &d].into_iter().all(|tensor| !tensor.is_view() && !tensor.requires_grad()));
    Ok(())
}

#[test]
fn a_view_that_is_its_own_argument_leaves_the_leaf_a_leaf() -> Result<()> {
    let x = leaf()?;
    let same = rules::this(&x)?;
    assert!(x.is_leaf()? && !same.is_same(&x) && !same.is_leaf()?);
    assert_eq!(gradient(&same, &x)?, [1.0, 1.0]);
    assert!(no_grad(|| rules::this(&x))?.is_same(&x));
    Ok(())
}

#[test]
fn a_view_as_integers_requires_no_gradient() -> Result<()> {
    let y = copied(&leaf()?)?;
    let view = rules::reread(&y, DType::Int64)?;
    assert!(view.is_view() && !view.requires_grad());
    view.set_requires_grad(false)?;
    assert!(!view.requires_grad() && view.grad_fn()?.is_none());
    Ok(())
}

#[test]
fn a_view_as_other_floats_is_refused_before_it_is_written() -> Result<()> {
    let y = copied(&leaf()?)?;
    let error = rules::scale_(&mut rules::reread(&y, DType::Float32)?, 3.0).unwrap_err();
    let expected = "rules::scale_: a view of float64 as float32 has no derivative, so autograd cannot follow writes to \
                    either of them\n  help: write to a copy, or inside `no_grad`";
    assert_eq!((error.kind(), error.to_string().as_str()), (ErrorKind::Autograd, expected));
    assert_eq!(y.version(), 0);
    Ok(())
}

#[test]
fn a_gradient_is_retained_for_the_value_after_a_write() -> Result<()> {
    let x = leaf()?;
    let mut y = copied(&x)?;
    y.retain_grad()?;
    rules::scale_(&mut y, 3.0)?;
    y.retain_grad()?;
    assert_eq!(gradient(&y, &x)?, [3.0, 3.0]);
    assert_eq!(y.grad().expect("it is retained").to_vec::<f64>()?, [1.0, 1.0]);
    Ok(())
}

#[test]
fn a_tensor_is_not_its_own_gradient() -> Result<()> {
    let x = leaf()?;
    let error = x.set_grad(Some(x.clone())).unwrap_err().to_string();
    assert!(error.starts_with("a tensor cannot be its own gradient"), "{error}");
    assert!(x.grad().is_none());
    Ok(())
}

/// What a function does besides copying its input.
#[derive(Clone, Copy)]
enum Mark {
    /// Marks the input as written to, and returns a copy.
    DirtyAndGone,
    /// Returns the input, marked as constant.
    ConstantInput,
    /// Returns a view of the input, marked as constant, and a copy.
    ConstantView,
}

impl Function for Mark {
    fn name(&self) -> &'static str {
        "MarkBackward"
    }

    fn forward(&self, context: &mut Context, inputs: &[&Tensor]) -> Result<Vec<Tensor>> {
        let copy = scaled(inputs[0], 1.0)?;
        Ok(match self {
            Mark::DirtyAndGone => {
                context.mark_dirty(inputs[0]);
                vec![copy]
            }
            Mark::ConstantInput => {
                context.mark_non_differentiable(inputs[0]);
                vec![inputs[0].clone()]
            }
            Mark::ConstantView => {
                let view = rules::whole(inputs[0])?;
                context.mark_non_differentiable(&view);
                context.save_for_backward(&[&view]);
                vec![view, copy]
            }
        })
    }

    fn backward(&self, context: &Context, grads: Vec<Option<Tensor>>) -> Result<Vec<Option<Tensor>>> {
        assert!(context.saved().iter().all(|saved| saved.grad_fn().is_ok_and(|node| node.is_none())));
        Ok(vec![grads.into_iter().flatten().last()])
    }
}

#[test]
fn what_is_marked_as_written_to_must_be_returned() -> Result<()> {
    let expected = "MarkBackward marked a tensor of sizes [2] as written to, but did not return it, so the tensor \
                    would keep the history of its old value\n  \
                    help: return each tensor that `mark_dirty` is called with";
    for y in [copied(&leaf()?)?, Tensor::from([1.0, 2.0])] {
        let before = y.version();
        assert_eq!(autograd::apply(Mark::DirtyAndGone, &[&y]).unwrap_err().to_string(), expected);
        assert_eq!(y.version(), before + 1, "it was written to nevertheless");
    }
    Ok(())
}

#[test]
fn outputs_marked_as_constant_require_no_grad() -> Result<()> {
    let x = leaf()?;
    let same = autograd::apply(Mark::ConstantInput, &[&x])?.remove(0);
    assert!(!same.is_same(&x) && !same.requires_grad() && !same.is_view() && same.shares_storage_with(&x));
    assert!(x.requires_grad() && x.is_leaf()?);

    let outputs = autograd::apply(Mark::ConstantView, &[&x])?;
    assert!(!outputs[0].requires_grad() && outputs[0].is_leaf()? && outputs[0].shares_storage_with(&x));
    let options = GradOptions::new().create_graph(true);
    let grads = autograd::grad(&[&outputs[1]], &[&x], &[ones()], options)?;
    assert_eq!(grads[0].as_ref().expect("there is one").to_vec::<f64>()?, [1.0, 1.0]);
    Ok(())
}

#[test]
fn the_gradient_of_a_root_has_its_sizes() -> Result<()> {
    let x = leaf()?;
    let wrong = Some(Tensor::from([[1.0, 1.0], [1.0, 1.0]]));
    let error = autograd::grad(&[&copied(&x)?], &[&x], &[wrong], GradOptions::new()).unwrap_err();
    assert_eq!(error.to_string(), "the gradient of output 0 has sizes [2, 2], but the output has [2]");
    Ok(())
}

#[test]
fn a_complex_root_needs_a_gradient() -> Result<()> {
    let z = Tensor::from([Complex64::new(1.0, 2.0)]);
    z.set_requires_grad(true)?;
    let error = z.backward().unwrap_err().to_string();
    assert!(error.starts_with("output 0 is of complex128: a gradient can be created implicitly"), "{error}");
    Ok(())
}

#[test]
fn hooks_see_only_gradients_that_are_of_use() -> Result<()> {
    let (x, w) = (leaf()?, leaf()?);
    let y = copied(&w)?;
    let calls = Arc::new(AtomicUsize::new(0));
    for tensor in [&y, &w] {
        let calls = calls.clone();
        tensor.register_hook(move |_| {
            calls.fetch_add(1, Ordering::Relaxed);
            Ok(None)
        })?;
    }
    let both = rules::sum_of_two(&copied(&x)?, &y)?;
    let keep = GradOptions::new().retain_graph(true);
    autograd::grad(&[&both], &[&x], &[ones()], keep)?;
    autograd::grad(&[&both, &y], &[&x], &[ones(), ones()], keep)?;
    autograd::grad(&[&rules::sum_of_two(&x, &w)?], &[&x], &[ones()], keep)?;
    assert_eq!(calls.load(Ordering::Relaxed), 0);
    autograd::grad(&[&both], &[&x, &w], &[ones()], keep)?;
    assert_eq!(calls.load(Ordering::Relaxed), 2);
    Ok(())
}

#[test]
fn a_hook_goes_when_it_is_removed() -> Result<()> {
    let held = Arc::new(());
    let x = leaf()?;
    for tensor in [&x, &copied(&x)?] {
        let (itself, held) = (tensor.clone(), held.clone());
        let hook = tensor.register_hook(move |_| {
            let _ = (&itself, &held);
            panic!("it was removed");
        })?;
        let other = tensor.register_hook(|_| Ok(None))?;
        hook.remove();
        hook.clone().remove();
        drop(other);
    }
    assert_eq!(Arc::strong_count(&held), 1);
    assert_eq!(gradient(&copied(&x)?, &x)?, [1.0, 1.0]);
    let weak = x.downgrade();
    drop(x);
    assert!(weak.upgrade().is_none(), "a removed hook holds nothing");
    Ok(())
}

#[test]
fn a_hook_may_remove_itself() -> Result<()> {
    let x = leaf()?;
    let own = Arc::new(std::sync::Mutex::new(None::<autograd::HookHandle>));
    let (calls, handle) = (Arc::new(AtomicUsize::new(0)), own.clone());
    let count = calls.clone();
    let hook = x.register_hook(move |_| {
        count.fetch_add(1, Ordering::Relaxed);
        handle.lock().unwrap().take().expect("it runs once").remove();
        Ok(None)
    })?;
    *own.lock().unwrap() = Some(hook);
    for _ in 0..2 {
        gradient(&copied(&x)?, &x)?;
    }
    assert_eq!(calls.load(Ordering::Relaxed), 1);
    assert_eq!(Arc::strong_count(&calls), 1);
    Ok(())
}

#[test]
fn a_copy_is_no_view_whatever_the_schema_allows() -> Result<()> {
    let leaf = leaf()?;
    let base = copied(&leaf)?;
    let mut copy = rules::copy_or_view(&base)?;
    assert!(!copy.is_view());
    rules::scale_(&mut copy, 10.0)?;
    assert_eq!(gradient(&base, &leaf)?, [1.0, 1.0]);
    Ok(())
}
