//! Sizes, strides and offsets: the arithmetic of shapes, independent of tensors.

mod broadcast;
mod extents;
mod format;
mod view;

use std::fmt;

use smallvec::SmallVec;

use crate::error::{Error, ErrorKind, Result};
use crate::limits::DIMENSIONS;
use crate::{bail, ensure};

use extents::Extents;

pub use broadcast::{broadcast_shapes, infer_size};
pub use format::{
    contiguous_strides, is_channels_last_strides, is_contiguous, is_non_overlapping_and_dense,
    preserved_strides, strides_for,
};
pub(super) use format::{is_contiguous_as, suggest_memory_format};
pub use view::{computed_view_strides, infer_view_size};

/// One number per dimension, stored inline up to six dimensions.
pub type Dims = SmallVec<[i64; 6]>;

/// The positions of a tensor's elements in its storage: element `[i, j, …]` is at `offset + i * strides[0] + j *
/// strides[1] + …`, counted in elements.
///
/// A `Geometry` is consistent: the numbers of sizes and strides are equal, nothing is negative, and the number of
/// elements fits an `i64`; so does the position of any index within the sizes, even if an empty dimension leaves no
/// elements.
///
/// ```
/// use torch_library::geometry::Geometry;
///
/// let rows = Geometry::contiguous(&[2, 3])?;
/// assert_eq!((rows.strides(), rows.numel()), (&[3, 1][..], 6));
/// let columns = Geometry::new(&[3, 2], &[1, 3], 0)?;
/// assert_eq!(columns.offsets().collect::<Vec<_>>(), [0, 3, 1, 4, 2, 5]);
/// # Ok::<(), torch_library::Error>(())
/// ```
///
/// PyTorch: `c10::impl::SizesAndStrides`.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Geometry {
    extents: Extents,
    offset: i64,
    numel: i64,
    /// Derived from the other fields; every call needs it for every operand.
    is_contiguous: bool,
}

impl Geometry {
    /// The geometry of a single element, at the start of the storage.
    pub(super) const SCALAR: Geometry =
        Geometry { extents: Extents::NONE, offset: 0, numel: 1, is_contiguous: true };

    /// A geometry with any strides.
    ///
    /// # Errors
    /// Different numbers of sizes and strides; a negative number among them; more elements than fit an `i64`; positions
    /// that do not fit an `i64`, in a tensor without elements (for one with elements, [`Self::end`] reports them).
    #[inline]
    pub fn new(sizes: &[i64], strides: &[i64], offset: i64) -> Result<Geometry> {
        let mut geometry = Self::SCALAR;
        geometry.set(sizes, strides, offset)?;
        Ok(geometry)
    }

    /// A contiguous geometry, from the start of the storage.
    ///
    /// # Errors
    /// A negative size; more elements than fit an `i64`.
    #[inline]
    pub fn contiguous(sizes: &[i64]) -> Result<Geometry> {
        let numel = contiguous_numel(sizes)?;
        let mut geometry = Self::SCALAR;
        geometry.set_contiguous(sizes, numel);
        Ok(geometry)
    }

    /// Gives a scalar's geometry these sizes and strides; after an error it is unchanged.
    ///
    /// Every result gets a geometry, so this is done in place: building it elsewhere and moving it would stall on
    /// stores that have not left the processor's buffers yet.
    ///
    /// # Errors
    /// The errors of [`new`](Self::new).
    #[inline]
    pub(super) fn set(&mut self, sizes: &[i64], strides: &[i64], offset: i64) -> Result<()> {
        ensure!(
            sizes.len() == strides.len(),
            Shape,
            "sizes {sizes:?} and strides {strides:?} differ in their number of dimensions"
        );
        ensure!(strides.iter().all(|stride| *stride >= 0), Shape, "strides {strides:?} must not be negative");
        ensure!(offset >= 0, Shape, "storage offset {offset} must not be negative");
        let numel = numel(sizes)?;
        if numel == 0 {
            last(sizes, strides, offset)?;
        }
        (self.offset, self.numel, self.is_contiguous) = (offset, numel, is_contiguous(sizes, strides));
        self.extents.set(sizes, strides);
        Ok(())
    }

    /// Makes a scalar's geometry contiguous; `numel` is the number of elements that the sizes have.
    #[inline]
    pub(super) fn set_contiguous(&mut self, sizes: &[i64], numel: i64) {
        self.numel = numel;
        self.extents.set_contiguous(sizes);
    }

    /// The size of each dimension.
    #[inline]
    pub fn sizes(&self) -> &[i64] {
        self.extents.sizes()
    }

    /// The size of one dimension, counted from the back if negative.
    ///
    /// # Errors
    /// A dimension out of range, such as any dimension where there are none.
    pub fn size(&self, dim: i64) -> Result<i64> {
        let sizes = self.sizes();
        ensure!(!sizes.is_empty(), Shape, "dimension {dim} is out of range: the tensor has no dimensions");
        Ok(sizes[wrap_dim(dim, sizes.len())?])
    }

    /// The stride of each dimension, in elements.
    #[inline]
    pub fn strides(&self) -> &[i64] {
        self.extents.strides()
    }

    /// Whether another geometry has the same sizes.
    #[inline]
    pub fn has_sizes_of(&self, other: &Geometry) -> bool {
        self.extents.are_sizes_equal(&other.extents)
    }

    /// The index of element `[0, 0, …]` in the storage, in elements.
    #[inline]
    pub fn offset(&self) -> i64 {
        self.offset
    }

    /// The number of dimensions.
    #[inline]
    pub fn dim(&self) -> usize {
        self.sizes().len()
    }

    /// The number of elements.
    #[inline]
    pub fn numel(&self) -> i64 {
        self.numel
    }

    /// Whether the elements lie in row-major order without gaps.
    #[inline]
    pub fn is_contiguous(&self) -> bool {
        self.is_contiguous
    }

    /// One past the last storage index that an element has, the offset included; 0 if there are no elements.
    ///
    /// # Errors
    /// The last element is beyond `i64::MAX`.
    #[inline]
    pub fn end(&self) -> Result<i64> {
        if self.numel == 0 {
            return Ok(0);
        }
        if self.is_contiguous
            && let Some(end) = self.offset.checked_add(self.numel)
        {
            return Ok(end);
        }
        match last(self.sizes(), self.strides(), self.offset)?.checked_add(1) {
            Some(end) => Ok(end),
            None => Err(beyond(self.sizes(), self.strides())),
        }
    }

    /// Whether these are its sizes, strides and offset. Inlined: with few dimensions a call would cost more than the
    /// comparison.
    #[inline]
    pub(super) fn is_placed(&self, sizes: &[i64], strides: &[i64], offset: i64) -> bool {
        let (own_sizes, own_strides) = (self.sizes(), self.strides());
        let is_same = |index| own_sizes[index] == sizes[index] && own_strides[index] == strides[index];
        let are_as_many = own_sizes.len() == sizes.len() && own_strides.len() == strides.len();
        self.offset == offset && are_as_many && (0..sizes.len()).all(is_same)
    }

    /// The storage index of every element, in logical (row-major) order.
    pub fn offsets(&self) -> Offsets<'_> {
        let left = usize::try_from(self.numel).expect("element counts are not negative");
        Offsets { geometry: self, index: SmallVec::from_elem(0, self.dim()), next: self.offset, left }
    }
}

impl fmt::Debug for Geometry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Geometry")
            .field("sizes", &self.sizes())
            .field("strides", &self.strides())
            .field("offset", &self.offset)
            .finish()
    }
}

/// Iterator over the storage indices of a [`Geometry`]'s elements.
#[derive(Clone, Debug)]
pub struct Offsets<'a> {
    geometry: &'a Geometry,
    index: Dims,
    next: i64,
    left: usize,
}

impl Iterator for Offsets<'_> {
    type Item = i64;

    #[inline]
    fn next(&mut self) -> Option<i64> {
        self.left = self.left.checked_sub(1)?;
        let current = self.next;
        let (sizes, strides) = (self.geometry.sizes(), self.geometry.strides());
        for dim in (0..self.index.len()).rev() {
            let (size, stride) = (sizes[dim], strides[dim]);
            self.index[dim] += 1;
            self.next = self.next.wrapping_add(stride); // may overflow only behind the last element
            if self.index[dim] < size {
                break;
            }
            self.next = self.next.wrapping_sub(size.wrapping_mul(stride));
            self.index[dim] = 0;
        }
        Some(current)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.left, Some(self.left))
    }
}

impl ExactSizeIterator for Offsets<'_> {}

/// The position of the last index; an empty dimension counts as one with a single element.
fn last(sizes: &[i64], strides: &[i64], offset: i64) -> Result<i64> {
    let mut last = offset;
    for (dim, size) in sizes.iter().enumerate() {
        let reach = (size - 1).max(0).checked_mul(strides[dim]);
        let further = reach.and_then(|reach| last.checked_add(reach));
        last = further.ok_or_else(|| beyond(sizes, strides))?;
    }
    Ok(last)
}

fn beyond(sizes: &[i64], strides: &[i64]) -> Error {
    Error::new(
        ErrorKind::Shape,
        format!("sizes {sizes:?} and strides {strides:?} reach beyond 2^63 elements"),
    )
}

/// The number of elements of a shape.
///
/// Every geometry is made with this function, so it also checks the number of dimensions.
///
/// # Errors
/// A negative size; more elements than fit an `i64`; more dimensions than a [tensor](crate::limits::DIMENSIONS) may
/// have.
#[inline]
pub fn numel(sizes: &[i64]) -> Result<i64> {
    let mut signs = 0;
    let numel = sizes.iter().try_fold(1i64, |numel, size| {
        signs |= size;
        numel.checked_mul(*size)
    });
    match numel {
        Some(numel) if signs >= 0 && sizes.len() <= DIMENSIONS => Ok(numel),
        _ => unusual_numel(sizes),
    }
}

/// The number of elements in some dimensions of a valid shape, for decisions that depend on it.
///
/// In a tensor without elements, the dimensions other than the empty one may together have more elements than fit an
/// `i64`; the result is then `i64::MAX`.
///
/// ```
/// use torch_library::geometry::saturating_numel;
///
/// let sizes = [0, 1 << 40, 1 << 40];
/// assert_eq!((saturating_numel(&sizes), saturating_numel(&sizes[1..])), (0, i64::MAX));
/// ```
#[inline]
pub fn saturating_numel<'a>(sizes: impl IntoIterator<Item = &'a i64>) -> i64 {
    let (mut numel, mut is_empty) = (1i64, false);
    for size in sizes {
        is_empty |= *size == 0;
        numel = numel.saturating_mul(*size);
    }
    if is_empty { 0 } else { numel }
}

/// The number of elements of a shape whose contiguous strides give positions that fit an `i64`.
///
/// # Errors
/// The errors of [`numel`]; strides that do not fit, of a shape without elements.
#[inline]
pub(super) fn contiguous_numel(sizes: &[i64]) -> Result<i64> {
    let numel = numel(sizes)?;
    if numel == 0 {
        last(sizes, &contiguous_strides(sizes), 0)?;
    }
    Ok(numel)
}

/// [`numel`] for negative sizes, or for many dimensions.
#[cold]
fn unusual_numel(sizes: &[i64]) -> Result<i64> {
    ensure!(
        sizes.len() <= DIMENSIONS,
        Shape,
        "{} dimensions, a tensor has at most {DIMENSIONS}",
        sizes.len()
    );
    ensure!(sizes.iter().all(|size| *size >= 0), Shape, "sizes {sizes:?} must not be negative");
    if sizes.contains(&0) {
        return Ok(0); // whatever the product of the others
    }
    bail!(Shape, "sizes {sizes:?} have more elements than 2^63")
}

/// A dimension counted from the front, from one that may count from the back (`-1` is the last).
///
/// A tensor without dimensions accepts `0` and `-1`, as if it had one dimension.
///
/// # Errors
/// A dimension out of range.
///
/// PyTorch: `at::maybe_wrap_dim`.
pub fn wrap_dim(dim: i64, ndim: usize) -> Result<usize> {
    let count = ndim.max(1) as i64;
    ensure!(
        (-count..count).contains(&dim),
        Index,
        "dimension {dim} is out of range, expected {} to {} for {ndim} dimensions",
        -count,
        count - 1
    );
    Ok(if dim < 0 { dim + count } else { dim } as usize)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn geometries_are_checked() {
        let bad: [(&[i64], &[i64], i64); 4] =
            [(&[2], &[1, 1], 0), (&[-1], &[1], 0), (&[2], &[-1], 0), (&[2], &[1], -1)];
        for (sizes, strides, offset) in bad {
            assert!(Geometry::new(sizes, strides, offset).is_err(), "{sizes:?} {strides:?} {offset}");
        }
        assert!(Geometry::contiguous(&[i64::MAX, 2]).is_err());
        assert_eq!(Geometry::contiguous(&[i64::MAX / 2, 2, 0]).unwrap().numel(), 0);
        assert!(Geometry::contiguous(&[0, i64::MAX, 2]).is_err());
        assert!(Geometry::new(&[0, 3], &[1, i64::MAX], 0).is_err());
        assert!(Geometry::new(&[3], &[i64::MAX], 0).unwrap().end().is_err());
        let many = vec![1; if cfg!(miri) { 1000 } else { 200_000 }]; // Miri is slow
        let error = Geometry::new(&many, &many, 0).unwrap_err().to_string();
        assert_eq!(error, format!("{} dimensions, a tensor has at most 64", many.len()));
        assert_eq!(Geometry::contiguous(&many).unwrap_err().to_string(), error);
        assert!(Geometry::contiguous(&vec![0; DIMENSIONS + 1]).is_err());
        assert_eq!(Geometry::contiguous(&[1; DIMENSIONS]).unwrap().dim(), DIMENSIONS);
    }

    #[test]
    fn ends_are_behind_the_last_element() {
        let end = |sizes: &[i64], strides: &[i64], offset| {
            Geometry::new(sizes, strides, offset).unwrap().end().unwrap()
        };
        assert_eq!(end(&[], &[], 5), 6);
        assert_eq!(end(&[2, 3], &[3, 1], 0), 6);
        assert_eq!(end(&[2, 3], &[0, 2], 1), 6);
        assert_eq!(end(&[2, 0], &[9, 9], 7), 0);
    }

    #[test]
    fn offsets_walk_in_logical_order() {
        let offsets = |sizes: &[i64], strides: &[i64]| -> Vec<i64> {
            Geometry::new(sizes, strides, 10).unwrap().offsets().collect()
        };
        assert_eq!(offsets(&[], &[]), [10]);
        assert_eq!(offsets(&[2, 2, 2], &[1, 2, 4]), [10, 14, 12, 16, 11, 15, 13, 17]);
        assert_eq!(offsets(&[2, 0], &[1, 1]), []);
        assert_eq!(offsets(&[1, 3], &[i64::MAX, 0]), [10, 10, 10]);
    }

    #[test]
    fn dimensions_wrap() {
        assert_eq!((wrap_dim(-1, 3).unwrap(), wrap_dim(2, 3).unwrap(), wrap_dim(-1, 0).unwrap()), (2, 2, 0));
        assert_eq!(
            wrap_dim(3, 3).unwrap_err().to_string(),
            "dimension 3 is out of range, expected -3 to 2 for 3 dimensions"
        );
        assert!(wrap_dim(1, 0).is_err());
        let rows = Geometry::contiguous(&[2, 3]).unwrap();
        assert_eq!((rows.size(-2).unwrap(), rows.size(1).unwrap()), (2, 3));
        assert!(rows.size(2).is_err() && [-1, 0].iter().all(|dim| Geometry::SCALAR.size(*dim).is_err()));
    }
}
