//! Code that runs, or is dropped, in the middle of an operation and starts the same operation again.
#![forbid(unsafe_code)]

use std::panic::{AssertUnwindSafe, catch_unwind};

use torch_library::autograd::{self, Context, Function, GradOptions};
use torch_library::prelude::*;
use torch_library::vmap::{Level, Randomness};
use torch_library::WeakTensor;

use crate::harness::{allowed, attempt, count};

fn leaf() -> Result<Tensor> {
    let x = Tensor::from([1.0]);
    x.set_requires_grad(true)?;
    Ok(x)
}

fn go_back(from: &Tensor) -> Result<()> {
    autograd::backward(&[from], &[Some(Tensor::from([1.0]))], GradOptions::new().retain_graph(true))
}

/// A hook runs the backward pass from its own tensor, which calls the hook again.
pub(crate) fn hook_goes_back_without_end() -> Result<()> {
    let x = leaf()?;
    let held = x.downgrade();
    x.register_hook(move |_| {
        if let Some(x) = held.upgrade() {
            go_back(&x)?;
        }
        Ok(None)
    })?;
    if !cfg!(miri) {
        attempt(go_back(&x)); // Miri's stack has no limit
    }
    Ok(())
}

/// Reads a tensor when it is dropped, and adds to it.
struct Nosy(WeakTensor);

impl Nosy {
    fn at(tensor: &Tensor) -> Nosy {
        Nosy(tensor.downgrade())
    }
}

impl Drop for Nosy {
    fn drop(&mut self) {
        let Some(x) = self.0.upgrade() else { return };
        let _ = (x.grad(), x.grad_fn(), x.is_view(), x.base(), x.is_leaf());
        attempt(x.register_hook(|_| Ok(None)));
        attempt(go_back(&x));
        attempt(x.forget_history());
        assert!(!x.to_string().is_empty());
    }
}

/// Hooks are dropped when they are removed; their destructors read the same tensor, and add to it.
pub(crate) fn hooks_look_when_dropped() -> Result<()> {
    for _ in 0..count(100, 3) {
        let x = leaf()?;
        let nosy = Nosy::at(&x);
        let handle = x.register_hook(move |_| Ok(nosy.0.upgrade().is_none().then(|| Tensor::from([1.0]))))?;
        handle.remove();
        attempt(x.register_hook(|_| Ok(None))); // the destructor has made `x` forget its history
        attempt(go_back(&x));
    }
    Ok(())
}

struct Bomb;

impl Drop for Bomb {
    fn drop(&mut self) {
        std::panic::panic_any(()); // a forgotten payload of this type takes no memory
    }
}

/// Several hooks of one tensor panic when they are dropped, together with it or one by one.
pub(crate) fn hooks_panic_when_dropped() -> Result<()> {
    for removes in [false, true] {
        let end = catch_unwind(AssertUnwindSafe(|| {
            let Some(x) = allowed(leaf()) else { return };
            for _ in 0..3 {
                let bomb = Bomb;
                let handle = x.register_hook(move |_| {
                    let _ = &bomb;
                    Ok(None)
                });
                if let (true, Some(handle)) = (removes, allowed(handle)) {
                    handle.remove();
                }
            }
            drop(x);
        }));
        assert!(end.is_err());
    }
    assert_eq!(Tensor::from([1.0]).to_vec::<f64>()?, [1.0]);
    Ok(())
}

/// Returns the same tensor again and again, each time as the result of another operation.
struct Again(Tensor, #[expect(dead_code, reason = "dropped, never read")] Nosy);

impl Function for Again {
    fn name(&self) -> &'static str {
        "Again"
    }

    fn forward(&self, _: &mut Context, _: &[&Tensor]) -> Result<Vec<Tensor>> {
        Ok(vec![self.0.clone()])
    }

    fn backward(&self, _: &Context, grads: Vec<Option<Tensor>>) -> Result<Vec<Option<Tensor>>> {
        Ok(grads)
    }
}

/// Histories, and the values inside wrappers, are replaced; their destructors read the tensor.
pub(crate) fn values_look_when_dropped() -> Result<()> {
    let x = leaf()?;
    let y = Tensor::from([2.0]);
    for _ in 0..3 {
        attempt(autograd::apply(Again(y.clone(), Nosy::at(&y)), &[&x]));
    }
    attempt(y.forget_history()); // which owns a chain of owners
    let guard = Level::enter(1, Randomness::Same)?;
    let level = guard.level();
    let mut wrapped = level.wrap(Tensor::from([1.0]), 0)?;
    for _ in 0..3 {
        let (value, nosy) = (leaf()?, Nosy::at(&wrapped));
        value.register_hook(move |_| Ok(nosy.0.upgrade()))?;
        attempt(level.rewrap(&mut wrapped, value, 0));
    }
    assert!(!wrapped.to_string().is_empty());
    Ok(())
}
