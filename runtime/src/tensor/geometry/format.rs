//! Memory formats: the strides of a shape in a format, and the formats of given strides.

use std::cmp::Ordering;

use super::{Dims, SmallVec};
use crate::error::Result;
use crate::layout::MemoryFormat;
use crate::{bail, ensure};

/// The contiguous strides of a shape. Empty dimensions count as 1.
#[inline]
pub fn contiguous_strides(sizes: &[i64]) -> Dims {
    dense_strides(sizes, (0..sizes.len()).rev(), 1)
}

/// The dense strides of a shape, with the dimensions in this order from the smallest stride to the largest. Sizes below
/// `least` count as `least`.
#[inline]
fn dense_strides(sizes: &[i64], order: impl IntoIterator<Item = usize>, least: i64) -> Dims {
    let mut strides = Dims::from_elem(0, sizes.len());
    write_dense_strides(&mut strides, sizes, order, least);
    strides
}

/// Like [`dense_strides`], but writes to existing memory.
#[inline]
pub(super) fn write_dense_strides(
    strides: &mut [i64],
    sizes: &[i64],
    order: impl IntoIterator<Item = usize>,
    least: i64,
) {
    let mut step = 1i64;
    for dim in order {
        strides[dim] = step;
        step = step.saturating_mul(sizes[dim].max(least)); // saturates only if there are no elements
    }
}

/// The strides of a shape in a memory format.
///
/// ```
/// use torch_library::{MemoryFormat, geometry::strides_for};
///
/// assert_eq!(strides_for(&[2, 3, 4, 5], MemoryFormat::ChannelsLast)?.as_slice(), [60, 1, 15, 3]);
/// # Ok::<(), torch_library::Error>(())
/// ```
///
/// # Errors
/// A channels-last format for a shape that does not have 4 (or 5) dimensions; `Preserve`, which has no strides of its
/// own.
///
/// PyTorch: `c10::get_channels_last_strides_2d`, `c10::get_channels_last_strides_3d`.
pub fn strides_for(sizes: &[i64], format: MemoryFormat) -> Result<Dims> {
    match format {
        MemoryFormat::Contiguous => Ok(contiguous_strides(sizes)),
        MemoryFormat::Preserve => {
            bail!(Argument, "memory format {format} has no strides without a tensor to preserve")
        }
        MemoryFormat::ChannelsLast | MemoryFormat::ChannelsLast3d => {
            let order = channels_last_order(format);
            ensure!(
                sizes.len() == order.len(),
                Shape,
                "memory format {format} needs {} dimensions, sizes {sizes:?} have {}",
                order.len(),
                sizes.len()
            );
            Ok(dense_strides(sizes, order.iter().copied(), 0)) // as in PyTorch; elsewhere 0 counts as 1
        }
    }
}

/// The dimensions of a channels-last format, the smallest stride first; empty for the other formats.
fn channels_last_order(format: MemoryFormat) -> &'static [usize] {
    match format {
        MemoryFormat::ChannelsLast => &[1, 3, 2, 0],
        MemoryFormat::ChannelsLast3d => &[1, 4, 3, 2, 0],
        MemoryFormat::Contiguous | MemoryFormat::Preserve => &[],
    }
}

/// Whether strides are contiguous; those of dimensions of size 1 do not matter.
#[inline]
pub fn is_contiguous(sizes: &[i64], strides: &[i64]) -> bool {
    sizes.contains(&0) || is_dense(sizes, strides, (0..sizes.len()).rev())
}

/// Whether strides are dense in a memory format; none are in `Preserve`.
///
/// PyTorch: `Tensor::is_contiguous(memory_format)`.
pub(crate) fn is_contiguous_as(sizes: &[i64], strides: &[i64], format: MemoryFormat) -> bool {
    match format {
        MemoryFormat::Contiguous => is_contiguous(sizes, strides),
        MemoryFormat::Preserve => false,
        MemoryFormat::ChannelsLast | MemoryFormat::ChannelsLast3d => {
            let order = channels_last_order(format);
            sizes.len() == order.len() && is_dense(sizes, strides, order.iter().copied())
        }
    }
}

/// Whether each dimension's stride is the product of the sizes before it in this order.
#[inline]
fn is_dense(sizes: &[i64], strides: &[i64], order: impl IntoIterator<Item = usize>) -> bool {
    let mut step = 1i64;
    for dim in order {
        if sizes[dim] != 1 {
            if strides[dim] != step {
                return false;
            }
            step = step.saturating_mul(sizes[dim]);
        }
    }
    true
}

/// Whether strides are in the order of a channels-last format, gaps allowed.
///
/// Shapes for which both orders look alike (one channel, one pixel) count as contiguous.
///
/// PyTorch: `is_channels_last_strides_2d`, `is_channels_last_strides_3d`.
pub fn is_channels_last_strides(sizes: &[i64], strides: &[i64], format: MemoryFormat) -> bool {
    let order = channels_last_order(format);
    if order.is_empty() || sizes.len() != order.len() || strides[1] == 0 {
        return false;
    }
    let mut least = 0i64;
    for &dim in order {
        if sizes[dim] == 0 || strides[dim] < least || (dim == 0 && least == strides[1]) {
            return false;
        }
        least = strides[dim].saturating_mul(sizes[dim].max(1));
    }
    true
}

/// The memory format of an operator's result for an input with these strides.
///
/// PyTorch: `Tensor::suggest_memory_format`.
pub(crate) fn suggest_memory_format(sizes: &[i64], strides: &[i64]) -> MemoryFormat {
    [MemoryFormat::ChannelsLast, MemoryFormat::ChannelsLast3d]
        .into_iter()
        .find(|format| is_channels_last_strides(sizes, strides, *format))
        .unwrap_or(MemoryFormat::Contiguous)
}

/// Whether elements fill a block of memory without gaps or overlap, with the dimensions in any order.
///
/// PyTorch: `Tensor::is_non_overlapping_and_dense`.
pub fn is_non_overlapping_and_dense(sizes: &[i64], strides: &[i64]) -> bool {
    if is_contiguous(sizes, strides) {
        return true;
    }
    let mut order: SmallVec<[usize; 6]> = SmallVec::new();
    for (dim, size) in sizes.iter().enumerate() {
        if *size != 1 {
            order.push(dim);
        }
    }
    order.sort_by_key(|dim| strides[*dim]);
    is_dense(sizes, strides, order.iter().copied())
}

/// Dense strides with the same order of dimensions as the given strides; dense strides are returned unchanged.
///
/// # How it works
/// Dimensions are sorted by rising stride, starting from row-major order. A stride of 0 says nothing about the order,
/// and of equal strides the smaller size comes first.
///
/// PyTorch: `at::infer_dense_strides`, as used by `empty_like` with `preserve_format`.
pub fn preserved_strides(sizes: &[i64], strides: &[i64]) -> Dims {
    if is_non_overlapping_and_dense(sizes, strides) {
        return Dims::from_slice(strides);
    }
    let mut order: SmallVec<[usize; 6]> = SmallVec::new();
    for dim in (0..sizes.len()).rev() {
        order.push(dim);
    }
    let order = &mut *order;
    // Insertion sort, since the order is not transitive: where a stride of 0 ends up depends on the steps of the
    // algorithm.
    for sorted in 1..order.len() {
        let mut moving = sorted;
        for place in (0..sorted).rev() {
            let (left, right) = (order[place], order[moving]);
            match strides[left].cmp(&strides[right]) {
                _ if strides[left] == 0 || strides[right] == 0 => {}
                Ordering::Less => break,
                Ordering::Equal if sizes[left] <= sizes[right] => {}
                _ => {
                    order.swap(place, moving);
                    moving = place;
                }
            }
        }
    }
    dense_strides(sizes, order.iter().copied(), 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use MemoryFormat::{ChannelsLast, ChannelsLast3d};

    #[test]
    fn strides_follow_the_format() {
        assert_eq!(contiguous_strides(&[2, 0, 3]).as_slice(), [3, 3, 1]);
        assert_eq!(strides_for(&[2, 3, 4, 5, 6], ChannelsLast3d).unwrap().as_slice(), [360, 1, 90, 18, 3]);
        assert_eq!(
            strides_for(&[2, 3], ChannelsLast).unwrap_err().to_string(),
            "memory format channels_last needs 4 dimensions, sizes [2, 3] have 2"
        );
        assert!(strides_for(&[2], MemoryFormat::Preserve).is_err());
    }

    #[test]
    fn contiguity_ignores_dimensions_of_one() {
        assert!(is_contiguous(&[2, 1, 3], &[3, 77, 1]));
        assert!(!is_contiguous(&[2, 3], &[1, 2]));
        assert!(is_contiguous(&[0, 3], &[1, 2]) && is_contiguous(&[], &[]));
        assert!(is_contiguous_as(&[2, 3, 4, 5], &[60, 1, 15, 3], ChannelsLast));
        assert!(!is_contiguous_as(&[2, 3, 4, 5], &[60, 20, 5, 1], ChannelsLast));
    }

    #[test]
    fn ambiguous_shapes_are_contiguous() {
        let suggest = |sizes: [i64; 4], strides: [i64; 4]| suggest_memory_format(&sizes, &strides);
        assert_eq!(suggest([2, 3, 4, 5], [60, 1, 15, 3]), ChannelsLast);
        assert_eq!(suggest([2, 3, 4, 5], [120, 1, 30, 6]), ChannelsLast);
        assert_eq!(suggest([2, 1, 1, 1], [1, 1, 1, 1]), MemoryFormat::Contiguous);
        assert_eq!(suggest([2, 1, 4, 4], [16, 16, 4, 1]), MemoryFormat::Contiguous);
        assert_eq!(suggest([2, 1, 4, 4], [16, 1, 4, 1]), ChannelsLast);
        assert_eq!(suggest([2, 3, 0, 5], [0, 1, 15, 3]), MemoryFormat::Contiguous);
    }

    #[test]
    fn dense_means_every_place_once() {
        assert!(is_non_overlapping_and_dense(&[3, 2], &[1, 3]));
        assert!(is_non_overlapping_and_dense(&[3, 1, 2], &[1, 50, 3]));
        assert!(!is_non_overlapping_and_dense(&[3, 2], &[0, 1]));
        assert!(!is_non_overlapping_and_dense(&[3, 2], &[4, 2]));
        assert!(!is_non_overlapping_and_dense(&[2], &[2]));
    }
}
