//! Sharing the items of a batch among threads, where each item has a part of several slices.
#![expect(unsafe_code, reason = "lends disjoint parts of slices to threads")]

use std::ops::Range;

use super::shares;

/// Calls a closure with ranges of the items `0..count`, and with the parts of three slices that belong to them, on
/// several threads where that pays: where there are at least two times `grain` items.
///
/// An item has as many elements of each slice as any other, which may be none.
///
/// ```
/// use torch_library_loops::loops::parallel::batch;
///
/// let (rows, mut sums) = ([1, 2, 3, 4, 5, 6], [0; 3]);
/// batch(3, 1, (&mut sums, &mut [0u8; 0], &mut [0u8; 0]), |items, (sums, _, _)| {
///     for (item, sum) in items.zip(sums) {
///         *sum = rows[2 * item..][..2].iter().sum();
///     }
/// });
/// assert_eq!(sums, [3, 7, 11]);
/// ```
///
/// # Panics
/// The items do not have the same number of elements of a slice.
///
/// PyTorch: `at::parallel_for` over a batch.
pub fn batch<A: Send, B: Send, C: Send>(
    count: usize,
    grain: usize,
    (a, b, c): (&mut [A], &mut [B], &mut [C]),
    f: impl Fn(Range<usize>, (&mut [A], &mut [B], &mut [C])) + Sync,
) {
    if count == 0 {
        return;
    }
    let (a, b, c) = (Items::of(a, count), Items::of(b, count), Items::of(c, count));
    shares(count, grain.max(1), |range| {
        // SAFETY: `shares` passes each item once, so no two of the parts that are lent have an element in common.
        let parts = unsafe { (a.part(&range), b.part(&range), c.part(&range)) };
        f(range, parts);
    });
}

/// A slice with the same number of elements for each of some items, borrowed exclusively.
struct Items<T> {
    data: *mut T,
    len: usize,
}

// SAFETY: elements are accessed by `part` only, whose caller gives no two threads the same; they may be sent.
unsafe impl<T: Send> Sync for Items<T> {}

impl<T> Items<T> {
    fn of(slice: &mut [T], count: usize) -> Self {
        assert_eq!(slice.len() % count, 0, "{} elements for {count} items", slice.len());
        Items { data: slice.as_mut_ptr(), len: slice.len() / count }
    }

    /// The elements of some items.
    ///
    /// # Safety
    /// - The slice is still borrowed, and has these items.
    /// - Nobody else uses an element of these items as long as the result lives.
    unsafe fn part<'a>(&self, items: &Range<usize>) -> &'a mut [T] {
        // SAFETY: the caller vouches for the items, which have `len` elements each, and for exclusive use.
        unsafe {
            std::slice::from_raw_parts_mut(self.data.add(items.start * self.len), items.len() * self.len)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_item_gets_its_own_elements() {
        let (mut a, mut b) = (vec![0usize; 3000], vec![0usize; 1000]);
        batch(1000, 7, (&mut a, &mut b, &mut [0u8; 0]), |items, (a, b, none)| {
            assert!(none.is_empty());
            assert_eq!([a.len(), b.len()], [3 * items.len(), items.len()]);
            for ((item, a), b) in items.zip(a.chunks_exact_mut(3)).zip(b) {
                a.fill(item);
                *b += item;
            }
        });
        assert!(a.iter().enumerate().all(|(i, item)| *item == i / 3));
        assert!(b.iter().enumerate().all(|(i, item)| *item == i));
        batch(0, 1, (&mut a, &mut b, &mut [0u8; 0]), |_, _| panic!("there are no items"));
    }

    #[test]
    #[should_panic(expected = "5 elements for 2 items")]
    fn items_of_different_sizes_are_refused() {
        batch(2, 1, (&mut [0; 5], &mut [0; 2], &mut [0; 0]), |_, _| {});
    }
}
