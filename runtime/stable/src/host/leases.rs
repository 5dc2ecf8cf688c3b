//! Leases for foreign kernels: on the arguments of a call, while the kernel runs.
//!
//! A raw address carries no lease, and how long foreign code uses one is unknown. The length of a call is known,
//! though. So the call holds leases on its arguments: exclusive ones on those that its schema marks as written, shared
//! ones on the rest. When the kernel calls an operator itself, that one takes leases of its own; the exclusive leases,
//! which would conflict, are given back meanwhile.
//!
//! The operator, or another thread, may then give a tensor other memory. The kernel may still have an address in the
//! old memory, which is therefore kept and leased as long as the call lasts, beside the new one.

use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

use torch_library::{OwnedLease, Result, Tensor};

/// The leases of the innermost kernel on this thread.
#[derive(Default)]
struct Held {
    /// The tensors that are written, and a view of each that only this code has, so that it stays in the memory in
    /// which the kernel found the tensor.
    written: Vec<Tensor>,
    exclusive: Vec<OwnedLease>,
    _shared: Vec<OwnedLease>,
}

thread_local! {
    static RUNNING: RefCell<Held> = RefCell::default();
}

/// Restores the leases of a kernel's caller when the kernel has returned.
pub(crate) struct Running {
    outer: Option<Held>,
}

impl Drop for Running {
    fn drop(&mut self) {
        let outer = self.outer.take().unwrap_or_default();
        // The kernel's leases are dropped after the borrow has ended, since dropping a tensor may run any code.
        drop(RUNNING.replace(outer));
    }
}

/// Takes all leases of a call, or none.
///
/// # Errors
/// The memory is in use elsewhere in a conflicting way.
pub(crate) fn hold(mut written: Vec<Tensor>, read: impl Iterator<Item = Tensor>) -> Result<Running> {
    let exclusive = exclusive(&written)?;
    // Under the leases, so that a view is in the memory that its tensor has during the call.
    let views: Vec<_> = written.iter().filter_map(|tensor| alias(tensor).ok()).collect();
    written.extend(views);
    let is_written = |tensor: &Tensor| written.iter().any(|other| other.shares_storage_with(tensor));
    let shared = read.filter(|tensor| !is_written(tensor)).map(OwnedLease::shared).collect::<Result<_>>()?;
    let outer = RUNNING.replace(Held { written, exclusive, _shared: shared });
    Ok(Running { outer: Some(outer) })
}

/// A view of the same elements.
///
/// # Errors
/// A wrapper, whose elements have no address.
fn alias(tensor: &Tensor) -> Result<Tensor> {
    tensor.strided_view(tensor.sizes(), tensor.strides(), tensor.storage_offset())
}

/// One lease for each storage.
fn exclusive(tensors: &[Tensor]) -> Result<Vec<OwnedLease>> {
    let mut leases: Vec<OwnedLease> = Vec::with_capacity(tensors.len());
    for tensor in tensors {
        if !leases.iter().any(|lease| lease.tensor().shares_storage_with(tensor)) {
            leases.push(OwnedLease::exclusive(tensor.clone())?);
        }
    }
    Ok(leases)
}

/// Runs an operator that a kernel calls, which may write the tensors that the kernel writes.
///
/// # Errors
/// The error of `run`; the memory is in use by another thread afterwards.
pub(crate) fn suspended<T>(run: impl FnOnce() -> Result<T>) -> Result<T> {
    let is_in_the_way = RUNNING.with_borrow_mut(|held| {
        let is_in_the_way = !held.exclusive.is_empty();
        held.exclusive.clear(); // `written` keeps the tensors
        is_in_the_way
    });
    // A panic of the operator becomes an error of the function that the kernel called, so the kernel goes on.
    let result = catch_unwind(AssertUnwindSafe(run));
    if is_in_the_way {
        // Inner kernels have restored this value.
        RUNNING.with_borrow_mut(|held| {
            held.exclusive = exclusive(&held.written)?;
            Ok::<(), torch_library::Error>(())
        })?;
    }
    result.unwrap_or_else(|panic| resume_unwind(panic))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use torch_library::{DType, Device, ErrorKind, Storage, StorageImpl};

    use super::*;

    #[test]
    fn a_call_keeps_others_away() {
        let (x, mut y) = (Tensor::from([1.0]), Tensor::from([2.0]));
        let running = hold(vec![y.clone()], [x.clone(), y.clone()].into_iter()).unwrap();
        assert!(x.to_vec::<f64>().is_ok() && y.to_vec::<f64>().is_err());
        assert_eq!(x.clone().fill(0.0).unwrap_err().kind(), ErrorKind::Busy);
        suspended(|| y.fill(3.0)).unwrap();
        assert!(y.to_vec::<f64>().is_err(), "the kernel goes on");
        drop(running);
        assert_eq!(y.to_vec::<f64>().unwrap(), [3.0]);
    }

    #[test]
    fn memory_that_a_tensor_leaves_during_a_call_is_kept_and_leased() {
        struct Lent(Storage, #[expect(dead_code, reason = "dropped with the memory")] Arc<()>);

        impl StorageImpl for Lent {
            fn nbytes(&self) -> usize {
                self.0.nbytes()
            }

            fn device(&self) -> Device {
                Device::CPU
            }

            fn host(&self) -> Option<&Storage> {
                Some(&self.0)
            }
        }

        let (kept, mut x) = (Arc::new(()), Tensor::from([1.0]));
        let lent = Storage::new(Lent(x.storage().clone(), kept.clone()));
        let handle = x.clone(); // for which the tensor keeps its first memory, but no later one
        x.set_storage(lent.clone(), &[1], &[1], 0).unwrap();
        let mut beside = Tensor::from_storage(lent, &[1], &[1], 0, DType::Float64, x.key_set()).unwrap();
        let running = hold(vec![handle], std::iter::empty()).unwrap();
        suspended(|| x.set_storage(Storage::from_vec(vec![2.0]), &[1], &[1], 0)).unwrap();
        assert!(x.to_vec::<f64>().is_err() && beside.fill(3.0).is_err(), "the kernel may write to both");
        drop(beside);
        assert_eq!(Arc::strong_count(&kept), 2, "the kernel may have an address in the old memory");
        drop(running);
        assert_eq!((Arc::strong_count(&kept), x.to_vec::<f64>().unwrap()), (1, vec![2.0]));
    }

    #[test]
    fn kernels_within_kernels_hold_their_own() {
        let (mut x, y) = (Tensor::from([1.0]), Tensor::from([2.0]));
        let outer = hold(vec![x.clone()], std::iter::empty()).unwrap();
        suspended(|| {
            let inner = hold(vec![x.clone()], [y.clone()].into_iter())?;
            suspended(|| x.fill(5.0))?;
            assert!(x.to_vec::<f64>().is_err());
            drop(inner);
            Ok(())
        })
        .unwrap();
        assert!(x.to_vec::<f64>().is_err());
        drop(outer);
        assert_eq!(x.to_vec::<f64>().unwrap(), [5.0]);
    }

    #[test]
    fn a_panic_of_an_operator_does_not_let_others_in() {
        let x = Tensor::from([1.0]);
        let running = hold(vec![x.clone()], std::iter::empty()).unwrap();
        let panicked = catch_unwind(|| suspended(|| -> Result<()> { resume_unwind(Box::new("out")) }));
        assert!(panicked.is_err());
        assert!(x.to_vec::<f64>().is_err(), "the kernel goes on");
        drop(running);
    }

    #[test]
    fn who_took_the_memory_meanwhile_is_told_of() {
        let x = Tensor::from([1.0]);
        let running = hold(vec![x.clone()], std::iter::empty()).unwrap();
        let taken = suspended(|| OwnedLease::shared(x.clone()));
        assert_eq!(taken.err().map(|error| error.kind()), Some(ErrorKind::Busy));
        drop(running);
    }
}
