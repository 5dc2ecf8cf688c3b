//! The tables that calls read, built from a computed one and kept for as long as the process runs.
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

/// What a published table begins with; its kernels follow. With the first of them it fills a cache line.
#[repr(C)]
struct Head {
    header: Header,
    kernels: usize,
    rare: OnceBox<Rare>,
}

/// What few tables have.
struct Rare {
    /// Where a fallthrough is registered for some backends only: one mask for each backend.
    masks: Option<Masks>,
    /// The table through which the stub sees all calls.
    detour: OnceBox<Detour>,
}

type Masks = [DispatchKeySet; BackendComponent::ALL.len()];

/// Where tables lie side by side: there are thousands, and none is ever freed.
struct Memory {
    next: NonNull<u8>,
    left: usize,
}

// SAFETY: what is left of a chunk is pointed to from here alone, so it may be handed out on any thread.
unsafe impl Send for Memory {}

impl Memory {
    /// So many bytes, from the start of a cache line.
    fn take(size: usize) -> NonNull<u8> {
        const LINE: usize = 64;
        const CHUNK: usize = 32 * 1024;
        static REST: Mutex<Memory> = Mutex::new(Memory { next: NonNull::dangling(), left: 0 });
        let mut rest = REST.lock().unwrap_or_else(PoisonError::into_inner);
        let size = size.next_multiple_of(LINE);
        if rest.left < size {
            let chunk = Layout::from_size_align(CHUNK.max(size), LINE);
            let chunk = chunk.expect("137 kernels of 32 bytes are far below the address space");
            // SAFETY: the layout has at least the size of a chunk, which is not zero.
            let memory = unsafe { std::alloc::alloc(chunk) };
            let Some(next) = NonNull::new(memory) else { std::alloc::handle_alloc_error(chunk) };
            *rest = Memory { next, left: chunk.size() };
        }
        let taken = rest.next;
        // SAFETY: `left` bytes of the chunk lie from `taken` on, and `size` is no more than that.
        rest.next = unsafe { taken.add(size) };
        rest.left -= size;
        taken
    }
}

/// Where the kernels of a published table begin.
const KERNELS: usize = size_of::<Head>().next_multiple_of(align_of::<Kernel>());

/// What a table consists of, before it is published.
pub(crate) struct Draft {
    pub(crate) mask: Mask,
    pub(crate) rows: Rows,
    /// Those that most calls want come first, next to the mask.
    pub(crate) kernels: Vec<Kernel>,
}

impl Draft {
    /// From the index in `kernels` of each row.
    pub(crate) fn new(mask: Mask, rows: [u8; NUM_RUNTIME_KEYS], kernels: Vec<Kernel>) -> Self {
        assert!(rows.iter().all(|&row| usize::from(row) < kernels.len()), "each row names a kernel");
        let rows = rows.map(|row| (KERNELS + usize::from(row) * size_of::<Kernel>()) as u16);
        Draft { mask, rows, kernels }
    }

    /// The same for drafts that give the same table.
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

/// The table of an operator that is resolved, with what the call path does not need. It lives as long as the process,
/// and but for what is made in it once, it is never written.
#[derive(Clone, Copy)]
pub(crate) struct Resolved(
    /// With `kernels` kernels behind it, which a reference to the head would not reach.
    NonNull<Head>,
);

// SAFETY: it points to a `Head` and `Kernel`s in memory that is never freed. Both are `Sync`: of what is in them only
// `rare`, a `OnceBox`, changes once they are published.
unsafe impl Send for Resolved {}
// SAFETY: a shared `Resolved` gives out no more than a copy does, and those may be sent.
unsafe impl Sync for Resolved {}

impl Resolved {
    /// Lays the table out in memory that is never freed; `rows` equals that of the draft.
    pub(crate) fn leak(draft: &Draft, rows: &'static Rows) -> Self {
        assert!(*rows == draft.rows, "rows are shared by tables that have the same");
        let memory = Memory::take(KERNELS + size_of_val(&draft.kernels[..]));
        let head = memory.cast::<Head>();
        let masks = draft.mask.requires_bitset_per_backend().then(|| draft.mask.per_backend());
        let rare = match masks {
            Some(_) => OnceBox::with_value(Box::new(Rare { masks, detour: OnceBox::new() })),
            None => OnceBox::new(),
        };
        let header = Header { mask: draft.mask.shared(), rows };
        // SAFETY: `take` gives memory of its own from the start of a cache line, to which a `Head` is aligned; it has
        // `KERNELS` bytes at least, which is the size of one or more.
        unsafe { head.write(Head { header, kernels: draft.kernels.len(), rare }) };
        // SAFETY: the memory was asked for with room for all of the draft's kernels from `KERNELS` on, which is a
        // multiple of their alignment; it is new, so the draft's own memory does not overlap it.
        unsafe {
            let target = memory.add(KERNELS).cast::<Kernel>().as_ptr();
            std::ptr::copy_nonoverlapping(draft.kernels.as_ptr(), target, draft.kernels.len());
        }
        Resolved(head)
    }

    /// That of a published table.
    ///
    /// # Safety
    /// * `table` came from [`table`](Self::table).
    pub(super) const unsafe fn of_table(table: *const Header) -> Self {
        // SAFETY: the caller says that the pointer was made by `table`, from one to a `Head`, which is not null.
        Resolved(unsafe { NonNull::new_unchecked(table.cast::<Head>().cast_mut()) })
    }

    /// Whether this is what the draft would give again.
    pub(crate) fn is(&self, draft: &Draft) -> bool {
        let header = &self.head().header;
        let masks = self.masks().copied().unwrap_or([header.mask; BackendComponent::ALL.len()]);
        masks == draft.mask.per_backend() && *header.rows == draft.rows && self.kernels() == draft.kernels
    }

    /// The same for a table and a draft that [are](Self::is) the same.
    pub(crate) fn content_hash(&self) -> u64 {
        let header = &self.head().header;
        let masks = self.masks().copied().unwrap_or([header.mask; BackendComponent::ALL.len()]);
        content_hash(&masks, header.rows, self.kernels())
    }

    /// What a warm call reads.
    pub(super) fn table(&self) -> *const Header {
        self.0.as_ptr().cast()
    }

    /// A table that sends calls to the stub, which goes on to this one.
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
        // SAFETY: `leak` took `KERNELS` bytes and as many as the kernels have, so this is in or at the end of that
        // memory.
        let first = unsafe { self.0.byte_add(KERNELS) };
        // SAFETY: `leak` has copied as many kernels there as it wrote into `kernels`; nobody changes or frees them.
        unsafe { std::slice::from_raw_parts(first.cast::<Kernel>().as_ptr(), self.head().kernels) }
    }

    /// The kernel for these keys and the keys that are left for it.
    pub(crate) fn row(&self, keys: DispatchKeySet) -> (&'static Kernel, DispatchKeySet) {
        let header = &self.head().header;
        let mask = self.masks().map_or(header.mask, |masks| masks[keys.backend_index()]);
        let keys = keys & mask;
        let offset = usize::from(header.rows[keys.table_index()]);
        (&self.kernels()[(offset - KERNELS) / size_of::<Kernel>()], keys)
    }

    /// Whether calls must take the detour to be masked rightly.
    pub(crate) fn masks_differ(&self) -> bool {
        self.masks().is_some()
    }
}
