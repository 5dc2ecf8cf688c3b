//! Writes that no operator makes, and tensors that no operator can write to: what layers cannot see is refused or
//! counted. And writes of boxed calls, under each layer.

use torch_library::fake::{FakeMode, to_fake};
use torch_library::functionalize::functionalize;
use torch_library::guard::{inference_mode, no_grad};
use torch_library::opcheck::opcheck;
use torch_library::prelude::*;
use torch_library::tracer::trace;
use torch_library::{Dispatcher, torch_impl, torch_library};
use torch_library_kernels::aten;
use torch_library_kernels::prelude::*;
use torch_library_kernels::vmap::vmap;

fn leaf<const N: usize>(values: [f64; N]) -> Tensor {
    let x = Tensor::from(values);
    x.set_requires_grad(true).unwrap();
    x
}

#[track_caller]
fn refused<T: std::fmt::Debug>(result: Result<T>, expected: &str) {
    let message = result.unwrap_err().to_string();
    assert!(message.contains(expected), "{message}");
}

#[test]
fn a_write_to_what_a_gradient_needs_is_counted() -> Result<()> {
    let (x, w) = (leaf([2.0]), Tensor::from([3.0]));
    let y = x.mul(&w)?;
    w.clone().fill(100.0)?;
    refused(y.sum()?.backward(), "version");
    let w = Tensor::from([3.0, 4.0]);
    let y = leaf([2.0, 2.0]).mul(&w)?;
    w.clone().set_geometry(&[2], &[0], 1)?;
    refused(y.sum()?.backward(), "version");
    Ok(())
}

#[test]
fn a_write_below_a_recorded_history_is_refused() -> Result<()> {
    let mut y = leaf([1.0]).mul(2.0)?;
    refused(y.fill(7.0), "autograd has recorded");
    refused(y.copy_from_slice(&[7.0]), "autograd has recorded");
    refused(y.disjoint_parts(0, &[1]).map(drop), "autograd has recorded");
    y.detach()?.fill(7.0)?;
    no_grad(|| y.fill(8.0))?;
    assert_eq!(y.to_vec::<f64>()?, [8.0]);
    Ok(())
}

#[test]
fn elements_that_share_a_place_take_no_values_of_their_own() -> Result<()> {
    let mut x = Tensor::from([1.0]).expand(&[3])?;
    refused(x.fill_from([1.0, 2.0, 3.0]), "several elements share one memory location");
    x.fill(2.0)
}

#[test]
fn a_trace_notes_writes_and_views_that_no_operator_makes() -> Result<()> {
    let x = [Tensor::from([1.0, 2.0])];
    let written = trace(&x, |inputs| {
        let mut y = inputs[0].mul(2.0)?;
        y.fill(7.0)?;
        Ok(vec![y])
    })?;
    assert!(written.1.notes()[0].contains("were written without an operator"), "{:?}", written.1.notes());
    let viewed = trace(&x, |inputs| {
        let y = inputs[0].mul(2.0)?;
        Ok(vec![y.strided_view(&[1], &[1], 1)?.mul(3.0)?])
    })?;
    assert!(viewed.1.notes()[0].contains("a view that no operator made"), "{:?}", viewed.1.notes());
    let seen = trace(&x, |inputs| {
        let mut y = inputs[0].mul(2.0)?;
        y.select_int(0, 1)?.add_(1.0)?;
        y.add_(1.0)?;
        Ok(vec![y])
    })?;
    assert_eq!(seen.1.notes(), &[] as &[String]);
    Ok(())
}

#[test]
fn a_fake_tensor_is_not_written_to_a_real_one() -> Result<()> {
    let (mut real, fake) = (Tensor::from([1.0]), to_fake(&Tensor::from([5.0]))?);
    refused(real.add_(&fake).map(drop), "is a real tensor");
    let _mode = FakeMode::new();
    real.add_(&fake)?;
    Ok(())
}

#[test]
fn undefined_tensors_are_not_empty_ones() {
    let (x, nothing) = (Tensor::from([1.0]), Tensor::undefined());
    refused(x.add(&nothing), "undefined");
    refused(nothing.mul(&x), "undefined");
    refused(nothing.sub(2.0), "undefined");
    refused(aten::where_self(&Tensor::from([true]), &nothing, &x), "undefined");
}

#[test]
fn tensors_of_inference_mode_stay_there() -> Result<()> {
    let mut x = inference_mode(|| Tensor::from([1.0]));
    refused(x.set_requires_grad(true), "inference mode");
    refused(x.add_(1.0).map(drop), "inference mode");
    assert_eq!(x.to_vec::<f64>()?, [1.0]);
    let one = Tensor::from([1.0]); // its keys bring the layers of writes into the call
    inference_mode(|| x.add_(&one).map(drop))?;
    assert_eq!(x.to_vec::<f64>()?, [2.0]);
    Ok(())
}

torch_library! {
    mod lent {
        /// Replaces its argument.
        replace_(Tensor(a!) self, Tensor other) -> Tensor(a!);
        /// Replaces its argument, and returns nothing.
        replace_quietly_(Tensor(a!) self, Tensor other) -> ();
    }
}

#[torch_impl(lent, CPU)]
mod kernels {
    use super::*;

    fn replace_<'a>(this: &'a mut Tensor, other: &Tensor) -> Result<&'a mut Tensor> {
        *this = other.clone();
        Ok(this)
    }

    fn replace_quietly_(this: &mut Tensor, other: &Tensor) -> Result<()> {
        *this = other.clone();
        Ok(())
    }
}

#[test]
fn a_kernel_does_not_replace_the_handle_that_it_is_lent() {
    let (mut x, other) = (Tensor::from([1.0]), Tensor::from([2.0]));
    refused(lent::replace_(&mut x, &other).map(drop), "replaced the handle");
    let mut x = Tensor::from([1.0]);
    refused(lent::replace_quietly_(&mut x, &other), "replaced the handle");
}

#[test]
fn a_check_of_nothing_is_refused() -> Result<()> {
    refused(opcheck(Dispatcher::global().find("aten::relu")?, []), "no samples");
    Ok(())
}

torch_library! {
    mod borrowed {
        /// Adds one.
        bump_(Tensor(a!) self) -> Tensor(a!);
        bump(Tensor self) -> Tensor;
        /// Writes to another type of argument.
        bump.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!);
        /// Has no functional variant.
        jump_(Tensor(a!) self) -> Tensor(a!);
        grow_(Tensor(a!) self) -> Tensor(a!);
    }
}

#[torch_impl(borrowed, CPU)]
mod borrowed_kernels {
    use super::*;

    fn bump_(this: &mut Tensor) -> Result<&mut Tensor> {
        aten::add__Scalar(this, 1.into())
    }

    fn bump(this: &Tensor) -> Result<Tensor> {
        aten::add_Scalar(this, 1.into())
    }

    fn bump_out<'a>(this: &Tensor, out: &'a mut Tensor) -> Result<&'a mut Tensor> {
        aten::copy_(out, &aten::add_Scalar(this, 1.into())?)
    }

    fn jump_(this: &mut Tensor) -> Result<&mut Tensor> {
        aten::add__Scalar(this, 1.into())
    }
}

#[torch_impl(borrowed::grow_, Meta)]
fn grow(this: &mut Tensor) -> Result<&mut Tensor> {
    this.resize(&[9], None)?;
    Ok(this)
}

/// Calls an operator by name, with borrowed tensors.
fn call(name: &str, arguments: &[&Tensor]) -> Result<Tensor> {
    let mut stack: Stack<'_> = arguments.iter().map(|tensor| Value::TensorRef(tensor)).collect();
    Dispatcher::global().find(name)?.call_boxed(&mut stack)?;
    stack.pop_as()
}

#[test]
fn a_boxed_call_writes_to_tensors_that_it_borrows() -> Result<()> {
    let numbers = || Tensor::from([1.0, 2.0]);
    for name in ["borrowed::bump_", "borrowed::jump_"] {
        let x = numbers();
        functionalize(std::slice::from_ref(&x), |inputs| {
            let returned = call(name, &[&inputs[0]])?;
            assert!(returned.is_same(&inputs[0]));
            Ok(vec![])
        })?;
        assert_eq!(x.to_vec::<f64>()?, [2.0, 3.0], "{name} in a functional program");
        let x = numbers();
        vmap([&x], |[x]| call(name, &[&x]))?;
        assert_eq!(x.to_vec::<f64>()?, [2.0, 3.0], "{name} under vmap");
        let x = numbers();
        call(name, &[&aten::_neg_view(&x)?])?;
        assert_eq!(x.to_vec::<f64>()?, [0.0, 1.0], "{name} on a negative view");
    }
    let x = numbers();
    call("borrowed::bump.out", &[&x, &aten::_neg_view(&x)?])?;
    assert_eq!(x.to_vec::<f64>()?, [-2.0, -3.0]);
    let fake = to_fake(&x)?;
    call("borrowed::grow_", &[&fake])?;
    assert_eq!(fake.sizes(), [9]);
    Ok(())
}
