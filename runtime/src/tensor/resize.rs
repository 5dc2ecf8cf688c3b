//! Tensors that get other sizes in place.

use super::Tensor;
use super::geometry::{self, Dims, Geometry};
use crate::error::Result;
use crate::warn_once;

impl Tensor {
    /// Resizes this tensor, for all its handles. If its memory is too small it gets new memory, and its elements are
    /// unspecified. A tensor that has these sizes already is not changed, not even its strides.
    ///
    /// ```
    /// use torch_library::Tensor;
    ///
    /// let mut out = Tensor::from([1, 2, 3, 4]);
    /// out.resize(&[3, 1], None)?;
    /// assert_eq!(out.to_vec::<i32>()?, [1, 2, 3]);
    /// # Ok::<(), torch_library::Error>(())
    /// ```
    ///
    /// # Errors
    /// Sizes and strides that are inconsistent; not enough memory.
    ///
    /// PyTorch: `Tensor.resize_`.
    #[track_caller]
    pub fn resize(&mut self, sizes: &[i64], strides: Option<&[i64]>) -> Result<()> {
        if self.sizes() == sizes {
            return Ok(());
        }
        let (dtype, device) = (self.dtype(), self.device());
        let strides = strides.map_or_else(|| geometry::contiguous_strides(sizes), Dims::from_slice);
        let needed = Geometry::new(sizes, &strides, self.storage_offset())?.end()?;
        if needed.saturating_mul(dtype.size() as i64) <= self.storage().nbytes() as i64 {
            return self.set_geometry(sizes, &strides, self.storage_offset());
        }
        let (fresh, offset) = (Tensor::empty_strided(&[needed], &[1], dtype, device)?, self.storage_offset());
        fresh.storage().continue_version(self.version());
        self.set_storage(fresh.storage().clone(), sizes, &strides, offset)
    }

    /// Like [`resize`](Self::resize), for an `out` argument that is to take a result. The first time that one with
    /// elements is resized this [warns](crate::warning), since that is most likely a mistake.
    ///
    /// # Errors
    /// The errors of [`resize`](Self::resize).
    ///
    /// PyTorch: `at::native::resize_output`.
    #[track_caller]
    pub fn resize_output(&mut self, sizes: &[i64], strides: Option<&[i64]>) -> Result<()> {
        if self.sizes() != sizes && self.numel() > 0 {
            warn_once!(
                "an `out` of sizes {:?} was resized to {sizes:?}, and views of it were not; pass an empty one",
                self.sizes()
            );
        }
        self.resize(sizes, strides)
    }
}
