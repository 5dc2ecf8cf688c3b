//! Folding dimensions to one value each.
//!
//! # How it works
//!
//! 1. Elements are folded in leaves of up to [`LEAF`], each in several *lanes* side by side, so that the loop vectorises
//!    ([`Fold::slice`]).
//! 2. The leaves of one result are merged as those of a balanced tree: the rounding error of a sum grows with the
//!    logarithm of its length, and branches can go to several threads. The result does not depend on the threads.
//! 3. Where the results' neighbours are denser in memory than the elements of one result (a sum over rows), a whole
//!    row of results is folded at once, again chunk by chunk.
#![expect(unsafe_code, reason = "reads elements through pointers that a walk keeps in bounds")]

use std::marker::PhantomData;
use std::mem::MaybeUninit;
use std::ops::Range;
use std::ptr::NonNull;
use std::sync::OnceLock;

use torch_library::geometry::Dims;
use torch_library::{Element, MemoryFormat, Result, Tensor, ensure};

use super::entangled::is_entangled;
use super::halves::Half;
use super::walk::{Row, Walk};
use super::{Input, convert, data_ptr, has_elements, is_plain, parallel};
use wide::{joined, narrow_steps, slice_of_halves, steps};

mod wide;

pub(crate) use wide::slice;

/// How many folds run side by side: enough that no addition of wide vectors waits for the one before. With as many as these,
/// LLVM keeps them in vectors; 32 it takes apart.
const LANES: usize = 64;

/// How many results are held at a time: rows of them are read side by side, in pieces that are worth a new place in memory.
const RESULTS: usize = 1024;

/// How many rows are read together: each value is then loaded and stored once for all of them.
const TOGETHER: usize = 4;

/// Up to so many results in a row stay in registers, some after the other, while they take elements.
const NARROW: usize = 4 * LANES;

/// How many elements a row of results takes before it is merged into a sum of its own, to bound the rounding error.
const BLOCK: usize = 64;

/// How many elements are folded in one loop; the values of such loops are merged as a tree.
const LEAF: usize = 4096;

/// From so many elements on a row is folded where it lies; shorter ones are put side by side first.
const LONG: usize = 4 * LANES;

/// How many elements of one result are worth a thread.
const BRANCH: usize = 2 * parallel::GRAIN;

/// How elements are folded to one value.
pub trait Fold<M>: Sync {
    /// What they are folded to.
    type Value: Copy + Send + Sync;

    /// Whether the loop over floats is to be compiled for the widest vectors too. One that waits for memory gains nothing.
    const IS_FASTER_WIDEST: bool = false;

    /// Whether [`slice`](Self::slice) is left as it is. Halves are then widened as they are folded, not before.
    const IN_LANES: bool = true;

    /// The value of no elements.
    fn identity(&self) -> Self::Value;

    /// Takes an element in, with its position among those of the result.
    fn step(&self, value: Self::Value, element: M, position: usize) -> Self::Value;

    /// Joins two values.
    fn merge(&self, a: Self::Value, b: Self::Value) -> Self::Value;

    /// Folds up to a few thousand elements that lie side by side, of which the first has this position.
    ///
    /// As it is, element by element in several lanes. A fold that gets at its value faster from many elements at once
    /// does so here, and says so by [`IN_LANES`](Self::IN_LANES).
    #[inline(always)]
    fn slice(&self, elements: &[M], position: usize) -> Self::Value
    where
        M: Copy,
    {
        let (chunks, rest) = elements.as_chunks::<LANES>();
        let start = position + LANES * chunks.len();
        let mut value = self.identity();
        for (i, element) in rest.iter().enumerate() {
            value = self.step(value, *element, start + i);
        }
        if chunks.is_empty() {
            return value;
        }
        let mut lanes = [self.identity(); LANES];
        for (i, chunk) in chunks.iter().enumerate() {
            for (lane, element) in chunk.iter().enumerate() {
                lanes[lane] = self.step(lanes[lane], *element, position + i * LANES + lane);
            }
        }
        self.merge(joined(self, lanes), value)
    }
}

/// Folds the dimensions of `input` that are marked, and writes what is made of each value to contiguous tensors.
///
/// # Errors
/// Not a mark for each dimension; a tensor to write to that is not contiguous, has not an element for each value, or shares the
/// input's memory; memory that the host does not reach.
pub fn fold<M: Element, F: Fold<M>, R: Element, const K: usize>(
    outs: [&Tensor; K],
    input: &Tensor,
    is_reduced: &[bool],
    fold: &F,
    finish: impl Fn(F::Value) -> [R; K] + Sync,
) -> Result<()> {
    check(&outs, input, is_reduced)?;
    if !outs.first().is_some_and(|out| has_elements(out)) {
        return Ok(());
    }
    // Of nothing no place is read, wherever strides lead.
    let nothing;
    let input = if input.numel() == 0 {
        nothing = input.strided_view(input.sizes(), &Dims::from_elem(0, input.dim()), 0)?;
        &nothing
    } else {
        input
    };
    let geometry = input.geometry();
    if let Some(elements) = leaf_of::<M>(input, outs[0].numel()) {
        // SAFETY: nobody writes to them during the operation.
        let folded = finish(slice(fold, unsafe { elements.as_ref() }, 0));
        for (out, result) in outs.iter().zip(folded) {
            let out = Output::<R>::new(out)?;
            // SAFETY: the first element of a tensor that has one, written as its type.
            unsafe { (out.store)((&raw const result).cast(), 1, out.data, 1) };
        }
        return Ok(());
    }
    let reduced = Walk::of_reduced(geometry, |dim| is_reduced[dim]);
    let results = outs[0].numel() as usize;
    let count = reduced.count();
    let folding = Folding {
        input: Input::new::<M>(input)?,
        element: PhantomData,
        reduced,
        count,
        is_shared: count > BRANCH && results < rayon::current_num_threads(),
        fold,
    };
    let mut outputs = [const { None }; K];
    for (output, out) in outputs.iter_mut().zip(outs) {
        *output = Some(Output::<R>::new(out)?);
    }
    let outputs = outputs.map(|output| output.expect("each was filled above"));
    let walk = Walk::of_kept(geometry, |dim| !is_reduced[dim]);
    let grain = (parallel::GRAIN / count.max(1)).max(1);
    parallel::shares(results, grain, |range| {
        walk.rows(range, |row| {
            // SAFETY: the walks stay within the elements of both tensors, and no two threads get the same result.
            unsafe { folding.row(&row, &outputs, &finish) }
        });
    });
    Ok(())
}

/// Checks that each value has its place in every output, and that none is written over an element.
fn check(outs: &[&Tensor], input: &Tensor, is_reduced: &[bool]) -> Result<()> {
    ensure!(
        is_reduced.len() == input.dim(),
        Argument,
        "{} marks for the {} dimensions of sizes {:?}",
        is_reduced.len(),
        input.dim(),
        input.sizes()
    );
    let kept = input.sizes().iter().zip(is_reduced).filter(|(_, is_reduced)| !**is_reduced);
    let values = kept.fold(1i64, |values, (size, _)| values.saturating_mul(*size));
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
                !is_entangled(out, input),
                Argument,
                "sizes {:?} are reduced into a part of their own memory, pass a copy",
                input.sizes()
            );
        }
    }
    Ok(())
}

/// All elements of the input, if they make a single result and lie side by side as the fold takes them: then that needs no
/// preparations.
fn leaf_of<M: Element>(input: &Tensor, results: i64) -> Option<NonNull<[M]>> {
    let geometry = input.geometry();
    let is_leaf = results == 1
        && geometry.is_contiguous()
        && (1..=LEAF as i64).contains(&geometry.numel())
        && is_plain::<M>(input.dtype());
    let data = input.storage().data_ptr().filter(|_| is_leaf)?.cast::<M>();
    // SAFETY: a geometry stays within its storage.
    let first = unsafe { data.add(geometry.offset() as usize) };
    Some(NonNull::slice_from_raw_parts(first, geometry.numel() as usize))
}

struct Output<R> {
    data: *mut u8,
    size: usize,
    store: convert::Storer,
    element: PhantomData<R>,
}

impl<R: Element> Output<R> {
    fn new(out: &Tensor) -> Result<Self> {
        let dtype = out.dtype();
        Ok(Output {
            data: data_ptr(out)?,
            size: dtype.size(),
            store: convert::storer::<R>(dtype),
            element: PhantomData,
        })
    }
}

// SAFETY: a plain address; which thread writes where is for `row` to say.
unsafe impl<R> Sync for Output<R> {}

struct Folding<'f, M, F> {
    input: Input,
    element: PhantomData<M>,
    /// The elements of one result; its first and only input is the tensor.
    reduced: Walk<1>,
    count: usize,
    /// Whether several threads work on one result.
    is_shared: bool,
    fold: &'f F,
}

// SAFETY: a plain address inside of `input`, which is only read; folds are `Sync`.
unsafe impl<M, F: Sync> Sync for Folding<'_, M, F> {}

impl<M: Element, F: Fold<M>> Folding<'_, M, F> {
    /// Computes a row of results.
    ///
    /// # Safety
    /// The row lies in bounds of the outputs, which nobody else touches, and of the kept dimensions of the input.
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
            // SAFETY: the chunk is a part of the row.
            unsafe { self.results(base, row.input_strides[0], folded) };
            for (k, out) in outputs.iter().enumerate() {
                let values = fill(&mut values[..len], |i| finish(folded[i])[k]);
                let offset = (row.out + start as isize * row.out_stride) * out.size as isize;
                // SAFETY: the chunk is a part of the row; `values` holds as many.
                unsafe { (out.store)(values.as_ptr().cast(), len, out.data.offset(offset), row.out_stride) };
            }
        }
    }

    /// Folds the results that start `stride` apart.
    ///
    /// # Safety
    /// As [`row`](Self::row).
    unsafe fn results(&self, base: isize, stride: isize, folded: &mut [F::Value]) {
        let is_denser = folded.len() > 1 && self.reduced.inner_stride().is_some_and(|inner| stride < inner);
        if is_denser {
            // SAFETY: passed on.
            return unsafe { self.side_by_side(base, stride, folded) };
        }
        for (i, folded) in folded.iter_mut().enumerate() {
            let base = base + i as isize * stride;
            // SAFETY: passed on.
            *folded = unsafe {
                if self.is_shared { self.shared_tree(base) } else { self.tree(base, 0..self.count) }
            };
        }
    }

    /// One result.
    ///
    /// # Safety
    /// `base` is the first element of a result, and the range within its elements.
    unsafe fn tree(&self, base: isize, range: Range<usize>) -> F::Value {
        if range.len() <= LEAF {
            // SAFETY: passed on.
            return unsafe { self.leaf(base, range) };
        }
        let [left, right] = halves(range);
        // SAFETY: passed on; both halves are within the range.
        unsafe { self.fold.merge(self.tree(base, left), self.tree(base, right)) }
    }

    /// One result, by several threads: the same tree, of which they take branches.
    ///
    /// # Safety
    /// As [`tree`](Self::tree), for all elements.
    unsafe fn shared_tree(&self, base: isize) -> F::Value {
        let mut branches = Vec::new();
        each_branch(0..self.count, &mut |branch| branches.push((branch, OnceLock::new())));
        parallel::shares(branches.len(), 1, |range| {
            for (branch, value) in &branches[range] {
                // SAFETY: passed on.
                value.get_or_init(|| unsafe { self.tree(base, branch.clone()) });
            }
        });
        let mut values = branches.into_iter().filter_map(|(_, value)| value.into_inner());
        self.joined(0..self.count, &mut values)
    }

    /// Merges the values of the branches of a range.
    fn joined(&self, range: Range<usize>, values: &mut impl Iterator<Item = F::Value>) -> F::Value {
        if range.len() <= BRANCH {
            return values.next().unwrap_or_else(|| self.fold.identity());
        }
        let [left, right] = halves(range);
        let left = self.joined(left, values);
        self.fold.merge(left, self.joined(right, values))
    }

    /// At most [`LEAF`] elements of one result.
    ///
    /// # Safety
    /// As [`tree`](Self::tree).
    unsafe fn leaf(&self, base: isize, range: Range<usize>) -> F::Value {
        if let Some(stride) = self.reduced.single_stride() {
            let first = base + range.start as isize * stride;
            let data = self.input.data.wrapping_offset(first * self.input.size as isize);
            if stride == 1 && self.input.is_plain {
                // SAFETY: the elements lie side by side, and nobody writes to them during the operation.
                let values = unsafe { std::slice::from_raw_parts(data.cast(), range.len()) };
                return slice(self.fold, values, range.start);
            }
            if let (1, Some(half), Some(slice)) =
                (stride, Half::of(self.input.dtype), slice_of_halves::<M, F>())
            {
                // SAFETY: as above; the elements are of these halves.
                return unsafe { slice(self.fold, half, data.cast(), range.len(), range.start) };
            }
        }
        if self.input.is_plain && self.reduced.dense_len() >= LONG {
            let (mut value, mut position) = (self.fold.identity(), range.start);
            self.reduced.rows(range, |row| {
                let data = self.input.data.cast::<M>().wrapping_offset(base + row.inputs[0]);
                // SAFETY: the walk stays in bounds; the elements lie side by side, and nobody writes to them during the operation.
                let elements = unsafe { std::slice::from_raw_parts(data, row.len) };
                value = self.fold.merge(value, slice(self.fold, elements, position));
                position += row.len;
            });
            return value;
        }
        // SAFETY: passed on.
        unsafe { self.loaded_leaf(base, range) }
    }

    /// As [`leaf`](Self::leaf), of elements that are loaded into a buffer first.
    ///
    /// # Safety
    /// As there.
    #[inline(never)] // so that others do without the buffer
    unsafe fn loaded_leaf(&self, base: isize, range: Range<usize>) -> F::Value {
        let (mut buffer, mut filled) = ([MaybeUninit::<M>::uninit(); LEAF], 0);
        self.reduced.rows(range.clone(), |row| {
            let offset = (base + row.inputs[0]) * self.input.size as isize;
            // SAFETY: the walk stays in bounds; the rows of the range fill the buffer one after the other, and are no more than it
            // holds.
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
        // SAFETY: as many elements were loaded.
        let values = unsafe { std::slice::from_raw_parts(buffer.as_ptr().cast(), range.len()) };
        slice(self.fold, values, range.start)
    }

    /// Folds many results at once, one element of each at a time.
    ///
    /// # Safety
    /// As [`results`](Self::results).
    unsafe fn side_by_side(&self, base: isize, stride: isize, folded: &mut [F::Value]) {
        let (mut block, mut buffers) = ([const { MaybeUninit::uninit() }; RESULTS], Vec::new());
        let block = fill(&mut block[..folded.len()], |_| self.fold.identity());
        let is_read = stride == 1 && self.input.is_plain;
        let is_narrow = is_read && block.len() <= NARROW && block.len().is_multiple_of(LANES);
        if !is_read {
            buffers.resize_with(TOGETHER * block.len(), MaybeUninit::<M>::uninit);
        }
        let mut position = 0;
        self.reduced.rows(0..self.count, |row| {
            let mut i = 0;
            while i < row.len {
                let most = if is_narrow { BLOCK } else { TOGETHER };
                let count = most.min(row.len - i).min(BLOCK - position % BLOCK);
                if is_narrow {
                    let first = base + row.inputs[0] + i as isize * row.input_strides[0];
                    // SAFETY: as many lines lie in the input, each with an element of all results.
                    unsafe {
                        let data = self.input.data.cast::<M>().offset(first);
                        narrow_steps(self.fold, block, data, row.input_strides[0], count, position);
                    }
                    (i, position) = (i + count, position + count);
                    self.merge_full(folded, block, position);
                    continue;
                }
                let lines: [&[M]; TOGETHER] = std::array::from_fn(|n| {
                    let (line, is_repeated) = (n.min(count - 1), n >= count);
                    let first = base + row.inputs[0] + (i + line) as isize * row.input_strides[0];
                    let mut data = self.input.data.wrapping_offset(first * self.input.size as isize);
                    if let Some(buffer) = buffers.get_mut(line * block.len()..)
                        && !is_read
                    {
                        let buffer = buffer.as_mut_ptr().cast::<u8>();
                        if !is_repeated {
                            // SAFETY: one element of each result, which lie `stride` apart; room for as many.
                            unsafe { (self.input.load)(data, stride, block.len(), buffer) };
                        }
                        data = buffer;
                    }
                    // SAFETY: elements in memory that nobody writes to during the operation, or loaded above.
                    unsafe { std::slice::from_raw_parts(data.cast(), block.len()) }
                });
                steps(self.fold, block, &lines[..count], position);
                (i, position) = (i + count, position + count);
                self.merge_full(folded, block, position);
            }
        });
    }

    /// Merges values that have taken as many elements as they may, or all.
    fn merge_full(&self, folded: &mut [F::Value], block: &mut [F::Value], position: usize) {
        if !position.is_multiple_of(BLOCK) && position != self.count {
            return;
        }
        for (folded, block) in folded.iter_mut().zip(block) {
            *folded = self.fold.merge(*folded, *block);
            *block = self.fold.identity();
        }
    }
}

/// The two branches of a tree.
fn halves(range: Range<usize>) -> [Range<usize>; 2] {
    let middle = range.start + (range.len() / 2).next_multiple_of(LEAF);
    [range.start..middle, middle..range.end]
}

/// Calls a closure with the largest branches that are no larger than [`BRANCH`], from the first to the last.
fn each_branch(range: Range<usize>, f: &mut impl FnMut(Range<usize>)) {
    if range.len() <= BRANCH {
        return f(range);
    }
    let [left, right] = halves(range);
    each_branch(left, f);
    each_branch(right, f);
}

/// Writes what a closure gives for each place.
fn fill<T>(room: &mut [MaybeUninit<T>], f: impl Fn(usize) -> T) -> &mut [T] {
    for (i, place) in room.iter_mut().enumerate() {
        place.write(f(i));
    }
    // SAFETY: every element was written; `MaybeUninit<T>` lies in memory as `T` does.
    unsafe { std::slice::from_raw_parts_mut(room.as_mut_ptr().cast(), room.len()) }
}
