//! Conversions of 16-bit floats in steps on short dense buffers, each of which vector instructions do.
//!
//! Baseline x86-64 has no instruction for 16-bit floats, so converting them one by one takes five to ten times as long.
//! Values do not differ: [`Element::cast`] converts them by way of `f32` too.
#![expect(unsafe_code, reason = "reads and writes elements through pointers")]

use std::mem::MaybeUninit;

use torch_library::{DType, Element};

use super::{load, store};

/// The elements that are converted at a time.
const PART: usize = 256;

/// Whether elements are converted in steps: 16-bit floats from or to another type, unless one instruction does it.
#[inline(always)]
pub(super) fn are_for<S: Element, D: Element>(stride: isize) -> bool {
    let is_half = |dtype| matches!(dtype, DType::Float16 | DType::BFloat16);
    let is_single = S::DTYPE == DType::Float32 || D::DTYPE == DType::Float32;
    S::DTYPE != D::DTYPE && (is_half(S::DTYPE) || is_half(D::DTYPE)) && !(is_single && stride == 1)
}

/// A short buffer, which is written before it is read.
struct Buffer<T>([MaybeUninit<T>; PART]);

impl<T: Element> Buffer<T> {
    fn new() -> Self {
        Buffer([MaybeUninit::uninit(); PART])
    }

    fn data(&mut self) -> *mut u8 {
        self.0.as_mut_ptr().cast()
    }
}

/// [`load`] in steps, where [`are_for`] says so: to `f32` first, and 16-bit floats that are not dense are gathered
/// before that.
///
/// # Safety
/// - `len` elements of `S`, `stride` apart, lie in bounds from `data` on, aligned and initialised, and nothing
///   writes to them during the call.
/// - `len` elements of `M` can be written to the buffer, aligned, in other memory that nothing else uses.
/// - `stride` is not 0.
pub(super) unsafe fn load_in_steps<S: Element, M: Element>(
    data: *const u8,
    stride: isize,
    len: usize,
    buffer: *mut u8,
) {
    for start in (0..len).step_by(PART) {
        let count = PART.min(len - start);
        let from = data.wrapping_offset(start as isize * stride * size_of::<S>() as isize);
        let to = buffer.wrapping_add(start * size_of::<M>());
        // SAFETY: `count` of the elements that the caller vouches for in both, from `start` on; a local buffer has room
        // for as many, is aligned, and is written before it is read.
        unsafe {
            match M::DTYPE {
                DType::Float32 => {
                    let mut dense = Buffer::<S>::new();
                    load::<S, S>(from, stride, count, dense.data());
                    load::<S, f32>(dense.data(), 1, count, to);
                }
                _ => {
                    let mut wide = Buffer::<f32>::new();
                    load::<S, f32>(from, stride, count, wide.data());
                    store::<f32, M>(wide.data(), count, to, 1);
                }
            }
        }
    }
}

/// [`store`] in steps, where [`are_for`] says so: to `f32` first, and 16-bit floats that will not be dense are rounded
/// before they are scattered.
///
/// # Safety
/// - `len` elements of `R` can be read from the buffer: aligned, initialised, booleans 0 or 1.
/// - `len` elements of `D`, `stride` apart, lie in bounds from `data` on, and are aligned, in other memory.
/// - Nothing else uses them during the call.
pub(super) unsafe fn store_in_steps<R: Element, D: Element>(
    buffer: *const u8,
    len: usize,
    data: *mut u8,
    stride: isize,
) {
    for start in (0..len).step_by(PART) {
        let count = PART.min(len - start);
        let from = buffer.wrapping_add(start * size_of::<R>());
        let to = data.wrapping_offset(start as isize * stride * size_of::<D>() as isize);
        // SAFETY: `count` of the elements that the caller vouches for in both, from `start` on; a local buffer has room
        // for as many, is aligned, and is written before it is read.
        unsafe {
            match R::DTYPE {
                DType::Float32 => {
                    let mut dense = Buffer::<D>::new();
                    store::<f32, D>(from, count, dense.data(), 1);
                    store::<D, D>(dense.data(), count, to, stride);
                }
                _ => {
                    let mut wide = Buffer::<f32>::new();
                    load::<R, f32>(from, 1, count, wide.data());
                    store::<f32, D>(wide.data(), count, to, stride);
                }
            }
        }
    }
}
