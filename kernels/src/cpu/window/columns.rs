//! The pixels under each place of a window as columns of a matrix, and back.
#![expect(unsafe_code, reason = "looks at rows of tensors that are its caller's own as slices")]

use torch_library::prelude::*;

use super::Axis;
use crate::cpu::number::Number;

/// How a window is put on an image of one to three dimensions.
pub(super) struct Columns {
    pub(super) image: Vec<i64>,
    pub(super) places: Vec<i64>,
    pub(super) axes: Vec<Axis>,
}

impl Columns {
    /// A row for each channel and pixel of the window: what lies there at every place. What is outside is zero.
    ///
    /// The image is a contiguous matrix of its channels.
    pub(super) fn unfold<T: Number>(&self, image: &Tensor) -> Result<Tensor> {
        if self.is_plain() {
            return Ok(image.clone());
        }
        let channels = image.sizes()[0];
        let rows = channels * self.axes.iter().map(|axis| axis.kernel).product::<i64>();
        // SAFETY: contiguous, and nobody writes to it meanwhile.
        let pixels = unsafe { slice::<T>(image)? };
        let mut columns = vec![T::ZERO; (rows * self.count()) as usize];
        self.lines(channels, |line| {
            let column = &mut columns[line.column..][line.range.clone()];
            let pixels = &pixels[line.pixel..];
            match line.step {
                1 => column.copy_from_slice(&pixels[..column.len()]),
                step => column.iter_mut().zip(pixels.iter().step_by(step)).for_each(|(to, from)| *to = *from),
            }
        });
        Tensor::from_vec(columns, &[rows, self.count()])
    }

    /// Adds the rows of [`unfold`](Self::unfold) to the pixels they stand for, in a contiguous image of zeros.
    pub(super) fn fold<T: Number>(&self, columns: &Tensor, image: &Tensor) -> Result<()> {
        // SAFETY: contiguous; the image is one that only this call writes to, and no memory of the columns.
        let (columns, pixels) = unsafe { (slice::<T>(columns)?, slice_mut::<T>(image)?) };
        self.lines(image.sizes()[0], |line| {
            let column = &columns[line.column..][line.range.clone()];
            let pixels = pixels[line.pixel..].iter_mut().step_by(line.step);
            pixels.zip(column).for_each(|(to, from)| *to = to.plus(*from));
        });
        Ok(())
    }

    /// Whether the columns are the image itself.
    fn is_plain(&self) -> bool {
        self.axes.iter().all(|axis| axis.kernel == 1 && axis.stride == 1 && axis.padding == 0)
    }

    /// How many places there are.
    fn count(&self) -> i64 {
        self.places.iter().product()
    }

    /// Calls a closure with all lines of places that cover a pixel.
    fn lines(&self, channels: i64, mut f: impl FnMut(Line)) {
        let (last, outer) = (self.axes.len() - 1, &self.axes[..self.axes.len() - 1]);
        let (axis, width) = (self.axes[last], self.image[last]);
        let lines: i64 = self.places[..last].iter().product();
        let windows: i64 = self.axes.iter().map(|axis| axis.kernel).product();
        let plane: i64 = self.image.iter().product();
        for row in 0..channels * windows {
            let (channel, tap) = (row / windows, row % windows);
            let (first, tap) = (tap % axis.kernel * axis.dilation - axis.padding, tap / axis.kernel);
            let range = axis.inside(first, width, self.places[last]);
            if range.is_empty() {
                continue;
            }
            for line in 0..lines {
                let Some(start) = self.line_start(outer, line, tap) else { continue };
                let pixel = channel * plane + start * width + first + range.start as i64 * axis.stride;
                let column = (row * lines + line) * self.places[last];
                f(Line {
                    column: column as usize,
                    range: range.clone(),
                    pixel: pixel as usize,
                    step: axis.stride as usize,
                });
            }
        }
    }

    /// The line of the image that a line of places covers with one line of the window, unless it is outside.
    fn line_start(&self, outer: &[Axis], mut line: i64, mut tap: i64) -> Option<i64> {
        let (mut start, mut step) = (0, 1);
        for (dim, axis) in outer.iter().enumerate().rev() {
            let (place, offset) = (line % self.places[dim], tap % axis.kernel);
            (line, tap) = (line / self.places[dim], tap / axis.kernel);
            let pixel = place * axis.stride - axis.padding + offset * axis.dilation;
            if !(0..self.image[dim]).contains(&pixel) {
                return None;
            }
            start += pixel * step;
            step *= self.image[dim];
        }
        Some(start)
    }
}

/// Places of one line that cover pixels with one pixel of the window.
struct Line {
    /// Where the line of places starts in the matrix of columns.
    column: usize,
    /// Which of its places are not outside of the image.
    range: std::ops::Range<usize>,
    /// The pixel under the first of these, and how far the next is.
    pixel: usize,
    step: usize,
}

/// # Safety
/// The tensor is contiguous, and nobody writes to it while the slice lives.
unsafe fn slice<T: Number>(tensor: &Tensor) -> Result<&[T]> {
    let data = tensor.data_ptr::<T>()?;
    // SAFETY: by contract; as many elements lie there.
    Ok(unsafe { std::slice::from_raw_parts(data, tensor.numel() as usize) })
}

/// # Safety
/// The tensor is contiguous, and nobody else looks at it while the slice lives.
#[expect(clippy::mut_from_ref, reason = "handles share memory; who may write is the caller's promise")]
unsafe fn slice_mut<T: Number>(tensor: &Tensor) -> Result<&mut [T]> {
    let data = tensor.data_ptr::<T>()?;
    // SAFETY: by contract; as many elements lie there.
    Ok(unsafe { std::slice::from_raw_parts_mut(data, tensor.numel() as usize) })
}
