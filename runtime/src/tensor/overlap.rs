//! Memory overlap of tensors, which in-place and `out` kernels check before they write.

use smallvec::SmallVec;

use super::Tensor;
use crate::ensure;
use crate::error::Result;

/// How the memory of two tensors relates.
///
/// PyTorch: `at::MemOverlapStatus`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Overlap {
    /// The same elements in the same order.
    Full,
    /// Some shared memory, in another arrangement.
    Partial,
    /// No shared memory.
    No,
    /// Strides with gaps or repetitions: not determined.
    TooHard,
}

impl Tensor {
    /// Whether several elements certainly share one location in memory, as in an expanded tensor.
    ///
    /// PyTorch: `at::has_internal_overlap`, whose "too hard" is `false` here: such tensors are accepted there, too.
    pub fn has_internal_overlap(&self) -> bool {
        let geometry = self.geometry();
        geometry.numel() > 0
            && geometry.sizes().iter().zip(geometry.strides()).any(|(size, stride)| *size > 1 && *stride == 0)
    }

    /// Whether several elements may share one location in memory. They certainly do not if, in order of rising stride,
    /// each dimension's stride exceeds the extent of all dimensions before it. Threads that divide the elements of a
    /// tensor with internal overlap would conflict.
    pub fn may_overlap_itself(&self) -> bool {
        let geometry = self.geometry();
        if geometry.is_contiguous() {
            return false;
        }
        let dims = geometry.sizes().iter().zip(geometry.strides()).filter(|(size, _)| **size > 1);
        let mut dims: SmallVec<[(i64, i64); 6]> = dims.map(|(size, stride)| (*stride, *size)).collect();
        dims.sort_unstable();
        let mut reach = 0i64;
        let mut steps_over = |&(stride, size): &(i64, i64)| {
            let is_beyond = stride > reach;
            reach = reach.saturating_add((size - 1).saturating_mul(stride));
            is_beyond
        };
        geometry.numel() > 0 && !dims.iter().all(&mut steps_over)
    }

    /// How the memory of two tensors relates.
    ///
    /// PyTorch: `at::get_overlap_status`.
    pub fn overlap_with(&self, other: &Tensor) -> Overlap {
        if self.is_same(other) {
            return Overlap::Full;
        }
        if self.numel() == 0 || other.numel() == 0 {
            return Overlap::No;
        }
        if !self.is_non_overlapping_and_dense() || !other.is_non_overlapping_and_dense() {
            return Overlap::TooHard;
        }
        if !self.shares_storage_with(other) {
            return Overlap::No;
        }
        let bytes = |x: &Tensor| {
            // A tensor without memory may report any number of bytes up to `usize::MAX`.
            let [offset, numel] = [x.storage_offset(), x.numel()].map(i128::from);
            let size = x.dtype().size() as i128;
            (offset * size, (offset + numel) * size)
        };
        let ((start, end), (other_start, other_end)) = (bytes(self), bytes(other));
        if (start, end) == (other_start, other_end) {
            // The same bytes with the same strides are still other elements where these have another size.
            let is_same = self.strides() == other.strides() && self.dtype().size() == other.dtype().size();
            if is_same { Overlap::Full } else { Overlap::Partial }
        } else if start < other_end && other_start < end {
            Overlap::Partial
        } else {
            Overlap::No
        }
    }

    /// Whether any elements of the two tensors may share memory. For views with gaps this is not determined exactly: it
    /// is also true for some views that share no element.
    pub fn may_overlap(&self, other: &Tensor) -> bool {
        if !self.shares_storage_with(other) {
            return false;
        }
        match self.overlap_with(other) {
            Overlap::No => false,
            Overlap::Full | Overlap::Partial => true,
            Overlap::TooHard => Bytes::of(self).may_meet(&Bytes::of(other)),
        }
    }

    /// Checks that a tensor has no element in common with another one that is written together with it.
    ///
    /// # Errors
    /// Tensors that [may overlap](Tensor::may_overlap).
    pub(super) fn check_apart_from(&self, other: &Tensor) -> Result<()> {
        ensure!(
            !self.may_overlap(other),
            Argument,
            "cannot write to tensors of sizes {:?} and {:?} together: they share memory, write to a copy of one",
            self.sizes(),
            other.sizes()
        );
        Ok(())
    }

    /// Checks that no two elements of a written tensor share memory.
    ///
    /// # Errors
    /// A tensor with [internal overlap](Tensor::has_internal_overlap).
    ///
    /// PyTorch: `at::assert_no_internal_overlap`.
    pub fn check_no_internal_overlap(&self) -> Result<()> {
        ensure!(
            !self.has_internal_overlap(),
            Argument,
            "cannot write to a tensor of sizes {:?} and strides {:?}: several elements share one memory location, \
             write to a copy instead",
            self.sizes(),
            self.strides()
        );
        Ok(())
    }

    /// Checks that a tensor that is written does not share memory with a read one in another arrangement.
    ///
    /// # Errors
    /// A tensor that overlaps [partially](Overlap::Partial).
    ///
    /// PyTorch: `at::assert_no_partial_overlap`.
    pub fn check_no_partial_overlap(&self, input: &Tensor) -> Result<()> {
        ensure!(
            self.overlap_with(input) != Overlap::Partial,
            Argument,
            "cannot write to a tensor of sizes {:?} and strides {:?}: an input of sizes {:?} and strides {:?} shares a \
             part of its memory, pass a copy of it",
            self.sizes(),
            self.strides(),
            input.sizes(),
            input.strides()
        );
        Ok(())
    }

    /// Checks that a tensor that is written in an unrelated order shares no memory with a read one, whether the same
    /// elements or others.
    ///
    /// # Errors
    /// A tensor that overlaps, [fully](Overlap::Full) or [partially](Overlap::Partial).
    ///
    /// PyTorch: `at::assert_no_overlap`.
    pub fn check_no_overlap(&self, input: &Tensor) -> Result<()> {
        ensure!(
            !matches!(self.overlap_with(input), Overlap::Full | Overlap::Partial),
            Argument,
            "cannot write to a tensor of sizes {:?}: an input of sizes {:?} shares its memory, pass a copy of it",
            self.sizes(),
            input.sizes()
        );
        Ok(())
    }
}

/// The positions of a tensor's elements in its storage, in bytes: for a tensor without memory they may exceed an `i64`.
struct Bytes {
    start: i128,
    /// The size of an element.
    size: i128,
    /// For each dimension with more than one index: its size, and its stride in bytes.
    dims: Vec<(i128, i128)>,
}

impl Bytes {
    fn of(tensor: &Tensor) -> Self {
        let (geometry, size) = (tensor.geometry(), tensor.dtype().size() as i128);
        let dims = geometry.sizes().iter().zip(geometry.strides()).filter(|(count, _)| **count > 1);
        let dims = dims.map(|(count, stride)| (i128::from(*count), i128::from(*stride) * size)).collect();
        Bytes { start: i128::from(geometry.offset()) * size, size, dims }
    }

    fn may_meet(&self, other: &Bytes) -> bool {
        self.end() > other.start && other.end() > self.start && !self.misses(other)
    }

    fn end(&self) -> i128 {
        self.start + self.reach(i128::MAX)
    }

    /// The number of bytes from the first element to the end of the last one, counting only dimensions with a stride
    /// below `step`.
    fn reach(&self, step: i128) -> i128 {
        let within = self.dims.iter().filter(|(_, stride)| *stride < step);
        self.size + within.map(|(count, stride)| (count - 1) * stride).sum::<i128>()
    }

    /// Whether both consist of rows of the same length, in which they occupy disjoint columns, as the left and right
    /// half of a table do.
    fn misses(&self, other: &Bytes) -> bool {
        self.dims.iter().filter(|(_, row)| *row > 0).any(|(_, row)| {
            let columns = |bytes: &Bytes| {
                let is_whole = |(_, stride): &(i128, i128)| stride < row || stride % row == 0;
                let first = bytes.start % row;
                let end = first + bytes.reach(*row);
                (end <= *row && bytes.dims.iter().all(is_whole)).then_some(first..end)
            };
            let (Some(columns), Some(others)) = (columns(self), columns(other)) else { return false };
            columns.end <= others.start || others.end <= columns.start
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn overlap_is_classified() {
        let x = Tensor::from([[1, 2, 3], [4, 5, 6]]);
        let view = |sizes: &[i64], strides: &[i64], offset| x.strided_view(sizes, strides, offset).unwrap();
        assert_eq!(x.overlap_with(&x.clone()), Overlap::Full);
        assert_eq!(x.overlap_with(&view(&[2, 3], &[3, 1], 0)), Overlap::Full);
        assert_eq!(x.overlap_with(&view(&[3, 2], &[1, 3], 0)), Overlap::Partial);
        assert_eq!(view(&[4], &[1], 0).overlap_with(&view(&[4], &[1], 2)), Overlap::Partial);
        assert_eq!(view(&[3], &[1], 0).overlap_with(&view(&[3], &[1], 3)), Overlap::No);
        assert_eq!(view(&[3], &[1], 3).overlap_with(&view(&[3], &[1], 0)), Overlap::No);
        assert_eq!(x.overlap_with(&view(&[2], &[3], 0)), Overlap::TooHard);
        assert_eq!(x.overlap_with(&Tensor::from([1, 2])), Overlap::No);
        assert_eq!(x.overlap_with(&view(&[0], &[1], 0)), Overlap::No);
    }

    #[test]
    fn elements_of_another_size_are_other_elements() {
        let wide = Tensor::from([[1i64, 2, 3]]);
        let of = |dtype, sizes: &[i64]| {
            let storage = wide.storage().clone();
            Tensor::from_storage(storage, sizes, &[3, 1], 0, dtype, wide.key_set()).unwrap()
        };
        assert_eq!(wide.overlap_with(&of(crate::DType::Int32, &[2, 3])), Overlap::Partial);
        assert_eq!(of(crate::DType::Int32, &[2, 3]).overlap_with(&wide), Overlap::Partial);
        assert_eq!(wide.overlap_with(&of(crate::DType::Float64, &[1, 3])), Overlap::Full);
    }

    #[test]
    fn tensors_of_any_size_are_compared() {
        let x = Tensor::zeros(&[1 << 61], crate::DType::Float32, crate::Device::META).unwrap();
        let part = |offset| x.strided_view(&[1 << 60], &[1], offset).unwrap();
        assert_eq!(part(0).overlap_with(&part(1 << 60)), Overlap::No);
        assert_eq!(part(0).overlap_with(&part(1 << 59)), Overlap::Partial);
        let sparse = |offset| x.strided_view(&[2], &[1 << 60], offset).unwrap();
        assert!(sparse(0).may_overlap(&sparse(0).clone()) && !sparse(0).may_overlap(&sparse(1)));
    }

    #[test]
    fn elements_that_may_be_one_place_are_known() {
        let x = Tensor::from_vec(vec![0i32; 64], &[64]).unwrap();
        let of =
            |sizes: &[i64], strides: &[i64]| x.strided_view(sizes, strides, 0).unwrap().may_overlap_itself();
        assert!(!of(&[4, 4], &[4, 1]) && !of(&[4, 4], &[1, 4]) && !of(&[4, 4], &[8, 2]) && !of(&[], &[]));
        assert!(!of(&[3, 1, 2], &[2, 0, 1]) && !of(&[0, 4], &[0, 0]), "no second index, no elements");
        assert!(of(&[4, 4], &[2, 1]) && of(&[4], &[0]) && of(&[2, 3, 2], &[3, 2, 1]));
    }

    #[test]
    fn writing_to_expanded_or_shifted_tensors_is_refused() {
        let x = Tensor::from([1, 2, 3, 4]);
        let expanded = x.strided_view(&[3, 4], &[0, 1], 0).unwrap();
        assert!(expanded.check_no_internal_overlap().is_err());
        assert!(x.strided_view(&[1, 4], &[0, 1], 0).unwrap().check_no_internal_overlap().is_ok());
        let (left, right) = (x.strided_view(&[3], &[1], 0).unwrap(), x.strided_view(&[3], &[1], 1).unwrap());
        let error = left.check_no_partial_overlap(&right).unwrap_err();
        assert!(error.to_string().ends_with("shares a part of its memory, pass a copy of it"));
        assert!(left.check_no_partial_overlap(&left.clone()).is_ok());
    }
}
