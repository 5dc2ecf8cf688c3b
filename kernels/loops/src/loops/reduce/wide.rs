//! The inner loops of folds, compiled for each width of vectors.
#![expect(unsafe_code, reason = "calls what the processor was asked for, and reads lines through pointers")]

#[cfg(target_arch = "x86_64")]
use std::mem::MaybeUninit;

#[cfg(target_arch = "x86_64")]
use torch_library::DType;
use torch_library::Element;

use super::{Fold, LANES, RESULTS, TOGETHER};
use crate::inlined::{from_fn, zip};
use crate::loops::function::BLOCK;
use crate::loops::halves::Half;
#[cfg(target_arch = "x86_64")]
use crate::loops::{halves::widen, has_avx2, has_avx512};

const _: () = assert!(LANES == BLOCK, "halves are widened a block at a time, which fills all lanes");

/// [`Fold::slice`] with the widest vectors that the processor has.
pub fn slice<M: Element, F: Fold<M>>(fold: &F, elements: &[M], position: usize) -> F::Value {
    let mut values = [fold.identity()];
    let line = Slices { first: elements.as_ptr(), step: 0, len: elements.len(), position };
    // SAFETY: one line, which consists of the elements of the slice.
    unsafe { slices(fold, line, &mut values) };
    values[0]
}

/// Lines of `len` contiguous elements, of which each starts `step` after the one before; their first elements have the
/// position `position`.
pub(super) struct Slices<M> {
    pub(super) first: *const M,
    pub(super) step: isize,
    pub(super) len: usize,
    pub(super) position: usize,
}

/// [`slice`] of as many lines as there are values. Short lines take less time than a call for each would.
///
/// # Safety
/// - For each value, a line of plain values of `M` can be read.
/// - Nothing writes to them during the call.
pub(super) unsafe fn slices<M: Element, F: Fold<M>>(fold: &F, lines: Slices<M>, values: &mut [F::Value]) {
    #[cfg(target_arch = "x86_64")]
    if const { F::IS_FASTER_WIDEST && matches!(M::DTYPE, DType::Float32 | DType::Float64) } && has_avx512() {
        // SAFETY: `has_avx512` found the features that it is compiled for; the caller vouches for the lines.
        return unsafe { slices_widest(fold, lines, values) };
    } else if has_avx2() {
        // SAFETY: `has_avx2` found the features that it is compiled for; the caller vouches for the lines.
        return unsafe { slices_wide(fold, lines, values) };
    }
    // SAFETY: the caller vouches for the lines.
    unsafe { each_slice(fold, lines, values) }
}

/// # Safety
/// - The requirements of [`slices`].
/// - The processor has these features.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma,avx512f,avx512vl,avx512dq,avx512bw")]
unsafe fn slices_widest<M: Element, F: Fold<M>>(fold: &F, lines: Slices<M>, values: &mut [F::Value]) {
    // SAFETY: the caller vouches for the lines.
    unsafe { each_slice(fold, lines, values) }
}

/// # Safety
/// - The requirements of [`slices`].
/// - The processor has these features.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma")]
unsafe fn slices_wide<M: Element, F: Fold<M>>(fold: &F, lines: Slices<M>, values: &mut [F::Value]) {
    // SAFETY: the caller vouches for the lines.
    unsafe { each_slice(fold, lines, values) }
}

/// # Safety
/// - The requirements of [`slices`].
#[inline(always)]
unsafe fn each_slice<M: Element, F: Fold<M>>(fold: &F, lines: Slices<M>, values: &mut [F::Value]) {
    let Slices { first, step, len, position } = lines;
    for (n, value) in values.iter_mut().enumerate() {
        // SAFETY: the caller vouches for a line for each value, of which this is the `n`th.
        let line = unsafe { std::slice::from_raw_parts(first.offset(n as isize * step), len) };
        *value = fold.slice(line, position);
    }
}

/// The default [`Fold::slice`] for 16-bit floats, on processors that can widen them in registers.
pub(super) type SliceOfHalves<F, V> =
    unsafe fn(fold: &F, Half, elements: *const u16, len: usize, position: usize) -> V;

pub(super) fn slice_of_halves<M: Element, F: Fold<M>>() -> Option<SliceOfHalves<F, F::Value>> {
    #[cfg(target_arch = "x86_64")]
    if const { Half::ARE_BUILT && F::IN_LANES && matches!(M::DTYPE, DType::Float32) } && has_avx512() {
        return Some(slice_widened::<M, F>);
    }
    None
}

/// Up to this many halves are added one after the other, which takes no longer than joining the lanes.
#[cfg(target_arch = "x86_64")]
const FEW: usize = 8;

/// # Safety
/// - `len` halves of this kind can be read from `elements` on, aligned, and nothing writes to them during the call.
/// - `M` is `f32`.
/// - The processor has these features.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma,avx512f,avx512vl,avx512dq,avx512bw")]
unsafe fn slice_widened<M: Element, F: Fold<M>>(
    fold: &F,
    half: Half,
    elements: *const u16,
    len: usize,
    position: usize,
) -> F::Value {
    let read = |start: usize, len: usize| {
        let mut block = MaybeUninit::<[M; LANES]>::uninit();
        // SAFETY: both calls below stay within the `len` halves that the caller vouches for, and ask for at least one;
        // the block has the length that `widen` writes (see `LANES`), and its elements are `M`, which is `f32`. The
        // caller vouches for the features.
        unsafe { widen(half, elements.add(start), len, block.as_mut_ptr().cast()) };
        // SAFETY: `widen` has written a whole block, with repetitions beyond the end.
        unsafe { block.assume_init() }
    };
    let rest = len % LANES;
    let (lanes_end, mut value) = (len - rest, fold.identity());
    if len == 0 {
        return value;
    }
    if len <= FEW {
        for (i, element) in read(0, len).iter().take(len).enumerate() {
            value = fold.step(value, *element, position + i);
        }
        return value;
    }
    let mut lanes = [value; LANES];
    for start in (0..lanes_end).step_by(LANES) {
        for (lane, element) in read(start, LANES).iter().enumerate() {
            lanes[lane] = fold.step(lanes[lane], *element, position + start + lane);
        }
    }
    if rest > 0 {
        for (lane, element) in read(lanes_end, rest).iter().enumerate() {
            let stepped = fold.step(lanes[lane], *element, position + lanes_end + lane);
            lanes[lane] = if lane < rest { stepped } else { lanes[lane] };
        }
    }
    joined(fold, lanes)
}

/// The row of each element in a line of a single row.
pub(super) static ONE_ROW: [u32; RESULTS] = [0; RESULTS];

/// The number of rows in a line, of which each element is in one of `rows`.
#[inline(always)]
fn height_of(rows: &[u32]) -> usize {
    rows.last().map_or(0, |last| *last as usize + 1)
}

/// Like [`repeated_steps`], for lines of 16-bit floats that start `step` apart, on processors that can widen them in
/// registers.
pub(super) type StepsOfHalves<F, V> = unsafe fn(
    fold: &F,
    values: &mut [V],
    Half,
    first: *const u16,
    step: isize,
    count: usize,
    positions: (usize, &[u32]),
);

pub(super) fn steps_of_halves<M: Element, F: Fold<M>>() -> Option<StepsOfHalves<F, F::Value>> {
    #[cfg(target_arch = "x86_64")]
    if const { Half::ARE_BUILT && F::IN_LANES && matches!(M::DTYPE, DType::Float32) } && has_avx512() {
        return Some(steps_widened::<M, F>);
    }
    None
}

/// # Safety
/// - `count` lines, `step` apart, can be read from `first` on, each with as many halves of this kind, aligned, as there
///   are values, and nothing writes to them during the call.
/// - `M` is `f32`.
/// - The processor has these features.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma,avx512f,avx512vl,avx512dq,avx512bw")]
unsafe fn steps_widened<M: Element, F: Fold<M>>(
    fold: &F,
    values: &mut [F::Value],
    half: Half,
    first: *const u16,
    step: isize,
    count: usize,
    (position, rows): (usize, &[u32]),
) {
    let (rows, height) = (&rows[..values.len()], height_of(rows));
    let line = |column: usize, n: usize, len: usize| {
        let mut block = MaybeUninit::<[M; LANES]>::uninit();
        // SAFETY: `n` is below `count` and `column + len` at most the number of values, with `len` at least one; the
        // caller vouches for these halves. The block has the length that `widen` writes (see `LANES`), and its elements
        // are `M`, which is `f32`. The caller vouches for the features.
        unsafe {
            let from = first.offset(n as isize * step).add(column);
            widen(half, from, len, block.as_mut_ptr().cast());
        }
        // SAFETY: `widen` has written a whole block, with repetitions beyond the end.
        unsafe { block.assume_init() }
    };
    let lanes_end = values.len() - values.len() % LANES;
    let ((chunks, rest), (rows, rest_of_rows)) = (values.as_chunks_mut::<LANES>(), rows.as_chunks::<LANES>());
    for (k, (values, rows)) in chunks.iter_mut().zip(rows).enumerate() {
        let mut held = *values; // in registers for all lines
        for n in 0..count {
            let line = line(k * LANES, n, LANES);
            for i in 0..LANES {
                held[i] = fold.step(held[i], line[i], position + n * height + rows[i] as usize);
            }
        }
        *values = held;
    }
    let len = rest.len();
    if len > 0 {
        // What the lanes beyond the last value hold is dropped.
        let (mut held, mut rows_of_rest) = ([fold.identity(); LANES], [0; LANES]);
        held[..len].copy_from_slice(rest);
        rows_of_rest[..len].copy_from_slice(rest_of_rows);
        for n in 0..count {
            let line = line(lanes_end, n, len);
            for i in 0..LANES {
                held[i] = fold.step(held[i], line[i], position + n * height + rows_of_rest[i] as usize);
            }
        }
        rest.copy_from_slice(&held[..len]);
    }
}

/// Merges the lanes as a tree.
#[inline(always)]
pub(super) fn joined<M, F: Fold<M> + ?Sized>(fold: &F, lanes: [F::Value; LANES]) -> F::Value {
    halved_to_one(&lanes, &|a, b| fold.merge(a, b))
}

/// Merges any number of values as a tree, with wide vectors where there are any.
pub(super) fn merged<M, F: Fold<M>>(fold: &F, values: &mut [F::Value]) -> F::Value {
    #[cfg(target_arch = "x86_64")]
    if has_avx2() {
        // SAFETY: `has_avx2` found the features that it is compiled for.
        return unsafe { merged_wide(fold, values) };
    }
    merge_all(fold, values)
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma")]
fn merged_wide<M, F: Fold<M>>(fold: &F, values: &mut [F::Value]) -> F::Value {
    merge_all(fold, values)
}

#[inline(always)]
fn merge_all<M, F: Fold<M>>(fold: &F, mut values: &mut [F::Value]) -> F::Value {
    while values.len() > 1 {
        let (left, right) = values.split_at_mut(values.len().div_ceil(2));
        fold.merge_each(&mut left[..right.len()], right);
        values = left;
    }
    values.first().copied().unwrap_or_else(|| fold.identity())
}

/// Joins the first half of the values with the second half, until one value is left. Each half is an array of its own,
/// which LLVM keeps in vectors; an array that shrinks in place would go through memory, with stores and loads of
/// different sizes. (`join` is an `&impl Fn`, since a reference passed as an `impl Fn` calls the closure through a
/// function of the standard library.)
#[inline(always)]
pub fn halved_to_one<V: Copy>(values: &[V; LANES], join: &impl Fn(V, V) -> V) -> V {
    let values: [V; 32] = halved(values, join);
    let values: [V; 16] = halved(&values, join);
    let values: [V; 8] = halved(&values, join);
    let values: [V; 4] = halved(&values, join);
    let values: [V; 2] = halved(&values, join);
    join(values[0], values[1])
}

#[inline(always)]
fn halved<V: Copy, const N: usize, const HALF: usize>(
    values: &[V; N],
    join: &impl Fn(V, V) -> V,
) -> [V; HALF] {
    const { assert!(N == 2 * HALF) };
    let mut joined = [values[0]; HALF];
    for i in 0..HALF {
        joined[i] = join(values[i], values[HALF + i]);
    }
    joined
}

/// [`Fold::lines`] with wide vectors where there are any.
pub(super) fn steps<M: Element, F: Fold<M>>(
    fold: &F,
    values: &mut [F::Value],
    lines: &[&[M]],
    position: usize,
) {
    #[cfg(target_arch = "x86_64")]
    if has_avx2() {
        // SAFETY: `has_avx2` found the features that it is compiled for.
        return unsafe { steps_wide(fold, values, lines, position) };
    }
    fold.lines(values, lines, position);
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma")]
pub(super) fn steps_wide<M: Element, F: Fold<M>>(
    fold: &F,
    values: &mut [F::Value],
    lines: &[&[M]],
    position: usize,
) {
    fold.lines(values, lines, position);
}

/// The default [`Fold::lines`].
#[inline(always)]
pub(super) fn each_step<M: Copy, F: Fold<M> + ?Sized>(
    fold: &F,
    values: &mut [F::Value],
    lines: &[&[M]],
    position: usize,
) {
    if let [a, b, c, d] = lines {
        for (value, ((a, b), (c, d))) in zip(values, zip(zip(*a, *b), zip(*c, *d))) {
            let two = fold.step(fold.step(*value, *a, position), *b, position + 1);
            *value = fold.step(fold.step(two, *c, position + 2), *d, position + 3);
        }
        return;
    }
    for (n, line) in lines.iter().enumerate() {
        for (value, element) in zip(&mut *values, *line) {
            *value = fold.step(*value, *element, position + n);
        }
    }
}

/// Like [`steps`], for lines that consist of several rows, where a line has as many values: the first row of the first
/// line has the position `position`, and `rows` says in which row of its line each element is.
pub(super) fn repeated_steps<M: Element, F: Fold<M>>(
    fold: &F,
    values: &mut [F::Value],
    lines: &[&[M]],
    positions: (usize, &[u32]),
) {
    #[cfg(target_arch = "x86_64")]
    if has_avx2() {
        // SAFETY: `has_avx2` found the features that it is compiled for.
        return unsafe { repeated_steps_wide(fold, values, lines, positions) };
    }
    each_repeated_step(fold, values, lines, positions, height_of(positions.1));
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma")]
fn repeated_steps_wide<M: Element, F: Fold<M>>(
    fold: &F,
    values: &mut [F::Value],
    lines: &[&[M]],
    positions: (usize, &[u32]),
) {
    each_repeated_step(fold, values, lines, positions, height_of(positions.1));
}

#[inline(always)]
fn each_repeated_step<M: Element, F: Fold<M>>(
    fold: &F,
    values: &mut [F::Value],
    lines: &[&[M]],
    (position, rows): (usize, &[u32]),
    height: usize,
) {
    let len = values.len();
    let rows = &rows[..len];
    if let [a, b, c, d] = lines {
        // Slices of one length and an index: the loop vectorises, as one over `enumerate` does not.
        let [a, b, c, d] = [&a[..len], &b[..len], &c[..len], &d[..len]];
        for i in 0..len {
            let position = |line: usize| position + line * height + rows[i] as usize;
            let two = fold.step(fold.step(values[i], a[i], position(0)), b[i], position(1));
            values[i] = fold.step(fold.step(two, c[i], position(2)), d[i], position(3));
        }
        return;
    }
    for (n, line) in lines.iter().enumerate() {
        for (i, (value, element)) in zip(&mut *values, *line).enumerate() {
            *value = fold.step(*value, *element, position + n * height + rows[i] as usize);
        }
    }
}

/// Lines of contiguous elements, of which each starts `step` after the one before.
#[derive(Clone, Copy)]
pub(super) struct Lines<'a, M> {
    pub(super) first: *const M,
    pub(super) step: isize,
    pub(super) count: usize,
    /// The position of the first element, and of each column from there on. The next line goes on after the last
    /// column.
    pub(super) positions: (usize, &'a [u32]),
}

/// Adds one element of each line to each of a few values, with wide vectors where there are any.
///
/// # Safety
/// - The lines have as many plain values of `M` as there are in `values`, and a column each.
/// - Nothing writes to them during the call.
pub(super) unsafe fn narrow_steps<M: Element, F: Fold<M>>(
    fold: &F,
    values: &mut [F::Value],
    lines: Lines<'_, M>,
) {
    #[cfg(target_arch = "x86_64")]
    if has_avx2() {
        // SAFETY: `has_avx2` found these features; the caller vouches for the lines.
        return unsafe { narrow_steps_wide(fold, values, lines) };
    }
    // SAFETY: the caller vouches for the lines.
    unsafe { each_narrow_step(fold, values, lines) }
}

/// # Safety
/// - The requirements of [`narrow_steps`].
/// - The processor has these features.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma")]
unsafe fn narrow_steps_wide<M: Element, F: Fold<M>>(fold: &F, values: &mut [F::Value], lines: Lines<'_, M>) {
    // SAFETY: the caller vouches for the lines.
    unsafe { each_narrow_step(fold, values, lines) }
}

/// # Safety
/// - The requirements of [`narrow_steps`].
#[inline(always)]
unsafe fn each_narrow_step<M: Element, F: Fold<M>>(fold: &F, values: &mut [F::Value], lines: Lines<'_, M>) {
    let Lines { first, step, count, positions: (position, columns) } = lines;
    let height = height_of(columns);
    let (chunks, rest) = values.as_chunks_mut::<LANES>();
    let (chunks_of_columns, columns) = columns.as_chunks::<LANES>();
    let mut start = 0;
    for (values, columns) in chunks.iter_mut().zip(chunks_of_columns) {
        let mut held = *values; // in registers for all lines
        for n in 0..count {
            // SAFETY: `n` is below `count`, and the caller vouches for these columns of a line there, whose alignment
            // for `M` is that of an array of it.
            let line = unsafe { first.offset(n as isize * step).add(start).cast::<[M; LANES]>().read() };
            for i in 0..LANES {
                held[i] = fold.step(held[i], line[i], position + n * height + columns[i] as usize);
            }
        }
        *values = held;
        start += LANES;
    }
    // LLVM breaks up arrays of fewer accumulators: these are loaded and stored once for several lines.
    for n in (0..if rest.is_empty() { 0 } else { count }).step_by(TOGETHER) {
        let lines = from_fn::<_, TOGETHER>(|k| {
            let n = (n + k).min(count - 1) as isize;
            // SAFETY: `n` is below `count`, and the caller vouches for the last columns of a line there.
            unsafe { std::slice::from_raw_parts(first.offset(n * step).add(start), rest.len()) }
        });
        let lines = &lines[..TOGETHER.min(count - n)];
        each_repeated_step(fold, rest, lines, (position + n * height, columns), height);
    }
}
