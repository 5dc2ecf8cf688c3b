//! The loop that is compiled for each kernel, without its types.
#![expect(unsafe_code, reason = "reads and writes elements through pointers that its caller vouches for")]

use std::marker::PhantomData;

use torch_library::{DType, Element, Result, Tensor};

use super::Input;
use super::convert::{self, Storer};

/// A closure from `N` elements to one, and the loop over it.
pub(super) struct Inner<'f, const N: usize> {
    run: Run<N>,
    closure: *const (),
    /// How to read an operand as what the closure takes.
    pub(super) input: fn(&Tensor) -> Result<Input>,
    /// How to write what it gives to memory of a type.
    pub(super) storer: fn(DType) -> Storer,
    /// The type that it takes.
    pub(super) element: DType,
    /// The type that it gives.
    pub(super) result: DType,
    lifetime: PhantomData<&'f ()>,
}

/// The loop: dense in, dense out.
type Run<const N: usize> = unsafe fn(closure: *const (), out: *mut u8, inputs: [*const u8; N], len: usize);

// SAFETY: `of` asks for a closure that threads may share.
unsafe impl<const N: usize> Sync for Inner<'_, N> {}

impl<'f, const N: usize> Inner<'f, N> {
    pub(super) fn of<M: Element, R: Element, F: Fn([M; N]) -> R + Sync>(f: &'f F) -> Self {
        Inner {
            run: loop_of::<M, R, F, N>(),
            closure: std::ptr::from_ref(f).cast(),
            input: Input::new::<M>,
            storer: convert::storer::<R>,
            element: M::DTYPE,
            result: R::DTYPE,
            lifetime: PhantomData,
        }
    }

    /// Computes `len` results.
    ///
    /// # Safety
    /// `len` elements of each input can be read as what the closure takes, and as many of `out` written as what it gives;
    /// none of these is one of those.
    #[inline]
    pub(super) unsafe fn run(&self, out: *mut u8, inputs: [*const u8; N], len: usize) {
        // SAFETY: passed on; the closure is the one that the loop was made for, and lives as long as `self`.
        unsafe { (self.run)(self.closure, out, inputs, len) }
    }
}

/// The widest loop that the processor has.
fn loop_of<M: Element, R: Element, F: Fn([M; N]) -> R, const N: usize>() -> Run<N> {
    #[cfg(target_arch = "x86_64")]
    {
        let is_function = const { N == 1 && matches!(M::DTYPE, DType::Float32 | DType::Float64) };
        if is_function && super::is_widest() {
            return widest::<M, R, F, N>;
        }
        if super::is_wide() {
            return wide::<M, R, F, N>;
        }
    }
    plain::<M, R, F, N>
}

/// # Safety
/// As [`Inner::run`], on a processor that has these features.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma")]
unsafe fn wide<M: Element, R: Element, F: Fn([M; N]) -> R, const N: usize>(
    closure: *const (),
    out: *mut u8,
    inputs: [*const u8; N],
    len: usize,
) {
    // SAFETY: passed on.
    unsafe { each::<M, R, F, N>(closure, out, inputs, len) }
}

/// # Safety
/// As [`Inner::run`], on a processor that has these features.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma,avx512f,avx512vl,avx512dq,avx512bw")]
unsafe fn widest<M: Element, R: Element, F: Fn([M; N]) -> R, const N: usize>(
    closure: *const (),
    out: *mut u8,
    inputs: [*const u8; N],
    len: usize,
) {
    // SAFETY: passed on.
    unsafe { each::<M, R, F, N>(closure, out, inputs, len) }
}

/// # Safety
/// As [`Inner::run`].
unsafe fn plain<M: Element, R: Element, F: Fn([M; N]) -> R, const N: usize>(
    closure: *const (),
    out: *mut u8,
    inputs: [*const u8; N],
    len: usize,
) {
    // SAFETY: passed on.
    unsafe { each::<M, R, F, N>(closure, out, inputs, len) }
}

/// # Safety
/// As [`Inner::run`].
#[inline(always)]
unsafe fn each<M: Element, R: Element, F: Fn([M; N]) -> R, const N: usize>(
    closure: *const (),
    out: *mut u8,
    inputs: [*const u8; N],
    len: usize,
) {
    // SAFETY: `of` pairs the closure with this loop.
    let f = unsafe { &*closure.cast::<F>() };
    let (out, inputs) = (out.cast::<R>(), inputs.map(<*const u8>::cast::<M>));
    for i in 0..len {
        // SAFETY: `i` is below `len`.
        let x = inputs.map(|input| unsafe { input.add(i).read() });
        // SAFETY: as above.
        unsafe { out.add(i).write(f(x)) };
    }
}
