//! The function that a loop computes: a closure, a function that is always inlined, or one with a fast and a general
//! form.
#![expect(unsafe_code, reason = "reads and writes elements through pointers that its caller vouches for")]

use torch_library::Element;

use super::bytes::copy_bytes;
use crate::inlined::from_fn;

/// A function of `N` elements that loops can compute: a closure, [`Inlined`], or [`Usually`].
///
/// Loops write to memory that is not initialised yet, and trust that nothing is left out:
///
/// ```compile_fail,E0200
/// use torch_library_loops::loops::Elements;
///
/// struct Nothing;
///
/// impl Elements<f32, f32, 1> for Nothing {
///     fn one(&self, [x]: [f32; 1]) -> f32 {
///         x
///     }
///
///     unsafe fn each(&self, _: *mut f32, _: [*const f32; 1], _: usize) {}
/// }
/// ```
///
/// # Safety
/// - [`each`](Self::each) and [`each_widest`](Self::each_widest) write every result that they are asked for.
/// - [`IS_IDENTITY`](Self::IS_IDENTITY) is true only if `M` is `R`, and the function returns its argument.
pub unsafe trait Elements<M, R, const N: usize>: Sync {
    /// Whether the loop over floats is also compiled for the widest vectors. A memory-bound loop gains nothing.
    #[cfg(target_arch = "x86_64")]
    const IS_FASTER_WIDEST: bool = true;

    /// Whether rows in which one input has a single element are worth a loop of their own.
    const HAS_PLANE: bool = false;

    /// Whether the function returns its argument.
    const IS_IDENTITY: bool = false;

    /// Computes one result.
    fn one(&self, elements: [M; N]) -> R;

    /// Computes `len` results, and writes **every** one, to memory that may be uninitialised.
    ///
    /// # Safety
    /// - `len` elements of each input can be read: aligned, initialised, booleans 0 or 1.
    /// - `len` elements of `R` can be written from `out` on, aligned.
    /// - Nothing else writes to the inputs or uses `out` during the call.
    /// - Each input is `out` itself, or shares no memory with it.
    unsafe fn each(&self, out: *mut R, inputs: [*const M; N], len: usize);

    /// Like [`each`](Self::each), for the loops that are compiled for the widest vectors.
    ///
    /// # Safety
    /// - What [`each`](Self::each) requires: `len` elements in each input and in `out`, used by nothing else, each
    ///   input `out` itself or disjoint from it.
    /// - The processor has the widest vectors.
    #[cfg(target_arch = "x86_64")]
    #[inline(always)]
    unsafe fn each_widest(&self, out: *mut R, inputs: [*const M; N], len: usize) {
        // SAFETY: the caller vouches for `len` elements in each input and in `out`, and for inputs that are `out`
        // itself or disjoint from it.
        unsafe { self.each(out, inputs, len) }
    }
}

/// A function from `N` elements to one, as a type of its own: see [`function!`].
pub trait Function<M, R, const N: usize>: Sync {
    fn of(&self, elements: [M; N]) -> R;
}

/// A function that is inlined into every loop, however large it is. (A large closure may be called instead, and is then
/// not compiled for wide vectors.)
pub struct Inlined<F>(pub F);

/// Turns a closure that captures nothing into an [`Inlined`].
#[doc(hidden)]
#[macro_export]
macro_rules! function {
    (|[$($x:ident),+]: [$M:ty; $N:expr]| -> $R:ty { $value:expr }) => {{
        struct Value;

        impl $crate::loops::Function<$M, $R, { $N }> for Value {
            #[inline(always)] // which cannot be said of a closure
            fn of(&self, [$($x),+]: [$M; $N]) -> $R {
                $value
            }
        }

        $crate::loops::Inlined(Value)
    }};
}
pub use crate::function;

/// The number of results that are computed before any is written, so that the loop over them vectorises even where the
/// compiler cannot rule out that inputs and results share memory.
pub(super) const BLOCK: usize = 64;

/// Likewise, for what is left behind the last block, or in rows that are shorter than one.
const PART: usize = 16;

/// [`BLOCK`] results. The alignment matters where the compiler keeps them in memory: a vector that straddles two cache
/// lines could be read back only after the store has reached the cache.
#[repr(align(64))]
pub(super) struct Block<T>(pub(super) [T; BLOCK]);

impl<T: Element> Block<T> {
    #[inline(always)]
    pub(super) fn new() -> Self {
        Block([T::default(); BLOCK])
    }
}

// SAFETY: as for `Inlined`, which computes all results.
unsafe impl<M: Element, R: Element, F: Fn([M; N]) -> R + Sync, const N: usize> Elements<M, R, N> for F {
    #[cfg(target_arch = "x86_64")]
    const IS_FASTER_WIDEST: bool = N == 1;
    const HAS_PLANE: bool = N == 2;

    #[inline(always)]
    fn one(&self, elements: [M; N]) -> R {
        self(elements)
    }

    #[inline(always)]
    unsafe fn each(&self, out: *mut R, inputs: [*const M; N], len: usize) {
        // SAFETY: the caller vouches for `len` elements in each input and in `out`, and for inputs that are `out`
        // itself or disjoint from it.
        unsafe { Inlined(Closure(self)).each(out, inputs, len) }
    }
}

/// A closure as a [`Function`].
struct Closure<'f, F>(&'f F);

impl<M, R, F: Fn([M; N]) -> R + Sync, const N: usize> Function<M, R, N> for Closure<'_, F> {
    #[inline(always)]
    fn of(&self, elements: [M; N]) -> R {
        self.0(elements)
    }
}

// SAFETY: `each` writes the results of all blocks, and then those after the last one; it is not said to be the
// identity.
unsafe impl<M: Element, R: Element, F: Function<M, R, N>, const N: usize> Elements<M, R, N> for Inlined<F> {
    #[inline(always)]
    fn one(&self, elements: [M; N]) -> R {
        self.0.of(elements)
    }

    #[inline(always)]
    unsafe fn each(&self, out: *mut R, inputs: [*const M; N], len: usize) {
        let blocks_end = len - len % BLOCK;
        for start in (0..blocks_end).step_by(BLOCK) {
            let mut results = Block::<R>::new();
            for (i, result) in results.0.iter_mut().enumerate() {
                // SAFETY: `start + i` is below `len`, and the caller vouches for as many elements in each input.
                *result = self.0.of(unsafe { at(inputs, start + i) });
            }
            // SAFETY: `start + BLOCK` is at most `len`, and the caller vouches for as many places in `out`, aligned
            // for `R` and so for an array of it.
            unsafe { out.add(start).cast::<[R; BLOCK]>().write(results.0) };
        }
        let parts_end = len - len % PART;
        for start in (blocks_end..parts_end).step_by(PART) {
            let mut results = [R::default(); PART];
            for (i, result) in results.iter_mut().enumerate() {
                // SAFETY: `start + i` is below `parts_end`, which is at most `len`.
                *result = self.0.of(unsafe { at(inputs, start + i) });
            }
            // SAFETY: `start + PART` is at most `len`, and the caller vouches for as many places in `out`.
            unsafe { out.add(start).cast::<[R; PART]>().write(results) };
        }
        for i in parts_end..len {
            // SAFETY: `i` is below `len`, and the caller vouches for as many elements in each input and places in
            // `out`.
            unsafe { out.add(i).write(self.0.of(at(inputs, i))) };
        }
    }
}

/// A closure of three elements, for operators whose inputs often have a single element in a row.
pub struct RowByRow<F>(pub F);

// SAFETY: as for the closure, which computes all results.
unsafe impl<M: Element, R: Element, F: Fn([M; 3]) -> R + Sync> Elements<M, R, 3> for RowByRow<F> {
    #[cfg(target_arch = "x86_64")]
    const IS_FASTER_WIDEST: bool = false;
    const HAS_PLANE: bool = true;

    #[inline(always)]
    fn one(&self, elements: [M; 3]) -> R {
        self.0(elements)
    }

    #[inline(always)]
    unsafe fn each(&self, out: *mut R, inputs: [*const M; 3], len: usize) {
        // SAFETY: the caller vouches for `len` elements in each input and in `out`, and for inputs that are `out`
        // itself or disjoint from it.
        unsafe { self.0.each(out, inputs, len) }
    }
}

/// A closure of several elements with so much arithmetic that the widest vectors compute it faster.
pub struct Widest<F>(pub F);

// SAFETY: as for the closure, which computes all results.
unsafe impl<M: Element, R: Element, F: Fn([M; N]) -> R + Sync, const N: usize> Elements<M, R, N>
    for Widest<F>
{
    #[cfg(target_arch = "x86_64")]
    const IS_FASTER_WIDEST: bool = true;

    #[inline(always)]
    fn one(&self, elements: [M; N]) -> R {
        self.0(elements)
    }

    #[inline(always)]
    unsafe fn each(&self, out: *mut R, inputs: [*const M; N], len: usize) {
        // SAFETY: the caller vouches for `len` elements in each input and in `out`, and for inputs that are `out`
        // itself or disjoint from it.
        unsafe { self.0.each(out, inputs, len) }
    }
}

/// The elements of all inputs at index `i`. Not by `array::map`, which adds a dozen functions to compile for each
/// closure, none of which is certain to be inlined into the loop.
///
/// # Safety
/// - Each input has an element at index `i`: in bounds, aligned, initialised, and 0 or 1 if it is a boolean.
/// - Nothing writes to it during the call.
#[inline(always)]
unsafe fn at<M: Element, const N: usize>(inputs: [*const M; N], i: usize) -> [M; N] {
    let mut elements = [M::default(); N];
    let mut k = 0;
    while k < N {
        // SAFETY: the caller vouches for an element of each input at `i`, which nothing writes to.
        elements[k] = unsafe { inputs[k].add(i).read() };
        k += 1;
    }
    elements
}

/// The identity function.
pub(super) struct Identity;

// SAFETY: `each` copies all elements, which are the results, of the same type.
unsafe impl<T: Element> Elements<T, T, 1> for Identity {
    #[cfg(target_arch = "x86_64")]
    const IS_FASTER_WIDEST: bool = false;
    const HAS_PLANE: bool = true;
    const IS_IDENTITY: bool = true;

    #[inline(always)]
    fn one(&self, [element]: [T; 1]) -> T {
        element
    }

    #[inline(always)]
    unsafe fn each(&self, out: *mut T, [input]: [*const T; 1], len: usize) {
        // SAFETY: the caller vouches for `len` elements in both, of one type; the input may be the result.
        unsafe { copy_bytes(input.cast(), out.cast(), len * size_of::<T>()) };
    }
}

/// A function with two forms: a fast one that vectorises and is right for usual arguments, and one for any arguments.
pub struct Usually<C, F, A> {
    pub is_usual: C,
    pub fast: F,
    pub any: A,
}

/// A block takes the fast form only if all of its arguments are usual.
// SAFETY: one of the two forms computes each block, all of whose results it writes; it is not said to be the identity.
unsafe impl<M, R, C, F, A, const N: usize> Elements<M, R, N> for Usually<C, F, A>
where
    M: Element,
    R: Element,
    C: Fn([M; N]) -> bool + Sync,
    F: Elements<M, R, N>,
    A: Elements<M, R, N>,
{
    #[cfg(target_arch = "x86_64")]
    const IS_FASTER_WIDEST: bool = F::IS_FASTER_WIDEST;

    #[inline(always)]
    fn one(&self, elements: [M; N]) -> R {
        self.any.one(elements)
    }

    #[inline(always)]
    unsafe fn each(&self, out: *mut R, inputs: [*const M; N], len: usize) {
        // SAFETY: the caller vouches for `len` elements in each input and in `out`, and for inputs that are `out`
        // itself or disjoint from it.
        unsafe { self.in_blocks::<M, R, N, false>(out, inputs, len) }
    }

    #[cfg(target_arch = "x86_64")]
    #[inline(always)]
    unsafe fn each_widest(&self, out: *mut R, inputs: [*const M; N], len: usize) {
        // SAFETY: the caller vouches for the processor, for `len` elements in each input and in `out`, and for inputs
        // that are `out` itself or disjoint from it.
        unsafe { self.in_blocks::<M, R, N, true>(out, inputs, len) }
    }
}

impl<C, F, A> Usually<C, F, A> {
    /// Computes `len` results, block by block, by `fast` those whose arguments are all usual.
    ///
    /// # Safety
    /// - What [`each`](Elements::each) requires: `len` elements in each input and in `out`, used by nothing else, each
    ///   input `out` itself or disjoint from it.
    /// - If `WIDEST`, the processor has the widest vectors.
    #[inline(always)]
    unsafe fn in_blocks<M, R, const N: usize, const WIDEST: bool>(
        &self,
        out: *mut R,
        inputs: [*const M; N],
        len: usize,
    ) where
        M: Element,
        C: Fn([M; N]) -> bool + Sync,
        F: Elements<M, R, N>,
        A: Elements<M, R, N>,
    {
        for start in (0..len).step_by(BLOCK) {
            let len = BLOCK.min(len - start);
            // SAFETY: `start` is below `len`, and the caller vouches for as many elements in each input and in `out`.
            let (out, inputs) = unsafe { (out.add(start), from_fn(|k| inputs[k].add(start))) };
            let mut are_usual = true;
            for i in 0..len {
                // SAFETY: `i` is below this block's `len`, so `start + i` below the caller's, who vouches for an
                // element of each input there.
                are_usual &= (self.is_usual)(unsafe { at(inputs, i) });
            }
            // Two loops, since a single loop with the choice inside would not vectorise.
            if are_usual {
                #[cfg(target_arch = "x86_64")]
                if WIDEST {
                    // SAFETY: the block is a part of the `len` elements that the caller vouches for in each input and
                    // in `out`, which are the same memory or disjoint; the caller vouches for the processor, too.
                    unsafe { self.fast.each_widest(out, inputs, len) };
                    continue;
                }
                // SAFETY: the block is a part of the `len` elements that the caller vouches for in each input and in
                // `out`, which are the same memory or disjoint.
                unsafe { self.fast.each(out, inputs, len) };
            } else {
                // SAFETY: the block is a part of the `len` elements that the caller vouches for in each input and in
                // `out`, which are the same memory or disjoint.
                unsafe { self.any.each(out, inputs, len) };
            }
        }
    }
}
