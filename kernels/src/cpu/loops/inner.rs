//! The loop that is compiled for each kernel, without its types.
#![expect(unsafe_code, reason = "reads and writes elements through pointers that its caller vouches for")]

use std::marker::PhantomData;
use std::ops::Range;

use torch_library::{DType, Element, Result, Tensor};

use super::Input;
use super::convert::{self, Storer};
use super::function::{BLOCK, Block, Elements};
use super::halves::Half;

/// What computes `N` elements to one, and its loop for this processor.
pub(super) struct Inner<'f, const N: usize> {
    elements: *const (),
    run: Run<N>,
    pub(super) compiled: &'static Compiled<N>,
    lifetime: PhantomData<&'f ()>,
}

// SAFETY: `of` asks for elements that threads may share.
unsafe impl<const N: usize> Sync for Inner<'_, N> {}

/// What is compiled for each function and its types. It is behind addresses, so that what calls it is compiled once for all.
pub(super) struct Compiled<const N: usize> {
    loops: Loops<N>,
    /// How to read an operand as what the function takes.
    pub(super) input: fn(&Tensor) -> Result<Input>,
    /// How to write what it gives to memory of a type.
    pub(super) storer: fn(DType) -> Storer,
    /// The type that it takes.
    pub(super) element: DType,
    /// The type that it gives.
    pub(super) result: DType,
    /// Whether it gives back what it takes.
    pub(super) is_identity: bool,
}

/// A loop: dense in, dense out.
type Run<const N: usize> = unsafe fn(elements: *const (), out: *mut u8, inputs: [*const u8; N], len: usize);

/// The loops for different processors.
struct Loops<const N: usize> {
    plain: Run<N>,
    #[cfg(target_arch = "x86_64")]
    wide: Run<N>,
    /// Of functions of floats that gain by it.
    #[cfg(target_arch = "x86_64")]
    widest: Option<Run<N>>,
    /// As `wide`, over rows of which one input has a single element each.
    #[cfg(target_arch = "x86_64")]
    plane: Option<RunPlane<N>>,
    /// From halves to halves, of functions of `f32` where there are the widest vectors.
    #[cfg(target_arch = "x86_64")]
    halves: Option<RunHalves<N>>,
}

/// A loop without the type of what computes its elements. That comes by reference, not by address, so that the compiler knows what a
/// closure has captured to be the same for all elements, whatever is written meanwhile.
const fn erased<F, const N: usize>(run: RunOf<F, N>) -> Run<N> {
    // SAFETY: functions that differ in a reference for an address are called alike; whoever calls it gives the address of an `F`.
    unsafe { std::mem::transmute::<RunOf<F, N>, Run<N>>(run) }
}

/// A [`Run`] before [`erased`].
type RunOf<F, const N: usize> = unsafe fn(elements: &F, out: *mut u8, inputs: [*const u8; N], len: usize);

impl<const N: usize> Loops<N> {
    const fn new<M: Element, R: Element, F: Elements<M, R, N>>() -> Self {
        Loops {
            plain: erased(plain::<M, R, F, N>),
            #[cfg(target_arch = "x86_64")]
            wide: erased(wide::<M, R, F, N>),
            #[cfg(target_arch = "x86_64")]
            widest: if F::IS_FASTER_WIDEST && matches!(M::DTYPE, DType::Float32 | DType::Float64) {
                Some(erased(widest::<M, R, F, N>))
            } else {
                None
            },
            #[cfg(target_arch = "x86_64")]
            plane: if F::HAS_PLANE { Some(plane::<M, R, F, N>) } else { None },
            #[cfg(target_arch = "x86_64")]
            halves: if matches!((M::DTYPE, R::DTYPE), (DType::Float32, DType::Float32)) {
                Some(of_halves::<M, R, F, N>)
            } else {
                None
            },
        }
    }

    /// The fastest that the processor has.
    fn best(&self) -> Run<N> {
        #[cfg(target_arch = "x86_64")]
        match self.widest {
            Some(widest) if super::is_widest() => return widest,
            _ if super::is_wide() => return self.wide,
            _ => {}
        }
        self.plain
    }

    fn plane(&self) -> Option<RunPlane<N>> {
        #[cfg(target_arch = "x86_64")]
        if super::is_wide() {
            return self.plane;
        }
        None
    }

    fn halves(&self) -> Option<RunHalves<N>> {
        #[cfg(target_arch = "x86_64")]
        if super::is_widest() {
            return self.halves;
        }
        None
    }
}

/// Has a constant for each function and its types.
struct Of<M, R, F, const N: usize>(PhantomData<(M, R, F)>);

impl<M: Element, R: Element, F: Elements<M, R, N>, const N: usize> Of<M, R, F, N> {
    const COMPILED: Compiled<N> = Compiled {
        loops: Loops::new::<M, R, F>(),
        input: Input::new::<M>,
        storer: convert::storer::<R>,
        element: M::DTYPE,
        result: R::DTYPE,
        is_identity: F::IS_IDENTITY,
    };
}

impl<'f, const N: usize> Inner<'f, N> {
    #[inline(always)]
    pub(super) fn of<M: Element, R: Element, F: Elements<M, R, N>>(elements: &'f F) -> Self {
        Inner::new(std::ptr::from_ref(elements).cast(), &Of::<M, R, F, N>::COMPILED)
    }

    fn new(elements: *const (), compiled: &'static Compiled<N>) -> Self {
        Inner { elements, run: compiled.loops.best(), compiled, lifetime: PhantomData }
    }

    /// Computes `len` results.
    ///
    /// # Safety
    /// `len` elements of each input can be read as what the function takes, and as many of `out` written as what it gives;
    /// an input is `out` itself, or shares no memory with it.
    #[inline]
    pub(super) unsafe fn run(&self, out: *mut u8, inputs: [*const u8; N], len: usize) {
        // SAFETY: passed on; the elements are those that the loop was made for, and live as long as `self`.
        unsafe { (self.run)(self.elements, out, inputs, len) }
    }

    /// Whether there is a loop over several rows.
    #[inline]
    pub(super) fn has_plane(&self) -> bool {
        self.compiled.loops.plane().is_some()
    }

    /// Computes the results of several rows at once, if there is a loop for that.
    ///
    /// # Safety
    /// As [`run`](Self::run), for each of the rows.
    #[inline]
    pub(super) unsafe fn run_plane(&self, plane: &Plane<N>) {
        if let Some(run) = self.compiled.loops.plane() {
            // SAFETY: passed on.
            unsafe { run(self.elements, self.run, plane) }
        }
    }

    /// Which halves results of a type are, if there is a loop over them.
    #[inline]
    pub(super) fn half(&self, out: DType) -> Option<Half> {
        Half::of(out).filter(|_| self.compiled.loops.halves().is_some())
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
        if let Some(run) = self.compiled.loops.halves() {
            // SAFETY: passed on.
            unsafe { run(self.elements, half, out, inputs, len) }
        }
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

/// The loop over rows, of which those without a single element are left to the loop over one row.
type RunPlane<const N: usize> = unsafe fn(elements: *const (), Run<N>, &Plane<N>);

/// # Safety
/// As [`Inner::run_plane`], on a processor that has these features.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma")]
unsafe fn plane<M: Element, R: Element, F: Elements<M, R, N>, const N: usize>(
    elements: *const (),
    run: Run<N>,
    plane: &Plane<N>,
) {
    // SAFETY: `of` pairs the elements with this loop.
    let f = unsafe { &*elements.cast::<F>() };
    for row in 0..plane.rows as isize {
        let out = plane.out.wrapping_offset(row * plane.out_step);
        let inputs = std::array::from_fn(|k| plane.inputs[k].wrapping_offset(row * plane.steps[k]));
        // SAFETY: passed on, row by row; `of` pairs the elements with this loop.
        unsafe {
            match plane.single {
                None => run(elements, out, inputs, plane.len),
                Some(0) => with_single::<M, R, F, N>(f, out, inputs, plane.len, 0),
                Some(1) if N > 2 => with_single::<M, R, F, N>(f, out, inputs, plane.len, 1),
                Some(_) => with_single::<M, R, F, N>(f, out, inputs, plane.len, N - 1),
            }
        }
    }
}

/// A row of which one input has a single element.
///
/// # Safety
/// As [`Inner::run`], but for that input.
#[inline(always)]
unsafe fn with_single<M: Element, R: Element, F: Elements<M, R, N>, const N: usize>(
    f: &F,
    out: *mut u8,
    inputs: [*const u8; N],
    len: usize,
    single: usize,
) {
    let (out, inputs) = (out.cast::<R>(), typed::<M, N>(inputs));
    // SAFETY: that element is there.
    let element = unsafe { inputs[single].read() };
    let of = |i: usize| {
        let mut given = [element; N];
        let mut k = 0;
        while k < N {
            if k != single {
                // SAFETY: whoever calls this gives a place in the row.
                given[k] = unsafe { inputs[k].add(i).read() };
            }
            k += 1;
        }
        f.one(given)
    };
    let whole = len - len % BLOCK;
    for start in (0..whole).step_by(BLOCK) {
        let mut results = Block::<R>::new();
        for (i, result) in results.0.iter_mut().enumerate() {
            *result = of(start + i);
        }
        // SAFETY: a part of the row.
        unsafe { out.add(start).cast::<[R; BLOCK]>().write(results.0) };
    }
    for i in whole..len {
        // SAFETY: as above.
        unsafe { out.add(i).write(of(i)) };
    }
}

/// The loop over halves: where they are and, for each input, whether it is a single `f32` instead.
type RunHalves<const N: usize> =
    unsafe fn(elements: *const (), Half, out: *mut u8, inputs: [(*const u8, bool); N], len: usize);

/// # Safety
/// As [`Inner::run_halves`], of a function of `f32`, on a processor that has these features.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma,avx512f,avx512vl,avx512dq,avx512bw")]
unsafe fn of_halves<M: Element, R: Element, F: Elements<M, R, N>, const N: usize>(
    elements: *const (),
    half: Half,
    out: *mut u8,
    inputs: [(*const u8, bool); N],
    len: usize,
) {
    use super::halves;
    // SAFETY: `of` pairs the elements with this loop.
    let f = unsafe { &*elements.cast::<F>() };
    let (mut blocks, mut results) = ([const { Block([0f32; BLOCK]) }; N], Block::<f32>::new());
    for (Block(block), (input, is_single)) in blocks.iter_mut().zip(inputs) {
        if is_single {
            // SAFETY: by contract.
            block.fill(unsafe { input.cast::<f32>().read() });
        }
    }
    for start in (0..len).step_by(BLOCK) {
        let len = BLOCK.min(len - start);
        for (Block(block), (input, is_single)) in blocks.iter_mut().zip(inputs) {
            if !is_single {
                // SAFETY: a part of what is there by contract.
                unsafe { halves::widen(half, input.cast::<u16>().add(start), len, block.as_mut_ptr()) };
            }
        }
        let from = std::array::from_fn(|k| blocks[k].0.as_ptr().cast::<M>());
        // SAFETY: blocks of `f32`, which is what `M` and `R` are.
        unsafe { f.each_widest(results.0.as_mut_ptr().cast::<R>(), from, BLOCK) };
        // SAFETY: as above.
        unsafe { halves::narrow(half, results.0.as_ptr(), out.cast::<u16>().add(start), len) };
    }
}

/// # Safety
/// As [`Inner::run`], on a processor that has these features.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma")]
unsafe fn wide<M: Element, R: Element, F: Elements<M, R, N>, const N: usize>(
    f: &F,
    out: *mut u8,
    inputs: [*const u8; N],
    len: usize,
) {
    // SAFETY: passed on.
    unsafe { f.each(out.cast::<R>(), typed(inputs), len) }
}

/// # Safety
/// As [`Inner::run`], on a processor that has these features.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma,avx512f,avx512vl,avx512dq,avx512bw")]
unsafe fn widest<M: Element, R: Element, F: Elements<M, R, N>, const N: usize>(
    f: &F,
    out: *mut u8,
    inputs: [*const u8; N],
    len: usize,
) {
    // SAFETY: passed on.
    unsafe { f.each_widest(out.cast::<R>(), typed(inputs), len) }
}

/// For any processor. Where the others are there, hardly one is left that runs this: it goes element by element, and each is
/// read as if it could change, so that no time is spent on compiling it for vectors.
///
/// # Safety
/// As [`Inner::run`].
#[cfg(target_arch = "x86_64")]
unsafe fn plain<M: Element, R: Element, F: Elements<M, R, N>, const N: usize>(
    f: &F,
    out: *mut u8,
    inputs: [*const u8; N],
    len: usize,
) {
    for i in 0..len {
        let mut given = [M::default(); N];
        for (given, input) in given.iter_mut().zip(inputs) {
            // SAFETY: by contract.
            *given = unsafe { input.cast::<M>().add(i).read_volatile() };
        }
        // SAFETY: by contract.
        unsafe { out.cast::<R>().add(i).write(f.one(given)) };
    }
}

/// For any processor.
///
/// # Safety
/// As [`Inner::run`].
#[cfg(not(target_arch = "x86_64"))]
unsafe fn plain<M: Element, R: Element, F: Elements<M, R, N>, const N: usize>(
    f: &F,
    out: *mut u8,
    inputs: [*const u8; N],
    len: usize,
) {
    // SAFETY: passed on.
    unsafe { f.each(out.cast::<R>(), typed(inputs), len) }
}

/// As addresses of elements. Not by `array::map`: see [`at`](super::function::at).
#[inline(always)]
fn typed<M, const N: usize>(inputs: [*const u8; N]) -> [*const M; N] {
    let mut addresses = [std::ptr::null(); N];
    let mut k = 0;
    while k < N {
        addresses[k] = inputs[k].cast();
        k += 1;
    }
    addresses
}
