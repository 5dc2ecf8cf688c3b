//! Folding many results at once, which lie closer in memory than the elements of each: a row of results takes one
//! element for each at a time.
#![expect(unsafe_code, reason = "reads elements through pointers that a walk keeps in bounds")]

use std::mem::MaybeUninit;
use std::ops::Range;
use std::sync::OnceLock;

use torch_library::Element;

use super::walks::Walks;
use super::wide::{Lines, ONE_ROW, narrow_steps, steps, steps_of_halves};
use super::{
    BLOCK, Fold, Folding, MOST_BRANCHES, MOST_LINES, NARROW, RESULTS, TOGETHER, each_branch, fill, halves,
};
use crate::loops::halves::Half;
use crate::loops::parallel;
use crate::loops::transpose::transpose_sized;

/// The most elements that are converted before they are folded: the L1 cache has room for them.
const CONVERTED: usize = 8192;

impl<M: Element, F: Fold<M>> Folding<'_, M, F> {
    /// Folds the elements of many results.
    ///
    /// # Safety
    /// - `base` and the places after it, `stride` apart, are the first elements of `folded.len()` results, at most
    ///   [`RESULTS`].
    /// - Nothing writes to the input during the call.
    pub(super) unsafe fn side_by_side(&self, base: isize, stride: isize, folded: &mut [F::Value]) {
        let Walks { count, leaf, is_shared, .. } = *self.walks;
        if count <= leaf {
            // SAFETY: the caller vouches for `base` and the places after it; this is the range of all elements.
            return unsafe { self.leaf_beside(base, stride, 0..count, folded) };
        }
        // SAFETY: the caller vouches for `base` and the places after it; trees have leaves within `0..count`.
        let fold = |range, folded: &mut [_]| unsafe { self.leaf_beside(base, stride, range, folded) };
        let merge = |folded: &mut [_], values: &[_]| self.merge_into(folded, values);
        let tree = Tree { leaf, identity: self.fold.identity(), fold: &fold, merge: &merge };
        if is_shared { tree.shared(count, folded) } else { tree.whole(0..count, folded) }
    }

    /// Merges a value into each of many.
    pub(super) fn merge_into(&self, folded: &mut [F::Value], values: &[F::Value]) {
        self.fold.merge_each(folded, values);
    }

    /// Folds a leaf of many results to `folded`, which holds identities, in blocks that are merged one after the other.
    ///
    /// # Safety
    /// - `base` and the places after it, `stride` apart, are the first elements of `folded.len()` results, at most
    ///   [`RESULTS`], and the range lies within `0..count`.
    /// - Nothing writes to the input during the call.
    unsafe fn leaf_beside(&self, base: isize, stride: isize, range: Range<usize>, folded: &mut [F::Value]) {
        const { assert!(1 <= F::LINES && F::LINES <= MOST_LINES) };
        let (mut block, mut buffers) = ([const { MaybeUninit::uninit() }; RESULTS], Vec::new());
        // A single block is folded in place.
        let (block, mut folded) = match range.len() <= BLOCK {
            true => (folded, None),
            false => (fill(&mut block[..folded.len()], |_| self.fold.identity()), Some(folded)),
        };
        let is_narrow = F::LINES == TOGETHER && stride == 1 && self.input.is_plain && block.len() <= NARROW;
        let of_halves = Half::of(self.input.dtype).filter(|_| stride == 1).zip(steps_of_halves::<M, F>());
        let (mut position, end) = (range.start, range.end);
        self.walks.reduced.rows(range, |row| {
            let (mut i, step) = (0, row.input_strides[0]);
            if self.rows_of.is_some() {
                // SAFETY: in bounds, as below; in a tall matrix the rows follow each other, `step` apart.
                i = unsafe {
                    let folded = folded.as_deref_mut().unwrap_or(block);
                    self.whole_lines((base + row.inputs[0], step), row.len, position, folded)
                };
                position += i;
                if i > 0 {
                    self.merge_full(folded.as_deref_mut(), block, position, end);
                }
            }
            while i < row.len {
                let most = if is_narrow { BLOCK } else { F::LINES };
                let count = most.min(row.len - i).min(BLOCK - position % BLOCK);
                let first = base + row.inputs[0] + i as isize * step;
                // SAFETY: in bounds, as `base` and its neighbours are first elements and the walk stays within their
                // results; `count` lines follow in this row, with an element for every result. Where `is_narrow` these
                // are plain values, contiguous; where there is a function for halves they are contiguous halves of this
                // kind, and `steps_of_halves` found the processor's features. Nothing writes (the lease of `fold`).
                unsafe {
                    if is_narrow {
                        let first = self.input.data.cast::<M>().offset(first);
                        let positions = (position, &ONE_ROW[..block.len()]);
                        let lines = Lines { first, step, count, positions };
                        narrow_steps(self.fold, block, lines);
                    } else if let Some((half, steps)) = of_halves {
                        let data = self.input.data.cast::<u16>().offset(first);
                        let positions = (position, &ONE_ROW[..block.len()]);
                        steps(self.fold, block, half, data, step, count, positions);
                    } else {
                        self.steps_of_lines(block, first, [step, stride], count, position, &mut buffers);
                    }
                }
                (i, position) = (i + count, position + count);
                self.merge_full(folded.as_deref_mut(), block, position, end);
            }
        });
    }

    /// Adds one element of each of a few lines to each value of a block: the lines start `step` apart, and their
    /// elements are `stride` apart.
    ///
    /// # Safety
    /// - `count` lines, at least one and at most [`Fold::LINES`], of as many elements as there are values, lie in
    ///   bounds of the input from `first` on.
    /// - Nothing writes to the input during the call.
    unsafe fn steps_of_lines(
        &self,
        block: &mut [F::Value],
        first: isize,
        [step, stride]: [isize; 2],
        count: usize,
        position: usize,
        buffers: &mut Vec<MaybeUninit<M>>,
    ) {
        let is_read = stride == 1 && self.input.is_plain;
        if !is_read && F::LINES * block.len() > CONVERTED {
            for (n, block) in block.chunks_mut(CONVERTED / F::LINES).enumerate() {
                let first = first + (n * (CONVERTED / F::LINES)) as isize * stride;
                // SAFETY: some of the values, for whose elements the caller vouches.
                unsafe { self.steps_of_lines(block, first, [step, stride], count, position, buffers) };
            }
            return;
        }
        let len = block.len();
        if !is_read {
            buffers.resize_with(F::LINES * len, MaybeUninit::uninit);
        }
        let buffers = buffers.as_mut_ptr(); // borrowed once, since earlier lines stay in use while the next are written
        let are_interleaved = step == 1 && stride == count as isize && count > 1 && self.input.is_plain;
        if are_interleaved {
            let data = self.input.data.wrapping_offset(first * self.input.size as isize);
            // SAFETY: the caller vouches for the elements of these lines, which alternate in memory; the lines of the
            // buffer have room for them, and are used by this thread alone.
            unsafe { transpose_sized(self.input.size, data, stride, [len, count], buffers.cast(), len) };
        }
        let mut lines = [&[][..]; MOST_LINES];
        for (n, line) in lines[..count].iter_mut().enumerate() {
            let first = first + n as isize * step;
            let mut data = self.input.data.wrapping_offset(first * self.input.size as isize);
            if !is_read {
                let buffer = buffers.wrapping_add(n * len).cast::<u8>();
                if !are_interleaved {
                    // SAFETY: the caller vouches for the elements of this line; a line of the buffer has room for them,
                    // and is used by this thread alone.
                    unsafe { (self.input.load)(data, stride, len, buffer) };
                }
                data = buffer;
            }
            // SAFETY: contiguous plain values of `M` in the input, which nothing writes to, as the caller vouches; or
            // loaded into a line of the buffer, which is not written again while this slice is in use.
            *line = unsafe { std::slice::from_raw_parts(data.cast(), len) };
        }
        steps(self.fold, block, &lines[..count], position);
    }

    /// Merges the accumulators of a block into the results, if they are others, and resets them, when they have taken
    /// [`BLOCK`] elements or all up to `end`.
    fn merge_full(
        &self,
        folded: Option<&mut [F::Value]>,
        block: &mut [F::Value],
        position: usize,
        end: usize,
    ) {
        if let Some(folded) = folded
            && (position.is_multiple_of(BLOCK) || position == end)
        {
            self.merge_into(folded, block);
            block.fill(self.fold.identity());
        }
    }
}

/// The elements of many results, as a tree of leaves. (Not generic over the fold, so that it is compiled once for each
/// type of value.)
struct Tree<'f, V> {
    /// The number of elements of each result in a leaf.
    leaf: usize,
    identity: V,
    /// Folds a leaf to values that are identities.
    fold: &'f (dyn Fn(Range<usize>, &mut [V]) + Sync),
    /// Merges values into others.
    merge: &'f (dyn Fn(&mut [V], &[V]) + Sync),
}

impl<V: Copy + Send + Sync> Tree<'_, V> {
    /// Folds a range of the elements of each result to `folded`, which holds identities.
    fn whole(&self, range: Range<usize>, folded: &mut [V]) {
        let levels = range.len().div_ceil(self.leaf).max(1).next_power_of_two().ilog2() as usize;
        self.branch(range, folded, &mut vec![self.identity; levels * folded.len()]);
    }

    /// Like [`whole`](Self::whole), with room for the values of the right branches on the way to a leaf.
    fn branch(&self, range: Range<usize>, folded: &mut [V], room: &mut [V]) {
        if range.len() <= self.leaf {
            return (self.fold)(range, folded);
        }
        let [left, right] = halves(range, self.leaf);
        self.branch(left, folded, room);
        let (values, room) = room.split_at_mut(folded.len());
        values.fill(self.identity);
        self.branch(right, values, room);
        (self.merge)(folded, values);
    }

    /// Folds `count` elements of each result on several threads: the same tree, of which each thread takes branches.
    fn shared(&self, count: usize, folded: &mut [V]) {
        let limit = self.leaf.max(count / MOST_BRANCHES);
        let mut branches = Vec::new();
        each_branch(0..count, self.leaf, limit, &mut |branch| branches.push((branch, OnceLock::new())));
        parallel::shares(branches.len(), 1, |range| {
            for (branch, values) in &branches[range] {
                values.get_or_init(|| {
                    let mut values = vec![self.identity; folded.len()];
                    self.whole(branch.clone(), &mut values);
                    values
                });
            }
        });
        let mut values = branches.into_iter().filter_map(|(_, values)| values.into_inner());
        if let Some(values) = self.joined(0..count, limit, &mut values) {
            folded.copy_from_slice(&values);
        }
    }

    /// Merges the values of the branches of a range, as [`branch`](Self::branch) does.
    fn joined(
        &self,
        range: Range<usize>,
        limit: usize,
        values: &mut impl Iterator<Item = Vec<V>>,
    ) -> Option<Vec<V>> {
        if range.len() <= limit {
            return values.next();
        }
        let [left, right] = halves(range, self.leaf);
        let mut folded = self.joined(left, limit, values)?;
        (self.merge)(&mut folded, &self.joined(right, limit, values)?);
        Some(folded)
    }
}
