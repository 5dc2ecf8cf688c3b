//! Disjoint parts of one tensor, which several threads write at the same time.
#![expect(unsafe_code, reason = "gives each part a storage of its own over its bytes")]

use std::panic::Location;
use std::ptr::NonNull;
use std::sync::Arc;

use super::geometry::{Dims, Geometry, wrap_dim};
use super::lease::StorageLease;
use super::{Storage, StorageRef, Tensor};
use crate::ensure;
use crate::error::Result;

impl Tensor {
    /// Splits a tensor along a dimension into parts of these sizes, which may be written at the same time, one by each
    /// thread.
    ///
    /// As far as [leases](crate::Lease) are concerned, each part is a tensor with memory of its own: its bytes are
    /// those of `self`, but using one part does not conflict with using another. While any of them (or a view of it)
    /// lives, the whole can be neither read nor written through `self` or other handles. Autograd does not track the
    /// parts; the version counter counts one write, when this is called.
    ///
    /// ```
    /// use torch_library::Tensor;
    ///
    /// let mut x = Tensor::from([[0, 0], [0, 0], [0, 0]]);
    /// std::thread::scope(|scope| {
    ///     for (i, mut part) in (1..).zip(x.disjoint_parts(0, &[2, 1])?) {
    ///         scope.spawn(move || part.fill(i));
    ///     }
    ///     Ok::<(), torch_library::Error>(())
    /// })?;
    /// assert_eq!(x.to_vec::<i32>()?, [1, 1, 1, 1, 2, 2]);
    /// # Ok::<(), torch_library::Error>(())
    /// ```
    ///
    /// # Errors
    /// The sizes do not add up to that of the dimension; the parts interleave in memory, as columns of a row-major
    /// matrix do; the host cannot access the memory, or it is in use; autograd has recorded how the tensor was
    /// computed.
    ///
    /// PyTorch: `torch.split`, which leaves it to callers to avoid conflicts.
    #[track_caller]
    pub fn disjoint_parts(&mut self, dim: i64, sizes: &[i64]) -> Result<Vec<Tensor>> {
        let here = Location::caller();
        // From here on the geometry does not change: the memory is leased for the parts.
        let (storage, _) = self.0.place.place();
        let whole = Arc::new(StorageLease::exclusive(StorageRef::Owned(storage.clone()), here)?);
        ensure!(
            self.is_in(&storage),
            Busy,
            "the tensor was moved to other memory while its parts were taken"
        );
        let data = self.host_ptr(&storage)?;
        self.check_not_recorded()?;
        let size = self.size(dim)?;
        let dim = wrap_dim(dim, self.dim())?;
        let total = sizes.iter().try_fold(0i64, |sum, size| sum.checked_add(*size).filter(|_| *size >= 0));
        ensure!(
            total == Some(size),
            Shape,
            "parts of {sizes:?} do not add up to dimension {dim} of sizes {:?}",
            self.sizes()
        );
        let starts = sizes.iter().scan(0, |end, size| Some(std::mem::replace(end, *end + size)));
        let parts = starts
            .zip(sizes)
            .map(|(start, size)| Part::of(self, dim, start, *size))
            .collect::<Result<Vec<_>>>()?;
        check_apart(&parts, dim)?;
        self.bump_version();
        parts.iter().map(|part| self.part(data, part, &whole)).collect()
    }

    /// A tensor over the bytes of one part of the memory that begins at `data`.
    fn part(&self, data: NonNull<u8>, part: &Part, whole: &Arc<StorageLease<'static>>) -> Result<Tensor> {
        let (start, nbytes) = (part.start as usize, (part.end - part.start) as usize);
        // SAFETY: the bytes are within the storage, since the elements of the part are, which were determined under the
        // lease on the whole; a part without elements has none. They are initialised, as all bytes of a storage are.
        // Each part keeps that lease, which keeps the storage alive and excludes all other accesses; no other part has
        // any of these bytes (`check_apart`).
        let own = unsafe {
            Storage::from_raw_parts(data.add(start), nbytes, self.device(), Box::new(whole.clone()))
        };
        Tensor::from_storage(own, &part.sizes, self.strides(), 0, self.dtype(), self.key_set())
    }
}

/// The position of a part in the storage, in bytes.
struct Part {
    sizes: Dims,
    start: i64,
    end: i64,
}

impl Part {
    fn of(tensor: &Tensor, dim: usize, start: i64, size: i64) -> Result<Part> {
        let mut sizes = Dims::from_slice(tensor.sizes());
        sizes[dim] = size;
        let (bytes, stride) = (tensor.dtype().size() as i64, tensor.strides()[dim]);
        let geometry = Geometry::new(&sizes, tensor.strides(), 0)?;
        if geometry.numel() == 0 {
            return Ok(Part { sizes, start: 0, end: 0 });
        }
        let start = (tensor.storage_offset() + start * stride) * bytes;
        Ok(Part { sizes, start, end: start + geometry.end()? * bytes })
    }
}

fn check_apart(parts: &[Part], dim: usize) -> Result<()> {
    let mut spans: Vec<_> =
        parts.iter().map(|part| (part.start, part.end)).filter(|(start, end)| start < end).collect();
    spans.sort_unstable();
    ensure!(
        spans.windows(2).all(|pair| pair[0].1 <= pair[1].0),
        Argument,
        "parts along dimension {dim} are interleaved in memory\n  \
         help: take parts along the dimension with the largest stride, or of a copy that is contiguous in another \
         order"
    );
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{DType, Device, ErrorKind};

    #[test]
    fn parts_are_written_while_the_whole_waits() {
        let mut x = Tensor::from([[1, 2], [3, 4], [5, 6]]);
        let version = x.version();
        let mut parts = x.disjoint_parts(-2, &[1, 2]).unwrap();
        let mut writing = parts.remove(0);
        let first = writing.elements_mut::<i32>().unwrap();
        parts[0].fill(7).unwrap();
        assert_eq!(x.to_vec::<i32>().unwrap_err().kind(), ErrorKind::Busy);
        assert_eq!(x.set_geometry(&[1], &[1], 0).map_err(|error| error.kind()), Ok(()), "the only handle");
        drop(first);
        drop((writing, parts));
        x.set_geometry(&[6], &[1], 0).unwrap();
        assert_eq!(x.to_vec::<i32>().unwrap(), [1, 2, 7, 7, 7, 7]);
        assert!(x.version() > version);
    }

    #[test]
    fn parts_keep_the_memory() {
        let mut x = Tensor::from([1, 2, 3]);
        let parts = x.disjoint_parts(0, &[0, 2, 1]).unwrap();
        drop(x);
        assert_eq!(parts[1].to_vec::<i32>().unwrap(), [1, 2]);
        assert_eq!(parts[2].strided_view(&[1], &[1], 0).unwrap().to_vec::<i32>().unwrap(), [3]);
        assert!(parts[2].strided_view(&[2], &[1], 0).is_err(), "no way into another part");
    }

    #[test]
    fn parts_that_lie_one_within_the_other_are_refused() {
        let mut x = Tensor::from([[1, 2], [3, 4]]);
        assert!(x.disjoint_parts(1, &[1, 1]).unwrap_err().to_string().contains("interleaved"));
        assert!(x.disjoint_parts(0, &[1, 2]).is_err() && x.disjoint_parts(0, &[3, -1]).is_err());
        assert!(x.disjoint_parts(2, &[2]).is_err());
        assert!(Tensor::from(1.0).disjoint_parts(0, &[1]).is_err(), "there is no dimension");
        let mut columns = x.strided_view(&[2, 2], &[1, 2], 0).unwrap();
        assert_eq!(columns.disjoint_parts(1, &[1, 1]).unwrap()[1].to_vec::<i32>().unwrap(), [3, 4]);
        let mut expanded = x.strided_view(&[2, 2], &[0, 1], 0).unwrap();
        assert!(expanded.disjoint_parts(0, &[1, 1]).is_err());
        let mut huge = Tensor::zeros(&[1 << 60], DType::Float64, Device::META).unwrap();
        assert_eq!(huge.disjoint_parts(0, &[0, 1 << 60]).unwrap_err().kind(), ErrorKind::Device);
    }
}
