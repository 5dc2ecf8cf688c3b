//! Reentrancy: hooks and destructors that run in the middle of an operation and start the same operation again.
#![forbid(unsafe_code)]

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use torch_library::autograd::{self, Context, Function, GradOptions};
use torch_library::prelude::*;
use torch_library::vmap::{Level, Randomness};
use torch_library::{ErrorKind, WeakTensor, warning};

fn leaf() -> Result<Tensor> {
    let leaf = Tensor::from([1.0]);
    leaf.set_requires_grad(true)?;
    Ok(leaf)
}

fn go_back(from: &Tensor) -> Result<()> {
    autograd::backward(&[from], &[Some(Tensor::from([1.0]))], GradOptions::new().retain_graph(true))
}

/// Runs `work` on another thread and fails if it deadlocks.
fn ends(work: impl FnOnce() -> Result<()> + Send + 'static) {
    let (sender, receiver) = mpsc::channel();
    thread::spawn(move || sender.send(work().map_err(|error| error.to_string())));
    assert_eq!(receiver.recv_timeout(Duration::from_secs(20)), Ok(Ok(())));
}

#[test]
fn a_hook_that_goes_back_without_end_is_an_error() -> Result<()> {
    let x = leaf()?;
    let held = x.downgrade();
    x.register_hook(move |_| {
        held.upgrade().map_or(Ok(()), |x| go_back(&x))?;
        Ok(None)
    })?;
    let error = go_back(&x).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Recursion);
    assert!(error.to_string().contains("a backward pass: calls are nested too deep"), "{error}");
    Ok(())
}

/// When dropped, reads a tensor's state and registers a hook on it.
struct Nosy(WeakTensor);

impl Nosy {
    fn at(tensor: &Tensor) -> Nosy {
        Nosy(tensor.downgrade())
    }
}

impl Drop for Nosy {
    fn drop(&mut self) {
        if let Some(x) = self.0.upgrade() {
            let _ = (x.grad(), x.grad_fn(), x.is_view(), x.to_string());
            let _ = x.register_hook(|_| Ok(None));
        }
    }
}

#[test]
fn a_hook_that_goes_looks_at_its_tensor() {
    ends(|| {
        let x = leaf()?;
        let nosy = Nosy::at(&x);
        let hook = x.register_hook(move |_| Ok(nosy.0.upgrade()))?;
        hook.remove();
        x.register_hook(|_| Ok(None)).map(drop)
    });
}

/// A function that returns the same tensor as the result of each operation.
struct Again(Tensor, #[expect(dead_code, reason = "dropped, never read")] Nosy);

impl Function for Again {
    fn name(&self) -> &'static str {
        "AgainBackward"
    }

    fn forward(&self, _: &mut Context, _: &[&Tensor]) -> Result<Vec<Tensor>> {
        Ok(vec![self.0.clone()])
    }

    fn backward(&self, _: &Context, grads: Vec<Option<Tensor>>) -> Result<Vec<Option<Tensor>>> {
        Ok(grads)
    }
}

#[test]
fn a_history_that_goes_looks_at_its_tensor() {
    ends(|| {
        let (x, y) = (leaf()?, Tensor::from([2.0]));
        // The second operation replaces the history of the first, whose node is dropped with all it owns.
        (0..2).try_for_each(|_| autograd::apply(Again(y.clone(), Nosy::at(&y)), &[&x]).map(drop))
    });
}

#[test]
fn a_value_that_goes_looks_at_its_wrapper() {
    ends(|| {
        let guard = Level::enter(1, Randomness::Same)?;
        let mut wrapper = guard.level().wrap(Tensor::from([1.0]), 0)?;
        for _ in 0..2 {
            let (value, nosy) = (leaf()?, Nosy::at(&wrapper));
            value.register_hook(move |_| Ok(nosy.0.upgrade()))?;
            guard.level().rewrap(&mut wrapper, value, 0)?;
        }
        Ok(())
    });
}

#[test]
fn a_warning_that_its_listener_causes_again_is_said_once() {
    static HEARD: AtomicUsize = AtomicUsize::new(0);
    ends(|| {
        let resizes = || {
            let out = Tensor::from([1.0]);
            Output::out("ns::f", &out).prepare(&[2], None, DType::Float64, Device::CPU).map(drop)
        };
        let guard = warning::listen(move |_| {
            HEARD.fetch_add(1, Ordering::Relaxed);
            resizes().unwrap();
            panic!("enough");
        });
        assert!(catch_unwind(resizes).is_err());
        resizes()?;
        drop(guard);
        ensure!(HEARD.load(Ordering::Relaxed) == 1, Internal, "heard {HEARD:?} times");
        Ok(())
    });
}

struct Bomb;

impl Drop for Bomb {
    fn drop(&mut self) {
        panic!("a bomb");
    }
}

#[test]
fn hooks_that_panic_as_they_go_are_one_panic() {
    for removes in [false, true] {
        let end = catch_unwind(AssertUnwindSafe(|| {
            let x = leaf().unwrap();
            for _ in 0..3 {
                let bomb = Bomb;
                let hook = x.register_hook(move |_| {
                    let _ = &bomb;
                    Ok(None)
                });
                if removes {
                    hook.unwrap().remove();
                }
            }
        }));
        assert!(end.is_err());
    }
}
