//! A contiguous tensor as equally long parts, for threads to share.
#![expect(unsafe_code, reason = "lends parts of tensors as slices")]

use std::mem::MaybeUninit;

use torch_library::{Element, MemoryFormat, Result, Tensor, ensure};

use super::{contiguous, copy, is_plain};

/// Equally long parts of a contiguous tensor, one after the other: planes of images, groups of channels.
pub(crate) struct Parts<T> {
    data: *mut T,
    len: usize,
    count: usize,
    /// Keeps the memory.
    _tensor: Tensor,
}

// SAFETY: a plain address; which thread writes where is for the users of the slices to say.
unsafe impl<T: Sync> Sync for Parts<T> {}

impl<T: Element> Parts<T> {
    /// # Errors
    /// A tensor that is not in row-major order, memory that the host does not reach, elements of another type.
    pub(crate) fn of(tensor: &Tensor, len: usize) -> Result<Self> {
        ensure!(
            tensor.is_contiguous(MemoryFormat::Contiguous),
            Argument,
            "strides {:?} of sizes {:?} are not those of row-major order",
            tensor.strides(),
            tensor.sizes()
        );
        let count = tensor.numel() as usize / len.max(1);
        Ok(Parts { data: tensor.data_ptr()?, len, count, _tensor: tensor.clone() })
    }

    /// As [`of`](Self::of), from a tensor that may be strided or of another type: then of a copy. So are truth values, of
    /// which memory from outside may have others than two.
    ///
    /// # Errors
    /// Memory that the host does not reach.
    pub(crate) fn row_major(tensor: &Tensor, len: usize) -> Result<Self> {
        Self::of(
            &if is_plain::<T>(tensor.dtype()) { contiguous(tensor)? } else { copy(tensor, T::DTYPE)? },
            len,
        )
    }

    /// How many there are.
    pub(crate) fn count(&self) -> usize {
        self.count
    }

    /// How long each is.
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// Where a part starts.
    pub(crate) fn at(&self, n: usize) -> *mut T {
        self.data.wrapping_add(n * self.len)
    }

    /// # Safety
    /// Nobody writes to this part while the slice lives.
    pub(crate) unsafe fn get(&self, n: usize) -> &[T] {
        assert!(n < self.count);
        // SAFETY: there is such a part; the rest is passed on.
        unsafe { std::slice::from_raw_parts(self.at(n), self.len) }
    }

    /// # Safety
    /// Nobody else looks at this part while the slice lives, and its elements were written before.
    #[expect(clippy::mut_from_ref, reason = "threads share the parts; who may write is the caller's promise")]
    pub(crate) unsafe fn get_mut(&self, n: usize) -> &mut [T] {
        assert!(n < self.count);
        // SAFETY: there is such a part; the rest is passed on.
        unsafe { std::slice::from_raw_parts_mut(self.at(n), self.len) }
    }

    /// As [`get_mut`](Self::get_mut), of elements that need not have been written.
    ///
    /// # Safety
    /// Nobody else looks at this part while the slice lives.
    #[expect(clippy::mut_from_ref, reason = "as above")]
    pub(crate) unsafe fn room(&self, n: usize) -> &mut [MaybeUninit<T>] {
        assert!(n < self.count);
        // SAFETY: there is such a part, and `MaybeUninit<T>` lies in memory as `T` does; the rest is passed on.
        unsafe { std::slice::from_raw_parts_mut(self.at(n).cast(), self.len) }
    }
}
