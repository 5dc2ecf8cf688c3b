//! Freed blocks of host memory that are kept for reuse.
//!
//! The system reclaims large blocks when they are freed, and clears every page of a new one when it is first touched. A
//! program with repeated, similar steps would pay for that in each step, as much as for its arithmetic.
//!
//! A request takes a block of its own size if there is one, and otherwise part of a larger block. The results of a
//! network's layers, which have many sizes, are then in as much memory as those that exist at a time need. With a block
//! for each size, they and the weights no longer fit the cache together.

use std::alloc::{self, Layout};
use std::iter;
use std::ops::Range;
use std::ptr::NonNull;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The minimum size of a block in bytes: the allocator itself keeps smaller ones.
pub(super) const SMALLEST: usize = 32 << 10;

/// The maximum size of all unused memory together, in bytes, and that of all blocks that are divided. So parts that
/// stay in use cannot keep more than this from being freed.
const MOST: usize = 32 << 20;

/// How many times as large as the request a block may be of which it takes a part: a small part that stays in use would
/// keep the rest from the large tensors that it was made for.
const MOST_TIMES: usize = 8;

/// Parts start and end at multiples of a page. With multiples of a cache line, a result could begin one line after its
/// operand, modulo the size of a huge page: Intel's processors then take each read of the operand for one of what was
/// just written, and a loop over both takes up to four times as long.
const STEP: usize = 4 << 10;

/// The alignment of the blocks that storages allocate. One of another alignment, such as a vector's, would wait in vain
/// for a request of the same layout, while it takes the room of others.
pub(super) const ALIGN: usize = 16;

static SPARE: Mutex<Spare> = Mutex::new(Spare::new());

/// The memory that is kept.
struct Spare {
    /// Blocks of the global allocator, the last freed one at the end.
    whole: Vec<Block>,
    /// Blocks of which a part is in use.
    divided: Vec<Divided>,
    /// The bytes that are unused.
    unused: usize,
    /// The bytes of divided blocks.
    shared: usize,
}

#[derive(Clone, Copy)]
struct Block {
    base: NonNull<u8>,
    layout: Layout,
}

/// A block of which parts are in use.
struct Divided {
    block: Block,
    /// The other parts, in order, with parts in use between them.
    unused: Vec<Range<usize>>,
}

// SAFETY: a block is memory that only its holder uses, and the global allocator can free it on any thread.
unsafe impl Send for Block {}

fn spare() -> MutexGuard<'static, Spare> {
    SPARE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Memory for a layout with the alignment [`ALIGN`], with unspecified contents, and its own layout, which may be
/// larger.
pub(super) fn take(layout: Layout) -> Option<(NonNull<u8>, Layout)> {
    if layout.size() < SMALLEST {
        return None;
    }
    spare().take(layout).map(|block| (block.base, block.layout))
}

/// Frees a block, now or when its room is needed.
///
/// # Safety
/// - It is a block of the global allocator with this layout, which is not empty, or one that [`take`] returned with it.
/// - It is no longer used.
pub(super) unsafe fn free(base: NonNull<u8>, layout: Layout) {
    let block = Block { base, layout };
    let is_kept = layout.align() == ALIGN && (SMALLEST..=MOST).contains(&layout.size());
    if !is_kept {
        // SAFETY: `take` returns no such blocks, so the caller promises that the global allocator made it with this
        // layout, and that it is no longer used.
        return unsafe { alloc::dealloc(base.as_ptr(), layout) };
    }
    let mut spare = spare();
    spare.keep(block);
    while let Some(oldest) = spare.excess() {
        // SAFETY: for each block that comes here and is no part of another, the caller promised that the global
        // allocator made it with this layout; it is no longer in the list, so no other code can get it.
        unsafe { alloc::dealloc(oldest.base.as_ptr(), oldest.layout) };
    }
}

impl Spare {
    const fn new() -> Spare {
        Spare { whole: Vec::new(), divided: Vec::new(), unused: 0, shared: 0 }
    }

    fn take(&mut self, layout: Layout) -> Option<Block> {
        let block = match self.whole.iter().rposition(|block| block.layout == layout) {
            Some(index) => self.whole.remove(index),
            None => self.part(layout.size().next_multiple_of(STEP))?,
        };
        self.unused -= block.layout.size();
        Some(block)
    }

    /// A part of this size: of the smallest unused part that has room for it, or else of the smallest such block.
    fn part(&mut self, size: usize) -> Option<Block> {
        let parts = self.divided.iter().enumerate();
        let parts =
            parts.flat_map(|(index, divided)| divided.unused.iter().map(move |part| (part.len(), index)));
        if let Some((_, index)) = parts.filter(|(len, _)| *len >= size).min() {
            return Some(self.divided[index].take(size));
        }
        let fits = |block: &Block| {
            let len = block.layout.size();
            (size..=size.saturating_mul(MOST_TIMES)).contains(&len) && self.shared + len <= MOST
        };
        let blocks = self.whole.iter().enumerate().filter(|(_, block)| fits(block));
        let (index, _) = blocks.min_by_key(|(_, block)| block.layout.size())?;
        let block = self.whole.remove(index);
        self.shared += block.layout.size();
        let mut divided = Divided { block, unused: iter::once(0..block.layout.size()).collect() };
        let part = divided.take(size);
        self.divided.push(divided);
        Some(part)
    }

    /// Keeps memory that is no longer used.
    fn keep(&mut self, block: Block) {
        self.unused += block.layout.size();
        let Some(index) = self.divided.iter().position(|divided| divided.contains(block.base)) else {
            return self.whole.push(block);
        };
        if self.divided[index].put(block) {
            let Divided { block, .. } = self.divided.swap_remove(index);
            self.shared -= block.layout.size();
            self.whole.push(block);
        }
    }

    /// Removes the block that was freed first, if too much memory is unused.
    fn excess(&mut self) -> Option<Block> {
        if self.unused <= MOST || self.whole.is_empty() {
            return None;
        }
        let oldest = self.whole.remove(0);
        self.unused -= oldest.layout.size();
        Some(oldest)
    }
}

impl Divided {
    fn contains(&self, base: NonNull<u8>) -> bool {
        let start = self.block.base.addr().get();
        (start..start + self.block.layout.size()).contains(&base.addr().get())
    }

    /// A part of this size from the smallest unused part that has room for it, which one must have. It takes what would
    /// be too little for another.
    fn take(&mut self, size: usize) -> Block {
        let fitting = self.unused.iter().enumerate().filter(|(_, part)| part.len() >= size);
        let (index, _) = fitting.min_by_key(|(_, part)| part.len()).expect("a part has room");
        let part = &mut self.unused[index];
        let start = part.start;
        let taken = if part.len() - size < SMALLEST { part.len() } else { size };
        part.start += taken;
        if part.start == part.end {
            self.unused.remove(index);
        }
        let layout = Layout::from_size_align(taken, ALIGN).expect("less than the whole block");
        Block { base: self.block.base.map_addr(|base| base.saturating_add(start)), layout }
    }

    /// Takes a part back, and unites it with its neighbours. Returns whether the whole block is unused.
    fn put(&mut self, part: Block) -> bool {
        let start = part.base.addr().get() - self.block.base.addr().get();
        let mut whole = start..start + part.layout.size();
        let mut index = self.unused.partition_point(|part| part.start < start);
        if self.unused.get(index).is_some_and(|after| after.start == whole.end) {
            whole.end = self.unused.remove(index).end;
        }
        if index > 0 && self.unused[index - 1].end == start {
            index -= 1;
            whole.start = self.unused.remove(index).start;
        }
        self.unused.insert(index, whole);
        self.unused[0].len() == self.block.layout.size()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn layout(size: usize) -> Layout {
        Layout::from_size_align(size, ALIGN).unwrap()
    }

    /// Blocks of memory that nothing accesses.
    fn block(start: usize, size: usize) -> Block {
        Block { base: NonNull::without_provenance(start.try_into().unwrap()), layout: layout(size) }
    }

    fn take(spare: &mut Spare, size: usize) -> Option<(usize, usize)> {
        spare.take(layout(size)).map(|block| (block.base.addr().get(), block.layout.size()))
    }

    const KIB: usize = 1 << 10;

    #[test]
    fn a_smaller_request_takes_part_of_a_block_until_all_parts_come_back() {
        let mut spare = Spare::new();
        spare.keep(block(0x100_0000, 400 * KIB));
        assert_eq!(take(&mut spare, 100 * KIB), Some((0x100_0000, 100 * KIB)));
        assert_eq!(take(&mut spare, 64 * KIB), Some((0x100_0000 + 100 * KIB, 64 * KIB)));
        assert_eq!(take(&mut spare, 300 * KIB), None);
        assert_eq!(spare.unused, 236 * KIB);
        spare.keep(block(0x100_0000, 100 * KIB));
        assert_eq!(take(&mut spare, 90 * KIB), Some((0x100_0000, 100 * KIB)), "the rest would be too small");
        spare.keep(block(0x100_0000 + 100 * KIB, 64 * KIB));
        assert_eq!(take(&mut spare, 300 * KIB), Some((0x100_0000 + 100 * KIB, 300 * KIB)));
        spare.keep(block(0x100_0000, 100 * KIB));
        spare.keep(block(0x100_0000 + 100 * KIB, 300 * KIB));
        assert_eq!((spare.divided.len(), spare.whole.len(), spare.shared), (0, 1, 0));
        assert_eq!(take(&mut spare, 400 * KIB), Some((0x100_0000, 400 * KIB)));
    }

    #[test]
    fn a_request_prefers_its_own_size_then_the_smallest() {
        let mut spare = Spare::new();
        for (n, size) in [200, 120, 100, 160].into_iter().enumerate() {
            spare.keep(block((n + 1) << 24, size * KIB));
        }
        assert_eq!(take(&mut spare, 100 * KIB), Some((3 << 24, 100 * KIB)));
        assert_eq!(take(&mut spare, 100 * KIB), Some((2 << 24, 120 * KIB)));
        assert_eq!(take(&mut spare, 100 * KIB), Some((4 << 24, 100 * KIB)));
        assert_eq!(take(&mut spare, 60 * KIB), Some(((4 << 24) + 100 * KIB, 60 * KIB)));
    }

    #[test]
    fn small_requests_leave_large_blocks_alone() {
        let mut spare = Spare::new();
        spare.keep(block(1 << 24, 804 * KIB));
        assert_eq!(take(&mut spare, 100 * KIB), None);
        assert_eq!(take(&mut spare, 104 * KIB), Some((1 << 24, 104 * KIB)));
    }

    #[test]
    fn parts_start_at_the_same_place_in_a_page() {
        let mut spare = Spare::new();
        spare.keep(block(0x100_0010, 400 * KIB));
        assert_eq!(take(&mut spare, 100 * KIB + 64), Some((0x100_0010, 104 * KIB)));
        assert_eq!(take(&mut spare, 100 * KIB + 64), Some((0x100_0010 + 104 * KIB, 104 * KIB)));
    }

    #[test]
    fn no_more_memory_is_unused_or_divided_than_the_limit() {
        let mut spare = Spare::new();
        for n in 0..3 {
            spare.keep(block((n + 1) << 30, MOST / 2));
        }
        assert_eq!(spare.excess().map(|block| block.base.addr().get()), Some(1 << 30));
        assert!(spare.excess().is_none());
        assert!(take(&mut spare, MOST / 4).is_some());
        spare.keep(block(1 << 30, MOST / 2 + KIB));
        spare.keep(block(4 << 30, MOST / 2 + KIB));
        // Parts of one more block would keep more than the limit.
        for _ in 0..2 {
            take(&mut spare, MOST / 4 + KIB);
        }
        assert!(spare.shared <= MOST);
    }

    #[test]
    fn parts_never_overlap() {
        let (mut spare, mut held) = (Spare::new(), Vec::<Block>::new());
        let (mut state, mut next) = (1u64, 1 << 30);
        for _ in 0..if cfg!(miri) { 300 } else { 20_000 } {
            state = state.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(1);
            let number = (state >> 40) as usize;
            if number.is_multiple_of(2) && !held.is_empty() {
                spare.keep(held.swap_remove(number / 2 % held.len()));
                while spare.excess().is_some() {}
                continue;
            }
            let size = SMALLEST + number % (1 << 20);
            let block = spare.take(layout(size)).unwrap_or_else(|| {
                next += 1 << 24;
                block(next, size)
            });
            let range = |block: &Block| {
                let start = block.base.addr().get();
                start..start + block.layout.size()
            };
            let (new, is_apart) = (range(&block), |other: Range<usize>, new: &Range<usize>| {
                other.end <= new.start || new.end <= other.start
            });
            assert!(new.len() >= size && held.iter().all(|other| is_apart(range(other), &new)));
            held.push(block);
            let unused: usize = spare.whole.iter().map(|block| block.layout.size()).sum::<usize>()
                + spare.divided.iter().flat_map(|divided| &divided.unused).map(Range::len).sum::<usize>();
            assert!(unused == spare.unused && unused <= MOST && spare.shared <= MOST);
        }
        held.drain(..).for_each(|block| spare.keep(block));
        assert!(spare.divided.is_empty());
    }
}
