//! Lines of tensors in the opmath type: in place, or converted line by line, while they are in the cache.
#![expect(unsafe_code, reason = "reads and writes lines of leased tensors that threads share")]

use std::marker::PhantomData;
use std::mem::{self, MaybeUninit};
use std::ops::Range;

use smallvec::SmallVec;
use torch_library::OwnedLease;
use torch_library::prelude::*;

use crate::cpu::matmul::implicit_gemm::Aligned;
use crate::loops::convert::{Loader, Storer, loader, storer};
use crate::loops::parts::count;
use crate::loops::{contiguous, is_plain};
use crate::number::Number;

/// The lines of a contiguous tensor, for reading.
pub(super) struct Lines<T> {
    data: *const u8,
    count: usize,
    /// The number of elements of a line, and their size in bytes.
    len: usize,
    size: usize,
    load: Loader,
    is_plain: bool,
    _lease: OwnedLease,
    element: PhantomData<T>,
}

/// Likewise for writing.
pub(super) struct LinesMut<T> {
    data: *mut u8,
    count: usize,
    len: usize,
    size: usize,
    store: Storer,
    is_plain: bool,
    _lease: OwnedLease,
    element: PhantomData<T>,
}

// SAFETY: the lease excludes writers, and elements may be shared.
unsafe impl<T: Sync> Sync for Lines<T> {}
// SAFETY: lines are only accessed by `write`, which is `unsafe`: its caller gives no two threads the same pixels.
unsafe impl<T: Send> Sync for LinesMut<T> {}

/// The lines that a thread has converted, by their numbers.
#[derive(Default)]
pub(super) struct Kept {
    lines: Vec<(usize, Aligned)>,
}

impl<T: Number> Lines<T> {
    /// # Errors
    /// Memory that the host cannot access, or that is being written.
    pub(super) fn of(tensor: &Tensor, len: usize) -> Result<Self> {
        let lease = OwnedLease::shared(contiguous(tensor)?)?;
        let (data, dtype) = (lease.tensor().address(&lease)?, lease.tensor().dtype());
        let count = count(lease.tensor(), len)?;
        let (load, is_plain) = (loader::<T>(dtype), is_plain::<T>(dtype));
        Ok(Lines {
            data,
            count,
            len,
            size: dtype.size(),
            load,
            is_plain,
            _lease: lease,
            element: PhantomData,
        })
    }

    /// Some lines, of which those that are converted stay in `kept` until other ones are asked for.
    ///
    /// # Panics
    /// There is no such line.
    pub(super) fn get<'a>(&'a self, numbers: &[usize], kept: &'a mut Kept) -> SmallVec<[&'a [T]; 8]> {
        assert!(numbers.iter().all(|number| *number < self.count));
        if self.is_plain {
            // SAFETY: `count` lines of `len` elements of `T` are contiguous from `data` on, by `of`, and the lease
            // excludes writers.
            let line = |number: &usize| unsafe {
                std::slice::from_raw_parts(self.data.cast::<T>().add(number * self.len), self.len)
            };
            return numbers.iter().map(line).collect();
        }
        for number in numbers {
            if kept.lines.iter().any(|(kept, _)| kept == number) {
                continue;
            }
            let free = match kept.lines.iter().position(|(kept, _)| !numbers.contains(kept)) {
                Some(free) => free,
                None => {
                    kept.lines.push((*number, Aligned::default()));
                    kept.lines.len() - 1
                }
            };
            let (kept, line) = &mut kept.lines[free];
            *kept = *number;
            let line = line.numbers::<T>(self.len);
            let from = self.data.wrapping_add(number * self.len * self.size);
            // SAFETY: a line, by the assertion, of as many elements as `line` has, in other memory; the loader is the
            // one for their types. The lease excludes writers.
            unsafe { (self.load)(from, 1, self.len, line.as_mut_ptr().cast()) };
        }
        let lines = kept.lines.iter_mut().map(|(number, line)| (*number, &*line.numbers::<T>(self.len)));
        let lines: SmallVec<[(usize, &[T]); 8]> = lines.collect();
        let line = |number: &usize| lines.iter().find(|(kept, _)| kept == number).map(|(_, line)| *line);
        numbers.iter().filter_map(line).collect()
    }
}

impl<T: Number> LinesMut<T> {
    /// # Errors
    /// Memory that the host cannot access, or that is in use.
    pub(super) fn of(tensor: &Tensor, len: usize) -> Result<Self> {
        let lease = OwnedLease::exclusive(tensor.clone())?;
        let (data, dtype) = (tensor.address_mut(&lease)?, tensor.dtype());
        let count = count(tensor, len)?;
        let (store, is_plain) = (storer::<T>(dtype), is_plain::<T>(dtype));
        Ok(LinesMut {
            data,
            count,
            len,
            size: dtype.size(),
            store,
            is_plain,
            _lease: lease,
            element: PhantomData,
        })
    }

    /// Lets a closure write to a line, and converts the pixels, of `channels` elements each, that it wrote.
    ///
    /// # Safety
    /// - Nothing else uses these pixels of the line during the call.
    /// - The closure writes all elements of these pixels, and no others.
    ///
    /// # Panics
    /// There is no such line or pixel.
    pub(super) unsafe fn write(
        &self,
        number: usize,
        pixels: impl Iterator<Item = usize>,
        channels: usize,
        kept: &mut Aligned,
        write: impl FnOnce(&mut [MaybeUninit<T>]),
    ) {
        assert!(number < self.count);
        let line = self.data.wrapping_add(number * self.len * self.size);
        if self.is_plain {
            // SAFETY: a line of `len` elements of `T`, by the assertion and `of`; the lease and the caller exclude all
            // other use of what the closure writes, and of the rest nothing is read.
            return write(unsafe { std::slice::from_raw_parts_mut(line.cast(), self.len) });
        }
        let kept = kept.numbers::<T>(self.len);
        // SAFETY: `MaybeUninit<T>` has the layout of `T`, and only numbers are written to it.
        write(unsafe { std::slice::from_raw_parts_mut(kept.as_mut_ptr().cast(), kept.len()) });
        let store = |pixels: Range<usize>| {
            let (first, len) = (pixels.start * channels, pixels.len() * channels);
            assert!(first + len <= self.len);
            // SAFETY: pixels of the line, by the assertion, which the closure has written to `kept`, as the caller
            // vouches; the lease and the caller exclude all other use. The storer is the one for these types.
            unsafe {
                (self.store)(kept.as_ptr().add(first).cast(), len, line.wrapping_add(first * self.size), 1)
            };
        };
        let mut run = 0..0;
        for pixel in pixels {
            if pixel != run.end {
                store(mem::replace(&mut run, pixel..pixel));
            }
            run.end = pixel + 1;
        }
        store(run);
    }
}
