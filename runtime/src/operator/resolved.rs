//! The tables that calls read, built from a computed one and kept for as long as the process runs.
#![expect(unsafe_code, reason = "a table and the kernels behind it are one allocation of variable size")]

use std::alloc::Layout;
use std::ptr::NonNull;

use super::Header;
use crate::kernel::Kernel;
use crate::key::{DispatchKeySet, NUM_RUNTIME_KEYS};

/// A published table: the header, an offset for every row, then the distinct kernels.
#[repr(C)]
struct Table {
    mask: DispatchKeySet,
    offsets: [u16; NUM_RUNTIME_KEYS],
}

const KERNELS: usize = size_of::<Table>().next_multiple_of(align_of::<Kernel>());

impl Table {
    /// Lays out a table in memory that is never freed.
    ///
    /// `rows[i]` is the index in `kernels` of row `i`. The pointer reaches the kernels, which a reference would not.
    fn leak(mask: DispatchKeySet, rows: &[u8; NUM_RUNTIME_KEYS], kernels: &[Kernel]) -> NonNull<Table> {
        debug_assert!(rows.iter().all(|&row| usize::from(row) < kernels.len()));
        let size = KERNELS + size_of_val(kernels);
        let layout = Layout::from_size_align(size, align_of::<Kernel>().max(align_of::<Table>()));
        let layout = layout.expect("137 kernels of 24 bytes are far below the address space");
        let offsets = rows.map(|row| (KERNELS + usize::from(row) * size_of::<Kernel>()) as u16);
        // SAFETY: the layout is not empty.
        let memory = unsafe { std::alloc::alloc(layout) };
        let Some(table) = NonNull::new(memory.cast::<Table>()) else {
            std::alloc::handle_alloc_error(layout)
        };
        // SAFETY: the allocation begins with room for a `Table`, aligned for it.
        unsafe { table.write(Table { mask, offsets }) };
        // SAFETY: behind the table is room for all kernels, aligned for them.
        unsafe {
            let target = memory.add(KERNELS).cast::<Kernel>();
            std::ptr::copy_nonoverlapping(kernels.as_ptr(), target, kernels.len());
        }
        table
    }
}

/// An operator's table with what the call path does not need.
pub(crate) struct Resolved {
    table: NonNull<Table>,
    mask: DispatchKeySet,
    kernels: Vec<Kernel>,
    rows: [u8; NUM_RUNTIME_KEYS],
    /// Where a fallthrough is registered for some backends only: one mask for each backend.
    masks: Option<Box<[DispatchKeySet; 16]>>,
}

// SAFETY: `table` points to memory that is never freed and not written after it was made; the rest is plain data.
unsafe impl Send for Resolved {}
// SAFETY: as above.
unsafe impl Sync for Resolved {}

impl Resolved {
    /// A resolved operator that lives as long as the process.
    pub(crate) fn leak(
        mask: DispatchKeySet,
        masks: Option<Box<[DispatchKeySet; 16]>>,
        rows: [u8; NUM_RUNTIME_KEYS],
        kernels: Vec<Kernel>,
    ) -> &'static Resolved {
        let table = Table::leak(mask, &rows, &kernels);
        Box::leak(Box::new(Resolved { table, mask, kernels, rows, masks }))
    }

    /// Whether this is what the parts would give again.
    pub(crate) fn is(
        &self,
        mask: DispatchKeySet,
        masks: Option<&[DispatchKeySet; 16]>,
        rows: &[u8; NUM_RUNTIME_KEYS],
        kernels: &[Kernel],
    ) -> bool {
        self.mask == mask && self.masks.as_deref() == masks && self.rows == *rows && self.kernels == kernels
    }

    /// The kernel for these keys and the keys that are left for it.
    pub(crate) fn row(&'static self, keys: DispatchKeySet) -> (&'static Kernel, DispatchKeySet) {
        let mask = match &self.masks {
            Some(masks) => masks[keys.backend_index()],
            None => self.mask,
        };
        let keys = keys & mask;
        (&self.kernels[usize::from(self.rows[keys.table_index()])], keys)
    }

    /// Whether calls must take the detour to be masked rightly.
    pub(crate) fn masks_differ(&self) -> bool {
        self.masks.is_some()
    }

    /// What a warm call reads.
    pub(crate) fn header(&self) -> *const Header {
        self.table.as_ptr().cast()
    }
}
