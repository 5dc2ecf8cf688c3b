//! The inner loop of a kernel, compiled for its types and called through type-erased function pointers.
#![expect(unsafe_code, reason = "reads and writes elements through pointers that its caller vouches for")]

use std::marker::PhantomData;

use torch_library::{DType, Element, Leased, Result, Tensor};

#[cfg(target_arch = "x86_64")]
use super::CHUNK;
use super::Input;
use super::convert::{self, Storer};
use super::function::{BLOCK, Block, Elements};
use super::halves::Half;
#[cfg(target_arch = "x86_64")]
use super::halves::{self, Rows};
#[cfg(target_arch = "x86_64")]
use crate::inlined::{from_fn, zip};

mod plane;

pub(super) use plane::{Inputs, Plane};

/// A function of `N` elements, type-erased, and its loop for this processor.
pub(super) struct Inner<'f, const N: usize> {
    elements: *const (),
    run: Run<N>,
    pub(super) compiled: &'static Compiled<N>,
    lifetime: PhantomData<&'f ()>,
}

// SAFETY: the erased pointer is to an `F: Elements`, a trait that requires `Sync`; `Inner::of` is the only constructor.
unsafe impl<const N: usize> Sync for Inner<'_, N> {}

/// Everything that is compiled for each function and its types, behind function pointers, so that the code that calls
/// it is compiled only once.
pub(super) struct Compiled<const N: usize> {
    loops: Loops<N>,
    /// The type of the function's arguments.
    pub(super) element: DType,
    /// The type of the function's result.
    pub(super) result: DType,
    /// Whether the function is the identity.
    pub(super) is_identity: bool,
}

/// A loop from dense inputs to a dense output.
type Run<const N: usize> = unsafe fn(elements: *const (), out: *mut u8, inputs: [*const u8; N], len: usize);

/// A function's loops for different processors.
struct Loops<const N: usize> {
    plain: Run<N>,
    #[cfg(target_arch = "x86_64")]
    wide: Run<N>,
    /// For functions of floats that gain by it.
    #[cfg(target_arch = "x86_64")]
    widest: Option<Run<N>>,
    /// Like `wide`, over several rows in which some inputs have a single element each.
    plane: Option<RunPlane<N>>,
    /// From 16-bit floats to 16-bit floats, for functions of `f32`, with the widest vectors.
    #[cfg(target_arch = "x86_64")]
    halves: Option<RunHalves<N>>,
}

/// Erases the type of a loop's function. Within the loop the function is behind a reference, not a pointer, so that the
/// compiler knows that a closure's captures do not change, whatever the loop writes.
const fn erased<F, const N: usize>(run: RunOf<F, N>) -> Run<N> {
    // SAFETY: functions that differ only in taking a reference or a thin pointer have the same ABI. The pointer is a
    // valid `&F`: `Inner::of` pairs the address of an `F`, which lives as long as `Inner`, with the loop over `F`.
    unsafe { std::mem::transmute::<RunOf<F, N>, Run<N>>(run) }
}

/// A [`Run`] before its type is [`erased`].
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
            plane: if F::HAS_PLANE {
                assert!(N <= 3, "`plane` tells three inputs apart");
                Some(plane::<M, R, F, N>)
            } else {
                None
            },
            #[cfg(target_arch = "x86_64")]
            halves: if Half::ARE_BUILT && matches!((M::DTYPE, R::DTYPE), (DType::Float32, DType::Float32)) {
                Some(of_halves::<M, R, F, N>)
            } else {
                None
            },
        }
    }

    /// The fastest loop that the processor supports.
    #[inline]
    fn best(&self) -> Run<N> {
        #[cfg(target_arch = "x86_64")]
        match self.widest {
            Some(widest) if super::has_avx512() => return widest,
            _ if super::has_avx2() => return self.wide,
            _ => {}
        }
        self.plain
    }

    /// The loop over planes, if the processor has the vectors that it is compiled for. On architectures such as
    /// AArch64, where every processor has them, there is nothing to check.
    #[inline]
    fn plane(&self) -> Option<RunPlane<N>> {
        #[cfg(target_arch = "x86_64")]
        if !super::has_avx2() {
            return None;
        }
        self.plane
    }

    #[inline]
    fn halves(&self) -> Option<RunHalves<N>> {
        #[cfg(target_arch = "x86_64")]
        if super::has_avx512() {
            return self.halves;
        }
        None
    }
}

/// Carries the constant [`Compiled`] for each function and its types.
struct Of<M, R, F, const N: usize>(PhantomData<(M, R, F)>);

impl<M: Element, R: Element, F: Elements<M, R, N>, const N: usize> Of<M, R, F, N> {
    const COMPILED: Compiled<N> = Compiled {
        loops: Loops::new::<M, R, F>(),
        element: M::DTYPE,
        result: R::DTYPE,
        is_identity: F::IS_IDENTITY,
    };
}

impl<'f, const N: usize> Inner<'f, N> {
    /// An input as the function takes it, valid while the lease is held.
    #[inline]
    pub(super) fn input(&self, tensor: &Tensor, lease: &impl Leased) -> Result<Input> {
        Ok(Input::at(tensor.address(lease)?, tensor.dtype(), self.compiled.element))
    }

    /// The storer from the function's result type to memory of a dtype.
    #[inline]
    pub(super) fn storer(&self, dtype: DType) -> Storer {
        convert::storer_between(self.compiled.result, dtype)
    }

    #[inline(always)]
    pub(super) fn of<M: Element, R: Element, F: Elements<M, R, N>>(elements: &'f F) -> Self {
        Inner::new(std::ptr::from_ref(elements).cast(), &Of::<M, R, F, N>::COMPILED)
    }

    #[inline]
    fn new(elements: *const (), compiled: &'static Compiled<N>) -> Self {
        Inner { elements, run: compiled.loops.best(), compiled, lifetime: PhantomData }
    }

    /// Computes `len` results.
    ///
    /// # Safety
    /// - `len` elements of the function's type can be read from each input: aligned, initialised, booleans 0 or 1.
    /// - `len` elements of the function's result type can be written from `out` on.
    /// - Nothing else writes to the inputs or uses `out` during the call.
    /// - An input is `out` itself, or shares no memory with it.
    #[inline]
    pub(super) unsafe fn run(&self, out: *mut u8, inputs: [*const u8; N], len: usize) {
        // SAFETY: the caller vouches for `len` elements in each input and in `out`, and for exclusive use;
        // `self.elements` is of the type that `self.run` was compiled for, by `of`, and lives as long as `self`.
        unsafe { (self.run)(self.elements, out, inputs, len) }
    }

    /// Whether there is a loop over planes in which some inputs have a single element in each row.
    #[inline]
    pub(super) fn has_plane(&self) -> bool {
        self.compiled.loops.plane().is_some()
    }

    /// Computes the results of several rows at once.
    ///
    /// # Safety
    /// - For each of the rows, what [`run`](Self::run) requires: `len` elements in each input and in `out`, of the
    ///   function's types, that nothing else uses, each input `out` itself or disjoint from it. If the plane is one of
    ///   halves, elements are of that type instead, and there is a loop over them.
    /// - In the inputs that are `single`, each row has one element instead, and [`has_plane`](Self::has_plane) is true.
    #[inline]
    pub(super) unsafe fn run_plane(&self, plane: &Plane<N>) {
        if let Some((half, constant)) = plane.half {
            // SAFETY: the caller vouches for rows of halves, and for a loop over them, which `Loops::halves` gives only
            // to processors with these features.
            return unsafe { self.run_rows_of_halves(half, constant, plane) };
        }
        if let Some(run) = self.compiled.loops.plane() {
            // SAFETY: the caller vouches for every row; `self.elements` is of the type that the loops of
            // `self.compiled` are for, by `of`; `plane()` found the processor's features.
            return unsafe { run(self.elements, self.run, plane) };
        }
        for row in 0..plane.rows {
            let (out, inputs) = plane.row(row);
            // SAFETY: the caller vouches for the elements of every row, of which this is one without single inputs.
            unsafe { self.run(out, inputs, plane.len) };
        }
    }

    /// Computes rows of halves; those that are shorter than a block together, as many as fill some blocks.
    ///
    /// # Safety
    /// - As for [`run_plane`](Self::run_plane), with rows of `half`, except those that are constant; none is empty.
    /// - The processor has these features, as it has where there is a loop over halves.
    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2,fma,avx512f,avx512vl,avx512dq,avx512bw")]
    unsafe fn run_rows_of_halves(&self, half: Half, constant: Inputs, plane: &Plane<N>) {
        let (len, is_short) = (plane.len, plane.len < BLOCK);
        let (mut blocks, mut results) = ([[0f32; CHUNK + BLOCK]; N], [0f32; CHUNK + BLOCK]);
        let mut start = 0;
        while start < plane.rows {
            let rows = if is_short { (CHUNK / len).min(plane.rows - start) } else { 1 };
            let (out, inputs) = plane.row(start);
            for (k, block) in blocks.iter_mut().enumerate() {
                let is_single = plane.single.contains(k);
                if constant.contains(k) || !is_short && !is_single {
                    continue;
                }
                let len = if is_short { len } else { 1 };
                let rows = Rows { half, from: inputs[k], step: plane.steps[k], count: rows, len, is_single };
                // SAFETY: the caller vouches for these rows, or an element of each, and for the features; there is room
                // for `CHUNK` elements and a block.
                unsafe { rows.widen(block.as_mut_ptr()) };
            }
            let widened = |k: usize| match constant.contains(k) {
                true => inputs[k],
                false => blocks[k].as_ptr().cast(),
            };
            // SAFETY: the widened rows, and the constants, have as many elements of `f32`, which is the function's type
            // where there is a loop over halves; so have the results, with a block behind them. The caller vouches for
            // the rows of the result, for rows that were not widened, for exclusive use and for the features.
            unsafe {
                if is_short {
                    self.run(results.as_mut_ptr().cast(), from_fn(widened), rows * len);
                    for row in 0..rows {
                        let out = out.wrapping_offset(row as isize * plane.out_step);
                        halves::narrow(half, results.as_ptr().add(row * len), out.cast(), len);
                    }
                } else {
                    let is_repeated = |k: usize| constant.contains(k) || plane.single.contains(k);
                    let operand = |k: usize| match is_repeated(k) {
                        true => (widened(k), true),
                        false => (inputs[k], false),
                    };
                    self.run_halves(half, out, from_fn(operand), len);
                }
            }
            start += rows;
        }
    }

    /// There is no loop over halves.
    ///
    /// # Safety
    /// - None.
    #[cfg(not(target_arch = "x86_64"))]
    unsafe fn run_rows_of_halves(&self, _: Half, _: Inputs, _: &Plane<N>) {}

    /// Which 16-bit floats the type `dtype` is, if there is a loop over them.
    #[inline]
    pub(super) fn half(&self, out: DType) -> Option<Half> {
        Half::of(out).filter(|_| self.compiled.loops.halves().is_some())
    }

    /// Computes `len` results that are 16-bit floats.
    ///
    /// # Safety
    /// - `half` is what [`half`](Self::half) returned for the type of `out`.
    /// - `len` such halves can be written from `out` on, and read from each input that is not single; from each single
    ///   input, one `f32`.
    /// - Nothing else writes to the inputs or uses `out` during the call.
    /// - An input is `out` itself, or shares no memory with it.
    #[inline]
    pub(super) unsafe fn run_halves(
        &self,
        half: Half,
        out: *mut u8,
        inputs: [(*const u8, bool); N],
        len: usize,
    ) {
        if let Some(run) = self.compiled.loops.halves() {
            // SAFETY: the caller vouches for `len` halves in `out` and the inputs, or a single `f32`, and for exclusive
            // use; `self.elements` is of the type that these loops are for, by `of`; `halves()` found the processor's
            // features.
            unsafe { run(self.elements, half, out, inputs, len) }
        }
    }
}

/// The loop over the rows of a plane; if no input has single elements, it calls the loop over one row.
type RunPlane<const N: usize> = unsafe fn(elements: *const (), Run<N>, &Plane<N>);

/// # Safety
/// - For each of the rows, there are `plane.len` elements of `M` in each input (one, if it is `single`) and of `R` in
///   `out`, which nothing else uses.
/// - Each input is `out` itself, or shares no memory with it.
/// - `elements` is the address of an `F`, and `run` is compiled for the same `F`.
/// - `plane.single` was made for `N` inputs, at most three.
/// - The processor has these features.
#[cfg_attr(target_arch = "x86_64", target_feature(enable = "avx2,fma"))]
unsafe fn plane<M: Element, R: Element, F: Elements<M, R, N>, const N: usize>(
    elements: *const (),
    run: Run<N>,
    plane: &Plane<N>,
) {
    // SAFETY: the caller vouches for an `F` at this address; a function is `Sync`, and lives as long as the `Inner`
    // that is borrowed.
    let f = unsafe { &*elements.cast::<F>() };
    for row in 0..plane.rows {
        let (out, inputs) = plane.row(row);
        // SAFETY: the caller vouches for the elements of every row, of which this is one, and that `run` is compiled
        // for the type of `elements`; `single` has no other inputs than these.
        unsafe {
            match plane.single.bits() {
                0b001 => with_singles::<M, R, F, N>(f, out, inputs, plane.len, 0b001),
                0b010 if N > 1 => with_singles::<M, R, F, N>(f, out, inputs, plane.len, 0b010),
                0b100 if N > 2 => with_singles::<M, R, F, N>(f, out, inputs, plane.len, 0b100),
                0b101 if N > 2 => with_singles::<M, R, F, N>(f, out, inputs, plane.len, 0b101),
                0b110 if N > 2 => with_singles::<M, R, F, N>(f, out, inputs, plane.len, 0b110),
                _ => run(elements, out, inputs, plane.len),
            }
        }
    }
}

/// Computes a row in which some inputs have a single element: those whose bits are set in `singles`.
///
/// # Safety
/// - `len` elements of `R` can be written from `out` on, which nothing else uses during the call.
/// - `len` elements of `M` can be read from each input, from `singles` only one, and nothing else writes to them during
///   the call.
/// - Each input but `singles` is `out` itself, or shares no memory with it; `singles` share none.
#[inline(always)]
unsafe fn with_singles<M: Element, R: Element, F: Elements<M, R, N>, const N: usize>(
    f: &F,
    out: *mut u8,
    inputs: [*const u8; N],
    len: usize,
    singles: usize,
) {
    let (out, inputs) = (out.cast::<R>(), typed::<M, N>(inputs));
    let mut elements = [M::default(); N];
    let mut k = 0;
    while k < N {
        if singles >> k & 1 == 1 {
            // SAFETY: the caller vouches for one element of `M` there, which nothing writes to.
            elements[k] = unsafe { inputs[k].read() };
        }
        k += 1;
    }
    let result_at = |i: usize| {
        let mut elements = elements;
        let mut k = 0;
        while k < N {
            if singles >> k & 1 == 0 {
                // SAFETY: `i` is below `len` in both loops below, and the caller vouches for as many elements in
                // each input but `singles`.
                elements[k] = unsafe { inputs[k].add(i).read() };
            }
            k += 1;
        }
        f.one(elements)
    };
    let blocks_end = len - len % BLOCK;
    for start in (0..blocks_end).step_by(BLOCK) {
        let mut results = Block::<R>::new();
        for (i, result) in results.0.iter_mut().enumerate() {
            *result = result_at(start + i);
        }
        // SAFETY: `start + BLOCK` is at most `len`, and the caller vouches for `len` places in `out`, aligned for
        // `R` and so for an array of it.
        unsafe { out.add(start).cast::<[R; BLOCK]>().write(results.0) };
    }
    for i in blocks_end..len {
        // SAFETY: `i` is below `len`, and the caller vouches for as many places in `out`.
        unsafe { out.add(i).write(result_at(i)) };
    }
}

/// The loop over 16-bit floats: it gets their addresses and, for each input, whether it is a single `f32` instead.
type RunHalves<const N: usize> =
    unsafe fn(elements: *const (), Half, out: *mut u8, inputs: [(*const u8, bool); N], len: usize);

/// # Safety
/// - `len` halves of this kind can be written from `out` on, and read from each input that is not single; from each
///   single input, one `f32`.
/// - Nothing else writes to the inputs or uses `out` during the call.
/// - An input is `out` itself, or shares no memory with it.
/// - `elements` is the address of an `F`, and `M` and `R` are `f32`.
/// - The processor has these features.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma,avx512f,avx512vl,avx512dq,avx512bw")]
unsafe fn of_halves<M: Element, R: Element, F: Elements<M, R, N>, const N: usize>(
    elements: *const (),
    half: Half,
    out: *mut u8,
    inputs: [(*const u8, bool); N],
    len: usize,
) {
    // SAFETY: the caller vouches for an `F` at this address; a function is `Sync`, and lives as long as the `Inner`
    // that is borrowed.
    let f = unsafe { &*elements.cast::<F>() };
    let (mut blocks, mut results) = ([const { Block([0f32; BLOCK]) }; N], Block::<f32>::new());
    for (Block(block), (input, is_single)) in zip(&mut blocks, &inputs) {
        if *is_single {
            // SAFETY: the caller vouches for an `f32` at the address of a single.
            *block = [unsafe { input.cast::<f32>().read() }; BLOCK];
        }
    }
    for start in (0..len).step_by(BLOCK) {
        let len = BLOCK.min(len - start);
        for (Block(block), (input, is_single)) in zip(&mut blocks, &inputs) {
            if !*is_single {
                // SAFETY: `start + len` is at most the `len` of the caller, who vouches for as many halves; the
                // block has room for a whole one; the caller vouches for the features.
                unsafe { halves::widen(half, input.cast::<u16>().add(start), len, block.as_mut_ptr()) };
            }
        }
        let from = from_fn(|k| blocks[k].0.as_ptr().cast::<M>());
        // SAFETY: blocks of initialised `f32`, which is what `M` and `R` are by the caller's promise; the two are
        // distinct local variables. The caller vouches for the features.
        unsafe { f.each_widest(results.0.as_mut_ptr().cast::<R>(), from, BLOCK) };
        // SAFETY: a whole block of results was just written; `start + len` is at most the `len` of the caller, who
        // vouches for as many places in `out` and for the features. An input that is `out` itself has already been read
        // up to `start + len`.
        unsafe { halves::narrow(half, results.0.as_ptr(), out.cast::<u16>().add(start), len) };
    }
}

/// # Safety
/// - `len` elements of `M` can be read from each input, and `len` of `R` written from `out` on.
/// - Nothing else writes to the inputs or uses `out` during the call.
/// - An input is `out` itself, or shares no memory with it.
/// - The processor has these features.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma")]
unsafe fn wide<M: Element, R: Element, F: Elements<M, R, N>, const N: usize>(
    f: &F,
    out: *mut u8,
    inputs: [*const u8; N],
    len: usize,
) {
    // SAFETY: the caller vouches for `len` elements of these types, and for inputs that are `out` itself or disjoint
    // from it.
    unsafe { f.each(out.cast::<R>(), typed(inputs), len) }
}

/// # Safety
/// - `len` elements of `M` can be read from each input, and `len` of `R` written from `out` on.
/// - Nothing else writes to the inputs or uses `out` during the call.
/// - An input is `out` itself, or shares no memory with it.
/// - The processor has these features.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma,avx512f,avx512vl,avx512dq,avx512bw")]
unsafe fn widest<M: Element, R: Element, F: Elements<M, R, N>, const N: usize>(
    f: &F,
    out: *mut u8,
    inputs: [*const u8; N],
    len: usize,
) {
    // SAFETY: the caller vouches for `len` elements of these types, for inputs that are `out` itself or disjoint from
    // it, and for the features.
    unsafe { f.each_widest(out.cast::<R>(), typed(inputs), len) }
}

/// The loop for any processor. Since few x86-64 processors lack AVX2, it goes element by element, with volatile reads
/// that keep the compiler from spending time on vectorising it.
///
/// # Safety
/// - `len` elements of `M` can be read from each input, and `len` of `R` written from `out` on.
/// - Nothing else writes to the inputs or uses `out` during the call.
/// - An input is `out` itself, or shares no memory with it.
#[cfg(target_arch = "x86_64")]
unsafe fn plain<M: Element, R: Element, F: Elements<M, R, N>, const N: usize>(
    f: &F,
    out: *mut u8,
    inputs: [*const u8; N],
    len: usize,
) {
    for i in 0..len {
        let mut elements = [M::default(); N];
        for (element, input) in zip(&mut elements, &inputs) {
            // SAFETY: `i` is below `len`, and the caller vouches for as many elements of `M` in each input.
            *element = unsafe { input.cast::<M>().add(i).read_volatile() };
        }
        // SAFETY: `i` is below `len`, and the caller vouches for as many places for an `R` in `out`.
        unsafe { out.cast::<R>().add(i).write(f.one(elements)) };
    }
}

/// For any processor.
///
/// # Safety
/// - `len` elements of `M` can be read from each input, and `len` of `R` written from `out` on.
/// - Nothing else writes to the inputs or uses `out` during the call.
/// - An input is `out` itself, or shares no memory with it.
#[cfg(not(target_arch = "x86_64"))]
unsafe fn plain<M: Element, R: Element, F: Elements<M, R, N>, const N: usize>(
    f: &F,
    out: *mut u8,
    inputs: [*const u8; N],
    len: usize,
) {
    // SAFETY: the caller vouches for `len` elements of these types, and for inputs that are `out` itself or disjoint
    // from it.
    unsafe { f.each(out.cast::<R>(), typed(inputs), len) }
}

/// Casts addresses to pointers to elements. Not by `array::map`: see [`at`](super::function::at).
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
