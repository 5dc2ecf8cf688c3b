//! Second derivatives of grid sampling, by operators that have derivatives themselves.
//!
//! The value of a point is the sum of its taps, each the value of a pixel times a weight, which is the product of one
//! weight for each spatial dimension.

use torch_library::geometry::saturating_numel;
use torch_library::prelude::*;

use crate::aten;
use crate::prelude::*;

/// The arguments of the sampling.
pub(super) struct Sampling<'a> {
    pub(super) input: &'a Tensor,
    pub(super) grid: &'a Tensor,
    pub(super) interpolation_mode: i64,
    pub(super) padding_mode: i64,
    pub(super) align_corners: bool,
}

/// For each point, one of the pixels that it is interpolated from, in one spatial dimension.
#[derive(Clone)]
struct AxisTap {
    /// The index of the pixel, or 0 if it is outside.
    index: Tensor,
    is_inside: Tensor,
    weight: Tensor,
    /// The first derivative of the weight with respect to the coordinate, and the second where it is not constant.
    slope: Tensor,
    curve: Option<Tensor>,
}

impl Sampling<'_> {
    /// The gradients of `grad_output`, `input` and `grid`, from those of the gradients of input and grid.
    pub(super) fn second(
        &self,
        grads: &[Option<Tensor>],
        grad_output: &Tensor,
        mask: [bool; 3],
    ) -> Result<(Option<Tensor>, Option<Tensor>, Option<Tensor>)> {
        let mut sums = [None, None, None];
        if let Some(of_input) = &grads[0] {
            if mask[0] {
                sums[0] = Some(self.sample(of_input)?);
            }
            if mask[2] {
                sums[2] = Some(self.grad_grid(grad_output, of_input)?);
            }
        }
        // The nearest pixel does not change with the grid, so there is no gradient.
        if let (Some(of_grid), 0 | 2) = (&grads[1], self.interpolation_mode) {
            self.add_of_grid(&mut sums, of_grid, grad_output, mask)?;
        }
        let [of_grad, of_input, of_grid] = sums;
        Ok((of_grad, of_input, of_grid))
    }

    fn sample(&self, image: &Tensor) -> Result<Tensor> {
        let Sampling { grid, interpolation_mode, padding_mode, align_corners, .. } = *self;
        let sample = if grid.dim() == 4 { aten::grid_sampler_2d } else { aten::grid_sampler_3d };
        sample(image, grid, interpolation_mode, padding_mode, align_corners)
    }

    fn grad_grid(&self, grad_output: &Tensor, image: &Tensor) -> Result<Tensor> {
        let Sampling { grid, interpolation_mode, padding_mode, align_corners, .. } = *self;
        let backward =
            if grid.dim() == 4 { aten::grid_sampler_2d_backward } else { aten::grid_sampler_3d_backward };
        let mask = &[false, true];
        Ok(backward(grad_output, image, grid, interpolation_mode, padding_mode, align_corners, mask)?.1)
    }

    /// Adds the contributions of the gradient of the grid's gradient, tap by tap.
    fn add_of_grid(
        &self,
        sums: &mut [Option<Tensor>; 3],
        of_grid: &Tensor,
        grad_output: &Tensor,
        mask: [bool; 3],
    ) -> Result<()> {
        let ndim = self.grid.dim() - 2;
        let directions: Vec<Vec<AxisTap>> = (0..ndim).map(|at| self.taps(at)).collect::<Result<_>>()?;
        let wanted: Vec<Tensor> = (0..ndim as i64).map(|at| of_grid.select(-1, at)).collect::<Result<_>>()?;
        let mut of_coordinates: Vec<Option<Tensor>> = vec![None; ndim];
        let mut of_pixels = None;
        for tap in combinations(&directions) {
            let pixels = Pixels::of(self.input, &tap)?;
            let change = sum((0..ndim).map(|at| wanted[at].mul(&product(&tap, &[at])?)))?;
            let change = change.unsqueeze(1)?;
            if mask[0] {
                add(&mut sums[0], pixels.values(self.input)?.mul(&change)?)?;
            }
            if mask[1] {
                add(&mut of_pixels, pixels.spread(self.input, &grad_output.mul(&change)?)?)?;
            }
            if mask[2] {
                let each = grad_output.mul(&pixels.values(self.input)?)?.sum_dim(&[1], false)?;
                for (at, sum) in of_coordinates.iter_mut().enumerate() {
                    for (other, wanted) in wanted.iter().enumerate() {
                        let change = match (at == other, &tap[at].curve) {
                            (true, None) => continue,
                            (true, Some(curve)) => product(&tap, &[at, at])?.mul(curve)?,
                            (false, _) => product(&tap, &[at, other])?,
                        };
                        add(sum, each.mul(wanted)?.mul(&change)?)?;
                    }
                }
            }
        }
        if let Some(of_pixels) = of_pixels {
            add(&mut sums[1], of_pixels.reshape(self.input.sizes())?)?;
        }
        if mask[2] {
            let zeros = aten::zeros_like(&wanted[0])?;
            let each: Vec<Tensor> =
                of_coordinates.into_iter().map(|sum| sum.unwrap_or_else(|| zeros.clone())).collect();
            add(&mut sums[2], aten::stack::call(&each, -1)?)?;
        }
        Ok(())
    }

    /// The pixels that points are interpolated from in the spatial dimension of coordinate `at`; coordinate 0 is the
    /// last spatial dimension.
    fn taps(&self, at: usize) -> Result<Vec<AxisTap>> {
        let size = self.input.size(-1 - at as i64)? as f64;
        let steps = (if self.align_corners { size - 1.0 } else { size }) / 2.0;
        let from_zero = self.grid.select(-1, at as i64)?.add(1.0)?.mul(steps)?;
        let place = if self.align_corners { from_zero } else { from_zero.sub(0.5)? };
        let fixed = place.detach()?;
        if self.interpolation_mode == 0 {
            let (moved, sign) = self.turned_in(&fixed, size)?;
            let below = moved.floor()?;
            let above = moved.sub(&below)?.add(&place.sub(&fixed)?.mul(&sign)?)?;
            let slope = sign.mul(steps)?;
            return Ok(vec![
                axis_tap(&below, size, aten::rsub_Scalar(&above, 1.into())?, slope.neg()?, None)?,
                axis_tap(&below.add(1.0)?, size, above, slope, None)?,
            ]);
        }
        let below = fixed.floor()?;
        let above = place.sub(&below)?;
        (0..4)
            .map(|tap| {
                let (pixel, _) = self.turned_in(&below.add(tap as f64 - 1.0)?, size)?;
                let [weight, slope, curve] = cubic(tap, &above)?;
                axis_tap(&pixel, size, weight, slope.mul(steps)?, Some(curve.mul(steps * steps)?))
            })
            .collect()
    }

    /// Places, moved inside according to the padding mode, and the derivative of that movement: 1, -1 where it is
    /// reflected, or 0.
    fn turned_in(&self, place: &Tensor, size: f64) -> Result<(Tensor, Tensor)> {
        let (mut place, mut sign) = (place.clone(), aten::ones_like(place)?);
        if self.padding_mode == 0 {
            return Ok((place, sign));
        }
        let (low, twice) = if self.align_corners { (0.0, 2.0 * size - 2.0) } else { (-0.5, 2.0 * size) };
        if self.padding_mode == 2 && twice > 0.0 {
            let from_low = place.sub(low)?;
            let distance = from_low.abs()?;
            let forth = aten::fmod_Scalar(&distance, twice.into())?;
            let back = aten::rsub_Scalar(&forth, twice.into())?;
            let is_back = aten::gt_Tensor(&forth, &back)?;
            place = aten::where_self(&is_back, &back, &forth)?.add(low)?;
            let turns = aten::logical_xor(&is_back, &aten::lt_Scalar(&from_low, 0.into())?)?;
            sign = aten::where_ScalarSelf(&turns, (-1).into(), &sign)?;
        }
        let is_between = inside(&place, aten::gt_Scalar, size - 1.0)?;
        let place = place.nan_to_num()?.clamp(0, size - 1.0)?;
        Ok((place, aten::where_ScalarOther(&is_between, &sign, 0.into())?))
    }
}

fn inside(place: &Tensor, above: fn(&Tensor, Scalar) -> Result<Tensor>, end: f64) -> Result<Tensor> {
    aten::logical_and(&above(place, 0.into())?, &aten::lt_Scalar(place, end.into())?)
}

fn axis_tap(
    pixel: &Tensor,
    size: f64,
    weight: Tensor,
    slope: Tensor,
    curve: Option<Tensor>,
) -> Result<AxisTap> {
    let is_inside = inside(pixel, aten::ge_Scalar, size)?;
    let index = aten::where_ScalarOther(&is_inside, pixel, 0.into())?.to_dtype(DType::Int64)?;
    Ok(AxisTap { index, is_inside, weight, slope, curve })
}

/// The weight of one of four pixels for a place that is `above` the second, with its first and second derivative.
fn cubic(tap: usize, above: &Tensor) -> Result<[Tensor; 3]> {
    const BEND: f64 = -0.75;
    let distance = match tap {
        0 => above.add(1.0)?,
        1 => above.clone(),
        2 => aten::rsub_Scalar(above, 1.into())?,
        _ => aten::rsub_Scalar(above, 2.into())?,
    };
    let [a, b, c, d] = match tap {
        0 | 3 => [BEND, -5.0 * BEND, 8.0 * BEND, -4.0 * BEND],
        _ => [BEND + 2.0, -BEND - 3.0, 0.0, 1.0],
    };
    let x = &distance;
    let weight = x.mul(a)?.add(b)?.mul(x)?.add(c)?.mul(x)?.add(d)?;
    let slope = x.mul(3.0 * a)?.add(2.0 * b)?.mul(x)?.add(c)?;
    let curve = x.mul(6.0 * a)?.add(2.0 * b)?;
    Ok([weight, if tap < 2 { slope } else { slope.neg()? }, curve])
}

/// All combinations of one pixel from each spatial dimension.
fn combinations(directions: &[Vec<AxisTap>]) -> Vec<Vec<AxisTap>> {
    directions.iter().fold(vec![Vec::new()], |taps, direction| {
        let with = |tap: &Vec<AxisTap>| {
            direction
                .iter()
                .map(|on_axis| [&tap[..], std::slice::from_ref(on_axis)].concat())
                .collect::<Vec<_>>()
        };
        taps.iter().flat_map(with).collect()
    })
}

/// The product of the slopes of the spatial dimensions in `changed` and the weights of the others; one that is in
/// `changed` twice is left out.
fn product(tap: &[AxisTap], changed: &[usize]) -> Result<Tensor> {
    let factors = tap.iter().enumerate().filter_map(|(at, on_axis)| {
        match changed.iter().filter(|changed| **changed == at).count() {
            0 => Some(&on_axis.weight),
            1 => Some(&on_axis.slope),
            _ => None,
        }
    });
    let product = factors.cloned().map(Ok).reduce(|product: Result<Tensor>, factor| product?.mul(&factor?));
    product.unwrap_or_else(|| Err(Error::new(ErrorKind::Kernel, "a grid has at least two coordinates")))
}

fn sum(parts: impl Iterator<Item = Result<Tensor>>) -> Result<Tensor> {
    let mut all = None;
    for part in parts {
        add(&mut all, part?)?;
    }
    all.ok_or_else(|| Error::new(ErrorKind::Kernel, "a grid has at least two coordinates"))
}

fn add(sum: &mut Option<Tensor>, part: Tensor) -> Result<()> {
    *sum = Some(match sum.take() {
        Some(sum) => sum.add(&part)?,
        None => part,
    });
    Ok(())
}

/// The pixels of a tap, one for each point.
struct Pixels {
    /// The index of the pixel within a channel, which is the same for all channels.
    index: Tensor,
    is_inside: Tensor,
    sizes: Vec<i64>,
}

impl Pixels {
    fn of(input: &Tensor, tap: &[AxisTap]) -> Result<Self> {
        let (mut index, mut is_inside) = (tap[0].index.clone(), tap[0].is_inside.clone());
        let mut pitch = 1;
        for (at, on_axis) in tap.iter().enumerate().skip(1) {
            pitch *= input.sizes()[input.dim() - at];
            index = index.add(&on_axis.index.mul(pitch)?)?;
            is_inside = aten::logical_and(&is_inside, &on_axis.is_inside)?;
        }
        let (n, channels) = (input.sizes()[0], input.sizes()[1]);
        let points = index.sizes()[1..].to_vec();
        let count = saturating_numel(&points);
        let index = index.reshape(&[n, 1, count])?.expand(&[n, channels, count])?;
        Ok(Pixels {
            index,
            is_inside: is_inside.unsqueeze(1)?,
            sizes: [&[n, channels], &points[..]].concat(),
        })
    }

    fn channels(&self, tensor: &Tensor) -> Result<Tensor> {
        tensor.reshape(&[tensor.sizes()[0], tensor.sizes()[1], -1])
    }

    /// The values of the pixels, with zeros outside.
    fn values(&self, input: &Tensor) -> Result<Tensor> {
        let values = self.channels(input)?.gather(2, &self.index)?.reshape(&self.sizes)?;
        aten::where_ScalarOther(&self.is_inside, &values, 0.into())
    }

    /// The gradient of the input from those of the points: adds each to its pixel.
    fn spread(&self, input: &Tensor, grads: &Tensor) -> Result<Tensor> {
        let grads = aten::where_ScalarOther(&self.is_inside, grads, 0.into())?;
        let count = saturating_numel(&input.sizes()[2..]);
        let zeros = aten::new_zeros(&grads, &[self.sizes[0], self.sizes[1], count])?;
        aten::scatter_add(&zeros, 2, &self.index, &self.channels(&grads)?)
    }
}
