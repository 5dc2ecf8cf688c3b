//! Images at the points of a grid.

use torch_library::geometry::numel;
use torch_library::prelude::*;

use crate::aten;

#[torch_impl(aten, CompositeImplicitAutograd)]
mod implicit {
    use super::*;

    fn grid_sampler(
        input: &Tensor,
        grid: &Tensor,
        interpolation_mode: i64,
        padding_mode: i64,
        align_corners: bool,
    ) -> Result<Tensor> {
        aten::grid_sampler_2d(input, grid, interpolation_mode, padding_mode, align_corners)
    }

    fn grid_sampler_2d(
        input: &Tensor,
        grid: &Tensor,
        interpolation_mode: i64,
        padding_mode: i64,
        align_corners: bool,
    ) -> Result<Tensor> {
        const OPERATOR: &str = "aten::grid_sampler_2d";
        ensure!(
            (0..=1).contains(&interpolation_mode) && (0..=2).contains(&padding_mode),
            Argument,
            "{OPERATOR}: interpolation {interpolation_mode} and padding {padding_mode}, expected 0 or 1, and 0 to 2"
        );
        let (&[n, _, height, width], &[batch, _, _, 2]) = (input.sizes(), grid.sizes()) else {
            bail!(
                Shape,
                "{OPERATOR}: images of sizes {:?} and a grid of sizes {:?}, expected [n, c, h, w] and [n, h, w, 2]",
                input.sizes(),
                grid.sizes()
            )
        };
        ensure!(
            n == batch && height > 0 && width > 0 && input.dtype() == grid.dtype(),
            Argument,
            "{OPERATOR}: {} of sizes {:?} and a grid of {} and sizes {:?} do not fit",
            input.dtype(),
            input.sizes(),
            grid.dtype(),
            grid.sizes()
        );
        let axis =
            |at, size| Axis { size, padding_mode, align_corners }.place(&aten::select_int(grid, -1, at)?);
        let (x, y) = (axis(0, width)?, axis(1, height)?);
        if interpolation_mode == 1 {
            return aten::contiguous(&pixel(input, &aten::round(&x)?, &aten::round(&y)?)?);
        }
        let (left, top) = (aten::floor(&x)?, aten::floor(&y)?);
        let (right, bottom) = (aten::add_Scalar(&left, 1.into())?, aten::add_Scalar(&top, 1.into())?);
        let mut sum: Option<Tensor> = None;
        // Each of four pixels counts by the area opposite to it.
        for (at, across) in [(&left, &right), (&right, &left)] {
            for (down, up) in [(&top, &bottom), (&bottom, &top)] {
                let share = aten::mul_Tensor(
                    &aten::abs(&aten::sub_Tensor(across, &x)?)?,
                    &aten::abs(&aten::sub_Tensor(up, &y)?)?,
                )?;
                let part = aten::mul_Tensor(&pixel(input, at, down)?, &aten::unsqueeze(&share, 1)?)?;
                sum = Some(match sum {
                    None => part,
                    Some(sum) => aten::add_Tensor(&sum, &part)?,
                });
            }
        }
        let sum = sum.ok_or_else(|| Error::new(ErrorKind::Kernel, "four pixels make a sum"))?;
        aten::contiguous(&sum)
    }
}

/// One direction of an image.
struct Axis {
    size: i64,
    padding_mode: i64,
    align_corners: bool,
}

impl Axis {
    /// From coordinates between -1 and 1 to pixels, those outside moved in unless zeros are there.
    fn place(&self, coordinate: &Tensor) -> Result<Tensor> {
        let size = self.size as f64;
        let from_zero = aten::add_Scalar(coordinate, 1.into())?;
        let place = match self.align_corners {
            true => aten::mul_Scalar(&aten::div_Scalar(&from_zero, 2.into())?, (size - 1.0).into())?,
            false => {
                let scaled = aten::sub_Scalar(&aten::mul_Scalar(&from_zero, size.into())?, 1.into())?;
                aten::div_Scalar(&scaled, 2.into())?
            }
        };
        match self.padding_mode {
            0 => Ok(place),
            1 => self.clipped(&place),
            _ => {
                let (low, high) = if self.align_corners { (0.0, size - 1.0) } else { (-0.5, size - 0.5) };
                self.clipped(&reflected(&place, low, high)?)
            }
        }
    }

    fn clipped(&self, place: &Tensor) -> Result<Tensor> {
        aten::clamp::call(place, Some(0.into()), Some((self.size - 1).into()))
    }
}

/// To and fro between two bounds.
fn reflected(place: &Tensor, low: f64, high: f64) -> Result<Tensor> {
    let span = high - low;
    if span == 0.0 {
        return aten::zeros_like(place);
    }
    let distance = aten::abs(&aten::sub_Scalar(place, low.into())?)?;
    let rest = aten::fmod_Scalar(&distance, span.into())?;
    let turns = aten::floor(&aten::div_Scalar(&distance, span.into())?)?;
    let is_forth = aten::eq_Scalar(&aten::fmod_Scalar(&turns, 2.into())?, 0.into())?;
    let forth = aten::add_Scalar(&rest, low.into())?;
    aten::where_self(&is_forth, &forth, &aten::rsub_Scalar(&rest, high.into())?)
}

/// The pixels at whole coordinates, zeros outside.
fn pixel(input: &Tensor, x: &Tensor, y: &Tensor) -> Result<Tensor> {
    let &[n, c, height, width] = input.sizes() else { return Ok(input.clone()) };
    let inside = |place: &Tensor, size: i64| {
        aten::logical_and(&aten::ge_Scalar(place, 0.into())?, &aten::lt_Scalar(place, size.into())?)
    };
    let is_inside = aten::logical_and(&inside(x, width)?, &inside(y, height)?)?;
    let index = |place: &Tensor, size: i64| {
        let place = aten::clamp::call(&aten::detach(place)?, Some(0.into()), Some((size - 1).into()))?;
        aten::to_dtype(&aten::nan_to_num(&place)?, DType::Int64)
    };
    let (x, y) = (index(x, width)?, index(y, height)?);
    let flat = aten::add_Tensor(&aten::mul_Scalar(&y, width.into())?, &x)?;
    let count = numel(&flat.sizes()[1..])?;
    let flat = aten::expand(&aten::reshape(&flat, &[n, 1, count])?, &[n, c, count])?;
    let pixels = aten::gather(&aten::reshape(input, &[n, c, height * width])?, 2, &flat)?;
    let pixels = aten::reshape(&pixels, &[&[n, c], &x.sizes()[1..]].concat())?;
    aten::where_ScalarOther(&aten::unsqueeze(&is_inside, 1)?, &pixels, 0.into())
}
