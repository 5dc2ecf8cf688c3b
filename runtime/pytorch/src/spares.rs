//! What tensors of earlier calls have left, for those of the next: a call allocates nothing for few tensors.

use std::cell::Cell;

use smallvec::SmallVec;
use torch_library::{ForeignTensor, Tensor};

/// How many a thread keeps, and a call gets without an allocation.
const MOST: usize = 4;

type Kept = SmallVec<[ForeignTensor; MOST]>;

thread_local! {
    static KEPT: Cell<Option<Box<Kept>>> = const { Cell::new(None) };
}

/// Those of the thread, which a call has to itself while it runs.
#[derive(Debug, Default)]
pub(crate) struct Spares(Option<Box<Kept>>);

impl Spares {
    /// One of them, if there is any.
    #[inline]
    pub(crate) fn take(&mut self) -> Option<ForeignTensor> {
        if self.0.is_none() {
            // At the end of a thread there are none.
            self.0 = Some(KEPT.try_with(Cell::take).ok().flatten().unwrap_or_default());
        }
        self.0.as_mut()?.pop()
    }

    /// Keeps what a tensor leaves, unless somebody has it still.
    #[inline]
    pub(crate) fn put(&mut self, tensor: Tensor) {
        if let (Some(left), Some(kept)) = (tensor.leave_foreign(), &mut self.0)
            && kept.len() < MOST
        {
            kept.push(left);
        }
    }
}

impl Drop for Spares {
    #[inline]
    fn drop(&mut self) {
        if let Some(kept) = self.0.take() {
            // What calls within this one have left meanwhile goes. At the end of a thread all do.
            drop(KEPT.try_with(|all| all.replace(Some(kept))));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_within_a_call_has_its_own() {
        let mut outer = Spares::default();
        assert!(outer.take().is_none());
        let mut inner = Spares::default();
        assert!(inner.take().is_none());
        inner.put(Tensor::from([1.0]));
        assert!(
            inner.0.as_ref().is_some_and(|kept| kept.is_empty()),
            "memory of its own is no foreign one's"
        );
        drop(inner);
        drop(outer);
        assert!(KEPT.take().is_some());
    }
}
