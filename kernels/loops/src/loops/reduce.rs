//! Reductions: folding the elements along some dimensions to one value.
//!
//! # How it works
//!
//! 1. Elements are folded in leaves of up to `LEAF`, each in several *lanes* side by side, so that the loop
//!    vectorises ([`Fold::slice`]).
//! 2. The leaves of one result are merged as a balanced tree, so that the rounding error of a sum grows with the
//!    logarithm of its length, and branches can go to several threads. The result does not depend on the number of
//!    threads.
//! 3. Where neighbouring results lie closer in memory than the elements of one result (as in a sum over rows), a whole
//!    row of results is folded at once: in blocks, whose values are merged one after the other within a leaf, and as a
//!    tree above it.
#![expect(unsafe_code, reason = "reads elements through pointers that a walk keeps in bounds")]

use std::marker::PhantomData;
use std::mem::MaybeUninit;
use std::ops::Range;
use std::ptr::NonNull;
use std::sync::OnceLock;

use torch_library::geometry::Dims;
use torch_library::{Element, Lease, Leased, MemoryFormat, Result, Tensor, ensure};

use super::halves::Half;
use super::overlap::may_overlap_partially;
use super::walk::Row;
use super::{Input, convert, has_elements, is_plain, parallel};
use crate::inlined::{from_fn, zip};
use walks::Walks;
use wide::{Slices, each_step, joined, slice_of_halves, slices};

mod beside;
mod gaps;
mod prefetch;
mod tall;
mod walks;
mod wide;

pub use wide::{halved_to_one, slice};

/// The number of accumulators of a leaf: enough that no addition of wide vectors waits for the one before. LLVM keeps
/// an array of 64 in vectors, but breaks up one of 32.
pub const LANES: usize = 64;

/// The number of results that are held at a time: rows of them are folded side by side, in pieces long enough to be
/// worth the jump from row to row.
const RESULTS: usize = 1024;

/// The number of rows that are read together, so that each accumulator is loaded and stored once for all of them.
const TOGETHER: usize = 4;

/// The most rows that a fold gets together.
const MOST_LINES: usize = 64;

/// Up to this many results in a row are folded in one loop over the lines: [`LANES`] at a time, whose accumulators stay
/// in registers, and the rest with several lines at a time.
const NARROW: usize = 4 * LANES;

/// The number of elements that each accumulator of a row of results takes before it is merged into the result and
/// reset, to bound the rounding error.
const BLOCK: usize = 64;

/// The number of elements that are folded in one loop; the values of such leaves are merged as a tree.
const LEAF: usize = 4096;

/// From this many elements on, a row is folded in place; shorter rows are first gathered in a buffer.
const LONG: usize = 4 * LANES;

/// The grain size within one result, in elements.
const BRANCH: usize = 2 * parallel::GRAIN;

/// Threads share up to about this many branches.
const MOST_BRANCHES: usize = 1024;

/// How a reduction combines elements: what it starts with, how it takes an element, and how it merges partial values.
/// The [front page](crate#a-reduction) has an example.
///
/// PyTorch: the operations that `binary_kernel_reduce` takes, such as `WelfordOps`.
pub trait Fold<M>: Sync {
    /// The accumulator: the value that elements are folded to.
    type Value: Copy + Send + Sync;

    /// Whether the loop over floats is also compiled for the widest vectors. A memory-bound loop gains nothing.
    const IS_FASTER_WIDEST: bool = false;

    /// Whether elements may be folded step by step in any order of lanes, as the default [`slice`](Self::slice) does.
    /// 16-bit floats are then widened as they are folded, without a buffer, and rows of few results are folded
    /// together.
    const IN_LANES: bool = true;

    /// The number of lines that [`lines`](Self::lines) gets at a time: from 1 to 64.
    const LINES: usize = TOGETHER;

    /// The value for no elements.
    fn identity(&self) -> Self::Value;

    /// Adds an element to a value; `position` counts the elements of the result.
    fn step(&self, value: Self::Value, element: M, position: usize) -> Self::Value;

    /// Combines the values of two parts of the elements.
    fn merge(&self, a: Self::Value, b: Self::Value) -> Self::Value;

    /// Merges `others[i]` into `values[i]`, for each `i`. All of `values` stand for equally many elements, and so do
    /// all of `others`.
    #[inline(always)]
    fn merge_each(&self, values: &mut [Self::Value], others: &[Self::Value]) {
        for (value, other) in zip(values, others) {
            *value = self.merge(*value, *other);
        }
    }

    /// Folds up to a few thousand contiguous elements, of which the first has the position `position`.
    ///
    /// The default calls [`step`](Self::step) for each element, in several lanes ([`in_lanes`]). A fold that computes
    /// its value faster from many elements at once overrides this, and sets [`IN_LANES`](Self::IN_LANES) to false if
    /// that is also faster than its steps in lanes.
    #[inline(always)]
    fn slice(&self, elements: &[M], position: usize) -> Self::Value
    where
        M: Copy,
    {
        in_lanes(self, elements, position)
    }

    /// Adds element `i` of each line to `values[i]`. Elements of the first line have the position `position`, those of
    /// the next one the position after it.
    ///
    /// The default calls [`step`](Self::step) for each element. A fold that computes the value of several elements
    /// faster overrides this, and sets [`LINES`](Self::LINES).
    #[inline(always)]
    fn lines(&self, values: &mut [Self::Value], lines: &[&[M]], position: usize)
    where
        M: Copy,
    {
        each_step(self, values, lines, position);
    }
}

/// The default [`Fold::slice`].
#[inline(always)]
pub fn in_lanes<M: Copy, F: Fold<M> + ?Sized>(fold: &F, elements: &[M], position: usize) -> F::Value {
    let (chunks, rest) = elements.as_chunks::<LANES>();
    let start = position + LANES * chunks.len();
    let mut value = fold.identity();
    for (i, element) in rest.iter().enumerate() {
        value = fold.step(value, *element, start + i);
    }
    if chunks.is_empty() {
        return value;
    }
    let mut lanes = [fold.identity(); LANES];
    for (i, chunk) in chunks.iter().enumerate() {
        for (lane, element) in chunk.iter().enumerate() {
            lanes[lane] = fold.step(lanes[lane], *element, position + i * LANES + lane);
        }
    }
    fold.merge(joined(fold, lanes), value)
}

/// Folds the dimensions of `input` that are marked in `is_reduced`, and writes the `K` numbers that `finish` makes of
/// each value to the contiguous tensors `outs`.
///
/// # Errors
/// A number of marks that is not the number of dimensions; an output that is not contiguous, does not have one element
/// for each value, or shares memory with the input or another output; memory that the host cannot access, or that is in
/// use.
///
/// PyTorch: `binary_kernel_reduce` on a `TensorIterator`.
#[track_caller]
pub fn fold<M: Element, F: Fold<M>, R: Element, const K: usize>(
    outs: [&Tensor; K],
    input: &Tensor,
    is_reduced: &[bool],
    fold: &F,
    finish: impl Fn(F::Value) -> [R; K] + Sync,
) -> Result<()> {
    let lease = Lease::new(outs, [input])?;
    check(&outs, input, is_reduced)?;
    if !outs.first().is_some_and(|out| has_elements(out)) {
        return Ok(());
    }
    // An input without elements is never read; strides of 0 keep its offsets from overflowing.
    let nothing;
    let input = if input.numel() == 0 {
        nothing = input.strided_view(input.sizes(), &Dims::from_elem(0, input.dim()), 0)?;
        &nothing
    } else {
        input
    };
    if let Some(elements) = leaf_of::<M>(input, outs[0].numel(), &lease) {
        // SAFETY: plain values of `M` by `leaf_of`, in bounds, aligned and initialised. The lease excludes all other
        // access while `slice` runs, and the results, which by `check` share no element with the input, are written
        // after it.
        let folded = finish(slice(fold, unsafe { elements.as_ref() }, 0));
        for (out, result) in zip(&outs, &folded) {
            let out = Output::<R>::new(out, &lease)?;
            // SAFETY: by `check`, each output has exactly one element; `result` is an `R`, which is the type that the
            // storer takes. The lease excludes all other access.
            unsafe { (out.store)(std::ptr::from_ref(result).cast(), 1, out.data, 1) };
        }
        return Ok(());
    }
    let results = outs[0].numel() as usize;
    let walks = Walks::new(input.geometry(), is_reduced, results, F::IN_LANES);
    let count = walks.count;
    let input = Input::at(input.address(&lease)?, input.dtype(), M::DTYPE);
    let is_large = count.saturating_mul(results).saturating_mul(input.size) >= prefetch::LARGE;
    let rows_of = tall::rows_of_lines::<M, F>(&walks, &input);
    let is_tall = rows_of.is_some();
    let folding = Folding { input, element: PhantomData, walks: &walks, is_large, rows_of, fold };
    let mut outputs = [const { None }; K];
    for (output, out) in zip(&mut outputs, &outs) {
        *output = Some(Output::<R>::new(out, &lease)?);
    }
    let outputs = from_fn(|k: usize| outputs[k].take().expect("each was filled above"));
    // Threads get whole rows of results where the elements of a row are folded together.
    let unit = if walks.are_beside && (walks.is_shared || is_tall) { walks.row } else { 1 };
    let grain = (parallel::GRAIN / unit.saturating_mul(count).max(1)).max(1);
    parallel::shares(results / unit, grain, |range| {
        walks.kept.each_row(unit * range.start..unit * range.end, &mut |row| {
            // SAFETY: in bounds, as the walks stay within the elements of the input and, by `check`, within as many
            // contiguous ones of each output; no two threads get the same result. The lease excludes all other access;
            // outputs share no element with the input.
            unsafe { folding.row(&row, &outputs, &finish) }
        });
    });
    Ok(())
}

/// Checks that each output has a place for each value, and that no output shares memory with the input or another
/// output.
fn check(outs: &[&Tensor], input: &Tensor, is_reduced: &[bool]) -> Result<()> {
    ensure!(
        is_reduced.len() == input.dim(),
        Argument,
        "{} flags for the {} dimensions of sizes {:?}",
        is_reduced.len(),
        input.dim(),
        input.sizes()
    );
    let mut values = 1i64;
    for (size, is_reduced) in zip(input.sizes(), is_reduced) {
        values = if *is_reduced { values } else { values.saturating_mul(*size) };
    }
    for out in outs {
        ensure!(
            out.numel() == values && out.is_contiguous(MemoryFormat::Contiguous),
            Shape,
            "{values} values are written to contiguous tensors of as many elements, not to sizes {:?} with strides {:?}",
            out.sizes(),
            out.strides()
        );
        if out.shares_storage_with(input) {
            out.check_no_overlap(input)?;
            ensure!(
                !may_overlap_partially(out, input),
                Argument,
                "sizes {:?} are reduced into a part of their own memory, pass a copy",
                input.sizes()
            );
        }
    }
    Ok(())
}

/// All elements of the input, if they fit one leaf of a single result, are contiguous, and need no conversion: then the
/// fold needs no walks.
fn leaf_of<M: Element>(input: &Tensor, results: i64, lease: &impl Leased) -> Option<NonNull<[M]>> {
    let geometry = input.geometry();
    let is_leaf = results == 1
        && geometry.is_contiguous()
        && (1..=LEAF as i64).contains(&geometry.numel())
        && is_plain::<M>(input.dtype());
    let first = if is_leaf { input.address(lease).ok()? } else { return None };
    let first = NonNull::new(first.cast_mut().cast::<M>())?;
    Some(NonNull::slice_from_raw_parts(first, geometry.numel() as usize))
}

struct Output<R> {
    data: *mut u8,
    size: usize,
    store: convert::Storer,
    element: PhantomData<R>,
}

impl<R: Element> Output<R> {
    fn new(out: &Tensor, lease: &impl Leased) -> Result<Self> {
        let dtype = out.dtype();
        Ok(Output {
            data: out.address_mut(lease)?,
            size: dtype.size(),
            store: convert::storer::<R>(dtype),
            element: PhantomData,
        })
    }
}

// SAFETY: the address is dereferenced only in `row`, which is `unsafe`: its caller gives each result to one thread.
unsafe impl<R> Sync for Output<R> {}

struct Folding<'f, M, F> {
    input: Input,
    element: PhantomData<M>,
    walks: &'f Walks,
    /// Whether what is read next is prefetched.
    is_large: bool,
    /// Where several rows, which follow each other, are folded as one line: the row of each of its elements.
    rows_of: Option<Vec<u32>>,
    fold: &'f F,
}

// SAFETY: the address in `input` is dereferenced only in `unsafe` functions, whose callers vouch that nothing writes
// there; folds are `Sync`.
unsafe impl<M, F: Sync> Sync for Folding<'_, M, F> {}

impl<M: Element, F: Fold<M>> Folding<'_, M, F> {
    /// Computes and writes a row of results.
    ///
    /// # Safety
    /// - The row lies in bounds of each output, and nothing else uses that part of the outputs during the call.
    /// - The row lies in bounds of the kept dimensions of the input: each of its places is the first element of a
    ///   result.
    /// - Nothing writes to the input during the call.
    unsafe fn row<R: Element, const K: usize>(
        &self,
        row: &Row<1>,
        outputs: &[Output<R>; K],
        finish: &impl Fn(F::Value) -> [R; K],
    ) {
        let mut folded = [const { MaybeUninit::uninit() }; RESULTS];
        let mut values = [const { MaybeUninit::<R>::uninit() }; RESULTS];
        for start in (0..row.len).step_by(RESULTS) {
            let len = RESULTS.min(row.len - start);
            let base = row.inputs[0] + start as isize * row.input_strides[0];
            let folded = fill(&mut folded[..len], |_| self.fold.identity());
            // SAFETY: `start..start + len` is part of the row, each place of which the caller vouches for as the first
            // element of a result.
            unsafe { self.results(base, row.input_strides[0], folded) };
            for (k, out) in outputs.iter().enumerate() {
                let values = fill(&mut values[..len], |i| finish(folded[i])[k]);
                let offset = (row.out + start as isize * row.out_stride) * out.size as isize;
                // SAFETY: `start..start + len` is part of the row, which the caller vouches for in each output;
                // `values` is local, and holds `len` values of `R`, which is the type that the storer takes.
                unsafe { (out.store)(values.as_ptr().cast(), len, out.data.offset(offset), row.out_stride) };
            }
        }
    }

    /// Folds the results whose first elements are `base` and the places after it, `stride` apart.
    ///
    /// # Safety
    /// - `base` and the places after it, `stride` apart, are the first elements of `folded.len()` results.
    /// - Nothing writes to the input during the call.
    unsafe fn results(&self, base: isize, stride: isize, folded: &mut [F::Value]) {
        if self.walks.are_beside {
            // SAFETY: the caller vouches that `base` and the places after it are first elements, in an input that
            // nothing writes to.
            return unsafe { self.side_by_side(base, stride, folded) };
        }
        let is_leaf = !self.walks.is_shared && !self.is_large && self.walks.count <= LEAF;
        if is_leaf && self.input.is_plain && self.walks.reduced.single_stride() == Some(1) {
            let first = self.input.data.cast::<M>().wrapping_offset(base);
            let lines = Slices { first, step: stride, len: self.walks.count, position: 0 };
            // SAFETY: the caller vouches for the first elements of as many results, each of whose elements are
            // contiguous by `single_stride`; they are plain values of `M`, aligned, and nothing writes to them (the
            // lease of `fold`).
            return unsafe { slices(self.fold, lines, folded) };
        }
        for (i, folded) in folded.iter_mut().enumerate() {
            let base = base + i as isize * stride;
            // SAFETY: `i` is below the number of results, so the caller vouches for a first element there; the range
            // is that of all elements of its result.
            *folded = unsafe {
                if self.walks.is_shared {
                    self.shared_tree(base)
                } else {
                    self.tree(base, 0..self.walks.count)
                }
            };
        }
    }

    /// Folds a range of one result's elements.
    ///
    /// # Safety
    /// - `base` is the first element of a result, and the range within `0..self.walks.count`.
    /// - Nothing writes to the input during the call.
    unsafe fn tree(&self, base: isize, range: Range<usize>) -> F::Value {
        if range.len() <= LEAF {
            // SAFETY: the caller vouches for `base` and for the range, which is no longer than a leaf.
            return unsafe { self.leaf(base, range) };
        }
        let [left, right] = halves(range, LEAF);
        // SAFETY: the caller vouches for `base` and for the range, of which `left` and `right` are the halves.
        unsafe { self.fold.merge(self.tree(base, left), self.tree(base, right)) }
    }

    /// Folds one result on several threads: the same tree, of which each thread takes branches.
    ///
    /// # Safety
    /// - `base` is the first element of a result.
    /// - Nothing writes to the input during the call.
    unsafe fn shared_tree(&self, base: isize) -> F::Value {
        let (count, mut branches) = (self.walks.count, Vec::new());
        let limit = BRANCH.max(count / MOST_BRANCHES);
        each_branch(0..count, LEAF, limit, &mut |branch| branches.push((branch, OnceLock::new())));
        parallel::shares(branches.len(), 1, |range| {
            for (branch, value) in &branches[range] {
                // SAFETY: the caller vouches for `base`; `each_branch` gives parts of `0..self.walks.count`.
                value.get_or_init(|| unsafe { self.tree(base, branch.clone()) });
            }
        });
        let mut values = branches.into_iter().filter_map(|(_, value)| value.into_inner());
        self.joined(0..count, limit, &mut values)
    }

    /// Merges the values of the branches of a range, as [`tree`](Self::tree) does.
    fn joined(
        &self,
        range: Range<usize>,
        limit: usize,
        values: &mut impl Iterator<Item = F::Value>,
    ) -> F::Value {
        if range.len() <= limit {
            return values.next().unwrap_or_else(|| self.fold.identity());
        }
        let [left, right] = halves(range, LEAF);
        let left = self.joined(left, limit, values);
        self.fold.merge(left, self.joined(right, limit, values))
    }

    /// Folds at most [`LEAF`] elements of one result.
    ///
    /// # Safety
    /// - `base` is the first element of a result, and the range within `0..self.walks.count`, no longer than [`LEAF`].
    /// - Nothing writes to the input during the call.
    unsafe fn leaf(&self, base: isize, range: Range<usize>) -> F::Value {
        if let Some(stride) = self.walks.reduced.single_stride() {
            let first = base + range.start as isize * stride;
            let data = self.input.data.wrapping_offset(first * self.input.size as isize);
            if stride == 1 && self.is_large {
                prefetch::behind(data, range.len() * self.input.size);
            }
            if stride == 1 && self.input.is_plain {
                // SAFETY: the caller vouches for the elements of the range, whose `stride` makes them contiguous; they
                // are plain values of `M`, aligned, and nothing writes to them (the lease of `fold`).
                let values = unsafe { std::slice::from_raw_parts(data.cast(), range.len()) };
                return slice(self.fold, values, range.start);
            }
            if let (1, Some(half), Some(slice)) =
                (stride, Half::of(self.input.dtype), slice_of_halves::<M, F>())
            {
                // SAFETY: the caller vouches for the elements of the range, which are contiguous; they are halves of
                // this kind, and `slice_of_halves` found the processor's features. Nothing writes to them (the lease of
                // `fold`).
                return unsafe { slice(self.fold, half, data.cast(), range.len(), range.start) };
            }
        }
        if self.input.is_plain && self.walks.reduced.dense_len() >= LONG {
            let (mut value, mut position) = (self.fold.identity(), range.start);
            self.walks.reduced.rows(range, |row| {
                let data = self.input.data.cast::<M>().wrapping_offset(base + row.inputs[0]);
                // SAFETY: in bounds, as `base` is a first element and the walk stays within the elements of its result;
                // the row is dense, as all rows of this walk are, of plain values of `M`, and nothing writes to them
                // (the lease of `fold`).
                let elements = unsafe { std::slice::from_raw_parts(data, row.len) };
                value = self.fold.merge(value, slice(self.fold, elements, position));
                position += row.len;
            });
            return value;
        }
        // SAFETY: the caller vouches for `base` and for the range, which is no longer than a leaf.
        unsafe {
            match self.has_rows() {
                true => self.leaf_of_rows(base, range),
                false => self.loaded_leaf(base, range),
            }
        }
    }

    /// Like [`leaf`](Self::leaf), for elements that are loaded into a buffer first.
    ///
    /// # Safety
    /// - `base` is the first element of a result, and the range within `0..self.walks.count`, no longer than [`LEAF`].
    /// - Nothing writes to the input during the call.
    #[inline(never)] // so that other leaves do not pay for the buffer
    unsafe fn loaded_leaf(&self, base: isize, range: Range<usize>) -> F::Value {
        let (mut buffer, mut filled) = ([MaybeUninit::<M>::uninit(); LEAF], 0);
        self.walks.reduced.each_row(range.clone(), &mut |row| {
            let offset = (base + row.inputs[0]) * self.input.size as isize;
            // SAFETY: in bounds, as `base` is a first element and the walk stays within the elements of its result,
            // which nothing writes to (the lease of `fold`). The rows of the range fill the buffer one after the other,
            // with no more than the [`LEAF`] elements that it holds.
            unsafe {
                let buffer = buffer.as_mut_ptr().cast::<M>().add(filled);
                (self.input.load)(
                    self.input.data.offset(offset),
                    row.input_strides[0],
                    row.len,
                    buffer.cast(),
                );
            }
            filled += row.len;
        });
        // SAFETY: the rows have filled `range.len()` places of the buffer, which is local, with values of `M`.
        let values = unsafe { std::slice::from_raw_parts(buffer.as_ptr().cast(), range.len()) };
        slice(self.fold, values, range.start)
    }
}

/// The ranges of the two branches of a tree, whose leaves have `leaf` elements.
fn halves(range: Range<usize>, leaf: usize) -> [Range<usize>; 2] {
    let middle = range.start + (range.len() / 2).next_multiple_of(leaf);
    [range.start..middle, middle..range.end]
}

/// Calls a closure with the largest branches that are no larger than `limit`, from the first to the last.
fn each_branch(range: Range<usize>, leaf: usize, limit: usize, f: &mut impl FnMut(Range<usize>)) {
    if range.len() <= limit {
        return f(range);
    }
    let [left, right] = halves(range, leaf);
    each_branch(left, leaf, limit, f);
    each_branch(right, leaf, limit, f);
}

/// Fills a slice with the values of a closure, and returns it as initialised.
#[inline(always)]
fn fill<T>(room: &mut [MaybeUninit<T>], mut f: impl FnMut(usize) -> T) -> &mut [T] {
    for (i, place) in room.iter_mut().enumerate() {
        place.write(f(i));
    }
    // SAFETY: every place was written by the loop; `MaybeUninit<T>` has the layout of `T`, and `room` stays borrowed.
    unsafe { std::slice::from_raw_parts_mut(room.as_mut_ptr().cast(), room.len()) }
}
