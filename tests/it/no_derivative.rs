//! Operators without a derivative: calls work, and gradients through them are errors and never lost.

use std::thread;

use torch_library::autograd::{self, GradOptions};
use torch_library::guard::no_grad;
use torch_library::prelude::*;
use torch_library::{Dispatcher, derivatives};
use torch_library_kernels::aten;
use torch_library_kernels::prelude::*;

torch_library! {
    pub mod underived {
        double(Tensor self) -> Tensor;
        double.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!);
        same(Tensor self) -> Tensor;
        parts(Tensor?[] tensors, Tensor[] others) -> (Tensor, Tensor[]);
        rank(Tensor self) -> (Tensor, int);
        double_(Tensor(a!) self) -> Tensor(a!);
        into(Tensor self, Tensor(a!) out) -> ();
        head(Tensor(a) self) -> Tensor(a);
        composed(Tensor self) -> Tensor;
        elements(Tensor(a -> *) self) -> Tensor(a)[];
    }
}

#[torch_impl(underived, CPU)]
mod cpu {
    use super::*;

    fn double(this: &Tensor) -> Result<Tensor> {
        this.add(this)
    }

    #[torch_impl("double.out")]
    fn double_out<'o>(this: &Tensor, out: &'o mut Tensor) -> Result<&'o mut Tensor> {
        aten::copy_(out, &this.add(this)?)
    }

    fn same(this: &Tensor) -> Result<Tensor> {
        Ok(this.clone())
    }

    fn parts(tensors: &[Option<Tensor>], others: &[Tensor]) -> Result<(Tensor, Vec<Tensor>)> {
        let some: Vec<Tensor> = tensors.iter().flatten().cloned().collect();
        Ok((aten::cat(&some)?, others.iter().map(Tensor::copy).collect::<Result<_>>()?))
    }

    fn rank(this: &Tensor) -> Result<(Tensor, i64)> {
        Ok((aten::argmax(this)?, this.dim() as i64))
    }

    fn double_(this: &mut Tensor) -> Result<&mut Tensor> {
        this.mul_(2)
    }

    fn into(this: &Tensor, out: &mut Tensor) -> Result<()> {
        aten::copy_(out, this).map(drop)
    }

    fn head(this: &Tensor) -> Result<Tensor> {
        this.slice(0, 0, 1, 1)
    }

    fn elements(this: &Tensor) -> Result<Vec<Tensor>> {
        (0..this.size(0)?).map(|index| this.select(0, index)).collect()
    }
}

// Its calls have derivatives, but the kernel for the CPU comes before it.
#[torch_impl(underived, CompositeImplicitAutograd)]
fn composed(this: &Tensor) -> Result<Tensor> {
    this.add(this)
}

#[torch_impl(underived::composed, CPU)]
fn composed_on_the_cpu(this: &Tensor) -> Result<Tensor> {
    this.mul(2)
}

fn leaf() -> Tensor {
    let x = Tensor::from([1.0, 2.0]);
    x.set_requires_grad(true).unwrap();
    x
}

fn node(tensor: &Tensor) -> &'static str {
    tensor.grad_fn().unwrap().map_or("none", |node| node.name())
}

#[track_caller]
fn refused(tensor: &Tensor, operator: &str) {
    let error = tensor.sum().unwrap().backward().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Autograd);
    let text = error.to_string();
    assert!(text.contains(&format!("underived::{operator} has no derivative")), "{text}");
    assert!(text.contains("(crate it)"), "{text}");
}

#[test]
fn the_call_works_and_backward_names_the_operator() -> Result<()> {
    let x = leaf();
    let y = underived::double(&x)?;
    assert_eq!((y.to_vec::<f64>()?, node(&y), y.requires_grad()), (vec![2.0, 4.0], "NotImplemented", true));
    refused(&y, "double");
    assert!(x.grad().is_none());
    // Again: the failed pass must not have used up anything.
    refused(&y.mul(3)?, "double");
    Ok(())
}

#[test]
fn boxed_calls_are_the_same_calls() -> Result<()> {
    let double = Dispatcher::global().find("underived::double")?;
    let y: Tensor = double.call_with([Value::from(&leaf())], [])?.pop_as()?;
    refused(&y, "double");
    Ok(())
}

#[test]
fn nothing_is_recorded_where_no_gradient_is_asked_for() -> Result<()> {
    let x = leaf();
    for y in [no_grad(|| underived::double(&x))?, underived::double(&x.detach()?)?] {
        assert!(y.is_leaf()? && !y.requires_grad());
    }
    Ok(())
}

#[test]
fn lists_and_optional_tensors_are_looked_into() -> Result<()> {
    let (x, constant) = (leaf(), Tensor::from([5.0]));
    let (all, others) = underived::parts(&[None, Some(x.clone())], std::slice::from_ref(&constant))?;
    refused(&all, "parts");
    refused(&others[0], "parts");
    let (_, others) = underived::parts(&[Some(constant.clone())], &[constant, x])?;
    refused(&others[1], "parts");
    Ok(())
}

#[test]
fn results_without_gradients_stay_without() -> Result<()> {
    let (at, rank) = underived::rank(&leaf())?;
    assert!((at.to_vec::<i64>()?, rank) == (vec![1], 1) && at.is_leaf()? && !at.requires_grad());
    Ok(())
}

#[test]
fn a_result_that_is_an_input_is_a_tensor_of_its_own() -> Result<()> {
    let x = leaf();
    let y = underived::same(&x)?;
    assert!(x.is_leaf()? && !y.is_same(&x) && y.shares_storage_with(&x));
    refused(&y, "same");
    x.sum()?.backward()?;
    assert_eq!(x.grad().unwrap().to_vec::<f64>()?, [1.0, 1.0]);
    // Both share memory, so that a write to one would change the other.
    assert!(y.clone().mul_(2).unwrap_err().to_string().contains("a view of a leaf"));
    Ok(())
}

torch_library! {
    pub mod handed_back {
        one(Tensor self) -> Tensor;
        both(Tensor self, Tensor other) -> (Tensor, Tensor[]);
    }
}

#[torch_impl(handed_back, CPU)]
mod handing_back {
    use super::*;

    fn one(this: &Tensor) -> Result<Tensor> {
        Ok(this.clone())
    }

    fn both(this: &Tensor, other: &Tensor) -> Result<(Tensor, Vec<Tensor>)> {
        Ok((this.clone(), vec![other.clone()]))
    }
}

derivatives! {
    in handed_back;
    one(Tensor self) -> Tensor {
        self => grad.mul(2),
    }
    both(Tensor self, Tensor other) -> (Tensor, Tensor[]) {
        self => grads[0].clone(),
        other => grads[1].clone(),
    }
}

/// With a derivative: the input stays a leaf, and gets its gradient.
#[test]
fn a_differentiable_result_that_is_an_input_is_a_tensor_of_its_own() -> Result<()> {
    let (x, other) = (leaf(), Tensor::from([1.0, 2.0]));
    let y = handed_back::one(&x)?;
    assert!(x.is_leaf()? && !y.is_same(&x) && y.shares_storage_with(&x));
    y.sum()?.backward()?;
    assert_eq!(x.grad().unwrap().to_vec::<f64>()?, [2.0, 2.0]);
    let (first, rest) = handed_back::both(&x, &other)?;
    assert!(x.is_leaf()? && !other.requires_grad());
    assert!(first.requires_grad() && rest[0].requires_grad() && !rest[0].is_same(&other));
    Ok(())
}

#[test]
fn a_write_is_refused_at_a_leaf_and_remembered_elsewhere() -> Result<()> {
    let error = underived::double_(&mut leaf()).unwrap_err().to_string();
    assert!(error.starts_with("underived::double_ cannot write in place to a leaf"), "{error}");

    let x = leaf();
    let mut y = x.mul(3)?;
    underived::double_(&mut y)?;
    assert_eq!((y.to_vec::<f64>()?, node(&y), y.version()), (vec![6.0, 12.0], "NotImplemented", 1));
    refused(&y, "double_");

    // A write through a view is a write to its base, whose other elements keep their gradient.
    let whole = x.mul(3)?;
    underived::double_(&mut whole.select(0, 0)?)?;
    assert_eq!(node(&whole), "CopySlices");
    refused(&whole, "double_");
    Ok(())
}

#[test]
fn a_composite_kernel_that_a_backends_kernel_hides_is_named() -> Result<()> {
    let error = underived::composed(&leaf())?.sum()?.backward().unwrap_err().to_string();
    let help = "help: its kernel for CompositeImplicitAutograd, through which gradients would flow, does not serve tensors \
                of a backend with a kernel of its own: register one for `Autograd`, too, or only the composite one";
    assert!(error.ends_with(help), "{error}");
    Ok(())
}

#[test]
fn what_was_there_before_a_write_has_its_part_in_the_gradient() -> Result<()> {
    let x = leaf();
    let mut y = x.mul(3)?;
    underived::double_(&mut y)?;
    // The gradient passes through the write, so it is an error instead of missing.
    let error = autograd::grad(&[&y.sum()?], &[&x], &[], GradOptions::new().allow_unused(true)).unwrap_err();
    assert!(error.to_string().contains("underived::double_ has no derivative"), "{error}");
    Ok(())
}

#[test]
fn a_write_that_is_not_returned_is_remembered_too() -> Result<()> {
    let (x, mut out) = (leaf(), Tensor::from([0.0, 0.0]));
    underived::into(&x, &mut out)?;
    assert_eq!((out.to_vec::<f64>()?, node(&out), out.version()), (vec![1.0, 2.0], "NotImplemented", 1));
    refused(&out, "into");
    let mut whole = Tensor::from([1, 2]);
    underived::into(&x, &mut whole)?; // integers have no gradient
    assert!(whole.is_leaf()? && !whole.requires_grad());
    Ok(())
}

#[test]
fn gradients_do_not_follow_out() -> Result<()> {
    let (x, mut out) = (leaf(), Tensor::from([0.0, 0.0]));
    let error = underived::double_out(&x, &mut out).unwrap_err().to_string();
    assert!(
        error.starts_with("underived::double.out writes to `out`, and autograd does not track"),
        "{error}"
    );
    no_grad(|| underived::double_out(&x, &mut out).map(drop))?;
    assert_eq!(out.to_vec::<f64>()?, [2.0, 4.0]);
    Ok(())
}

#[test]
fn a_view_is_known_as_one() -> Result<()> {
    let x = leaf().mul(1)?;
    let y = underived::head(&x)?;
    assert!(y.is_view() && node(&y) == "NotImplemented");
    refused(&y, "head");
    Ok(())
}

#[test]
fn views_of_a_list_are_not_written_to() -> Result<()> {
    let x = leaf().mul(1)?;
    let mut elements = underived::elements(&x)?;
    assert!(elements.iter().all(Tensor::is_view));
    let error = elements[1].mul_(2).unwrap_err().to_string();
    assert!(error.contains("this view is one of several views that one operator returned"), "{error}");
    Ok(())
}

#[test]
fn other_gradients_of_the_same_graph_are_there() -> Result<()> {
    let (x, z) = (leaf(), leaf());
    let sum = underived::double(&x)?.add(&z)?.sum()?;
    let of_z = autograd::grad(&[&sum], &[&z], &[], GradOptions::new().retain_graph(true))?;
    assert_eq!(of_z[0].as_ref().unwrap().to_vec::<f64>()?, [1.0, 1.0]);
    let error = autograd::grad(&[&sum], &[&x], &[], GradOptions::new().allow_unused(true)).unwrap_err();
    assert!(error.to_string().contains("underived::double"), "{error}");
    Ok(())
}

#[test]
fn threads_do_not_disturb_each_other() {
    thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| refused(&underived::double(&leaf()).unwrap(), "double"));
        }
    });
}
