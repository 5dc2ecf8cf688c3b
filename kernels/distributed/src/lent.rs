//! The memory of a tensor, lent to a collective that works in it.
#![expect(
    unsafe_code,
    reason = "hands elements to another thread as bytes, which are not copied before and after"
)]

use torch_library::prelude::*;
use torch_library::{MemoryFormat, OwnedLease};

use crate::bytes::nbytes;

/// The elements of a contiguous tensor, which nothing else reads or writes while this exists.
pub(crate) struct Lent(OwnedLease);

impl Lent {
    /// Leases the memory of a tensor; `None` if it has to be copied, since it is not contiguous, not in host memory, or
    /// in use.
    pub(crate) fn new(tensor: &Tensor) -> Option<Lent> {
        let is_plain = tensor.device() == Device::CPU
            && !tensor.is_wrapper()
            && tensor.numel() > 0
            && tensor.is_contiguous(MemoryFormat::Contiguous);
        let lease = is_plain.then(|| OwnedLease::exclusive(tensor.clone()))?.ok()?;
        let is_reachable = lease.tensor().address_mut(&lease).is_ok();
        // Another thread may have changed the strides before the lease; now they stay as they are.
        let is_plain = is_reachable && lease.tensor().is_contiguous(MemoryFormat::Contiguous);
        is_plain.then_some(Lent(lease))
    }

    /// # Errors
    /// None, since [`new`](Lent::new) has checked the tensor.
    pub(crate) fn bytes(&mut self) -> Result<&mut [u8]> {
        let start = self.0.tensor().address_mut(&self.0)?;
        // SAFETY: a lease gives the address of the first element, and the tensor stays contiguous while it is held, so
        // all elements follow it, initialised. The lease is exclusive, and `self` is borrowed mutably, so nothing else
        // uses them.
        Ok(unsafe { std::slice::from_raw_parts_mut(start, nbytes(self.0.tensor())) })
    }
}
