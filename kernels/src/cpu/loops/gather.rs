//! Picking elements by index.
#![expect(
    unsafe_code,
    reason = "reads and writes elements through pointers that a walk and a bound check keep in bounds"
)]

use std::mem::MaybeUninit;
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};

use torch_library::geometry::{Dims, Geometry};
use torch_library::{Element, Result, Tensor, match_dtype};

use super::convert::{self, Loader};
use super::walk::{Row, Walk};
use super::{CHUNK, data_ptr, has_elements, parallel};

/// Writes `out[i, j, …] = source[i, index[i, j, …], …]`, for the `dim`-th place.
///
/// `index` broadcasts to `out`; `source` is at least as large as `out` in the other dimensions. Gives back an index
/// that is out of range, if there is one.
///
/// # Errors
/// Memory that the host does not reach.
pub(crate) fn gather(out: &Tensor, source: &Tensor, dim: usize, index: &Tensor) -> Result<Option<i64>> {
    if !has_elements(out) {
        return Ok(None);
    }
    let mut strides = Dims::from_slice(source.strides());
    let mut along = (0, 0);
    if let Some(stride) = strides.get_mut(dim) {
        along = (source.sizes()[dim], *stride as isize);
        *stride = 0;
    } else {
        along.0 = 1; // a tensor without dimensions has one element, at index 0
    }
    let starts = Geometry::new(out.sizes(), &strides, 0)?;
    let walk = Walk::new(out.geometry(), [index.geometry(), &starts]);
    let picker = Picker {
        out: data_ptr(out)?,
        source: data_ptr(source)?,
        index: data_ptr(index)?,
        index_size: index.dtype().size() as isize,
        load: convert::loader(index.dtype()),
        count: along.0,
        step: along.1,
        is_bad: AtomicBool::new(false),
        bad: AtomicI64::new(0),
    };
    parallel::ranges(out.numel() as usize, |range| {
        walk.rows(range, |row| {
            // SAFETY: the walk stays within the elements of all operands, and no two threads get the same one; both
            // tensors are of one type.
            match_dtype!(out.dtype(), T => unsafe { picker.row::<T>(&row) });
        });
    });
    Ok(picker.is_bad.into_inner().then(|| picker.bad.into_inner()))
}

struct Picker {
    out: *mut u8,
    source: *const u8,
    index: *const u8,
    index_size: isize,
    load: Loader<i64>,
    /// How many indices there are, and how many elements apart in the source.
    count: i64,
    step: isize,
    is_bad: AtomicBool,
    bad: AtomicI64,
}

// SAFETY: plain addresses; which thread writes where is for `row` and its caller to say.
unsafe impl Sync for Picker {}

impl Picker {
    /// Fills one row.
    ///
    /// # Safety
    /// The row lies in bounds of `out`, of the index and of the source at index 0; `out` and source hold `T`; nobody
    /// else touches the row of `out`.
    unsafe fn row<T: Element>(&self, row: &Row<2>) {
        let mut buffer = [MaybeUninit::<i64>::uninit(); CHUNK];
        let (out, source) = (self.out.cast::<T>(), self.source.cast::<T>());
        for start in (0..row.len).step_by(CHUNK) {
            let len = CHUNK.min(row.len - start);
            let offset = (row.inputs[0] + start as isize * row.input_strides[0]) * self.index_size;
            // SAFETY: the chunk is part of the row, and fits the buffer.
            let indices = unsafe {
                let buffer = buffer.as_mut_ptr().cast::<i64>();
                (self.load)(self.index.offset(offset), row.input_strides[0], len, buffer);
                std::slice::from_raw_parts(buffer, len)
            };
            for (i, &index) in indices.iter().enumerate() {
                if !(0..self.count).contains(&index) {
                    self.bad.store(index, Ordering::Relaxed);
                    self.is_bad.store(true, Ordering::Relaxed);
                    continue;
                }
                let i = (start + i) as isize;
                let from = row.inputs[1] + i * row.input_strides[1] + index as isize * self.step;
                // SAFETY: in bounds of the source, the index having been checked, and of `out`.
                unsafe {
                    let element = convert::read(source.offset(from));
                    out.offset(row.out + i * row.out_stride).write(element);
                }
            }
        }
    }
}
