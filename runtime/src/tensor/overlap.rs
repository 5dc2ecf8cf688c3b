//! Do elements share memory? What in-place and `out` kernels ask before they write.

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
    /// Some memory, in another arrangement.
    Partial,
    /// None.
    No,
    /// Strides with gaps or repetitions: not worked out.
    TooHard,
}

impl Tensor {
    /// Whether several elements surely are one place in memory, as in an expanded tensor.
    ///
    /// PyTorch: `at::has_internal_overlap`, whose "too hard" is `false` here: such tensors are let through there too.
    pub fn has_internal_overlap(&self) -> bool {
        let geometry = self.geometry();
        geometry.numel() > 0
            && geometry.sizes().iter().zip(geometry.strides()).any(|(size, stride)| *size > 1 && *stride == 0)
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
            let (offset, numel, size) = (x.storage_offset(), x.numel(), x.dtype().size() as i64);
            (offset * size, (offset + numel) * size)
        };
        let ((start, end), (other_start, other_end)) = (bytes(self), bytes(other));
        if (start, end) == (other_start, other_end) {
            if self.strides() == other.strides() { Overlap::Full } else { Overlap::Partial }
        } else if start < other_end && other_start < end {
            Overlap::Partial
        } else {
            Overlap::No
        }
    }

    /// Refuses to be written to element by element if elements coincide.
    ///
    /// # Errors
    /// A tensor with [internal overlap](Tensor::has_internal_overlap).
    ///
    /// PyTorch: `at::assert_no_internal_overlap`.
    pub fn check_no_internal_overlap(&self) -> Result<()> {
        ensure!(
            !self.has_internal_overlap(),
            Argument,
            "cannot write to a tensor of sizes {:?} and strides {:?}: several elements are one place in memory, \
             write to a copy instead",
            self.sizes(),
            self.strides()
        );
        Ok(())
    }

    /// Refuses to be written to while a differently arranged tensor over the same memory is read.
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

    /// Refuses to be written to in an order of its own while a tensor over the same memory is read, the same elements
    /// or others.
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
        assert_eq!(x.overlap_with(&view(&[2], &[3], 0)), Overlap::TooHard);
        assert_eq!(x.overlap_with(&Tensor::from([1, 2])), Overlap::No);
        assert_eq!(x.overlap_with(&view(&[0], &[1], 0)), Overlap::No);
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
