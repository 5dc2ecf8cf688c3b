//! Graphs of gradients whose tensors are written, moved and shared while the graph is used.
#![forbid(unsafe_code)]

use std::sync::atomic::{AtomicUsize, Ordering};

use torch_library::autograd::{self, GradOptions};
use torch_library::observe::Observer;
use torch_library::prelude::*;
use torch_library::tracer;
use torch_library_kernels::aten;
use torch_library_kernels::vmap::vmap;

use crate::harness::{allowed, attempt, count, rounds, together};

fn leaf(len: usize) -> Result<Tensor> {
    let x = Tensor::from(vec![1.0; len]);
    x.set_requires_grad(true)?;
    Ok(x)
}

/// The backward pass through a chain of 20 000 products, and dropping it, must not take stack for each; the same for a chain of views.
pub(crate) fn deep_graph() -> Result<()> {
    let thread = std::thread::Builder::new().stack_size(2 << 20).spawn(walk_and_drop)?;
    thread.join().expect("nothing panics")
}

fn walk_and_drop() -> Result<()> {
    let x = leaf(1)?;
    let mut y = x.clone();
    for _ in 0..count(20_000, 20) {
        y = aten::mul_Tensor(&y, &x)?;
    }
    let sum = aten::sum(&y)?;
    attempt(autograd::backward(&[&sum], &[], GradOptions::new().retain_graph(true)));
    drop((y, sum));
    let mut view = aten::mul_Tensor(&x, &x)?;
    for _ in 0..count(2_000, 20) {
        view = aten::unsqueeze(&aten::squeeze_dim(&view, 0)?, 0)?;
    }
    attempt(autograd::backward(&[&aten::sum(&view)?], &[], GradOptions::new()));
    Ok(())
}

/// A hook in the backward pass writes to saved tensors, leaves and gradients: it gets an error, or the gradients are right.
pub(crate) fn hooks_write_in_backward() -> Result<()> {
    for _ in rounds() {
        let x = leaf(64)?;
        let square = aten::mul_Tensor(&x, &x)?;
        let product = aten::mul_Tensor(&square, &x)?;
        let (held, inner) = (x.clone(), square.clone());
        product.register_hook(move |grad| {
            torch_library::guard::no_grad(|| {
                attempt(aten::zero_(&mut held.clone()).map(drop));
                attempt(inner.clone().resize(&[1], None));
                attempt(aten::fill__Scalar(&mut grad.clone(), 7.into()).map(drop));
                attempt(held.clone().fill(3.0));
            });
            attempt(held.set_grad(None));
            Ok(None)
        })?;
        attempt(autograd::backward(&[&aten::sum(&product)?], &[], GradOptions::new()));
        if let Some(grad) = x.grad() {
            assert_eq!(grad.sizes(), x.sizes());
        }
    }
    Ok(())
}

/// Threads move the tensors that a graph has saved, while others run the backward pass.
pub(crate) fn saved_tensors_moved() -> Result<()> {
    let x = leaf(1 << 12)?;
    let exp = aten::exp(&x)?;
    let loss = aten::sum(&aten::mul_Tensor(&exp, &aten::exp(&exp)?)?)?;
    let back = |_| attempt(autograd::backward(&[&loss], &[], GradOptions::new().retain_graph(true)));
    together(&[&back, &back, &|round| {
        attempt(exp.clone().set_geometry(&[[1 << 12, 16][round % 2]], &[1], 0));
        attempt(exp.clone().fill(1.0));
        attempt(x.set_grad(None));
    }]);
    Ok(())
}

/// Threads accumulate gradients into one leaf: the result must be the sum of all that were not refused.
pub(crate) fn checkpointed_in_threads() -> Result<()> {
    let (x, done) = (leaf(256)?, std::sync::atomic::AtomicUsize::new(0));
    let back = |_| {
        let loss = aten::sum(&aten::mul_Scalar(&x, 2.into()).unwrap());
        let end = loss.and_then(|loss| autograd::backward(&[&loss], &[], GradOptions::new()));
        if allowed(end).is_some() {
            done.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        }
    };
    together(&[&back, &back]);
    let (grad, want) = (x.grad(), 2.0 * done.into_inner() as f64);
    let values = grad.map(|grad| grad.to_vec::<f64>()).transpose()?.unwrap_or_default();
    assert!(values.iter().all(|value| *value == want), "{:?}, not {want}", values.first());
    Ok(())
}

/// Threads run a function on batches of one tensor, which is written and moved.
pub(crate) fn batches_in_threads() -> Result<()> {
    let x = Tensor::from(vec![1.0; 64]).strided_view(&[8, 8], &[8, 1], 0)?;
    let batched = |_| {
        let sums = vmap([&x], |[row]| aten::sum(&aten::mul_Tensor(&row, &row)?));
        if let Some(sums) = allowed(sums) {
            attempt(sums.to_vec::<f64>());
        }
    };
    together(&[&batched, &batched, &|round| {
        attempt(x.clone().fill((round % 3) as f64));
        attempt(x.clone().set_geometry(&[[8, 4][round % 2], 8], &[8, 1], 0));
    }]);
    Ok(())
}

/// An example leaves its vmap, is resized inside, and is used in the next one.
pub(crate) fn example_leaves_vmap() -> Result<()> {
    let x = Tensor::from([[1.0, 2.0], [3.0, 4.0]]);
    let mut left = None;
    allowed(vmap([&x], |[row]| {
        left = Some(row.clone());
        attempt(row.clone().set_geometry(&[1], &[1], 0));
        attempt(row.clone().resize(&[100], None));
        aten::neg(&row)
    }));
    let row = left.expect("the function ran");
    assert!(!row.to_string().is_empty() && row.to_vec::<f64>().is_err());
    attempt(aten::neg(&row));
    attempt(aten::add_Tensor(&row, &x));
    attempt(aten::add__Tensor(&mut row.clone(), &x).map(drop));
    attempt(vmap([&x], |[other]| aten::add_Tensor(&other, &row)));
    let ended = std::thread::spawn(move || allowed(aten::exp(&row)).is_some());
    assert!(ended.join().is_ok());
    Ok(())
}

/// Threads record programs on one tensor and run them on others that do not fit.
pub(crate) fn traced_in_threads() -> Result<()> {
    let x = Tensor::from(vec![1.0; 16]);
    let traced = |_| {
        let inputs = [x.clone()];
        let Some((_, graph)) = allowed(tracer::trace(&inputs, |inputs| Ok(vec![aten::neg(&inputs[0])?]))) else { return };
        for inputs in [vec![], vec![Tensor::from(["a".len() as i64])], vec![x.clone(), x.clone()], vec![x.clone()]] {
            if let Some(outputs) = allowed(graph.run(&inputs)) {
                assert_eq!(outputs.len(), 1);
            }
        }
    };
    together(&[&traced, &|round| {
        attempt(x.clone().set_geometry(&[[16, 2][round % 2]], &[1], 0));
        attempt(x.clone().fill(2.0));
    }]);
    Ok(())
}

/// An observer of a leaf's gradient accumulation runs a backward pass to the same leaf.
pub(crate) fn leaf_accumulates_within_itself() -> Result<()> {
    let x = leaf(4)?;
    let loss = aten::sum(&aten::mul_Tensor(&x, &x)?)?;
    let go_back = |loss: &Tensor| {
        attempt(autograd::backward(&[loss], &[], GradOptions::new().retain_graph(true)));
    };
    go_back(&loss);
    let (times, observed) = (AtomicUsize::new(0), loss.clone());
    let handle = Observer::new(move |event| {
        if event.name() == "aten::add_.Tensor" && times.fetch_add(1, Ordering::Relaxed) < 2 {
            go_back(&observed);
        }
    });
    let handle = handle.on_this_thread();
    go_back(&loss);
    drop(handle);
    let sums = x.grad().map(|grad| grad.to_vec::<f64>()).transpose()?.unwrap_or_default();
    assert!(sums.iter().all(|sum| *sum == sums[0] && [4.0, 6.0, 8.0].contains(sum)), "{sums:?}");
    Ok(())
}
