//! Casts that are made once per region: those of weights, which a region may use many times.

use std::cell::RefCell;
use std::collections::HashMap;
use std::mem::ManuallyDrop;
use std::sync::{Arc, Mutex, PoisonError};

use crate::autocast::{dtype, is_cache_enabled, is_eligible};
use crate::device::DeviceType;
use crate::dtype::DType;
use crate::error::Result;
use crate::guard::{InferenceMode, enable_grad};
use crate::tensor::{Tensor, WeakTensor};

/// The casts, by tensor and type. A weak handle to the tensor keeps its address from being reused for another tensor.
type Casts = HashMap<(usize, DType), (WeakTensor, Tensor)>;

/// The casts of an outermost region, for all threads to which its state was carried; none once the region has ended, so
/// that a thread that works on does not use, in a later region, casts of weights that have changed since.
#[derive(Clone)]
pub(super) struct Cache(Arc<Mutex<Option<Casts>>>);

thread_local! {
    /// The cache of the region that the thread is in.
    ///
    /// It is taken out where the outermost region ends, or work with a carried state, so it needs no destructor, and
    /// remains usable by other thread-local destructors at the end of a thread.
    static CACHE: RefCell<Option<ManuallyDrop<Cache>>> = const { RefCell::new(None) };
}

impl Cache {
    pub(super) fn of_thread() -> Option<Cache> {
        CACHE.with_borrow(|cache| cache.as_deref().cloned())
    }

    /// Sets the thread's cache, and returns the previous one.
    pub(super) fn replace(cache: Option<Cache>) -> Option<Cache> {
        CACHE.replace(cache.map(ManuallyDrop::new)).map(ManuallyDrop::into_inner)
    }

    /// Gives the thread a cache, unless it has one: returns whether the region that is entered is an outermost one.
    pub(super) fn open() -> bool {
        let is_outermost = with_casts(|_| ()).is_none();
        if is_outermost {
            drop(Cache::replace(Some(Cache(Arc::new(Mutex::new(Some(Casts::new())))))));
        }
        is_outermost
    }

    /// Forgets all casts of the thread's cache, and takes it out.
    pub(super) fn close() {
        let take = |Cache(casts): Cache| casts.lock().unwrap_or_else(PoisonError::into_inner).take();
        drop(Cache::replace(None).map(take)); // outside of cell and lock: dropping tensors may run a backend's code
    }
}

/// Runs a closure with the casts of the thread's cache; `None` outside of regions.
fn with_casts<R>(f: impl FnOnce(&mut Casts) -> R) -> Option<R> {
    CACHE.with_borrow(|cache| {
        let mut casts = cache.as_ref()?.0.lock().unwrap_or_else(PoisonError::into_inner);
        casts.as_mut().map(f)
    })
}

/// Casts an eligible tensor to another type with `cast`, and returns any other tensor unchanged. Casts of weights
/// (`float32` leaves that require a gradient) to the lower precision of the device are cached until the outermost
/// region ends.
///
/// This crate declares no operators, so the caller says how to cast; `torch_library_kernels::autocast::cached_cast`
/// casts with `aten::to`.
///
/// # Errors
/// The errors of `cast`.
///
/// PyTorch: `at::autocast::cached_cast`, whose cache is keyed by the tensor alone, so that a nested region of another
/// precision gets the cast that the outer region made.
#[inline]
pub fn cached(
    tensor: &Tensor,
    to: DType,
    device: DeviceType,
    cast: impl FnOnce(&Tensor, DType) -> Result<Tensor>,
) -> Result<Tensor> {
    if tensor.dtype() == to || !is_eligible(tensor, device) {
        return Ok(tensor.clone());
    }
    remembered(tensor, to, device, cast)
}

/// Casts, or returns the cached cast.
#[inline(never)]
fn remembered(
    tensor: &Tensor,
    to: DType,
    device: DeviceType,
    cast: impl FnOnce(&Tensor, DType) -> Result<Tensor>,
) -> Result<Tensor> {
    if to != dtype(device) || !is_cache_enabled() || InferenceMode::is_enabled() || !is_weight(tensor)? {
        return cast(tensor, to);
    }
    let key = (tensor.id(), to);
    match with_casts(|casts| casts.get(&key).map(|known| known.1.clone())) {
        None => return cast(tensor, to), // nothing would end the cache
        Some(Some(known)) => return Ok(known),
        Some(None) => (),
    }
    // With grad mode on, even if this use needs no gradient: the next use of the cached cast may need one.
    let made = enable_grad(|| cast(tensor, to))?;
    let remembered = (tensor.downgrade(), made.clone());
    let of_another_thread = with_casts(|casts| casts.insert(key, remembered));
    drop(of_another_thread); // outside of the lock
    Ok(made)
}

fn is_weight(tensor: &Tensor) -> Result<bool> {
    let may_be = tensor.dtype() == DType::Float32 && tensor.requires_grad() && !tensor.is_view();
    Ok(may_be && tensor.is_leaf()?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::autocast::Autocast;
    use crate::guard::ThreadLocalState;

    const CPU: DeviceType = DeviceType::Cpu;

    /// How many casts three uses of a tensor make.
    fn casts(tensor: &Tensor, to: DType) -> usize {
        let mut count = 0;
        for _ in 0..3 {
            let cast = |tensor: &Tensor, to| {
                count += 1;
                tensor.empty_like(to, crate::MemoryFormat::Preserve)
            };
            cached(tensor, to, CPU, cast).unwrap();
        }
        count
    }

    #[test]
    fn weights_are_cast_once_in_a_region() {
        let (x, w) = (Tensor::from([1f32]), Tensor::from([1f32]));
        w.set_requires_grad(true).unwrap();
        let region = Autocast::on(CPU);
        region.run(|| {
            assert_eq!((casts(&x, DType::BFloat16), casts(&w, DType::BFloat16)), (3, 1));
            region.run(|| assert_eq!(casts(&w, DType::BFloat16), 0)); // leaving an inner region clears nothing
            assert_eq!(casts(&w, DType::BFloat16), 0);
            region.dtype(DType::Float16).run(|| assert_eq!(casts(&w, DType::Float16), 1));
            region.cache_enabled(false).run(|| assert_eq!(casts(&w, DType::BFloat16), 3));
            crate::guard::inference_mode(|| assert_eq!(casts(&w, DType::BFloat16), 3));
        });
        region.run(|| assert_eq!(casts(&w, DType::BFloat16), 1));
    }

    #[test]
    fn what_is_not_eligible_is_never_cast() {
        let tensors = [Tensor::from([1f64]), Tensor::from([1i32]), Tensor::from([half::bf16::ONE])];
        assert!(tensors.iter().all(|tensor| casts(tensor, DType::BFloat16) == 0));
        let meta = Tensor::empty(&[1], DType::Float32, crate::Device::META).unwrap();
        assert_eq!(casts(&meta, DType::BFloat16), 0);
    }

    fn weight() -> Tensor {
        let w = Tensor::from([1f32]);
        w.set_requires_grad(true).unwrap();
        w
    }

    #[test]
    fn a_cast_is_made_with_grad_mode_for_whoever_uses_it_next() {
        let w = weight();
        let mut records = None;
        Autocast::on(CPU).run(|| {
            crate::guard::no_grad(|| {
                let cast = |tensor: &Tensor, to| {
                    records = Some(crate::guard::GradMode::is_enabled());
                    tensor.empty_like(to, crate::MemoryFormat::Preserve)
                };
                cached(&w, DType::BFloat16, CPU, cast).unwrap();
            });
            assert_eq!(casts(&w, DType::BFloat16), 0);
        });
        assert_eq!(records, Some(true));
    }

    #[test]
    fn casts_to_another_type_than_the_regions_are_made_each_time() {
        let w = weight();
        Autocast::on(CPU).run(|| assert_eq!(casts(&w, DType::Float16), 3));
    }

    #[test]
    fn a_panic_forgets_the_casts_of_its_region() {
        let w = weight();
        let panics = || {
            Autocast::on(CPU).run(|| {
                assert_eq!(casts(&w, DType::BFloat16), 1);
                panic!("inside");
            })
        };
        assert!(std::panic::catch_unwind(std::panic::AssertUnwindSafe(panics)).is_err());
        assert!(Cache::of_thread().is_none());
        Autocast::on(CPU).run(|| assert_eq!(casts(&w, DType::BFloat16), 1));
        assert!(Cache::of_thread().is_none());
    }

    #[test]
    fn a_worker_shares_the_casts_of_each_region_and_keeps_none() {
        let w = weight();
        let (give, take) = std::sync::mpsc::channel::<ThreadLocalState>();
        let (answer, answers) = std::sync::mpsc::channel();
        std::thread::scope(|scope| {
            scope.spawn(|| {
                for state in take {
                    answer.send(state.run(|| casts(&w, DType::BFloat16))).unwrap();
                }
            });
            let there = |state: &ThreadLocalState| {
                give.send(state.clone()).unwrap();
                answers.recv().unwrap()
            };
            for _ in 0..2 {
                let state = Autocast::on(CPU).run(|| {
                    let state = ThreadLocalState::capture();
                    assert_eq!((there(&state), casts(&w, DType::BFloat16), there(&state)), (1, 0, 0));
                    state
                });
                assert_eq!(
                    there(&state),
                    3,
                    "after its region, nothing would tell it that the weight changes"
                );
            }
            drop(give);
        });
    }

    #[test]
    fn nothing_is_cached_outside_of_regions() {
        let w = weight();
        let on = crate::guard::LocalDispatchKeySet {
            excluded: crate::DispatchKeySet::EMPTY,
            ..crate::guard::LocalDispatchKeySet::current()
        };
        let _on = crate::guard::ForceDispatchKeyGuard::new(on);
        assert!(crate::autocast::is_enabled(CPU));
        assert_eq!(casts(&w, DType::BFloat16), 3);
    }
}
