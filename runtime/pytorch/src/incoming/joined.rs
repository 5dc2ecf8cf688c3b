//! One storage for tensors of a call whose memory overlaps although PyTorch has several storages for it, as for two
//! slices of an array that `torch.from_numpy` got one by one. Leases and checks for overlap compare storages.
#![expect(unsafe_code, reason = "makes a storage over the memory of several, which it keeps")]

use std::ffi::c_void;
use std::ops::Range;
use std::ptr::NonNull;

use torch_library::{Device, Foreign, Result, Storage, ensure};

use super::{Incoming, Seen, retire};

impl Incoming {
    /// Moves the tensor that came last, and those whose storages overlap its own, to one storage. The elements stay
    /// where they are.
    ///
    /// # Errors
    /// The storages do not begin a multiple of an element's size apart.
    pub(super) fn join_last(&mut self) -> Result<()> {
        let Some((last, before)) = self.tensors.split_last() else { return Ok(()) };
        let last = &last.tensor.storage().clone();
        if before.is_empty() || before.iter().any(|seen| seen.tensor.storage().is_same(last)) {
            return Ok(());
        }
        let storages: Vec<Storage> = self.tensors.iter().map(|seen| seen.tensor.storage().clone()).collect();
        let whole = reached(&storages, span(last));
        let parts: Vec<Storage> =
            storages.iter().filter(|storage| meet(&span(storage), &whole)).cloned().collect();
        if parts.iter().all(|part| part.is_same(last)) {
            return Ok(());
        }
        let joined = over(&whole, parts.clone());
        for (seen, storage) in self.tensors.iter_mut().zip(&storages) {
            if meet(&span(storage), &whole) {
                seen.move_to(&joined, span(storage).start - whole.start)?;
            }
        }
        // Nobody may take a lease that those on the joined storage know nothing of.
        parts.iter().for_each(retire);
        self.joined.push(joined);
        Ok(())
    }
}

impl Seen {
    /// Moves the tensor to a storage that begins `distance` bytes before its own.
    fn move_to(&mut self, storage: &Storage, distance: usize) -> Result<()> {
        let (geometry, size) = (self.tensor.geometry().clone(), self.tensor.dtype().size());
        ensure!(
            distance.is_multiple_of(size),
            NotSupported,
            "tensors of {} and of another type overlap in memory at a distance of {distance} bytes: pass a copy of one",
            self.tensor.dtype()
        );
        let offset = geometry.offset() + (distance / size) as i64;
        // With a second handle, the tensor remembers the storage that it was made over.
        let _handle = self.tensor.clone();
        self.tensor.set_storage(storage.clone(), geometry.sizes(), geometry.strides(), offset)
    }
}

/// The addresses of a storage's bytes; none if the host cannot access them.
fn span(storage: &Storage) -> Range<usize> {
    let start = storage.data_ptr().map_or(0, |start| start.addr().get());
    start..if start == 0 { 0 } else { start + storage.nbytes() }
}

fn meet(a: &Range<usize>, b: &Range<usize>) -> bool {
    a.start < b.end && b.start < a.end
}

/// These bytes, and those of all storages that overlap them, or that overlap one of those, and so on.
fn reached(storages: &[Storage], mut whole: Range<usize>) -> Range<usize> {
    loop {
        let met = storages.iter().map(span).filter(|span| meet(span, &whole));
        let wider =
            met.fold(whole.clone(), |whole, span| whole.start.min(span.start)..whole.end.max(span.end));
        if wider == whole {
            return whole;
        }
        whole = wider;
    }
}

/// A storage over the bytes of these, which have no gaps between them; it keeps them.
fn over(whole: &Range<usize>, parts: Vec<Storage>) -> Storage {
    let first = parts.iter().filter_map(Storage::data_ptr).min().expect("an overlap has bytes");
    let keeper = NonNull::from(Box::leak(Box::new(parts))).cast();
    // SAFETY: the box was leaked, and only this keeper frees it, on any thread: storages are `Send`. Dropping them
    // deletes PyTorch tensors, which does not unwind.
    let keeper = unsafe { Foreign::new(keeper, free) };
    // SAFETY: `first` is the address of the first byte, and each byte belongs to one of the parts, which the keeper
    // keeps alive. They came from outside, so any code may know their addresses. Tensors that were made over the parts
    // have moved, or move before a kernel gets them, and nothing takes leases on the parts any more.
    unsafe { Storage::from_foreign(first, whole.len(), Device::CPU, keeper) }
}

/// # Safety
/// * The object is a box of storages that the caller owns.
unsafe extern "C-unwind" fn free(object: *mut c_void) -> i32 {
    // SAFETY: the caller guarantees that it is such a box.
    drop(unsafe { Box::from_raw(object.cast::<Vec<Storage>>()) });
    0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_overlaps_is_reached_in_any_order() {
        let block = Storage::from_vec(vec![0u8; 100]);
        let start = span(&block).start;
        let part = |from: usize, to: usize| {
            let data = block.data_ptr().unwrap();
            // SAFETY: the bytes are within the block, which the keeper keeps; no lease is taken here.
            unsafe {
                Storage::from_raw_parts(data.add(from), to - from, Device::CPU, Box::new(block.clone()))
            }
        };
        let parts =
            [part(0, 10), part(40, 50), part(60, 70), part(5, 45), Storage::without_data(9, Device::META)];
        let at = |range: Range<usize>| start + range.start..start + range.end;
        assert_eq!(reached(&parts, span(&parts[3])), at(0..50));
        assert_eq!(reached(&parts, span(&parts[0])), at(0..50));
        assert_eq!(reached(&parts, span(&parts[2])), at(60..70));
        assert_eq!(reached(&parts, span(&parts[4])), 0..0);
        assert!(!meet(&(0..5), &(5..9)) && !meet(&(5..9), &(0..5)) && !meet(&(0..0), &(0..0)));
    }
}
