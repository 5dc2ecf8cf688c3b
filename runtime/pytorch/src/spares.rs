//! Reuses the allocations of tensors from earlier calls, so that a call with few tensors allocates nothing.
#![cfg_attr(test, expect(unsafe_code, reason = "makes tensors over memory that an object keeps"))]

use std::cell::Cell;

use torch_library::{ForeignTensor, Tensor};

/// The maximum number of allocations that a thread keeps.
const MOST: usize = 4;

thread_local! {
    static KEPT: [Cell<Option<ForeignTensor>>; MOST] = const { [const { Cell::new(None) }; MOST] };
}

/// Takes one of this thread's spare allocations, if it has any; while the thread ends it has none.
#[inline(always)]
pub(crate) fn take() -> Option<ForeignTensor> {
    KEPT.try_with(|kept| kept.iter().find_map(Cell::take)).ok().flatten()
}

/// Releases the memory of a tensor, and keeps its allocation unless the thread has enough of them.
///
/// # Errors
/// The tensor, if somebody else has it or its memory.
#[inline(always)]
pub(crate) fn put(tensor: Tensor) -> Result<(), Tensor> {
    let left = tensor.leave_foreign()?;
    // While the thread ends, it is freed.
    let _ = KEPT.try_with(|kept| {
        for place in kept {
            match place.take() {
                None => return place.set(Some(left)),
                others => place.set(others),
            }
        }
    });
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::ffi::c_void;
    use std::ptr::NonNull;

    use torch_library::{DType, DispatchKey, DispatchKeySet, Foreign};

    use super::*;

    #[test]
    fn a_few_are_kept_of_those_that_nobody_has() {
        assert!(put(Tensor::from([1.0])).is_err());
        assert!(take().is_none(), "memory of its own is no foreign one's");
        let shared = foreign();
        assert!(put(shared.clone()).is_err());
        assert!(take().is_none(), "somebody has it");
        (0..MOST + 2).for_each(|_| put(foreign()).expect("nobody has it"));
        assert_eq!(std::iter::from_fn(take).count(), MOST);
    }

    /// A tensor over foreign memory.
    fn foreign() -> Tensor {
        let data = NonNull::from(Box::leak(Box::new(7u64))).cast::<u8>();
        // SAFETY: the box was leaked, and only this keeper frees it.
        let keeper = unsafe { Foreign::new(data.cast(), free) };
        let keys = DispatchKeySet::from_key(DispatchKey::CPU);
        // SAFETY: the keeper keeps the eight bytes alive, and nothing else uses them.
        let made =
            unsafe { Tensor::over_foreign(None, (data, 8, keeper), &[1], &[1], 0, DType::Int64, keys) };
        made.expect("one element lies in eight bytes")
    }

    /// # Safety
    /// * The object is a box of a `u64` that the caller owns.
    unsafe extern "C-unwind" fn free(object: *mut c_void) -> i32 {
        // SAFETY: the caller guarantees that it is such a box.
        drop(unsafe { Box::from_raw(object.cast::<u64>()) });
        0
    }
}
