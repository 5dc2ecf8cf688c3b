//! The tables that calls read, built from a computed one and kept for as long as the process runs.
#![expect(unsafe_code, reason = "a table and the kernels behind it are one allocation of variable size")]

use std::alloc::Layout;
use std::ptr::NonNull;

use super::{Header, Rows};
use crate::kernel::Kernel;
use crate::key::{BackendComponent, DispatchKeySet, NUM_RUNTIME_KEYS};
use crate::table::Mask;

/// Where the kernels of a published table begin.
const KERNELS: usize = size_of::<Header>().next_multiple_of(align_of::<Kernel>());

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

    /// Lays the table out in memory that is never freed; `rows` equals that of the draft.
    ///
    /// The pointer reaches the kernels, which a reference to the header would not.
    fn leak(&self, rows: &'static Rows) -> NonNull<Header> {
        assert!(*rows == self.rows, "rows are shared by tables that have the same");
        let size = KERNELS + size_of_val(&self.kernels[..]);
        let layout = Layout::from_size_align(size, align_of::<Kernel>().max(align_of::<Header>()));
        let layout = layout.expect("137 kernels of 32 bytes are far below the address space");
        // SAFETY: the layout is not empty.
        let memory = unsafe { std::alloc::alloc(layout) };
        let Some(table) = NonNull::new(memory.cast::<Header>()) else {
            std::alloc::handle_alloc_error(layout)
        };
        // SAFETY: the allocation begins with room for a `Header`, aligned for it.
        unsafe { table.write(Header { mask: self.mask.shared(), rows }) };
        // SAFETY: behind the header is room for all kernels, aligned for them.
        unsafe {
            let target = memory.add(KERNELS).cast::<Kernel>();
            std::ptr::copy_nonoverlapping(self.kernels.as_ptr(), target, self.kernels.len());
        }
        table
    }
}

/// An operator's table with what the call path does not need.
pub(crate) struct Resolved {
    /// Never freed, never written after it was made, with `kernels` kernels behind it.
    table: NonNull<Header>,
    kernels: usize,
    /// Where a fallthrough is registered for some backends only: one mask for each backend.
    masks: Option<Box<[DispatchKeySet; BackendComponent::ALL.len()]>>,
}

// SAFETY: `table` points to memory that is never freed and not written after it was made; the rest is plain data.
unsafe impl Send for Resolved {}
// SAFETY: as above.
unsafe impl Sync for Resolved {}

impl Resolved {
    /// A resolved operator that lives as long as the process; `rows` equals that of the draft.
    pub(crate) fn leak(draft: &Draft, rows: &'static Rows) -> &'static Resolved {
        let mask = &draft.mask;
        let masks = mask.requires_bitset_per_backend().then(|| Box::new(mask.per_backend()));
        Box::leak(Box::new(Resolved { table: draft.leak(rows), kernels: draft.kernels.len(), masks }))
    }

    /// Whether this is what the draft would give again.
    pub(crate) fn is(&self, draft: &Draft) -> bool {
        let all = [self.header().mask; BackendComponent::ALL.len()];
        let masks = self.masks.as_deref().copied().unwrap_or(all);
        masks == draft.mask.per_backend()
            && *self.header().rows == draft.rows
            && self.kernels() == draft.kernels
    }

    /// What a warm call reads.
    pub(crate) fn table(&self) -> *const Header {
        self.table.as_ptr()
    }

    fn header(&self) -> &Header {
        // SAFETY: see the field.
        unsafe { self.table.as_ref() }
    }

    fn kernels(&self) -> &[Kernel] {
        // SAFETY: the table's allocation is longer than `KERNELS` bytes.
        let first = unsafe { self.table.byte_add(KERNELS) };
        // SAFETY: see the field: there are so many kernels in the table's allocation.
        unsafe { std::slice::from_raw_parts(first.cast::<Kernel>().as_ptr(), self.kernels) }
    }

    /// The kernel for these keys and the keys that are left for it.
    pub(crate) fn row(&'static self, keys: DispatchKeySet) -> (&'static Kernel, DispatchKeySet) {
        let mask = match &self.masks {
            Some(masks) => masks[keys.backend_index()],
            None => self.header().mask,
        };
        let keys = keys & mask;
        let offset = usize::from(self.header().rows[keys.table_index()]);
        (&self.kernels()[(offset - KERNELS) / size_of::<Kernel>()], keys)
    }

    /// Whether calls must take the detour to be masked rightly.
    pub(crate) fn masks_differ(&self) -> bool {
        self.masks.is_some()
    }
}
