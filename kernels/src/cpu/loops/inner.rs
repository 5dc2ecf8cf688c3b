//! The loop that is compiled for each kernel, without its types.
#![expect(unsafe_code, reason = "reads and writes elements through pointers that its caller vouches for")]

use std::marker::PhantomData;
use std::ops::Range;

use torch_library::{DType, Element, Result, Tensor};

use super::Input;
use super::convert::{self, Storer};
use super::function::{BLOCK, Elements};
use super::halves::Half;

/// A closure from `N` elements to one, or what stands for one, and the loop over it.
pub(super) struct Inner<'f, const N: usize> {
    run: Run<N>,
    /// As `run`, for several rows, where there are two inputs and wide vectors.
    run_plane: Option<RunPlane<N>>,
    /// As `run`, from halves to halves, for functions of `f32` where there are the widest vectors.
    run_halves: Option<RunHalves<N>>,
    closure: *const (),
    /// How to read an operand as what the closure takes.
    pub(super) input: fn(&Tensor) -> Result<Input>,
    /// How to write what it gives to memory of a type.
    pub(super) storer: fn(DType) -> Storer,
    /// The type that it takes.
    pub(super) element: DType,
    /// The type that it gives.
    pub(super) result: DType,
    /// Whether it gives back what it takes.
    pub(super) is_identity: bool,
    lifetime: PhantomData<&'f ()>,
}

/// The loop: dense in, dense out.
type Run<const N: usize> = unsafe fn(closure: *const (), out: *mut u8, inputs: [*const u8; N], len: usize);

// SAFETY: `of` asks for a closure that threads may share.
unsafe impl<const N: usize> Sync for Inner<'_, N> {}

impl<'f, const N: usize> Inner<'f, N> {
    pub(super) fn of<M: Element, R: Element, F: Fn([M; N]) -> R + Sync>(f: &'f F) -> Self {
        let run_plane = if const { N == 2 } { plane_of::<M, R, F, N>() } else { None };
        Inner { run_plane, ..Self::of_elements::<M, R, F>(f) }
    }

    /// Of what is not a closure from `N` elements to one, but stands for one.
    pub(super) fn of_elements<M: Element, R: Element, F: Elements<M, R, N>>(f: &'f F) -> Self {
        Inner {
            run: loop_of::<M, R, F, N>(),
            run_plane: None,
            run_halves: halves_of::<M, R, F, N>(),
            closure: std::ptr::from_ref(f).cast(),
            input: Input::new::<M>,
            storer: convert::storer::<R>,
            element: M::DTYPE,
            result: R::DTYPE,
            is_identity: false,
            lifetime: PhantomData,
        }
    }

    /// Whether there is a loop over several rows.
    #[inline]
    pub(super) fn has_plane(&self) -> bool {
        self.run_plane.is_some()
    }

    /// Computes the results of several rows at once, if there is a loop for that.
    ///
    /// # Safety
    /// As [`run`](Self::run), for each of the rows.
    #[inline]
    pub(super) unsafe fn run_plane(&self, plane: &Plane<N>) {
        if let Some(run) = self.run_plane {
            // SAFETY: passed on.
            unsafe { run(self.closure, plane) }
        }
    }

    /// Which halves results of a type are, if there is a loop over them.
    #[inline]
    pub(super) fn half(&self, out: DType) -> Option<Half> {
        Half::of(out).filter(|_| self.run_halves.is_some())
    }

    /// Computes `len` results of halves.
    ///
    /// # Safety
    /// [`half`](Self::half) has said which. As many of `out` can be written, and of each input be read that is not a single
    /// element, of type `f32`; `out` may be one of the inputs.
    #[inline]
    pub(super) unsafe fn run_halves(
        &self,
        half: Half,
        out: *mut u8,
        inputs: [(*const u8, bool); N],
        len: usize,
    ) {
        if let Some(run) = self.run_halves {
            // SAFETY: passed on.
            unsafe { run(self.closure, half, out, inputs, len) }
        }
    }

    /// Computes `len` results.
    ///
    /// # Safety
    /// `len` elements of each input can be read as what the closure takes, and as many of `out` written as what it gives;
    /// an input is `out` itself, or shares no memory with it.
    #[inline]
    pub(super) unsafe fn run(&self, out: *mut u8, inputs: [*const u8; N], len: usize) {
        // SAFETY: passed on; the closure is the one that the loop was made for, and lives as long as `self`.
        unsafe { (self.run)(self.closure, out, inputs, len) }
    }
}

impl<'f> Inner<'f, 1> {
    /// Of a closure that gives back what it takes, so that it need not be asked.
    pub(super) fn of_identity<T: Element, F: Fn([T; 1]) -> T + Sync>(f: &'f F) -> Self {
        Inner { is_identity: true, run_plane: plane_of::<T, T, F, 1>(), ..Self::of_elements::<T, T, F>(f) }
    }
}

/// Rows that are dense in every operand, but for one input of which a row has a single element: where the first is, and how
/// many bytes on the next.
pub(super) struct Plane<const N: usize> {
    pub(super) rows: usize,
    pub(super) len: usize,
    pub(super) out: *mut u8,
    pub(super) out_step: isize,
    pub(super) inputs: [*const u8; N],
    pub(super) steps: [isize; N],
    pub(super) single: Option<usize>,
}

// SAFETY: plain addresses; which thread computes which row is for the caller of `run_plane` to say.
unsafe impl<const N: usize> Sync for Plane<N> {}

impl<const N: usize> Plane<N> {
    /// Some of the rows.
    pub(super) fn part(&self, rows: Range<usize>) -> Self {
        let start = rows.start as isize;
        Plane {
            rows: rows.len(),
            out: self.out.wrapping_offset(start * self.out_step),
            inputs: std::array::from_fn(|k| self.inputs[k].wrapping_offset(start * self.steps[k])),
            ..*self
        }
    }
}

type RunPlane<const N: usize> = unsafe fn(*const (), &Plane<N>);

/// The loop over rows, for closures that pay for it.
fn plane_of<M: Element, R: Element, F: Fn([M; N]) -> R + Sync, const N: usize>() -> Option<RunPlane<N>> {
    #[cfg(target_arch = "x86_64")]
    if super::is_wide() {
        return Some(plane::<M, R, F, N>);
    }
    None
}

/// # Safety
/// As [`Inner::run_plane`], on a processor that has these features.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma")]
unsafe fn plane<M: Element, R: Element, F: Fn([M; N]) -> R + Sync, const N: usize>(
    closure: *const (),
    plane: &Plane<N>,
) {
    // SAFETY: `of` pairs the closure with this loop.
    let f = unsafe { &*closure.cast::<F>() };
    for row in 0..plane.rows as isize {
        let out = plane.out.wrapping_offset(row * plane.out_step).cast::<R>();
        let row = std::array::from_fn(|k| plane.inputs[k].wrapping_offset(row * plane.steps[k]).cast::<M>());
        // SAFETY: passed on, row by row.
        unsafe {
            match plane.single {
                None => f.each(out, row, plane.len),
                Some(0) => with_single(f, out, row, plane.len, 0),
                Some(_) => with_single(f, out, row, plane.len, N - 1),
            }
        }
    }
}

/// A row for which one input has one element.
///
/// # Safety
/// As [`Inner::run`], but for that input.
#[inline(always)]
unsafe fn with_single<M: Element, R: Element, F: Fn([M; N]) -> R, const N: usize>(
    f: &F,
    out: *mut R,
    inputs: [*const M; N],
    len: usize,
    single: usize,
) {
    // SAFETY: that element is there.
    let element = unsafe { inputs[single].read() };
    let whole = len - len % BLOCK;
    let x = |i: usize| {
        // SAFETY: whoever calls this gives a place in the row.
        std::array::from_fn(|k| if k == single { element } else { unsafe { inputs[k].add(i).read() } })
    };
    for start in (0..whole).step_by(BLOCK) {
        let mut results = [R::default(); BLOCK];
        for (i, result) in results.iter_mut().enumerate() {
            *result = f(x(start + i));
        }
        // SAFETY: a part of the row.
        unsafe { out.add(start).cast::<[R; BLOCK]>().write(results) };
    }
    for i in whole..len {
        // SAFETY: as above.
        unsafe { out.add(i).write(f(x(i))) };
    }
}

/// The loop over halves: where they are and, for each input, whether it is a single `f32` instead.
type RunHalves<const N: usize> =
    unsafe fn(closure: *const (), Half, out: *mut u8, inputs: [(*const u8, bool); N], len: usize);

/// The loop over halves, for functions of `f32`.
fn halves_of<M: Element, R: Element, F: Elements<M, R, N>, const N: usize>() -> Option<RunHalves<N>> {
    #[cfg(target_arch = "x86_64")]
    if const { matches!((M::DTYPE, R::DTYPE), (DType::Float32, DType::Float32)) } && super::is_widest() {
        return Some(of_halves::<M, R, F, N>);
    }
    None
}

/// # Safety
/// As [`Inner::run_halves`], of a function of `f32`, on a processor that has these features.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma,avx512f,avx512vl,avx512dq,avx512bw")]
unsafe fn of_halves<M: Element, R: Element, F: Elements<M, R, N>, const N: usize>(
    closure: *const (),
    half: Half,
    out: *mut u8,
    inputs: [(*const u8, bool); N],
    len: usize,
) {
    use super::halves::{self, BLOCK};
    // SAFETY: `of` pairs the closure with this loop.
    let f = unsafe { &*closure.cast::<F>() };
    let (mut blocks, mut results) = ([[0f32; BLOCK]; N], [0f32; BLOCK]);
    for (block, (input, is_single)) in blocks.iter_mut().zip(inputs) {
        if is_single {
            // SAFETY: by contract.
            block.fill(unsafe { input.cast::<f32>().read() });
        }
    }
    for start in (0..len).step_by(BLOCK) {
        let len = BLOCK.min(len - start);
        for (block, (input, is_single)) in blocks.iter_mut().zip(inputs) {
            if !is_single {
                // SAFETY: a part of what is there by contract.
                unsafe { halves::widen(half, input.cast::<u16>().add(start), len, block.as_mut_ptr()) };
            }
        }
        let from = blocks.each_ref().map(|block| block.as_ptr().cast::<M>());
        // SAFETY: blocks of `f32`, which is what `M` and `R` are.
        unsafe { f.each(results.as_mut_ptr().cast::<R>(), from, BLOCK) };
        // SAFETY: as above.
        unsafe { halves::narrow(half, results.as_ptr(), out.cast::<u16>().add(start), len) };
    }
}

/// The widest loop that the processor has.
fn loop_of<M: Element, R: Element, F: Elements<M, R, N>, const N: usize>() -> Run<N> {
    #[cfg(target_arch = "x86_64")]
    {
        let is_function =
            const { F::IS_FASTER_WIDEST && matches!(M::DTYPE, DType::Float32 | DType::Float64) };
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
unsafe fn wide<M: Element, R: Element, F: Elements<M, R, N>, const N: usize>(
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
unsafe fn widest<M: Element, R: Element, F: Elements<M, R, N>, const N: usize>(
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
unsafe fn plain<M: Element, R: Element, F: Elements<M, R, N>, const N: usize>(
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
unsafe fn each<M: Element, R: Element, F: Elements<M, R, N>, const N: usize>(
    closure: *const (),
    out: *mut u8,
    inputs: [*const u8; N],
    len: usize,
) {
    // SAFETY: `of` pairs the closure with this loop.
    let f = unsafe { &*closure.cast::<F>() };
    // SAFETY: passed on.
    unsafe { f.each(out.cast::<R>(), inputs.map(<*const u8>::cast::<M>), len) }
}
