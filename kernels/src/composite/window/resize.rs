//! Signals, images and volumes of other sizes.

use torch_library::prelude::*;

use crate::aten;
use crate::composite::{collected, crossed, vector};

/// Writes the operators that resize by a method: with sizes, with sizes or factors, and back from a gradient.
macro_rules! resizing {
    ($($name:ident $by_factors:ident $backward:ident($($scale:ident),+ $(; $align_corners:ident)?): $method:ident;)+) => {
        #[torch_impl(aten, CompositeExplicitAutograd, FuncTorchBatchedDecomposition)]
        mod derived {
            use super::*;

            $(
                fn $name(
                    this: &Tensor,
                    output_size: &[i64],
                    $($align_corners: bool,)?
                    $($scale: Option<f64>,)+
                ) -> Result<Tensor> {
                    const OPERATOR: &str = concat!("aten::", stringify!($name));
                    let method = Method::$method $({ $align_corners })?;
                    resized(OPERATOR, this, output_size, &[$($scale),+], method)
                }

                fn $backward(
                    grad_output: &Tensor,
                    output_size: &[i64],
                    input_size: &[i64],
                    $($align_corners: bool,)?
                    $($scale: Option<f64>,)+
                ) -> Result<Tensor> {
                    const OPERATOR: &str = concat!("aten::", stringify!($backward));
                    let method = Method::$method $({ $align_corners })?;
                    returned(OPERATOR, grad_output, output_size, input_size, &[$($scale),+], method)
                }
            )+
        }

        #[torch_impl(aten, CompositeImplicitAutograd)]
        mod implicit {
            use super::*;

            $(
                fn $by_factors(
                    input: &Tensor,
                    output_size: Option<&[i64]>,
                    $($align_corners: bool,)?
                    scale_factors: Option<&[f64]>,
                ) -> Result<Tensor> {
                    const OPERATOR: &str = concat!("aten::", stringify!($name), ".vec");
                    let sizes = sizes(OPERATOR, input, output_size, scale_factors)?;
                    let mut factors = scale_factors.unwrap_or_default().iter().copied();
                    $(let $scale = factors.next();)+
                    aten::$name::call(input, &sizes, $($align_corners,)? $($scale),+)
                }
            )+
        }
    };
}

resizing! {
    upsample_nearest1d upsample_nearest1d_vec upsample_nearest1d_backward(scales): Nearest;
    upsample_nearest2d upsample_nearest2d_vec upsample_nearest2d_backward(scales_h, scales_w): Nearest;
    upsample_nearest3d upsample_nearest3d_vec upsample_nearest3d_backward(scales_d, scales_h, scales_w): Nearest;
    _upsample_nearest_exact1d _upsample_nearest_exact1d_vec _upsample_nearest_exact1d_backward(scales): NearestExact;
    _upsample_nearest_exact2d _upsample_nearest_exact2d_vec _upsample_nearest_exact2d_backward(scales_h, scales_w): NearestExact;
    _upsample_nearest_exact3d _upsample_nearest_exact3d_vec _upsample_nearest_exact3d_backward(scales_d, scales_h, scales_w): NearestExact;
    upsample_linear1d upsample_linear1d_vec upsample_linear1d_backward(scales; align_corners): Linear;
    upsample_bilinear2d upsample_bilinear2d_vec upsample_bilinear2d_backward(scales_h, scales_w; align_corners): Linear;
    upsample_trilinear3d upsample_trilinear3d_vec upsample_trilinear3d_backward(scales_d, scales_h, scales_w; align_corners): Linear;
    upsample_bicubic2d upsample_bicubic2d_vec upsample_bicubic2d_backward(scales_h, scales_w; align_corners): Cubic;
}

/// How elements between those of the input are found.
#[derive(Clone, Copy)]
enum Method {
    /// The one in which the first corner of the new one lies.
    Nearest,
    /// The one in which the middle of the new one lies.
    NearestExact,
    /// On the line between two. Corners or the middles of elements lie on each other.
    Linear { align_corners: bool },
    /// On the curve through four.
    Cubic { align_corners: bool },
}

/// The sizes that are asked for, or that factors give.
fn sizes(
    operator: &str,
    input: &Tensor,
    output_size: Option<&[i64]>,
    scale_factors: Option<&[f64]>,
) -> Result<Vec<i64>> {
    match (output_size, scale_factors) {
        (Some(sizes), None) => Ok(sizes.to_vec()),
        (None, Some(factors)) => {
            let own = input.sizes().get(2..).unwrap_or_default();
            Ok(own.iter().zip(factors).map(|(size, factor)| (*size as f64 * factor) as i64).collect())
        }
        _ => bail!(Argument, "{operator}: expected either output_size or scale_factors"),
    }
}

/// Dimension by dimension; the result is in the memory format of the input.
fn resized(
    operator: &str,
    input: &Tensor,
    output_size: &[i64],
    scales: &[Option<f64>],
    method: Method,
) -> Result<Tensor> {
    let count = scales.len();
    ensure!(
        input.dim() == count + 2 && input.sizes()[1..].iter().all(|size| *size > 0),
        Shape,
        "{operator}: sizes {:?}, expected a batch, channels, and {count} dimensions with elements",
        input.sizes()
    );
    ensure!(
        output_size.len() == count && output_size.iter().all(|size| *size > 0),
        Argument,
        "{operator}: output_size {output_size:?}, expected positive numbers, {count} of them"
    );
    let is_picked = matches!(method, Method::Nearest | Method::NearestExact);
    ensure!(
        is_picked || input.dtype().is_floating_point(),
        DType,
        "{operator}: between {} there is nothing to interpolate, convert to a floating-point type",
        input.dtype()
    );
    let format = input.suggest_memory_format();
    let lines = output_size.iter().zip(scales).enumerate().map(|(at, (to, scale))| Line {
        operator,
        dim: at + 2,
        from: input.sizes()[at + 2],
        to: *to,
        scale: *scale,
    });
    if is_picked {
        let lists = lines.map(|line| line.picked(method)).collect::<Result<_>>()?;
        return aten::contiguous::with(&crossed(input, 2, lists)?).memory_format(format).call();
    }
    let mut out = input.clone();
    for line in lines {
        let parts = line.taps(method)?.into_iter().map(|tap| {
            let index = vector(tap.index, out.device())?;
            tap.weights.of(&line, &aten::index_select(&out, line.dim as i64, &index)?)
        });
        if let Some(sum) = parts.reduce(|sum, part| aten::add_Tensor(&sum?, &part?)) {
            out = sum?;
        }
    }
    match out.is_same(input) {
        true => aten::clone::with(&out).memory_format(Some(format)).call(),
        false => aten::contiguous::with(&out).memory_format(format).call(),
    }
}

/// The gradient of what was resized: each element goes back to those that it was made of.
fn returned(
    operator: &str,
    grad: &Tensor,
    output_size: &[i64],
    input_size: &[i64],
    scales: &[Option<f64>],
    method: Method,
) -> Result<Tensor> {
    let count = scales.len();
    ensure!(
        grad.dim() == count + 2
            && input_size.len() == count + 2
            && grad.sizes()[..2] == input_size[..2]
            && grad.sizes()[2..] == *output_size
            && grad.sizes()[1..].iter().chain(&input_size[1..]).all(|size| *size > 0),
        Shape,
        "{operator}: a gradient of sizes {:?} of a result of {output_size:?} from {input_size:?}",
        grad.sizes()
    );
    let mut out = grad.clone();
    for (at, (to, scale)) in output_size.iter().zip(scales).enumerate().rev() {
        let line = Line { operator, dim: at + 2, from: input_size[at + 2], to: *to, scale: *scale };
        let mut sizes = out.sizes().to_vec();
        sizes[line.dim] = line.from;
        let parts = line.taps(method)?.into_iter().try_fold(None, |sum, tap| {
            let sum = sum.map_or_else(|| aten::new_zeros(&out, &sizes), Ok)?;
            let index = vector(tap.index, out.device())?;
            aten::index_add(&sum, line.dim as i64, &index, &tap.weights.of(&line, &out)?).map(Some)
        })?;
        out = parts.unwrap_or(out);
    }
    aten::contiguous::with(&out).memory_format(grad.suggest_memory_format()).call()
}

/// A dimension, and how many elements it is to have.
struct Line<'a> {
    operator: &'a str,
    dim: usize,
    from: i64,
    to: i64,
    scale: Option<f64>,
}

/// For each new element, one of those that it is made of, and how much of it.
struct Tap {
    index: Vec<i64>,
    weights: Weights,
}

enum Weights {
    One,
    Each(Vec<f64>),
}

impl Weights {
    /// The new elements of a line, each times its weight.
    fn of(self, line: &Line<'_>, elements: &Tensor) -> Result<Tensor> {
        let Weights::Each(weights) = self else { return Ok(elements.clone()) };
        let mut sizes = vec![1; elements.dim()];
        sizes[line.dim] = line.to;
        let weights = Tensor::from_vec(weights, &sizes)?;
        let (dtype, device) = (elements.dtype(), elements.device());
        let weights = aten::_to_copy::with(&weights).dtype(Some(dtype)).device(Some(device)).call()?;
        aten::mul_Tensor(elements, &weights)
    }
}

impl Line<'_> {
    /// Indices beyond an end are that end. None if nothing changes.
    fn taps(&self, method: Method) -> Result<Vec<Tap>> {
        let is_same = self.from == self.to && !matches!(method, Method::Cubic { .. });
        let mut taps = match method {
            _ if is_same => Vec::new(), // whatever the scale says
            Method::Nearest => self.nearest(0.0)?,
            Method::NearestExact => self.nearest(0.5)?,
            Method::Linear { align_corners } => self.linear(align_corners)?,
            Method::Cubic { align_corners } => self.cubic(align_corners)?,
        };
        let indices = taps.iter_mut().flat_map(|tap| &mut tap.index);
        indices.for_each(|index| *index = (*index).clamp(0, self.from - 1));
        Ok(taps)
    }

    /// The index of each new element, where each is made of one.
    fn picked(&self, method: Method) -> Result<Vec<i64>> {
        match self.taps(method)?.into_iter().next() {
            Some(tap) => Ok(tap.index),
            None => collected(self.operator, self.to, |index| index),
        }
    }

    /// How far new elements lie from each other.
    fn step(&self, align_corners: bool) -> f64 {
        match align_corners {
            true if self.to > 1 => (self.from - 1) as f64 / (self.to - 1) as f64,
            true => 0.0,
            false => {
                let scale = self.scale.filter(|scale| *scale > 0.0);
                scale.map_or(self.from as f64 / self.to as f64, f64::recip)
            }
        }
    }

    /// Where each new element lies.
    fn places(&self, align_corners: bool) -> Result<Vec<f64>> {
        let (step, middle) = (self.step(align_corners), if align_corners { 0.0 } else { 0.5 });
        collected(self.operator, self.to, |i| (i as f64 + middle) * step - middle)
    }

    fn nearest(&self, middle: f64) -> Result<Vec<Tap>> {
        let step = self.step(false);
        let index = collected(self.operator, self.to, |i| ((i as f64 + middle) * step) as i64)?;
        Ok(vec![Tap { index, weights: Weights::One }])
    }

    fn linear(&self, align_corners: bool) -> Result<Vec<Tap>> {
        let places: Vec<f64> = self.places(align_corners)?.into_iter().map(|place| place.max(0.0)).collect();
        let below: Vec<i64> = places.iter().map(|place| (*place as i64).min(self.from - 1)).collect();
        let above = below.iter().map(|below| below + 1).collect();
        let share = |(place, below): (&f64, &i64)| (place - *below as f64).clamp(0.0, 1.0);
        let shares: Vec<f64> = places.iter().zip(&below).map(share).collect();
        let rest = Weights::Each(shares.iter().map(|share| 1.0 - share).collect());
        Ok(vec![Tap { index: below, weights: rest }, Tap { index: above, weights: Weights::Each(shares) }])
    }

    fn cubic(&self, align_corners: bool) -> Result<Vec<Tap>> {
        const BEND: f64 = -0.75;
        let near = |x: f64| ((BEND + 2.0) * x - (BEND + 3.0)) * x * x + 1.0;
        let far = |x: f64| ((BEND * x - 5.0 * BEND) * x + 8.0 * BEND) * x - 4.0 * BEND;
        let places = self.places(align_corners)?;
        let tap = |tap: i64| {
            let distances = places.iter().map(|place| (place - place.floor() - tap as f64).abs());
            let weights = distances.map(|x| if x <= 1.0 { near(x) } else { far(x) }).collect();
            let index = places.iter().map(|place| place.floor() as i64 + tap).collect();
            Tap { index, weights: Weights::Each(weights) }
        };
        Ok((-1..=2).map(tap).collect())
    }
}
