//! A contiguous tensor as parts of equal length, for threads to share.
#![expect(unsafe_code, reason = "lends parts of tensors as slices")]

use std::mem::MaybeUninit;
use std::ops::Range;

use torch_library::{DType, Element, MemoryFormat, OwnedLease, Result, Tensor, ensure};

use super::{contiguous, copy, is_plain};

/// The parts of equal length that make up a contiguous tensor, for reading: planes of images, groups of channels.
pub struct Parts<T> {
    data: *const T,
    len: usize,
    count: usize,
    _lease: OwnedLease,
}

/// Like [`Parts`], for writing.
pub struct PartsMut<T> {
    data: *mut T,
    len: usize,
    count: usize,
    _lease: OwnedLease,
}

// SAFETY: elements of a type that threads may share, which nothing writes while the lease is held.
unsafe impl<T: Sync> Sync for Parts<T> {}
// SAFETY: elements of a type that threads may share and send, which nothing else uses while the lease is held; slices
// are only made by `unsafe` functions, whose callers decide which thread has which part.
unsafe impl<T: Send + Sync> Sync for PartsMut<T> {}

impl<T: Element> Parts<T> {
    /// # Errors
    /// A tensor that is not in row-major order or that is being written, memory that the host cannot access, elements
    /// of another type, or booleans, since memory from outside may hold bytes other than 0 and 1.
    #[track_caller]
    pub fn of(tensor: &Tensor, len: usize) -> Result<Self> {
        ensure!(T::DTYPE != DType::Bool, Internal, "parts of bools are copies");
        Self::over(tensor.clone(), len)
    }

    /// Like [`of`](Self::of), for any tensor: one that is strided or of another type is copied first.
    ///
    /// # Errors
    /// Memory that the host cannot access, or that is being written.
    #[track_caller]
    pub fn row_major(tensor: &Tensor, len: usize) -> Result<Self> {
        match is_plain::<T>(tensor.dtype()) {
            true => Self::over(contiguous(tensor)?, len),
            false => Self::over(copy(tensor, T::DTYPE)?, len), // a copy of our own, whose booleans are 0 or 1
        }
    }

    fn over(tensor: Tensor, len: usize) -> Result<Self> {
        let lease = OwnedLease::shared(tensor)?;
        let (data, count) = (lease.tensor().data_ptr(&lease)?, count(lease.tensor(), len)?);
        Ok(Parts { data, len, count, _lease: lease })
    }

    /// The number of parts.
    #[inline]
    pub fn count(&self) -> usize {
        self.count
    }

    /// The number of elements in each part.
    #[expect(clippy::len_without_is_empty, reason = "of a part, not how many parts there are")]
    #[inline]
    pub fn len(&self) -> usize {
        self.len
    }

    /// The address at which part `n` starts.
    #[inline]
    pub fn at(&self, n: usize) -> *const T {
        self.data.wrapping_add(n * self.len)
    }

    /// # Panics
    /// If there is no part `n`.
    #[inline]
    pub fn get(&self, n: usize) -> &[T] {
        assert!(n < self.count);
        // SAFETY: in bounds by the assertion, aligned and initialised, and booleans only in a copy of our own; the
        // lease excludes writers while `self` is borrowed.
        unsafe { std::slice::from_raw_parts(self.at(n), self.len) }
    }

    /// Several parts, one after the other.
    ///
    /// # Panics
    /// If there are no such parts.
    #[inline]
    pub fn range(&self, range: Range<usize>) -> &[T] {
        assert!(range.start <= range.end && range.end <= self.count);
        // SAFETY: as in `get`, for all parts of the range.
        unsafe { std::slice::from_raw_parts(self.at(range.start), range.len() * self.len) }
    }
}

impl<T: Element> PartsMut<T> {
    /// # Errors
    /// A tensor that is not in row-major order or that is in use, memory that the host cannot access, elements of
    /// another type.
    #[track_caller]
    pub fn of(tensor: &Tensor, len: usize) -> Result<Self> {
        let lease = OwnedLease::exclusive(tensor.clone())?;
        let (data, count) = (tensor.data_ptr_mut(&lease)?, count(tensor, len)?);
        Ok(PartsMut { data, len, count, _lease: lease })
    }

    /// The number of parts.
    #[inline]
    pub fn count(&self) -> usize {
        self.count
    }

    /// The number of elements in each part.
    #[expect(clippy::len_without_is_empty, reason = "of a part, not how many parts there are")]
    #[inline]
    pub fn len(&self) -> usize {
        self.len
    }

    /// The address at which part `n` starts.
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
        // SAFETY: in bounds by the assertion, and aligned; the caller vouches for initialised values, and that no
        // thread that shares `self` writes; the lease excludes all other writers.
        unsafe { std::slice::from_raw_parts(self.at(n), self.len) }
    }

    /// # Safety
    /// - The elements of this part were written before, booleans as 0 or 1.
    /// - While the slice lives, no other thread, and no other slice, reads or writes this part.
    #[expect(clippy::mut_from_ref, reason = "threads share the parts; who may write is the caller's promise")]
    #[inline]
    pub unsafe fn get_mut(&self, n: usize) -> &mut [T] {
        assert!(n < self.count);
        // SAFETY: in bounds by the assertion, and aligned; the caller vouches for initialised values, and that no other
        // thread that shares `self` uses the part; the lease excludes all other access.
        unsafe { std::slice::from_raw_parts_mut(self.at(n), self.len) }
    }

    /// Like [`get_mut`](Self::get_mut), for elements that may be uninitialised.
    ///
    /// # Safety
    /// - While the slice lives, no other thread, and no other slice, reads or writes this part.
    /// - Nothing uninitialised is written to elements that were initialised.
    #[expect(clippy::mut_from_ref, reason = "threads share the parts; who may write is the caller's promise")]
    #[inline]
    pub unsafe fn uninit(&self, n: usize) -> &mut [MaybeUninit<T>] {
        assert!(n < self.count);
        // SAFETY: in bounds by the assertion; `MaybeUninit<T>` has the layout of `T`, and may be uninitialised. The
        // caller vouches that no other thread that shares `self` uses the part; the lease excludes all other access.
        unsafe { std::slice::from_raw_parts_mut(self.at(n).cast(), self.len) }
    }

    /// Like [`uninit`](Self::uninit), for several parts, one after the other.
    ///
    /// # Safety
    /// - As for [`uninit`](Self::uninit), for all parts of the range.
    #[expect(clippy::mut_from_ref, reason = "threads share the parts; who may write is the caller's promise")]
    #[inline]
    pub unsafe fn uninit_range(&self, range: Range<usize>) -> &mut [MaybeUninit<T>] {
        assert!(range.start <= range.end && range.end <= self.count);
        // SAFETY: as in `uninit`, for all parts of the range.
        unsafe { std::slice::from_raw_parts_mut(self.at(range.start).cast(), range.len() * self.len) }
    }
}

/// The number of parts of a tensor; it does not change while a lease is held.
///
/// # Errors
/// A tensor that is not in row-major order.
#[inline]
pub fn count(tensor: &Tensor, len: usize) -> Result<usize> {
    ensure!(
        tensor.is_contiguous(MemoryFormat::Contiguous),
        Argument,
        "strides {:?} of sizes {:?} are not those of row-major order",
        tensor.strides(),
        tensor.sizes()
    );
    Ok(tensor.numel() as usize / len.max(1))
}
