//! The tables that calls read, built from a computed one and kept for as long as the process runs.
#![expect(unsafe_code, reason = "a table and the kernels behind it are one allocation of variable size")]

use std::alloc::Layout;
use std::ptr::NonNull;

use super::Header;
use crate::kernel::Kernel;
use crate::key::{BackendComponent, DispatchKeySet, NUM_RUNTIME_KEYS};
use crate::table::Mask;

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
        assert!(rows.iter().all(|&row| usize::from(row) < kernels.len()), "each row names a kernel");
        let size = KERNELS + size_of_val(kernels);
        let layout = Layout::from_size_align(size, align_of::<Kernel>().max(align_of::<Table>()));
        let layout = layout.expect("137 kernels of 32 bytes are far below the address space");
        // SAFETY: the layout is not empty.
        let memory = unsafe { std::alloc::alloc(layout) };
        let Some(table) = NonNull::new(memory.cast::<Table>()) else {
            std::alloc::handle_alloc_error(layout)
        };
        // SAFETY: the allocation begins with room for a `Table`, aligned for it.
        unsafe { table.write(Table { mask, offsets: offsets(rows) }) };
        // SAFETY: behind the table is room for all kernels, aligned for them.
        unsafe {
            let target = memory.add(KERNELS).cast::<Kernel>();
            std::ptr::copy_nonoverlapping(kernels.as_ptr(), target, kernels.len());
        }
        table
    }
}

/// Where each row's kernel lies, in bytes from the start of the table.
fn offsets(rows: &[u8; NUM_RUNTIME_KEYS]) -> [u16; NUM_RUNTIME_KEYS] {
    rows.map(|row| (KERNELS + usize::from(row) * size_of::<Kernel>()) as u16)
}

/// An operator's table with what the call path does not need.
pub(crate) struct Resolved {
    /// Never freed, never written after it was made, with `kernels` kernels behind it.
    table: NonNull<Table>,
    kernels: usize,
    /// Where a fallthrough is registered for some backends only: one mask for each backend.
    masks: Option<Box<[DispatchKeySet; BackendComponent::ALL.len()]>>,
}

// SAFETY: `table` points to memory that is never freed and not written after it was made; the rest is plain data.
unsafe impl Send for Resolved {}
// SAFETY: as above.
unsafe impl Sync for Resolved {}

impl Resolved {
    /// A resolved operator that lives as long as the process.
    pub(crate) fn leak(mask: &Mask, rows: &[u8; NUM_RUNTIME_KEYS], kernels: &[Kernel]) -> &'static Resolved {
        let table = Table::leak(mask.shared(), rows, kernels);
        let masks = mask.requires_bitset_per_backend().then(|| Box::new(mask.per_backend()));
        Box::leak(Box::new(Resolved { table, kernels: kernels.len(), masks }))
    }

    /// Whether this is what the parts would give again.
    pub(crate) fn is(&self, mask: &Mask, rows: &[u8; NUM_RUNTIME_KEYS], kernels: &[Kernel]) -> bool {
        let masks =
            self.masks.as_deref().copied().unwrap_or([self.table().mask; BackendComponent::ALL.len()]);
        masks == mask.per_backend() && self.table().offsets == offsets(rows) && self.kernels() == kernels
    }

    fn table(&self) -> &Table {
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
            None => self.table().mask,
        };
        let keys = keys & mask;
        let offset = usize::from(self.table().offsets[keys.table_index()]);
        (&self.kernels()[(offset - KERNELS) / size_of::<Kernel>()], keys)
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
