//! The windows of images as columns, and back.

use torch_library::prelude::*;

use crate::aten;

#[torch_impl(aten, CompositeExplicitAutograd, FuncTorchBatchedDecomposition)]
mod derived {
    use super::*;

    fn im2col(
        this: &Tensor,
        kernel_size: &[i64],
        dilation: &[i64],
        padding: &[i64],
        stride: &[i64],
    ) -> Result<Tensor> {
        const OPERATOR: &str = "aten::im2col";
        let (images, is_batch) = as_batch(OPERATOR, this, 3)?;
        let windows = Windows::new(OPERATOR, [kernel_size, dilation, padding, stride])?;
        let sizes = [images.sizes()[2], images.sizes()[3]];
        let [height, width] = windows.counts(OPERATOR, sizes)?;
        let [ph, pw] = windows.padding;
        let padded = aten::constant_pad_nd(&images, &[pw, pw, ph, ph])?;
        let rows = aten::index_select(&padded, 2, &windows.places(0, height, this.device())?)?;
        let pixels = aten::index_select(&rows, 3, &windows.places(1, width, this.device())?)?;
        let ([kh, kw], n, c) = (windows.kernel, images.sizes()[0], images.sizes()[1]);
        let parts = aten::reshape(&pixels, &[n, c, kh, height, kw, width])?;
        let columns = aten::reshape(
            &aten::permute(&parts, &[0, 1, 2, 4, 3, 5])?,
            &[n, c.saturating_mul(kh * kw), height.saturating_mul(width)],
        )?;
        if is_batch { Ok(columns) } else { aten::squeeze_dim(&columns, 0) }
    }

    fn col2im(
        this: &Tensor,
        output_size: &[i64],
        kernel_size: &[i64],
        dilation: &[i64],
        padding: &[i64],
        stride: &[i64],
    ) -> Result<Tensor> {
        const OPERATOR: &str = "aten::col2im";
        let (columns, is_batch) = as_batch(OPERATOR, this, 2)?;
        let windows = Windows::new(OPERATOR, [kernel_size, dilation, padding, stride])?;
        let out = pair(OPERATOR, output_size)?;
        ensure!(
            out.iter().all(|size| (1..=MOST).contains(size)),
            Argument,
            "{OPERATOR}: output_size is {output_size:?}, expected numbers from 1 to {MOST}"
        );
        let [height, width] = windows.counts(OPERATOR, out)?;
        let ([kh, kw], [ph, pw]) = (windows.kernel, windows.padding);
        let &[n, rows, count] = columns.sizes() else {
            bail!(Shape, "{OPERATOR}: sizes {:?}, expected [batch, rows, columns]", columns.sizes())
        };
        let places = height.saturating_mul(width);
        ensure!(
            rows % (kh * kw) == 0 && count == places,
            Shape,
            "{OPERATOR}: {rows} rows and {count} columns, expected a multiple of {} rows (the elements of a window) and \
             {} columns (the places of the window)",
            kh * kw,
            places
        );
        let c = rows / (kh * kw);
        let parts = aten::reshape(&columns, &[n, c, kh, kw, height, width])?;
        let parts = aten::permute(&parts, &[0, 1, 2, 4, 3, 5])?;
        let pixels = aten::reshape(&parts, &[n, c, kh.saturating_mul(height), kw.saturating_mul(width)])?;
        let (tall, wide) = (out[0] + 2 * ph, out[1] + 2 * pw);
        let rows = aten::index_add(
            &aten::new_zeros(&pixels, &[n, c, kh.saturating_mul(height), wide])?,
            3,
            &windows.places(1, width, this.device())?,
            &pixels,
        )?;
        let images = aten::index_add(
            &aten::new_zeros(&rows, &[n, c, tall, wide])?,
            2,
            &windows.places(0, height, this.device())?,
            &rows,
        )?;
        let images = aten::narrow(&aten::narrow(&images, 2, ph, out[0])?, 3, pw, out[1])?;
        let images = aten::contiguous(&images)?;
        if is_batch { Ok(images) } else { aten::squeeze_dim(&images, 0) }
    }
}

/// With a batch of one in front where there is none.
fn as_batch(operator: &str, this: &Tensor, dim: usize) -> Result<(Tensor, bool)> {
    match this.dim() {
        own if own == dim => Ok((aten::unsqueeze(this, 0)?, false)),
        own if own == dim + 1 => Ok((this.clone(), true)),
        _ => bail!(
            Shape,
            "{operator}: sizes {:?}, expected {dim} dimensions, or one more for a batch",
            this.sizes()
        ),
    }
}

fn pair(operator: &str, numbers: &[i64]) -> Result<[i64; 2]> {
    match *numbers {
        [both] => Ok([both; 2]),
        [first, second] => Ok([first, second]),
        _ => bail!(Argument, "{operator}: {numbers:?}, expected two numbers"),
    }
}

/// More pixels make no window: products and sums of two such numbers stay in range.
const MOST: i64 = i32::MAX as i64;

struct Windows {
    kernel: [i64; 2],
    dilation: [i64; 2],
    padding: [i64; 2],
    stride: [i64; 2],
}

impl Windows {
    fn new(operator: &str, [kernel, dilation, padding, stride]: [&[i64]; 4]) -> Result<Self> {
        let windows = Windows {
            kernel: pair(operator, kernel)?,
            dilation: pair(operator, dilation)?,
            padding: pair(operator, padding)?,
            stride: pair(operator, stride)?,
        };
        let positive = [windows.kernel, windows.dilation, windows.stride];
        ensure!(
            positive.iter().flatten().all(|number| (1..=MOST).contains(number))
                && windows.padding.iter().all(|pad| (0..=MOST).contains(pad)),
            Argument,
            "{operator}: kernel {kernel:?}, dilation {dilation:?}, padding {padding:?} and stride {stride:?} make no windows"
        );
        Ok(windows)
    }

    /// How many windows there are in each direction of an image.
    fn counts(&self, operator: &str, sizes: [i64; 2]) -> Result<[i64; 2]> {
        let count = |at: usize| {
            let reach = self.dilation[at] * (self.kernel[at] - 1) + 1;
            (sizes[at].saturating_add(2 * self.padding[at]) - reach).div_euclid(self.stride[at]) + 1
        };
        let counts = [count(0), count(1)];
        ensure!(
            counts.iter().all(|count| *count > 0),
            Shape,
            "{operator}: a window of {:?} pixels fits nowhere in an image of {sizes:?}",
            self.kernel
        );
        Ok(counts)
    }

    /// Where in the padded image each pixel of each window is, in one direction.
    fn places(&self, at: usize, count: i64, device: Device) -> Result<Tensor> {
        let (stride, dilation) = (self.stride[at], self.dilation[at]);
        let apart = |count: i64, step: i64| {
            let numbers = aten::arange::with(count.into()).device(Some(device)).call()?;
            aten::mul_Scalar(&numbers, step.into())
        };
        let pixels = aten::unsqueeze(&apart(self.kernel[at], dilation)?, 1)?;
        aten::reshape(&aten::add_Tensor(&pixels, &apart(count, stride)?)?, &[-1])
    }
}
