//! The memory of a tensor, lent to a collective that works in it.
#![expect(
    unsafe_code,
    reason = "hands elements to another thread as bytes, which are not copied before and after"
)]

use torch_library::prelude::*;
use torch_library::{MemoryFormat, OwnedLease};

use crate::bytes::nbytes;

/// The elements of a contiguous tensor, which nobody else reads or writes while this lives.
pub(crate) struct Lent(OwnedLease);

impl Lent {
    /// Nothing, where it has to be copied: it has strides, lies elsewhere, or somebody uses it now.
    pub(crate) fn new(tensor: &Tensor) -> Option<Lent> {
        let is_plain = tensor.device() == Device::CPU
            && !tensor.is_wrapper()
            && tensor.numel() > 0
            && tensor.is_contiguous(MemoryFormat::Contiguous);
        let lease = is_plain.then(|| OwnedLease::exclusive(tensor.clone()))?.ok()?;
        let is_reachable = lease.tensor().address_mut(&lease).is_ok();
        // Whoever else has the tensor may have given it strides before the lease; now it stays as it is.
        let is_plain = is_reachable && lease.tensor().is_contiguous(MemoryFormat::Contiguous);
        is_plain.then_some(Lent(lease))
    }

    /// # Errors
    /// None that [`new`](Lent::new) lets come about.
    pub(crate) fn bytes(&mut self) -> Result<&mut [u8]> {
        let start = self.0.tensor().address_mut(&self.0)?;
        // SAFETY: a lease gives the address of the first element, and the tensor stays contiguous while it is held,
        // so all elements lie behind it, initialised. It is exclusive, and `self` is borrowed mutably: nobody else
        // uses them.
        Ok(unsafe { std::slice::from_raw_parts_mut(start, nbytes(self.0.tensor())) })
    }
}
