//! Gradients, batches and other layers, where user code writes to the tensors that the layers hold.
#![forbid(unsafe_code)]

use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use torch_library::autograd::{self, Context, Function, GradOptions};
use torch_library::prelude::*;
use torch_library::vmap::{Level, Randomness};
use torch_library::{fake, functionalize};

use crate::harness::{allowed, attempt, count, rounds, together};

fn leaf(values: &[f64]) -> Result<Tensor> {
    let x = Tensor::from(values);
    x.set_requires_grad(true)?;
    Ok(x)
}

/// A function that keeps its tensors, and does with them whatever a program says.
struct Keeps {
    kept: Arc<Mutex<Vec<Tensor>>>,
    backward: Backward,
}

impl Keeps {
    fn kept(&self) -> Vec<Tensor> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl Function for Keeps {
    fn name(&self) -> &'static str {
        "KeepsBackward"
    }

    fn forward(&self, context: &mut Context, inputs: &[&Tensor]) -> Result<Vec<Tensor>> {
        let output = Tensor::from_vec(inputs[0].to_vec::<f64>()?, inputs[0].sizes())?;
        context.save_for_backward(&[inputs[0], &output]);
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        kept.extend([inputs[0].clone(), output.clone()]);
        Ok(vec![output])
    }

    fn backward(&self, context: &Context, grads: Vec<Option<Tensor>>) -> Result<Vec<Option<Tensor>>> {
        (self.backward)(context, grads, &self.kept())
    }
}

type Backward = fn(&Context, Vec<Option<Tensor>>, &[Tensor]) -> Result<Vec<Option<Tensor>>>;

fn apply(x: &Tensor, backward: Backward) -> Result<(Tensor, Arc<Mutex<Vec<Tensor>>>)> {
    let kept = Arc::default();
    let output = autograd::apply(Keeps { kept: Arc::clone(&kept), backward }, &[x])?.remove(0);
    Ok((output, kept))
}

/// A function keeps its inputs and outputs, and other threads write to them before and during its backward pass.
pub(crate) fn functions_that_keep_tensors() -> Result<()> {
    let backward: Backward = |context, grads, kept| {
        for tensor in kept {
            attempt(tensor.clone().fill(2.0));
            attempt(tensor.clone().resize(&[1], None));
        }
        let values = allowed(context.saved()[0].to_vec::<f64>()).unwrap_or_default();
        assert!(values.iter().all(|value| value.is_finite()));
        Ok(grads)
    };
    for _ in rounds().take(count(200, 4)) {
        let x = leaf(&[1.0, 2.0])?;
        let (y, kept) = apply(&x, backward)?;
        let kept = kept.lock().unwrap_or_else(PoisonError::into_inner).clone();
        thread::scope(|scope| {
            scope.spawn(|| {
                for tensor in &kept {
                    attempt(tensor.clone().fill(3.0));
                    tensor.bump_version();
                }
            });
            scope.spawn(|| allowed(autograd::backward(&[&y], &[Some(Tensor::from([1.0, 1.0]))], GradOptions::new())));
        });
    }
    Ok(())
}

/// Hooks that write to the tensor that is differentiated, to the gradient that they are given, and to the tensor that owns them.
pub(crate) fn hooks_that_write() -> Result<()> {
    for _ in rounds().take(count(200, 4)) {
        let x = leaf(&[1.0, 2.0])?;
        let (y, _) = apply(&x, |_, grads, _| Ok(grads))?;
        let (mut held, of) = (x.clone(), y.clone());
        y.register_hook(move |grad| {
            attempt(grad.clone().fill(5.0));
            attempt(grad.clone().resize(&[7], None));
            attempt(of.register_hook(|_| Ok(None)));
            attempt(of.forget_history());
            Ok(None)
        })?;
        let inner = x.clone();
        x.register_hook(move |grad| {
            attempt(inner.set_grad(Some(grad.clone())));
            attempt(inner.clone().set_geometry(&[1], &[1], 0));
            attempt(inner.backward());
            Ok(Some(grad.clone()))
        })?;
        attempt(held.fill(9.0));
        attempt(autograd::backward(&[&y], &[Some(Tensor::from([1.0, 1.0]))], GradOptions::new()));
        if let Some(grad) = x.grad() {
            assert!(!grad.to_string().is_empty());
        }
    }
    Ok(())
}

/// Backward functions that return too few gradients, too many, of other sizes or dtypes, or their own inputs.
pub(crate) fn functions_that_lie() -> Result<()> {
    let lies: [Backward; 7] = [
        |_, _, _| Ok(vec![]),
        |_, grads, _| Ok([grads.clone(), grads].concat()),
        |_, _, _| Ok(vec![Some(Tensor::from([1i64, 2]))]),
        |_, _, _| Ok(vec![Some(Tensor::from([1.0, 2.0, 3.0]))]),
        |_, _, _| Ok(vec![Some(Tensor::undefined())]),
        |_, _, kept| Ok(vec![kept.last().cloned()]),
        |context, _, _| Ok(vec![Some(context.saved()[1].with_key_set(DispatchKeySet::EMPTY))]),
    ];
    for lie in lies {
        let x = leaf(&[1.0, 2.0])?;
        let (y, _) = apply(&x, lie)?;
        let first = || [Some(Tensor::from([1.0, 1.0]))];
        attempt(autograd::backward(&[&y], &first(), GradOptions::new()));
        attempt(autograd::grad(&[&y], &[&x], &first(), GradOptions::new()));
        if let Some(grad) = x.grad() {
            assert!(!grad.to_string().is_empty());
            attempt(grad.to_vec::<f64>());
        }
    }
    Ok(())
}

/// Several threads run the backward pass through one graph, while others drop it.
pub(crate) fn graph_shared_by_threads() -> Result<()> {
    let x = leaf(&[1.0, 2.0])?;
    let (y, _) = apply(&x, |_, grads, _| Ok(grads))?;
    let back = |_| {
        let options = GradOptions::new().retain_graph(true);
        attempt(autograd::backward(&[&y], &[Some(Tensor::from([1.0, 1.0]))], options));
    };
    together(&[&back, &back, &|round| {
        attempt(x.set_grad(None));
        let _ = x.grad().map(|grad| grad.to_string());
        let _ = (y.grad_fn().is_ok(), y.is_leaf().is_ok(), y.requires_grad());
        if round == 5 {
            attempt(y.forget_history());
        }
    }]);
    Ok(())
}

/// Wrappers that leave their vmap: they are used after it ended, in another one, and on another thread.
pub(crate) fn levels_that_ended() -> Result<()> {
    let value = Tensor::from([[1.0, 2.0], [3.0, 4.0]]);
    let guard = Level::enter(2, Randomness::Error)?;
    let (mut x, shared) = (guard.level().wrap(value.clone(), 0)?, guard.level().wrap_shared(value.clone())?);
    let level = guard.level();
    let looks = |x: &mut Tensor| {
        assert!(!x.to_string().is_empty());
        assert!(x.to_vec::<f64>().is_err());
        let _ = (level.is_around(x), level.has(x), level.unwrap(x).1);
        attempt(level.rewrap(x, value.clone(), 1));
        attempt(level.rewrap(x, Tensor::from([1.0]), 7));
        attempt(level.wrap(value.clone(), 9));
        attempt(x.set_geometry(&[2], &[1], 0));
        attempt(x.clone().resize(&[64], None));
    };
    looks(&mut x);
    drop(guard);
    looks(&mut x);
    let inner = Level::enter(3, Randomness::Same)?;
    looks(&mut x);
    attempt(inner.level().wrap(x.clone(), 0));
    let on_another = x.clone();
    let ended = thread::spawn(move || {
        assert!(!on_another.to_string().is_empty() && on_another.to_vec::<f64>().is_err());
        attempt(on_another.clone().fill(1.0));
    });
    assert!(ended.join().is_ok());
    std::mem::forget(inner);
    assert!(!shared.to_string().is_empty());
    Ok(())
}

/// Threads in fake mode and in functionalize share one tensor.
pub(crate) fn fake_and_functional_in_threads() -> Result<()> {
    let x = Tensor::from([1.0, 2.0]);
    together(&[
        &|_| {
            if let Some(fake) = allowed(fake::to_fake(&x)) {
                assert!(fake.to_vec::<f64>().is_err() && !fake.to_string().is_empty());
                attempt(fake.clone().resize(&[3], None));
            }
        },
        &|_| {
            if let Some(functional) = allowed(functionalize::to_functional(&x)) {
                attempt(functional.clone().fill(1.0));
                attempt(functionalize::from_functional(&functional).map(|x| x.to_string()));
            }
        },
        &|round| {
            attempt(x.clone().fill(round as f64));
            attempt(x.clone().resize(&[round as i64 % 3], None));
        },
    ]);
    Ok(())
}

/// A backward function runs a backward pass through the graph that it is part of.
pub(crate) fn backward_within_backward() -> Result<()> {
    static SELF: Mutex<Option<Tensor>> = Mutex::new(None);
    let x = leaf(&[1.0, 2.0])?;
    let (y, _) = apply(&x, |_, grads, _| {
        let own = SELF.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(own) = own {
            let options = GradOptions::new().retain_graph(true);
            attempt(autograd::backward(&[&own], &[Some(Tensor::from([1.0, 1.0]))], options));
            attempt(own.forget_history());
        }
        Ok(grads)
    })?;
    *SELF.lock().unwrap_or_else(PoisonError::into_inner) = Some(y.clone());
    attempt(autograd::backward(&[&y], &[Some(Tensor::from([1.0, 1.0]))], GradOptions::new()));
    if let Some(grad) = x.grad() {
        let values = grad.to_vec::<f64>()?;
        assert!(values == [1.0, 1.0] || values == [2.0, 2.0], "{values:?}");
    }
    Ok(())
}
