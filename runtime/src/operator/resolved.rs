//! The tables that calls read, built from computed ones and kept as long as the process runs.
#![expect(unsafe_code, reason = "a table and the kernels behind it are one allocation of variable size")]

use std::alloc::Layout;
use std::hash::{Hash, Hasher};
use std::ptr::NonNull;
use std::sync::{Mutex, PoisonError};

use once_cell::race::OnceBox;
use rustc_hash::FxHasher;

use super::{Detour, Header, Rows};
use crate::key::{BackendComponent, DispatchKeySet, NUM_RUNTIME_KEYS};
use crate::operator::kernel::Kernel;
use crate::table::Mask;

/// The head of a published table; the kernels follow. Together with the first of them it fills a cache line.
#[repr(C)]
struct Head {
    header: Header,
    kernels: usize,
    rare: OnceBox<Rare>,
}

/// Parts that few tables have.
struct Rare {
    /// One mask for each backend, if a fallthrough is registered only for some backends.
    masks: Option<Masks>,
    /// The table with which the stub sees all calls.
    detour: OnceBox<Detour>,
}

type Masks = [DispatchKeySet; BackendComponent::ALL.len()];

/// An arena for tables: there are thousands, and none is ever freed.
struct Arena {
    next: NonNull<u8>,
    left: usize,
}

// SAFETY: only this value points to the rest of the chunk, so any thread may hand it out.
unsafe impl Send for Arena {}

impl Arena {
    /// Allocates `size` bytes, aligned to a cache line.
    fn allocate(size: usize) -> NonNull<u8> {
        const LINE: usize = 64;
        const CHUNK: usize = 32 * 1024;
        static ARENA: Mutex<Arena> = Mutex::new(Arena { next: NonNull::dangling(), left: 0 });
        let mut arena = ARENA.lock().unwrap_or_else(PoisonError::into_inner);
        let size = size.next_multiple_of(LINE);
        if arena.left < size {
            let chunk = Layout::from_size_align(CHUNK.max(size), LINE);
            let chunk = chunk.expect("137 kernels of 32 bytes are far below the address space");
            // SAFETY: the layout has at least the size of a chunk, which is not zero.
            let memory = unsafe { std::alloc::alloc(chunk) };
            let Some(next) = NonNull::new(memory) else { std::alloc::handle_alloc_error(chunk) };
            *arena = Arena { next, left: chunk.size() };
        }
        let allocated = arena.next;
        // SAFETY: `left` bytes of the chunk follow `allocated`, and `size` is no more than that.
        arena.next = unsafe { allocated.add(size) };
        arena.left -= size;
        allocated
    }
}

/// The offset of the kernels in a published table.
const KERNELS: usize = size_of::<Head>().next_multiple_of(align_of::<Kernel>());

/// The contents of a table, before it is published.
pub(crate) struct Draft {
    pub(crate) mask: Mask,
    pub(crate) rows: Rows,
    /// The kernels; those that most calls need come first, next to the mask.
    pub(crate) kernels: Vec<Kernel>,
}

impl Draft {
    /// `rows` has the index in `kernels` for each row.
    pub(crate) fn new(mask: Mask, rows: [u8; NUM_RUNTIME_KEYS], kernels: Vec<Kernel>) -> Self {
        assert!(rows.iter().all(|&row| usize::from(row) < kernels.len()), "each row names a kernel");
        let rows = rows.map(|row| (KERNELS + usize::from(row) * size_of::<Kernel>()) as u16);
        Draft { mask, rows, kernels }
    }

    /// A hash that is equal for drafts of the same table.
    pub(crate) fn content_hash(&self) -> u64 {
        content_hash(&self.mask.per_backend(), &self.rows, &self.kernels)
    }
}

fn content_hash(masks: &Masks, rows: &Rows, kernels: &[Kernel]) -> u64 {
    let mut hasher = FxHasher::default();
    (masks, rows).hash(&mut hasher);
    kernels.iter().for_each(|kernel| kernel.addresses().hash(&mut hasher));
    hasher.finish()
}

/// The table of a resolved operator, with data that the call path does not need. It lives as long as the process, and
/// is never written, except for cells that are initialised once.
#[derive(Clone, Copy)]
pub(crate) struct Resolved(
    /// The head, with its kernels behind it, which a reference to the head would not cover.
    NonNull<Head>,
);

// SAFETY: it points to a `Head` and `Kernel`s in memory that is never freed. Both are `Sync`: once they are published,
// only `rare` changes, which is a `OnceBox`.
unsafe impl Send for Resolved {}
// SAFETY: a shared `Resolved` gives access to no more than a copy does, and copies may be sent.
unsafe impl Sync for Resolved {}

impl Resolved {
    /// Writes the table to memory that is never freed; `rows` equals that of the draft.
    pub(crate) fn leak(draft: &Draft, rows: &'static Rows) -> Self {
        assert!(*rows == draft.rows, "rows are shared by tables that have the same");
        let memory = Arena::allocate(KERNELS + size_of_val(&draft.kernels[..]));
        let head = memory.cast::<Head>();
        let masks = draft.mask.requires_bitset_per_backend().then(|| draft.mask.per_backend());
        let rare = match masks {
            Some(_) => OnceBox::with_value(Box::new(Rare { masks, detour: OnceBox::new() })),
            None => OnceBox::new(),
        };
        let header = Header { mask: draft.mask.shared(), rows };
        // SAFETY: `allocate` returns unused memory, aligned to a cache line and so to a `Head`, of at least `KERNELS`
        // bytes, which is no less than the size of a `Head`.
        unsafe { head.write(Head { header, kernels: draft.kernels.len(), rare }) };
        // SAFETY: the memory was allocated with room for all of the draft's kernels at `KERNELS`, which is a multiple
        // of their alignment; it is new, so the draft's own memory does not overlap it.
        unsafe {
            let target = memory.add(KERNELS).cast::<Kernel>().as_ptr();
            std::ptr::copy_nonoverlapping(draft.kernels.as_ptr(), target, draft.kernels.len());
        }
        Resolved(head)
    }

    /// The resolved operator of a published table.
    ///
    /// # Safety
    /// * `table` came from [`table`](Self::table).
    pub(super) const unsafe fn of_table(table: *const Header) -> Self {
        // SAFETY: the caller promises that `table` made the pointer, from one to a `Head`, which is not null.
        Resolved(unsafe { NonNull::new_unchecked(table.cast::<Head>().cast_mut()) })
    }

    /// Whether this table has the content of the draft.
    pub(crate) fn matches(&self, draft: &Draft) -> bool {
        let header = &self.head().header;
        let masks = self.masks().copied().unwrap_or([header.mask; BackendComponent::ALL.len()]);
        masks == draft.mask.per_backend() && *header.rows == draft.rows && self.kernels() == draft.kernels
    }

    /// A hash that is equal for a table and a draft that [match](Self::matches).
    pub(crate) fn content_hash(&self) -> u64 {
        let header = &self.head().header;
        let masks = self.masks().copied().unwrap_or([header.mask; BackendComponent::ALL.len()]);
        content_hash(&masks, header.rows, self.kernels())
    }

    /// The table that a warm call reads.
    pub(super) fn table(&self) -> *const Header {
        self.0.as_ptr().cast()
    }

    /// A table that sends calls to the stub, which passes them to this one.
    pub(super) fn detour(&self, stub: Kernel) -> *const Header {
        let rare = self.head().rare.get_or_init(|| Box::new(Rare { masks: None, detour: OnceBox::new() }));
        let detour: *const Detour = rare.detour.get_or_init(|| Box::new(Detour::new(stub, Some(*self))));
        detour.cast()
    }

    fn head(&self) -> &'static Head {
        // SAFETY: `leak` has written a `Head` there, and the memory is never freed.
        unsafe { self.0.as_ref() }
    }

    fn masks(&self) -> Option<&'static Masks> {
        self.head().rare.get()?.masks.as_ref()
    }

    fn kernels(&self) -> &'static [Kernel] {
        // SAFETY: `leak` allocated `KERNELS` bytes and the size of the kernels, so this is within or at the end of that
        // memory.
        let first = unsafe { self.0.byte_add(KERNELS) };
        // SAFETY: `leak` copied as many kernels there as the field `kernels` says; they are never changed or freed.
        unsafe { std::slice::from_raw_parts(first.cast::<Kernel>().as_ptr(), self.head().kernels) }
    }

    /// The kernel for these keys, and the masked keys for it.
    pub(crate) fn row(&self, keys: DispatchKeySet) -> (&'static Kernel, DispatchKeySet) {
        let header = &self.head().header;
        let mask = self.masks().map_or(header.mask, |masks| masks[keys.backend_index()]);
        let keys = keys & mask;
        let offset = usize::from(header.rows[keys.table_index()]);
        (&self.kernels()[(offset - KERNELS) / size_of::<Kernel>()], keys)
    }

    /// Whether calls must take the detour to get the mask of their backend.
    pub(crate) fn masks_differ(&self) -> bool {
        self.masks().is_some()
    }
}
