//! Images of other sizes.

use torch_library::prelude::*;

use crate::aten;
use crate::composite::collected;

#[torch_impl(aten, CompositeImplicitAutograd)]
mod kernels {
    use super::*;

    fn upsample_nearest2d(
        this: &Tensor,
        output_size: &[i64],
        scales_h: Option<f64>,
        scales_w: Option<f64>,
    ) -> Result<Tensor> {
        let sizes = Sizes::new("aten::upsample_nearest2d", this, output_size)?;
        let mut out = this.clone();
        for (dim, scale) in [(2, scales_h), (3, scales_w)] {
            let (from, to) = sizes.along(dim);
            if from == to {
                continue; // whatever the scale says
            }
            let scale = scale.filter(|scale| *scale > 0.0).map_or(from as f64 / to as f64, f64::recip);
            let nearest = |place| ((place as f64 * scale) as i64).min(from - 1);
            let index = collected("upsample_nearest2d", to, nearest)?;
            out = aten::index_select(&out, dim, &index_of(index, this.device())?)?;
        }
        sizes.finished(&out)
    }

    fn upsample_bilinear2d(
        this: &Tensor,
        output_size: &[i64],
        align_corners: bool,
        scales_h: Option<f64>,
        scales_w: Option<f64>,
    ) -> Result<Tensor> {
        const OPERATOR: &str = "aten::upsample_bilinear2d";
        ensure!(
            this.dtype().is_floating_point(),
            DType,
            "{OPERATOR}: between {} there is nothing to interpolate, convert to a floating-point type",
            this.dtype()
        );
        let sizes = Sizes::new(OPERATOR, this, output_size)?;
        let mut out = this.clone();
        for (dim, scale) in [(2, scales_h), (3, scales_w)] {
            out = interpolated(&out, dim, sizes.along(dim), align_corners, scale)?;
        }
        sizes.finished(&out)
    }
}

/// Sizes of images before and after.
struct Sizes<'a> {
    image: &'a Tensor,
    output: &'a [i64],
}

impl<'a> Sizes<'a> {
    fn new(operator: &str, image: &'a Tensor, output: &'a [i64]) -> Result<Self> {
        ensure!(
            image.dim() == 4 && image.sizes()[1..].iter().all(|size| *size > 0),
            Shape,
            "{operator}: sizes {:?} are not [batch, channels, height, width] with pixels",
            image.sizes()
        );
        ensure!(
            output.len() == 2 && output.iter().all(|size| *size > 0),
            Argument,
            "{operator}: output_size {output:?}, expected two positive numbers"
        );
        Ok(Sizes { image, output })
    }

    fn along(&self, dim: i64) -> (i64, i64) {
        (self.image.sizes()[dim as usize], self.output[dim as usize - 2])
    }

    /// In the memory format of the image.
    fn finished(&self, out: &Tensor) -> Result<Tensor> {
        let format = self.image.suggest_memory_format();
        match out.is_same(self.image) {
            true => aten::clone::with(out).memory_format(Some(format)).call(),
            false => aten::contiguous::with(out).memory_format(format).call(),
        }
    }
}

/// Each index of the result between two of a dimension.
fn interpolated(
    image: &Tensor,
    dim: i64,
    (from, to): (i64, i64),
    align_corners: bool,
    scale: Option<f64>,
) -> Result<Tensor> {
    if from == to {
        return Ok(image.clone()); // whatever the scale says
    }
    let step = match align_corners {
        true if to > 1 => (from - 1) as f64 / (to - 1) as f64,
        true => 0.0,
        false => scale.filter(|scale| *scale > 0.0).map_or(from as f64 / to as f64, f64::recip),
    };
    let place = |i: i64| match align_corners {
        true => i as f64 * step,
        false => ((i as f64 + 0.5) * step - 0.5).max(0.0),
    };
    let below = collected("upsample_bilinear2d", to, |i| (place(i) as i64).min(from - 1))?;
    let above = below.iter().map(|below| (below + 1).min(from - 1)).collect();
    let shares: Vec<f64> =
        (0..to).zip(&below).map(|(i, below)| (place(i) - *below as f64).clamp(0.0, 1.0)).collect();
    let mut sizes = [1; 4];
    sizes[dim as usize] = to;
    let share = Tensor::from_vec(shares, &sizes)?;
    let share =
        aten::_to_copy::with(&share).dtype(Some(image.dtype())).device(Some(image.device())).call()?;
    let pick = |index: Vec<i64>| aten::index_select(image, dim, &index_of(index, image.device())?);
    let (low, high) = (pick(below)?, pick(above)?);
    aten::add_Tensor(&low, &aten::mul_Tensor(&aten::sub_Tensor(&high, &low)?, &share)?)
}

/// A vector of indices on a device.
pub(super) fn index_of(index: Vec<i64>, device: Device) -> Result<Tensor> {
    let count = index.len() as i64;
    let index = Tensor::from_vec(index, &[count])?;
    if device == Device::CPU { Ok(index) } else { aten::_to_copy::with(&index).device(Some(device)).call() }
}
