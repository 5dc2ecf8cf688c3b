//! Casts that are made once per region: those of weights, which a region may use many times.

use std::cell::RefCell;
use std::collections::HashMap;
use std::mem::ManuallyDrop;

use crate::autocast::{dtype, is_cache_enabled, is_eligible};
use crate::device::DeviceType;
use crate::dtype::DType;
use crate::error::Result;
use crate::guard::{InferenceMode, enable_grad};
use crate::tensor::{Tensor, WeakTensor};

type Casts = HashMap<(usize, DType), (WeakTensor, Tensor)>;

thread_local! {
    /// The casts, by tensor and type. A weak handle to the tensor keeps its address from being reused for another
    /// tensor.
    ///
    /// The map is freed where the outermost region ends, so it needs no destructor, and remains usable by other
    /// thread-local destructors at the end of a thread.
    static CASTS: RefCell<Option<ManuallyDrop<Casts>>> = const { RefCell::new(None) };
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
    if let Some(known) = CASTS.with_borrow(|casts| Some(casts.as_ref()?.get(&key)?.1.clone())) {
        return Ok(known);
    }
    // With grad mode on, even if this use needs no gradient: the next use of the cached cast may need one.
    let made = enable_grad(|| cast(tensor, to))?;
    let remembered = (tensor.downgrade(), made.clone());
    CASTS.with_borrow_mut(|casts| casts.get_or_insert_default().insert(key, remembered));
    Ok(made)
}

fn is_weight(tensor: &Tensor) -> Result<bool> {
    let may_be = tensor.dtype() == DType::Float32 && tensor.requires_grad() && !tensor.is_view();
    Ok(may_be && tensor.is_leaf()?)
}

pub(super) fn clear() {
    drop(CASTS.take().map(ManuallyDrop::into_inner)); // outside of the cell: dropping tensors may run a backend's code
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::autocast::Autocast;

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
        assert!(CASTS.with_borrow(|casts| casts.as_ref().is_none_or(|casts| casts.is_empty())));
        Autocast::on(CPU).run(|| assert_eq!(casts(&w, DType::BFloat16), 1));
        assert!(CASTS.with_borrow(|casts| casts.as_ref().is_none_or(|casts| casts.is_empty())));
    }
}
