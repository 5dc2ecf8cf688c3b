//! Freed blocks of host memory that are kept for reuse.
//!
//! The system reclaims large blocks when they are freed, and clears every page of a new one when it is first touched. A
//! program with repeated, similar steps would pay for that in each step, as much as for its arithmetic.

use std::alloc::{self, Layout};
use std::ptr::NonNull;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The minimum size of a block in bytes: the allocator itself keeps smaller ones.
pub(super) const SMALLEST: usize = 32 << 10;

/// The maximum size of all blocks together, in bytes.
const MOST: usize = 32 << 20;

static SPARE: Mutex<Spare> = Mutex::new(Spare { blocks: Vec::new(), bytes: 0 });

/// Blocks of the global allocator, the last freed one at the end.
struct Spare {
    blocks: Vec<Block>,
    bytes: usize,
}

struct Block {
    base: NonNull<u8>,
    layout: Layout,
}

// SAFETY: a block is memory that only its holder uses, and the global allocator can free it on any thread.
unsafe impl Send for Block {}

fn spare() -> MutexGuard<'static, Spare> {
    SPARE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A block of exactly this layout, with unspecified contents.
pub(super) fn take(layout: Layout) -> Option<NonNull<u8>> {
    if layout.size() < SMALLEST {
        return None;
    }
    let mut spare = spare();
    let index = spare.blocks.iter().rposition(|block| block.layout == layout)?;
    spare.bytes -= layout.size();
    Some(spare.blocks.remove(index).base)
}

/// The alignment of the blocks that storages allocate. One of another alignment, such as a vector's, would wait in vain
/// for a request of the same layout, while it takes the room of others.
pub(super) const ALIGN: usize = 16;

/// Frees a block, now or when its room is needed.
///
/// # Safety
/// - It is a block of the global allocator with this layout, which is not empty.
/// - It is no longer used.
pub(super) unsafe fn free(base: NonNull<u8>, layout: Layout) {
    // SAFETY: for each block that comes here, the caller promised that the global allocator made it with this layout;
    // it is no longer in the list, so no other code can get it.
    let dealloc = |block: Block| unsafe { alloc::dealloc(block.base.as_ptr(), block.layout) };
    let block = Block { base, layout };
    if layout.align() != ALIGN || !(SMALLEST..=MOST).contains(&layout.size()) {
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
