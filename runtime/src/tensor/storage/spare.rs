//! Freed blocks of host memory that wait for their next use.
//!
//! The system takes large blocks back when they are freed, and clears every page of a new one when it is first touched.
//! A program whose steps are alike would pay for that in each of them, as much as for its arithmetic.

use std::alloc::{self, Layout};
use std::ptr::NonNull;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// How many bytes a block has at least: smaller ones the allocator itself keeps.
pub(super) const SMALLEST: usize = 32 << 10;

/// How many bytes all blocks have at most.
const MOST: usize = 32 << 20;

static SPARE: Mutex<Spare> = Mutex::new(Spare { blocks: Vec::new(), bytes: 0 });

/// Blocks of the global allocator, those that were freed last at the end.
struct Spare {
    blocks: Vec<Block>,
    bytes: usize,
}

struct Block {
    base: NonNull<u8>,
    layout: Layout,
}

// SAFETY: a block is memory that nobody but its holder uses, and the global allocator takes it back from any thread.
unsafe impl Send for Block {}

fn spare() -> MutexGuard<'static, Spare> {
    SPARE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A block of exactly this layout, with whatever is in it.
pub(super) fn take(layout: Layout) -> Option<NonNull<u8>> {
    if layout.size() < SMALLEST {
        return None;
    }
    let mut spare = spare();
    let index = spare.blocks.iter().rposition(|block| block.layout == layout)?;
    spare.bytes -= layout.size();
    Some(spare.blocks.remove(index).base)
}

/// Frees a block, now or when others need the room.
///
/// # Safety
/// - It is a block of the global allocator, of this layout, which is not empty.
/// - Nobody uses it any more.
pub(super) unsafe fn free(base: NonNull<u8>, layout: Layout) {
    // SAFETY: the caller vouches for each block that comes here that the global allocator made it with this layout; it
    // is in no list any more, so nobody has it.
    let dealloc = |block: Block| unsafe { alloc::dealloc(block.base.as_ptr(), block.layout) };
    let block = Block { base, layout };
    if !(SMALLEST..=MOST).contains(&layout.size()) {
        return dealloc(block);
    }
    let mut spare = spare();
    spare.bytes += layout.size();
    spare.blocks.push(block);
    while spare.bytes > MOST {
        let oldest = spare.blocks.remove(0);
        spare.bytes -= oldest.layout.size();
        dealloc(oldest);
    }
}
