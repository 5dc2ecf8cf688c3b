//! Loads and stores that move rows of elements between memory and dense buffers, and convert them.
#![expect(unsafe_code, reason = "reads and writes elements through pointers")]

use torch_library::element::left_out;
use torch_library::{DType, Element, match_dtype};

use super::bytes::copy_bytes;
use super::dense;
use super::planes::normalise;
use super::reversed::reverse_rows;

mod steps;

/// Reads `len` elements, `stride` apart, into a dense buffer of another type.
pub type Loader = unsafe fn(data: *const u8, stride: isize, len: usize, buffer: *mut u8);

/// Writes a dense buffer of `len` elements to places `stride` apart, as another type.
pub type Storer = unsafe fn(buffer: *const u8, len: usize, data: *mut u8, stride: isize);

/// The loader from memory of type `dtype` to a buffer of `M`.
#[inline]
pub fn loader<M: Element>(dtype: DType) -> Loader {
    loader_between(dtype, M::DTYPE)
}

/// The storer from a buffer of `R` to memory of type `dtype`.
#[inline]
pub fn storer<R: Element>(dtype: DType) -> Storer {
    storer_between(R::DTYPE, dtype)
}

/// The loader from one type to another. It is not generic, so that these hundreds of loops are compiled once, and not
/// for each crate with kernels.
pub(super) fn loader_between(from: DType, to: DType) -> Loader {
    match_dtype!(to, M: NotFloat8 => match_dtype!(from, S: NotFloat8 => load::<S, M>, else => {
        match_dtype!(from, S: Float8 => load_each::<S, M>, else => left_out())
    }), else => match_dtype!(to, M: Float8 => match_dtype!(from, S => load_each::<S, M>), else => left_out()))
}

/// The storer from one type to another. It is not generic either.
pub(super) fn storer_between(from: DType, to: DType) -> Storer {
    match_dtype!(from, R: NotFloat8 => match_dtype!(to, D: NotFloat8 => store::<R, D>, else => {
        match_dtype!(to, D: Float8 => store_each::<R, D>, else => left_out())
    }), else => match_dtype!(from, R: Float8 => match_dtype!(to, D => store_each::<R, D>), else => left_out()))
}

/// # Safety
/// - `len` elements of `S`, `stride` apart, lie in bounds from `data` on, aligned and initialised; of `bool` they
///   may be any byte.
/// - Nothing writes to them during the call.
/// - `len` elements of `M` can be written to the buffer, which is aligned for them, and which nothing else uses during
///   the call.
/// - The two share no memory.
/// - If `stride` is 0, `len` is not.
unsafe fn load<S: Element, M: Element>(data: *const u8, stride: isize, len: usize, buffer: *mut u8) {
    if stride == 1
        && let Some(convert) = dense::conversion(S::DTYPE, M::DTYPE)
    {
        // SAFETY: the caller vouches for `len` contiguous elements of `S`, and for room for `len` of `M` in other
        // memory; the conversion is the one for these types, and was only returned because the processor has its
        // features.
        return unsafe { convert(data, len, buffer) };
    }
    if stride == 1 && S::DTYPE == M::DTYPE && S::DTYPE != DType::Bool {
        // SAFETY: the caller vouches for `len` contiguous elements, and for room for `len` of the same type.
        return unsafe { copy_bytes(data, buffer, len * size_of::<S>()) };
    }
    let (data, buffer) = (data.cast::<S>(), buffer.cast::<M>());
    if stride == 0 {
        // SAFETY: the caller vouches for one element at least, as `len` is not zero then.
        let value = unsafe { read(data) }.cast::<M>();
        for i in 0..len {
            // SAFETY: `i` is below `len`, and the caller vouches for room for as many elements of `M`.
            unsafe { buffer.add(i).write(value) };
        }
        return;
    }
    if steps::are_for::<S, M>(stride) {
        // SAFETY: the caller guarantees this; `stride` is not 0.
        return unsafe { steps::load_in_steps::<S, M>(data.cast(), stride, len, buffer.cast()) };
    }
    let convert = |distance: isize| {
        for i in 0..len {
            // SAFETY: `i` is below `len`, and the caller vouches for as many elements `stride` apart, which
            // `distance` is, and for room for as many of `M`.
            unsafe { buffer.add(i).write(read(data.offset(i as isize * distance)).cast::<M>()) };
        }
    };
    match stride {
        1 => convert(1),
        // Only `flip` needs these.
        -1 if S::DTYPE == M::DTYPE && S::DTYPE == DType::Bool => {
            // SAFETY: as below, for bytes, of which all but 0 are `true`.
            unsafe { reverse_rows(1, (data.cast(), 0), (buffer.cast(), 0), 1, len) };
            // SAFETY: these bytes were just written, and nothing else uses them.
            let bytes = unsafe { std::slice::from_raw_parts_mut(buffer.cast::<u8>(), len) };
            normalise(bytes);
        }
        -1 if S::DTYPE == M::DTYPE => {
            // SAFETY: the caller vouches for `len` contiguous elements, of which `data` is the last, that nothing
            // writes to, and for room for `len` of the same type in other memory: one row, at any distance from others.
            unsafe { reverse_rows(size_of::<S>(), (data.cast(), 0), (buffer.cast(), 0), 1, len) };
        }
        _ => convert(stride),
    }
}

/// # Safety
/// - `len` elements of `R` can be read from the buffer: aligned, initialised, booleans 0 or 1.
/// - `len` elements of `D`, `stride` apart, lie in bounds from `data` on, and are aligned.
/// - Nothing else uses them during the call.
/// - The two share no memory.
unsafe fn store<R: Element, D: Element>(buffer: *const u8, len: usize, data: *mut u8, stride: isize) {
    if stride == 1
        && let Some(convert) = dense::conversion(R::DTYPE, D::DTYPE)
    {
        // SAFETY: the caller vouches for `len` elements of `R`, and for `len` contiguous places for `D` in other
        // memory; the conversion is the one for these types, and was only returned because the processor has its
        // features.
        return unsafe { convert(buffer, len, data) };
    }
    if stride == 1 && R::DTYPE == D::DTYPE {
        // SAFETY: the caller vouches for `len` elements and for `len` contiguous places of the same type; booleans in
        // the buffer are 0 or 1.
        return unsafe { copy_bytes(buffer, data, len * size_of::<R>()) };
    }
    if steps::are_for::<R, D>(stride) {
        // SAFETY: the caller guarantees this.
        return unsafe { steps::store_in_steps::<R, D>(buffer, len, data, stride) };
    }
    let (buffer, data) = (buffer.cast::<R>(), data.cast::<D>());
    let convert = |distance: isize| {
        for i in 0..len {
            // SAFETY: `i` is below `len`, and the caller vouches for as many elements of `R`, and for as many
            // places `stride` apart, which `distance` is.
            unsafe { data.offset(i as isize * distance).write(buffer.add(i).read().cast::<D>()) };
        }
    };
    if stride == 1 { convert(1) } else { convert(stride) }
}

/// [`load`] without loops for dense memory: for floats of eight bits, so that little is compiled for them.
///
/// # Safety
/// - `len` elements of `S`, `stride` apart, lie in bounds from `data` on, and nothing writes to them during the call.
/// - `len` elements of `M` can be written to the buffer, which is aligned for them, and which nothing else uses during
///   the call.
unsafe fn load_each<S: Element, M: Element>(data: *const u8, stride: isize, len: usize, buffer: *mut u8) {
    let (data, buffer) = (data.cast::<S>(), buffer.cast::<M>());
    for i in 0..len {
        // SAFETY: `i` is below `len`, and the caller vouches for as many elements `stride` apart.
        let element = unsafe { data.offset(i as isize * stride).read() };
        // SAFETY: `i` is below `len`, and the caller vouches for room for as many elements of `M`.
        unsafe { buffer.add(i).write(element.cast()) };
    }
}

/// [`store`] without loops for dense memory: for floats of eight bits, so that little is compiled for them.
///
/// # Safety
/// - `len` elements of `R` can be read from the buffer: aligned, initialised, booleans 0 or 1.
/// - `len` elements of `D`, `stride` apart, lie in bounds from `data` on.
/// - Nothing else uses them during the call.
unsafe fn store_each<R: Element, D: Element>(buffer: *const u8, len: usize, data: *mut u8, stride: isize) {
    let (buffer, data) = (buffer.cast::<R>(), data.cast::<D>());
    for i in 0..len {
        // SAFETY: `i` is below `len`, and the caller vouches for as many elements of `R`.
        let element = unsafe { buffer.add(i).read() };
        // SAFETY: `i` is below `len`, and the caller vouches for as many places `stride` apart.
        unsafe { data.offset(i as isize * stride).write(element.cast()) };
    }
}

/// Reads one element; a `bool` whose byte is neither 0 nor 1, as memory from outside may contain, is `true`.
///
/// # Safety
/// - An element lies at `data`, aligned and initialised; of `bool`, it may be any byte.
/// - Nothing writes to it during the call.
#[inline(always)]
pub unsafe fn read<S: Element>(data: *const S) -> S {
    if S::DTYPE == DType::Bool {
        // SAFETY: the caller vouches for an element; a `bool` takes one byte, of which any value is a `u8`.
        return (unsafe { data.cast::<u8>().read() } != 0).cast::<S>();
    }
    // SAFETY: the caller vouches for an element; of all types but `bool`, every bit pattern is a value.
    unsafe { data.read() }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Loads and stores `stride`-spaced elements of one type as another, and compares them with single conversions.
    fn check<S: Element, M: Element>(stride: isize) {
        const COUNT: usize = 300;
        let steps = (COUNT - 1) * stride.unsigned_abs() + 1;
        let from: Vec<S> = (0..steps).map(|i| (i as i64 % 7).cast()).collect();
        let first = if stride < 0 { steps - 1 } else { 0 };
        let place = |i: usize| first.wrapping_add_signed(i as isize * stride);
        let mut loaded = vec![M::default(); COUNT];
        // SAFETY: `COUNT` elements, `stride` apart, are in a vector of that type, as `place` counts them, and the
        // other vector has room for as many.
        unsafe {
            let data = from.as_ptr().add(first).cast();
            loader_between(S::DTYPE, M::DTYPE)(data, stride, COUNT, loaded.as_mut_ptr().cast());
        }
        for (i, loaded) in loaded.iter().enumerate() {
            assert!(*loaded == from[place(i)].cast::<M>(), "{} as {}, {i}", S::DTYPE, M::DTYPE);
        }
        if stride == 0 {
            return; // the elements would be written to one place
        }
        let mut stored = vec![M::default(); steps];
        let dense = &from[..COUNT];
        // SAFETY: `COUNT` elements are in the first vector, and as many places, `stride` apart, in the second one.
        unsafe {
            let data = stored.as_mut_ptr().add(first).cast();
            storer_between(S::DTYPE, M::DTYPE)(dense.as_ptr().cast(), COUNT, data, stride);
        }
        for (i, element) in dense.iter().enumerate() {
            assert!(stored[place(i)] == element.cast::<M>(), "{} to {}, {i}", S::DTYPE, M::DTYPE);
        }
    }

    #[test]
    fn rows_of_every_type_are_converted_to_every_type_like_single_elements() {
        for from in DType::all().filter(|dtype| dtype.is_built()) {
            for to in DType::all().filter(|dtype| dtype.is_built()) {
                match_dtype!(from, S => match_dtype!(to, M => {
                    for stride in [1, -1, 3, -3, 0] {
                        check::<S, M>(stride);
                    }
                }));
            }
        }
    }
}
