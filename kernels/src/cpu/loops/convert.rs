//! Moving rows of elements between memory and dense buffers, converting them on the way.
#![expect(unsafe_code, reason = "reads and writes elements through pointers")]

use torch_library::{DType, Element, match_dtype};

use super::dense;

/// Reads `len` elements, `stride` apart, into a dense buffer of another type.
pub(crate) type Loader = unsafe fn(data: *const u8, stride: isize, len: usize, buffer: *mut u8);

/// Writes a dense buffer of `len` elements to places `stride` apart, as another type.
pub(crate) type Storer = unsafe fn(buffer: *const u8, len: usize, data: *mut u8, stride: isize);

/// The loader from memory of a type to a buffer of `M`.
pub(crate) fn loader<M: Element>(dtype: DType) -> Loader {
    match_dtype!(dtype, S => load::<S, M>)
}

/// The storer from a buffer of `R` to memory of a type.
pub(crate) fn storer<R: Element>(dtype: DType) -> Storer {
    match_dtype!(dtype, D => store::<R, D>)
}

/// # Safety
/// `len` elements of `S`, `stride` apart, can be read from `data` on, and `len` of `M` written to the buffer.
pub(crate) unsafe fn load<S: Element, M: Element>(
    data: *const u8,
    stride: isize,
    len: usize,
    buffer: *mut u8,
) {
    if stride == 1
        && let Some(convert) = dense::conversion(S::DTYPE, M::DTYPE)
    {
        // SAFETY: by contract; the types are those that it was asked for.
        return unsafe { convert(data, len, buffer) };
    }
    if stride == 1 && S::DTYPE == M::DTYPE && S::DTYPE != DType::Bool {
        // SAFETY: by contract.
        return unsafe { std::ptr::copy(data, buffer, len * size_of::<S>()) };
    }
    let (data, buffer) = (data.cast::<S>(), buffer.cast::<M>());
    if stride == 0 {
        // SAFETY: one element is there, as `len` is not zero.
        let value = unsafe { read(data) }.cast::<M>();
        for i in 0..len {
            // SAFETY: by contract.
            unsafe { buffer.add(i).write(value) };
        }
        return;
    }
    let convert = |distance: isize| {
        for i in 0..len {
            // SAFETY: by contract, `distance` being the stride.
            unsafe { buffer.add(i).write(read(data.offset(i as isize * distance)).cast::<M>()) };
        }
    };
    match stride {
        1 => convert(1),
        -1 if S::DTYPE == M::DTYPE => convert(-1), // vectorises too, which only `flip` is worth
        _ => convert(stride),
    }
}

/// # Safety
/// `len` elements of `R` can be read from the buffer, and `len` of `D`, `stride` apart, written from `data` on.
unsafe fn store<R: Element, D: Element>(buffer: *const u8, len: usize, data: *mut u8, stride: isize) {
    if stride == 1
        && let Some(convert) = dense::conversion(R::DTYPE, D::DTYPE)
    {
        // SAFETY: by contract; the types are those that it was asked for.
        return unsafe { convert(buffer, len, data) };
    }
    if stride == 1 && R::DTYPE == D::DTYPE {
        // SAFETY: by contract; what is computed as a truth value is one.
        return unsafe { std::ptr::copy(buffer, data, len * size_of::<R>()) };
    }
    let (buffer, data) = (buffer.cast::<R>(), data.cast::<D>());
    let convert = |distance: isize| {
        for i in 0..len {
            // SAFETY: by contract, `distance` being the stride.
            unsafe { data.offset(i as isize * distance).write(buffer.add(i).read().cast::<D>()) };
        }
    };
    if stride == 1 { convert(1) } else { convert(stride) }
}

/// One element; bytes other than 0 and 1 that came in from outside are `true`.
///
/// # Safety
/// An element can be read from `data`.
#[inline(always)]
pub(crate) unsafe fn read<S: Element>(data: *const S) -> S {
    if S::DTYPE == DType::Bool {
        // SAFETY: a `bool` takes one byte.
        return (unsafe { data.cast::<u8>().read() } != 0).cast::<S>();
    }
    // SAFETY: by contract; every bit pattern is a value.
    unsafe { data.read() }
}
