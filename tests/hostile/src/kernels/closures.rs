//! Closures that run in a loop and write to what the loop reads.
#![forbid(unsafe_code)]

use std::panic::{AssertUnwindSafe, catch_unwind, panic_any};
use std::sync::atomic::{AtomicUsize, Ordering};

use torch_library::{Generator, Storage};
use torch_library::prelude::*;
use torch_library_kernels::aten;
use torch_library_kernels::loops::{Fold, Pointwise, fold, map, ranges};

use crate::harness::{allowed, attempt, count, right_or_refused, rounds, together};

const LEN: usize = count(100_000, 300);

/// Sums elements, and does something else in each of its methods.
struct Sum<D> {
    does: D,
    in_steps: bool,
}

impl<D: Fn() + Sync> Fold<f64> for Sum<D> {
    type Value = f64;

    const IN_LANES: bool = false;

    fn identity(&self) -> f64 {
        0.0
    }

    fn step(&self, sum: f64, element: f64, _: usize) -> f64 {
        if self.in_steps {
            (self.does)();
        }
        sum + element
    }

    fn merge(&self, a: f64, b: f64) -> f64 {
        a + b
    }

    // Elements behind a shared reference must not change.
    fn slice(&self, elements: &[f64], _: usize) -> f64 {
        let before: f64 = elements.iter().sum();
        (self.does)();
        let after: f64 = elements.iter().sum();
        assert_eq!(before, after, "elements changed under a shared reference");
        before
    }
}

fn ones() -> Tensor {
    Tensor::from(vec![1.0; LEN])
}

fn sum(x: &Tensor, in_steps: bool, does: impl Fn() + Sync) -> Result<f64> {
    let out = Tensor::from([0.0]).strided_view(&[], &[], 0)?;
    fold([&out], x, &[true], &Sum { does, in_steps }, |sum: f64| [sum])?;
    out.element(&[])
}

fn assert_sum(found: Result<f64>) {
    if let Some(sum) = allowed(found) {
        assert_eq!(sum, LEN as f64);
    }
}

/// `Fold::slice` fills the tensor that it reads.
pub(crate) fn slice_writes() -> Result<()> {
    let x = ones();
    assert_sum(sum(&x, false, || attempt(x.clone().fill(1.0))));
    let y = ones();
    let found = sum(&y, false, || attempt(y.clone().fill(7.0)));
    assert!(allowed(found).is_none_or(|sum| (1.0..=7.0).contains(&(sum / LEN as f64))));
    Ok(())
}

/// `Fold::slice` resizes the tensor.
pub(crate) fn slice_resizes() -> Result<()> {
    let x = ones();
    assert_sum(sum(&x, false, || {
        attempt(x.clone().resize(&[LEN as i64 * 2], None));
        attempt(x.clone().set_geometry(&[1], &[1], 0));
    }));
    Ok(())
}

/// `Fold::slice` gives the tensor other memory, although the old memory has no other handle.
pub(crate) fn slice_sets_storage() -> Result<()> {
    let mut x = ones();
    let handle = std::sync::Mutex::new(x.strided_view(x.sizes(), &[1], 0)?);
    let set = |x: &mut Tensor, len: usize| {
        attempt(x.set_storage(Storage::from_vec(vec![9.0; len]), &[len as i64], &[1], 0));
    };
    let inner = x.clone();
    assert_sum(sum(&x, false, || {
        set(&mut inner.clone(), 1);
        if let Ok(mut view) = handle.try_lock() {
            set(&mut view, 2);
        }
    }));
    set(&mut x, LEN);
    Ok(())
}

/// `Fold::slice` calls operators on the tensor that it folds, including in-place ones.
pub(crate) fn slice_calls_operators() -> Result<()> {
    let x = ones();
    assert_sum(sum(&x, false, || {
        attempt(aten::zero_(&mut x.clone()).map(drop));
        attempt(aten::add__Tensor(&mut x.clone(), &x).map(drop));
    }));
    let y = ones();
    assert_sum(sum(&y, false, || {
        if let Some(inner) = allowed(aten::sum(&y)) {
            assert_eq!(allowed(inner.element::<f64>(&[])).unwrap_or(LEN as f64), LEN as f64);
        }
        assert_sum(sum(&y, false, || ()));
    }));
    Ok(())
}

/// `Fold::step` writes to the tensor.
pub(crate) fn step_writes() -> Result<()> {
    let x = ones();
    let columns = x.strided_view(&[10, LEN as i64 / 10], &[1, 10], 0)?;
    let out = Tensor::from(vec![0.0; 10]);
    let folded = fold([&out], &columns, &[false, true], &Sum { in_steps: true, does: || attempt(x.clone().fill(1.0)) }, |sum: f64| [sum]);
    if right_or_refused(folded, &[""]).is_some() {
        assert_eq!(out.to_vec::<f64>()?, [LEN as f64 / 10.0; 10]);
    }
    Ok(())
}

/// `Fold::finish` writes to the results and to the input.
pub(crate) fn finish_writes() -> Result<()> {
    let x = ones();
    let rows = x.strided_view(&[100, LEN as i64 / 100], &[LEN as i64 / 100, 1], 0)?;
    let out = Tensor::from(vec![0.0; 100]);
    let folded = fold([&out], &rows, &[false, true], &Sum { in_steps: false, does: || () }, |sum: f64| {
        attempt(out.clone().fill(-1.0));
        attempt(x.clone().fill(1.0));
        attempt(out.clone().resize(&[1 << 20], None));
        attempt(out.clone().set_geometry(&[0], &[1], 0));
        [sum]
    });
    if allowed(folded).is_some() {
        let values = out.to_vec::<f64>()?;
        assert!(values.iter().all(|value| [LEN as f64 / 100.0, -1.0, 0.0].contains(value)));
    }
    Ok(())
}

/// The closure of a `map` fills its input and its output.
pub(crate) fn map_writes() -> Result<()> {
    for view in [false, true] {
        let (x, out) = (ones(), Tensor::from(vec![0.0; LEN]));
        let read = if view { x.strided_view(&[10, LEN as i64 / 10], &[1, 10], 0)? } else { x.clone() };
        let target = if view { out.strided_view(&[10, LEN as i64 / 10], &[LEN as i64 / 10, 1], 0)? } else { out.clone() };
        let calls = AtomicUsize::new(0);
        let mapped = map(&target, [&read], |[element]: [f64; 1]| {
            if calls.fetch_add(1, Ordering::Relaxed).is_multiple_of(1000) {
                attempt(x.clone().fill(1.0));
                attempt(out.clone().fill(5.0));
            }
            element + 1.0
        });
        if allowed(mapped).is_some() {
            assert!(out.to_vec::<f64>()?.iter().all(|value| [2.0, 5.0].contains(value)));
        }
    }
    Ok(())
}

/// The closure of a `map` gives its tensors other sizes and other memory.
pub(crate) fn map_moves_tensors() -> Result<()> {
    for dtype in [DType::Float64, DType::Float32] {
        let (x, out) = (ones(), Tensor::zeros(&[LEN as i64], dtype, Device::CPU)?);
        let calls = AtomicUsize::new(0);
        allowed(map(&out, [&x], |[element]: [f64; 1]| {
            if calls.fetch_add(1, Ordering::Relaxed).is_multiple_of(1000) {
                for tensor in [&x, &out] {
                    attempt(tensor.clone().resize(&[2 * LEN as i64], None));
                    if let Some(fresh) = allowed(Tensor::zeros(&[1], tensor.dtype(), Device::CPU)) {
                        attempt(tensor.clone().set_storage(fresh.storage().clone(), &[1], &[1], 0));
                    }
                }
            }
            element
        }));
    }
    Ok(())
}

/// The closure of a `map` calls operators on the tensors of the `map`.
pub(crate) fn map_calls_operators() -> Result<()> {
    let (x, out) = (Tensor::from(vec![1.0; 100]), Tensor::from(vec![0.0; 100]));
    let mapped = map(&out, [&x], |[element]: [f64; 1]| {
        attempt(aten::neg_(&mut x.clone()).map(drop));
        attempt(aten::neg_(&mut out.clone()).map(drop));
        if let Some(inner) = allowed(aten::add_Tensor(&x, &x).and_then(|sum| sum.element::<f64>(&[0]))) {
            assert_eq!(inner.abs(), 2.0);
        }
        element
    });
    if allowed(mapped).is_some() {
        assert!(out.to_vec::<f64>()?.iter().all(|value| value.abs() <= 1.0));
    }
    Ok(())
}

/// Closures of loops panic midway, on this thread and on others: afterwards the tensors must not be leased.
pub(crate) fn closure_panics() -> Result<()> {
    for at in [0, 1, LEN / 2, LEN - 1] {
        let (x, out) = (ones(), Tensor::from(vec![0.0; LEN]));
        let calls = AtomicUsize::new(0);
        let panics = || assert_ne!(calls.fetch_add(1, Ordering::Relaxed), at, "in the middle");
        let end = catch_unwind(AssertUnwindSafe(|| {
            map(&out, [&x], |[element]: [f64; 1]| {
                panics();
                element
            })
        }));
        assert!(end.is_err() || calls.load(Ordering::Relaxed) <= at);
        calls.store(at, Ordering::Relaxed);
        assert!(catch_unwind(AssertUnwindSafe(|| sum(&x, false, panics))).is_err());
        calls.store(at, Ordering::Relaxed);
        assert!(catch_unwind(AssertUnwindSafe(|| sum(&x, true, panics))).is_err());
        x.clone().fill(2.0)?;
        out.clone().fill(2.0)?;
        assert_eq!(sum(&x, false, || ())?, 2.0 * LEN as f64);
    }
    Ok(())
}

/// A panic payload that itself panics when it is dropped, always.
struct Bomb;

impl Drop for Bomb {
    fn drop(&mut self) {
        panic!("when dropped");
    }
}

/// Each part of a range panics, on whichever thread it runs, with a payload that panics when it is dropped.
pub(crate) fn ranges_panic() -> Result<()> {
    for round in rounds() {
        let done = AtomicUsize::new(0);
        let end = catch_unwind(AssertUnwindSafe(|| {
            ranges(1 << 20, |range| {
                done.fetch_add(range.len(), Ordering::Relaxed);
                match round % 2 {
                    0 => panic!("each part"),
                    _ => panic_any(Bomb),
                }
            });
        }));
        assert!(end.is_err() && done.load(Ordering::Relaxed) > 0);
        std::mem::forget(end);
    }
    let done = AtomicUsize::new(0);
    ranges(1 << 20, |range| {
        done.fetch_add(range.len(), Ordering::Relaxed);
    });
    assert_eq!(done.into_inner(), 1 << 20);
    Ok(())
}

/// Nested ranges, and operators within them, all of which share the threads.
pub(crate) fn ranges_within_ranges() -> Result<()> {
    let (done, x) = (AtomicUsize::new(0), ones());
    ranges(1 << 18, |_| {
        ranges(1 << 17, |_| {
            ranges(1 << 17, |range| {
        done.fetch_add(range.len(), Ordering::Relaxed);
    });
            if let Some(sum) = allowed(aten::sum(&x)) {
                assert_eq!(allowed(sum.element::<f64>(&[])).unwrap_or(LEN as f64), LEN as f64);
            }
        });
    });
    assert!(done.into_inner() >= 1 << 17);
    Ok(())
}

/// Threads run kernels over one tensor, one of which writes.
pub(crate) fn compute_in_threads() -> Result<()> {
    let x = ones();
    let reads = |_| {
        let call = Pointwise::promoting("hostile::twice", [&x, &x]).unwrap();
        let twice = allowed(call.compute(None, DType::Float64, |[a, b]: [f64; 2]| a + b));
        if let Some(values) = twice.and_then(|twice| allowed(twice.to_vec::<f64>())) {
            assert!(values.iter().all(|value| *value == values[0]), "a value and another");
        }
        assert!(allowed(sum(&x, false, || ())).is_none_or(|sum| sum % LEN as f64 == 0.0));
    };
    together(&[&reads, &reads, &|round| attempt(x.clone().fill((round % 5) as f64))]);
    Ok(())
}

/// A loop runs while a generator is held, and its closure draws too, on every thread that has a part of the loop.
pub(crate) fn draws_within_a_turn() -> Result<()> {
    let (generator, len) = (Generator::with_seed(0), 1 << 18);
    let x = Tensor::from(vec![1.0; len]);
    for _ in 0..3 {
        let out = Tensor::from(vec![0.0; len]);
        let drawn = |[x]: [f64; 1]| {
            generator.random();
            x
        };
        attempt(generator.with(|_| map(&out, [&x], drawn)));
        assert_eq!(out.to_vec::<f64>()?, x.to_vec::<f64>()?);
    }
    Ok(())
}
