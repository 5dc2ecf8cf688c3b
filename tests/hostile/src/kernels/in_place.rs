//! Operators that write in place, from several threads and onto themselves.
#![forbid(unsafe_code)]

use std::sync::atomic::{AtomicUsize, Ordering};

use torch_library::prelude::*;
use torch_library_kernels::aten;
use torch_library_kernels::optim::{AdamW, Optimizer, Sgd};

use crate::harness::{allowed, assert_one_of, attempt, count, right_or_refused, together};

const LEN: usize = count(100_000, 64);

/// Threads add one: the result must be the number of additions that were not refused.
pub(crate) fn added_in_threads() -> Result<()> {
    let (x, one, added) = (Tensor::from(vec![0.0; LEN]), Tensor::from(vec![1.0; LEN]), AtomicUsize::new(0));
    let adds = |_| {
        if right_or_refused(aten::add__Tensor(&mut x.clone(), &one).map(drop), &["aten::add_"]).is_some() {
            added.fetch_add(1, Ordering::Relaxed);
        }
    };
    together(&[&adds, &adds, &adds]);
    assert_one_of(&x.to_vec::<f64>()?, &[added.into_inner() as f64]);
    Ok(())
}

/// Threads add one to two views that share half of their elements.
pub(crate) fn overlapping_views_added() -> Result<()> {
    let x = Tensor::from(vec![0.0; LEN]);
    let third = LEN as i64 / 4;
    let views = [x.strided_view(&[2 * third], &[1], 0)?, x.strided_view(&[2 * third], &[1], third)?];
    let added = [AtomicUsize::new(0), AtomicUsize::new(0)];
    let adds = |k: usize| {
        if allowed(aten::add__Scalar(&mut views[k].clone(), 1.into()).map(drop)).is_some() {
            added[k].fetch_add(1, Ordering::Relaxed);
        }
    };
    together(&[&|_| adds(0), &|_| adds(1)]);
    let [first, second] = added.map(|added| added.into_inner() as f64);
    let values = x.to_vec::<f64>()?;
    let parts: Vec<_> = values.chunks(third as usize).collect();
    for (part, want) in parts.iter().zip([first, first + second, second, 0.0]) {
        assert_one_of(part, &[want]);
    }
    Ok(())
}

/// Optimisers that run in several threads and share parameters, gradients and state.
pub(crate) fn optimizers_share_state() -> Result<()> {
    let parameter = Tensor::from(vec![1f32; LEN]);
    parameter.set_requires_grad(true)?;
    parameter.set_grad(Some(Tensor::from(vec![0.5f32; LEN])))?;
    let steps = |round: usize| {
        let parameters = vec![parameter.clone(), parameter.clone()];
        let stepped = match round % 2 {
            0 => Sgd::new(parameters, 0.1).and_then(|sgd| sgd.momentum(0.9)?.step()),
            _ => AdamW::new(parameters, 0.1).and_then(|mut adam| adam.step()),
        };
        attempt(stepped);
    };
    let (shared, grads) = (vec![Tensor::from(vec![1f32; LEN])], [Tensor::from(vec![0.5f32; LEN])]);
    together(&[&steps, &steps, &|_| {
        let mut state = [(); 4].map(|()| shared.clone());
        let [parameters, means, squares, largest] = &mut state;
        attempt(aten::_fused_adam_::call(parameters, &mut grads.clone(), means, squares, largest, &[Tensor::from(1f32)], 0.1, 0.9, 0.99, 0.0, 1e-8, true, false, None, None));
        attempt(parameter.set_grad(Some(grads[0].clone())));
        attempt(shared[0].clone().resize(&[LEN as i64 / 2], None));
        attempt(shared[0].clone().resize(&[LEN as i64], None));
    }]);
    assert_eq!(parameter.numel(), LEN as i64);
    Ok(())
}

/// Lists that contain one tensor many times, also as an operand of itself.
pub(crate) fn one_tensor_twice() -> Result<()> {
    let x = Tensor::from(vec![1.0; LEN]);
    let list = || vec![x.clone(), x.clone(), x.clone()];
    if allowed(aten::_foreach_add__List::call(&mut list(), &list(), 1.into())).is_some() {
        assert_one_of(&x.to_vec::<f64>()?, &[8.0]);
    }
    let adds = |_| attempt(aten::_foreach_add__Scalar::call(&mut list(), 1.into()));
    together(&[&adds, &adds, &|_| attempt(aten::_foreach_norm_Scalar(&list()))]);
    attempt(aten::addcmul_(&mut x.clone(), &x, &x).map(drop));
    attempt(aten::lerp__Scalar(&mut x.clone(), &x, 0.5.into()).map(drop));
    assert!(x.to_vec::<f64>()?.iter().all(|value| value.is_finite()));
    Ok(())
}

/// A matrix is added to its own transpose in place: the result must be as if from a copy, or an error.
pub(crate) fn transposed_onto_itself() -> Result<()> {
    const N: i64 = count(300, 8) as i64;
    let x = Tensor::from((0..N * N).map(|i| i as f64).collect::<Vec<_>>()).strided_view(&[N, N], &[N, 1], 0)?;
    let (turned, before) = (x.strided_view(&[N, N], &[1, N], 0)?, x.to_vec::<f64>()?);
    if allowed(aten::add__Tensor(&mut x.clone(), &turned).map(drop)).is_some() {
        let (n, after) = (N as usize, x.to_vec::<f64>()?);
        assert!((0..n * n).all(|at| after[at] == before[at] + before[at % n * n + at / n]));
    }
    let threads = |_| attempt(aten::copy_(&mut x.clone(), &turned).map(drop));
    together(&[&threads, &threads]);
    Ok(())
}

/// Threads fill tensors from one stream of random numbers.
pub(crate) fn generators_of_kernels() -> Result<()> {
    let (generator, x) = (Generator::with_seed(0), Tensor::from(vec![0f32; LEN]));
    let draws = |_| {
        attempt(aten::normal_::call(&mut x.clone(), 0.0, 1.0, Some(&generator)).map(drop));
        allowed(aten::randperm_generator(64, Some(&generator)).map(|order| {
            let mut order = order.to_vec::<i64>().unwrap();
            order.sort_unstable();
            assert_eq!(order, (0..64).collect::<Vec<_>>());
        }));
        attempt(aten::bernoulli__float::call(&mut x.clone(), 0.5, Some(&generator)).map(drop));
    };
    together(&[&draws, &draws, &|_| generator.manual_seed(1)]);
    Ok(())
}

/// Threads use one tensor as `out` for their results.
pub(crate) fn results_in_threads() -> Result<()> {
    let (out, inputs) = (Tensor::from([0.0]), [1.0, 2.0].map(|value| Tensor::from(vec![value; LEN])));
    let computes = |k: usize| {
        let mut own = out.clone();
        attempt(aten::neg_out::call(&inputs[k], &mut own).map(drop));
        if let Some(values) = allowed(out.to_vec::<f64>()) {
            assert!(values.len() == 1 || values.len() == LEN);
            assert_one_of(&values, &[0.0, -1.0, -2.0]);
        }
    };
    together(&[&|_| computes(0), &|_| computes(1)]);
    Ok(())
}
