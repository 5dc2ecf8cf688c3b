//! Kernels as single functions: each form of the attribute.

use torch_library::prelude::*;

torch_library! {
    /// Operators that count.
    mod forms {
        several(Tensor self) -> int;
        keyed(Tensor self) -> bool;
        boxed(Tensor self, int k=3) -> int;
        skipped(Tensor self) -> int;
        replaced(Tensor self) -> int;
        stacked(Tensor self) -> int;
        stacked_again(Tensor self) -> int;
        patterns(Tensor self, int a, int b) -> int;
    }
}

#[torch_impl(forms, CPU, Meta)]
fn several(_: &Tensor) -> Result<i64> {
    Ok(1)
}

#[torch_impl(forms, CPU)]
fn keyed(keys: DispatchKeySet, _: &Tensor) -> Result<bool> {
    Ok(keys.highest_priority() == DispatchKey::CPU)
}

#[torch_impl(forms, CPU, boxed)]
fn boxed(operator: OperatorHandle, keys: DispatchKeySet, stack: &mut Stack<'_>) -> Result<()> {
    assert_eq!((operator, keys.highest_priority()), (forms::boxed::handle(), DispatchKey::CPU));
    let k: i64 = stack.pop_as()?;
    stack.pop();
    stack.push(2 * k);
    Ok(())
}

#[torch_impl(forms, CPU)]
fn skipped(_: &Tensor) -> Result<i64> {
    Ok(4)
}

#[torch_impl(forms, Autograd, fallthrough)]
fn skipped();

#[torch_impl(forms, CPU)]
fn replaced(_: &Tensor) -> Result<i64> {
    Ok(5)
}

#[torch_impl(forms::replaced, CPU, override)]
fn replacement(_: &Tensor) -> Result<i64> {
    Ok(6)
}

#[torch_impl(forms, CPU)]
#[torch_impl(forms::stacked_again, CPU)]
fn stacked(_: &Tensor) -> Result<i64> {
    Ok(7)
}

#[torch_impl(forms, CPU)]
#[must_use = "it is a kernel too"]
pub(crate) const fn patterns(_: &Tensor, mut a: i64, b: i64) -> Result<i64> {
    a += b;
    Ok(a)
}

#[torch_fallback(TESTING_ONLY_GenericMode)]
fn count(operator: OperatorHandle, keys: DispatchKeySet, stack: &mut Stack<'_>) -> Result<()> {
    let below = keys.remove(DispatchKey::TESTING_ONLY_GenericMode);
    operator.redispatch_boxed(below, stack)
}

#[torch_fallback(TESTING_ONLY_GenericWrapper, fallthrough)]
fn nothing_to_do();

#[test]
fn every_form_is_called() -> Result<()> {
    let x = Tensor::from([1.0]);
    let meta = Tensor::empty(&[1], DType::Float32, Device::META)?;
    assert_eq!((forms::several(&x)?, forms::several(&meta)?), (1, 1));
    assert!(forms::keyed(&x)?);
    assert_eq!((forms::boxed(&x)?, forms::boxed::call(&x, 4)?), (6, 8));
    assert_eq!((forms::skipped(&x)?, forms::replaced(&x)?), (4, 6));
    assert_eq!((forms::stacked(&x)?, forms::stacked_again(&x)?), (7, 7));
    assert_eq!(forms::patterns(&x, 1, 2)?, 3);
    Ok(())
}

#[test]
fn a_fallthrough_lets_gradients_pass() -> Result<()> {
    let x = Tensor::from([1.0]);
    x.set_requires_grad(true)?;
    assert_eq!((forms::skipped(&x)?, forms::several(&x)?), (4, 1));
    Ok(())
}

#[test]
fn functions_stay_functions() -> Result<()> {
    assert_eq!(several(&Tensor::from([1.0]))?, 1);
    assert_eq!(replaced(&Tensor::from([1.0]))?, 5);
    Ok(())
}
