//! Regions of interest: boxes in the images of a batch, and the parts (bins) that they are divided into.

use torch_library::prelude::*;
use torch_library_aten::real::{Real, elements, real};

use crate::parts::size;

/// A box, in units of its image's elements.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Region<T> {
    pub(crate) image: usize,
    pub(crate) left: T,
    pub(crate) top: T,
    pub(crate) right: T,
    pub(crate) bottom: T,
}

/// A batch of images, and the number of parts of a box.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Geometry {
    pub(crate) images: usize,
    pub(crate) channels: usize,
    pub(crate) height: usize,
    pub(crate) width: usize,
    pub(crate) rows: usize,
    pub(crate) columns: usize,
}

impl Geometry {
    /// The geometry of a batch with these sizes.
    ///
    /// # Errors
    /// A number of dimensions other than four, negative numbers, and results that are too large for memory.
    pub(crate) fn new(sizes: &[i64], pooled_height: i64, pooled_width: i64) -> Result<Geometry> {
        let [images, channels, height, width] = *sizes else {
            bail!(Shape, "`input` has sizes {sizes:?}, expected four: images, channels, height and width")
        };
        ensure!(
            pooled_height > 0 && pooled_width > 0,
            Argument,
            "a box cannot be divided into {pooled_height} × {pooled_width} bins, expected at least one"
        );
        // Also those of a plane, or of the parts of a box, where there are no channels.
        let is_countable = |sizes: &[i64]| {
            sizes.iter().try_fold(1i64, |all, size| all.checked_mul((*size).max(1))).is_some()
        };
        ensure!(
            is_countable(sizes) && is_countable(&[channels, pooled_height, pooled_width]),
            Shape,
            "sizes {sizes:?} and {pooled_height} × {pooled_width} bins have too many elements to count"
        );
        let rows = size("pooled_height", pooled_height)?;
        Ok(Geometry {
            images: size("batch_size", images)?,
            channels: size("channels", channels)?,
            height: size("height", height)?,
            width: size("width", width)?,
            rows,
            columns: size("pooled_width", pooled_width)?,
        })
    }

    /// The number of elements of a plane.
    pub(crate) fn plane(&self) -> usize {
        self.height * self.width
    }

    /// The number of parts of a box.
    pub(crate) fn parts(&self) -> usize {
        self.rows * self.columns
    }

    pub(crate) fn input_sizes(&self) -> [i64; 4] {
        [self.images, self.channels, self.height, self.width].map(|size| size as i64)
    }

    /// The channels of a result, if each part has channels of its own.
    ///
    /// # Errors
    /// The number of channels is not divisible by the number of parts.
    pub(crate) fn channels_of_parts(&self) -> Result<usize> {
        ensure!(
            self.channels.is_multiple_of(self.parts()),
            Shape,
            "`input` has {} channels, which cannot be divided among {} × {} bins",
            self.channels,
            self.rows,
            self.columns
        );
        Ok(self.channels / self.parts())
    }
}

/// Checks the sizes of `rois`, and returns the number of boxes.
///
/// # Errors
/// The sizes are not `[K, 5]`.
pub(crate) fn count(rois: &Tensor) -> Result<i64> {
    match *rois.sizes() {
        [count, 5] => Ok(count),
        ref sizes => {
            bail!(Shape, "`rois` has sizes {sizes:?}, expected [K, 5]: an image's index and a box")
        }
    }
}

/// Reads boxes.
///
/// # Errors
/// A box with the index of an image that does not exist.
pub(crate) fn read<T: Real>(rois: &Tensor, scale: f64, images: usize) -> Result<Vec<Region<T>>> {
    count(rois)?;
    let (numbers, scale) = (elements::<T>(rois)?, real::<T>(scale));
    let regions = numbers.chunks_exact(5).enumerate().map(|(row, numbers)| {
        let image = numbers[0].to_i64().and_then(|image| usize::try_from(image).ok());
        let Some(image) = image.filter(|image| *image < images) else {
            bail!(Argument, "row {row} of `rois` refers to image {:?}, the batch has {images}", numbers[0])
        };
        let [left, top, right, bottom] =
            [numbers[1], numbers[2], numbers[3], numbers[4]].map(|at| at * scale);
        Ok(Region { image, left, top, right, bottom })
    });
    regions.collect()
}
