//! A contiguous tensor as equally long parts, for threads to share.
#![expect(unsafe_code, reason = "lends parts of tensors as slices")]

use std::mem::MaybeUninit;

use torch_library::{DType, Element, MemoryFormat, OwnedLease, Result, Tensor, ensure};

use super::{contiguous, copy, is_plain};

/// Equally long parts of a contiguous tensor, one after the other, to be read: planes of images, groups of channels.
pub struct Parts<T> {
    data: *const T,
    len: usize,
    count: usize,
    _lease: OwnedLease,
}

/// As [`Parts`], to be written.
pub struct PartsMut<T> {
    data: *mut T,
    len: usize,
    count: usize,
    _lease: OwnedLease,
}

// SAFETY: elements of a type that threads may share, which nobody writes while the lease is held.
unsafe impl<T: Sync> Sync for Parts<T> {}
// SAFETY: elements of a type that threads may share and send, which nobody else uses while the lease is held;
// slices are made by `unsafe` functions only, whose callers see to which thread has which part.
unsafe impl<T: Send + Sync> Sync for PartsMut<T> {}

impl<T: Element> Parts<T> {
    /// # Errors
    /// A tensor that is not in row-major order or that somebody writes, memory that the host does not reach,
    /// elements of another type, or booleans, of which memory from outside may have others than two.
    #[track_caller]
    pub fn of(tensor: &Tensor, len: usize) -> Result<Self> {
        ensure!(T::DTYPE != DType::Bool, Internal, "parts of bools are copies");
        Self::over(tensor.clone(), len)
    }

    /// As [`of`](Self::of), from a tensor that may be strided or of another type: then of a copy.
    ///
    /// # Errors
    /// Memory that the host does not reach, or that somebody writes.
    #[track_caller]
    pub fn row_major(tensor: &Tensor, len: usize) -> Result<Self> {
        match is_plain::<T>(tensor.dtype()) {
            true => Self::over(contiguous(tensor)?, len),
            false => Self::over(copy(tensor, T::DTYPE)?, len), // of our own, whose booleans are two
        }
    }

    fn over(tensor: Tensor, len: usize) -> Result<Self> {
        let lease = OwnedLease::shared(tensor)?;
        let (data, count) = (lease.tensor().data_ptr(&lease)?, count(lease.tensor(), len)?);
        Ok(Parts { data, len, count, _lease: lease })
    }

    /// How many there are.
    #[inline]
    pub fn count(&self) -> usize {
        self.count
    }

    /// How long each is.
    #[expect(clippy::len_without_is_empty, reason = "of a part, not how many parts there are")]
    #[inline]
    pub fn len(&self) -> usize {
        self.len
    }

    /// Where a part starts.
    #[inline]
    pub fn at(&self, n: usize) -> *const T {
        self.data.wrapping_add(n * self.len)
    }

    /// # Panics
    /// There is no such part.
    #[inline]
    pub fn get(&self, n: usize) -> &[T] {
        assert!(n < self.count);
        // SAFETY: in bounds by the assertion, aligned and initialised, and no booleans but our own; the lease keeps
        // writers away while `self` is borrowed.
        unsafe { std::slice::from_raw_parts(self.at(n), self.len) }
    }
}

impl<T: Element> PartsMut<T> {
    /// # Errors
    /// A tensor that is not in row-major order or that somebody uses, memory that the host does not reach, elements
    /// of another type.
    #[track_caller]
    pub fn of(tensor: &Tensor, len: usize) -> Result<Self> {
        let lease = OwnedLease::exclusive(tensor.clone())?;
        let (data, count) = (tensor.data_ptr_mut(&lease)?, count(tensor, len)?);
        Ok(PartsMut { data, len, count, _lease: lease })
    }

    /// How many there are.
    #[inline]
    pub fn count(&self) -> usize {
        self.count
    }

    /// How long each is.
    #[expect(clippy::len_without_is_empty, reason = "of a part, not how many parts there are")]
    #[inline]
    pub fn len(&self) -> usize {
        self.len
    }

    /// Where a part starts.
    #[inline]
    pub fn at(&self, n: usize) -> *mut T {
        self.data.wrapping_add(n * self.len)
    }

    /// # Safety
    /// - The elements of this part were written before, booleans as 0 or 1.
    /// - While the slice lives, no other thread, and no other slice of this part, writes to it.
    #[inline]
    pub unsafe fn get(&self, n: usize) -> &[T] {
        assert!(n < self.count);
        // SAFETY: in bounds by the assertion, and aligned; the caller vouches for values there, and keeps writers
        // away among those who share `self`, the lease all others.
        unsafe { std::slice::from_raw_parts(self.at(n), self.len) }
    }

    /// # Safety
    /// - The elements of this part were written before, booleans as 0 or 1.
    /// - While the slice lives, no other thread, and no other slice, reads or writes this part.
    #[expect(clippy::mut_from_ref, reason = "threads share the parts; who may write is the caller's promise")]
    #[inline]
    pub unsafe fn get_mut(&self, n: usize) -> &mut [T] {
        assert!(n < self.count);
        // SAFETY: in bounds by the assertion, and aligned; the caller vouches for values there, and keeps everybody
        // away among those who share `self`, the lease all others.
        unsafe { std::slice::from_raw_parts_mut(self.at(n), self.len) }
    }

    /// As [`get_mut`](Self::get_mut), of elements that need not have been written.
    ///
    /// # Safety
    /// - While the slice lives, no other thread, and no other slice, reads or writes this part.
    /// - Nothing uninitialised is written to elements that were initialised.
    #[expect(clippy::mut_from_ref, reason = "threads share the parts; who may write is the caller's promise")]
    #[inline]
    pub unsafe fn uninit(&self, n: usize) -> &mut [MaybeUninit<T>] {
        assert!(n < self.count);
        // SAFETY: in bounds by the assertion; `MaybeUninit<T>` lies in memory as `T` does, and asks for no values.
        // The caller keeps everybody away among those who share `self`, the lease all others.
        unsafe { std::slice::from_raw_parts_mut(self.at(n).cast(), self.len) }
    }
}

/// How many parts a tensor has, which stays as it is while a lease is held.
#[inline]
fn count(tensor: &Tensor, len: usize) -> Result<usize> {
    ensure!(
        tensor.is_contiguous(MemoryFormat::Contiguous),
        Argument,
        "strides {:?} of sizes {:?} are not those of row-major order",
        tensor.strides(),
        tensor.sizes()
    );
    Ok(tensor.numel() as usize / len.max(1))
}
