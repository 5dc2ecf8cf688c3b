//! Elements that share memory: those of views with gaps, where elements that are read through one may be written
//! through the other, and those of expanded tensors.

use torch_library::geometry::Dims;
use torch_library::{Overlap, Result, Tensor};

/// The elements of an expanded tensor without their repetitions: a view of size 1 along the dimensions in which it
/// repeats.
///
/// # Errors
/// A view that another thread has moved out of its memory.
pub fn without_repetitions(tensor: &Tensor) -> Result<Tensor> {
    let (strides, offset) = (Dims::from(tensor.strides()), tensor.storage_offset());
    let sizes = tensor.sizes().iter().zip(&strides);
    let sizes: Dims = sizes.map(|(size, stride)| if *stride == 0 { (*size).min(1) } else { *size }).collect();
    tensor.strided_view(&sizes, &strides, offset)
}

/// Whether elements of `read` may share memory with other elements of `written`, in the case that
/// `check_no_partial_overlap` does not decide: views with gaps. Reading and writing the same elements in the same order
/// is not an overlap.
pub(super) fn may_overlap_partially(written: &Tensor, read: &Tensor) -> bool {
    read.shares_storage_with(written)
        && written.overlap_with(read) == Overlap::TooHard
        && !is_in_place(written, read)
        && written.may_overlap(read)
}

/// Whether each element has the same place in memory in both.
fn is_in_place(written: &Tensor, read: &Tensor) -> bool {
    let dims = |tensor: &Tensor| -> Vec<(i64, i64)> {
        let dims = tensor.sizes().iter().copied().zip(tensor.strides().iter().copied());
        dims.filter(|(size, _)| *size > 1).collect()
    };
    written.dtype().size() == read.dtype().size()
        && written.storage_offset() == read.storage_offset()
        && dims(written) == dims(read)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn views_with_gaps_overlap_where_columns_meet() {
        let table = Tensor::from_vec((0..32).map(f64::from).collect(), &[4, 8]).unwrap();
        let columns = |first: i64, count: i64| table.strided_view(&[4, count], &[8, 1], first).unwrap();
        let rows = |first: i64| table.strided_view(&[2, 3], &[8, 1], 8 * first).unwrap();
        let every = |start: i64| table.strided_view(&[16], &[2], start).unwrap();
        assert!(!may_overlap_partially(&columns(0, 4), &columns(4, 4)), "halves side by side");
        assert!(!may_overlap_partially(&columns(2, 3), &columns(2, 3)), "the same elements");
        assert!(!may_overlap_partially(&rows(0), &rows(2)), "one behind the other");
        assert!(!may_overlap_partially(&every(0), &every(1)), "one between the other");
        assert!(!may_overlap_partially(&columns(0, 3), &Tensor::from([1.0])), "another storage");
        assert!(may_overlap_partially(&columns(0, 7), &columns(1, 7)));
        assert!(may_overlap_partially(&columns(0, 4), &every(1)));
        assert!(
            may_overlap_partially(&columns(6, 2), &table.strided_view(&[3, 2], &[8, 1], 7).unwrap()),
            "around the edge"
        );
        assert!(
            may_overlap_partially(&rows(0), &table.strided_view(&[3, 2], &[1, 8], 0).unwrap()),
            "in another order"
        );
    }
}
