//! Antialiased resizing: each pixel is a mean over all that it covers, computed as products with a matrix of weights on
//! both sides.

use std::f64::consts::PI;

use torch_library::prelude::*;

use crate::aten;
use crate::composite::collected;
use crate::fixed_point::FixedPoint;

/// Writes kernels for some keys of the operators of each filter, and of those of their gradients, from two functions.
macro_rules! resizing {
    ([$($key:ident),+] $forth:path, $back:path) => {
        resizing! {
            [$($key),+] $forth, $back;
            _upsample_bilinear2d_aa _upsample_bilinear2d_aa_backward: LINEAR true;
            _upsample_bicubic2d_aa _upsample_bicubic2d_aa_backward: CUBIC false;
            _upsample_lanczos2d_aa _upsample_lanczos2d_aa_backward: LANCZOS false;
        }
    };
    ([$($key:ident),+] $forth:path, $back:path;
        $($name:ident $backward:ident: $curve:ident $keeps_format:literal;)+) => {
        #[torch_impl(aten, $($key),+)]
        mod kernels {
            use super::*;

            $(
                fn $name(
                    this: &Tensor,
                    output_size: &[i64],
                    align_corners: bool,
                    scales_h: Option<f64>,
                    scales_w: Option<f64>,
                ) -> Result<Tensor> {
                    let (operator, curve, scales) = (aten::$name::NAME, $curve, [scales_h, scales_w]);
                    let resizing = Resizing { operator, curve, align_corners, scales, keeps_format: $keeps_format };
                    $forth(&resizing, this, output_size)
                }

                fn $backward(
                    grad_output: &Tensor,
                    output_size: &[i64],
                    input_size: &[i64],
                    align_corners: bool,
                    scales_h: Option<f64>,
                    scales_w: Option<f64>,
                ) -> Result<Tensor> {
                    let (operator, curve, scales) = (aten::$backward::NAME, $curve, [scales_h, scales_w]);
                    let resizing = Resizing { operator, curve, align_corners, scales, keeps_format: $keeps_format };
                    $back(&resizing, grad_output, output_size, input_size)
                }
            )+
        }
    };
}
pub(crate) use resizing;

// Operators with derivatives of their own.
resizing! { [CompositeExplicitAutograd, FuncTorchBatchedDecomposition] Resizing::forth, Resizing::back }

/// An interpolation filter: the weight of a pixel by its distance, and the distance beyond which it is zero.
pub(crate) struct Curve {
    support: f64,
    weight: fn(f64) -> f64,
}

pub(crate) const LINEAR: Curve = Curve { support: 1.0, weight: |distance| (1.0 - distance).max(0.0) };

/// The cubic convolution that image libraries use, with the parameter -1/2.
pub(crate) const CUBIC: Curve = Curve {
    support: 2.0,
    weight: |x| match x {
        x if x < 1.0 => (1.5 * x - 2.5) * x * x + 1.0,
        x if x < 2.0 => ((-0.5 * x + 2.5) * x - 4.0) * x + 2.0,
        _ => 0.0,
    },
};

/// The ideal filter, in the window of its three first periods.
pub(crate) const LANCZOS: Curve = Curve {
    support: 3.0,
    weight: |x| match x * PI {
        0.0 => 1.0,
        angle if x < 3.0 => angle.sin() / angle * (angle / 3.0).sin() / (angle / 3.0),
        _ => 0.0,
    },
};

/// The arguments of a resizing operator.
pub(crate) struct Resizing {
    pub(crate) operator: &'static str,
    pub(crate) curve: Curve,
    pub(crate) align_corners: bool,
    pub(crate) scales: [Option<f64>; 2],
    /// Whether the gradient of the input has the memory format of the result's gradient.
    pub(crate) keeps_format: bool,
}

/// The weights of each new element, for a run of old ones.
pub(crate) struct Bands<T> {
    /// The first old element of each run.
    pub(crate) starts: Vec<usize>,
    /// Where the weights of each run begin, and where those of the last end.
    pub(crate) offsets: Vec<usize>,
    pub(crate) weights: Vec<T>,
}

impl<T: Copy> Bands<T> {
    /// The weights of a new element.
    pub(crate) fn of(&self, new: usize) -> &[T] {
        &self.weights[self.offsets[new]..self.offsets[new + 1]]
    }

    /// The weights with which each of `old` elements counts in the new ones.
    pub(crate) fn transposed(&self, old: usize) -> Self {
        let mut columns = vec![(0, Vec::new()); old];
        for (new, start) in self.starts.iter().enumerate() {
            for ((first, weights), weight) in columns[*start..].iter_mut().zip(self.of(new)) {
                *first = if weights.is_empty() { new } else { *first };
                weights.push(*weight);
            }
        }
        let mut bands = Bands { starts: Vec::new(), offsets: vec![0], weights: Vec::new() };
        for (first, weights) in columns {
            bands.starts.push(first);
            bands.weights.extend(weights);
            bands.offsets.push(bands.weights.len());
        }
        bands
    }

    /// The same runs with other weights.
    pub(crate) fn with<U>(self, weights: Vec<U>) -> Bands<U> {
        Bands { starts: self.starts, offsets: self.offsets, weights }
    }
}

impl Resizing {
    /// The height and width before and after.
    ///
    /// # Errors
    /// No images, or sizes without elements; a dtype without a kernel, unless the sizes stay the same.
    pub(crate) fn sizes(&self, input: &Tensor, output_size: &[i64]) -> Result<[[i64; 2]; 2]> {
        let &[_, channels, height, width] = input.sizes() else {
            bail!(Shape, "{}: sizes {:?}, expected a batch of images", self.operator, input.sizes())
        };
        let &[new_height, new_width] = output_size else {
            bail!(Argument, "{}: output_size is {output_size:?}, expected two numbers", self.operator)
        };
        self.check([channels, height, width], [new_height, new_width])?;
        let (from, to) = ([height, width], [new_height, new_width]);
        if from != to && input.dtype() != DType::UInt8 {
            self.check_type(input.dtype())?;
        }
        Ok([from, to])
    }

    fn forth(&self, input: &Tensor, output_size: &[i64]) -> Result<Tensor> {
        let [from, to] = self.sizes(input, output_size)?;
        let format = input.suggest_memory_format();
        if from == to {
            return aten::clone::with(input).memory_format(format).call(); // in any dtype, whatever the scales
        }
        let is_bytes = input.dtype() == DType::UInt8;
        let mut out = if is_bytes { aten::to_dtype(input, DType::Int32)? } else { input.clone() };
        for direction in [1, 0].into_iter().filter(|direction| from[*direction] != to[*direction]) {
            out = match (is_bytes, direction) {
                (true, _) => self.bytes_along(direction, &out, (from, to))?,
                (false, 0) => self.along_columns(&out, (from, to), false)?,
                (false, _) => self.along_rows(&out, (from, to), false)?,
            };
        }
        aten::contiguous::with(&aten::to_dtype(&out, input.dtype())?).memory_format(format).call()
    }

    /// The height and width of the input and of the result, for gradients.
    ///
    /// # Errors
    /// Sizes that are not those of images, or not those of the gradient; a dtype without a kernel.
    pub(crate) fn sizes_back(
        &self,
        grad: &Tensor,
        output_size: &[i64],
        input_size: &[i64],
    ) -> Result<[[i64; 2]; 2]> {
        let (&[batch, channels, height, width], &[new_height, new_width]) = (input_size, output_size) else {
            bail!(
                Argument,
                "{}: output_size is {output_size:?} and input_size {input_size:?}, expected two and four numbers",
                self.operator
            )
        };
        self.check([channels, height, width], [new_height, new_width])?;
        ensure!(
            grad.sizes() == [batch, channels, new_height, new_width],
            Shape,
            "{}: a gradient of sizes {:?} of a result of {output_size:?} from {input_size:?}",
            self.operator,
            grad.sizes()
        );
        self.check_type(grad.dtype())?;
        Ok([[height, width], [new_height, new_width]])
    }

    /// The gradient of the input: the gradient of each pixel is distributed to the pixels that it was made of.
    fn back(&self, grad: &Tensor, output_size: &[i64], input_size: &[i64]) -> Result<Tensor> {
        let [from, to] = self.sizes_back(grad, output_size, input_size)?;
        let from_to = (from, to);
        let out = self.along_columns(&self.along_rows(grad, from_to, true)?, from_to, true)?;
        let format = if self.keeps_format { grad.suggest_memory_format() } else { MemoryFormat::Contiguous };
        aten::contiguous::with(&out).memory_format(format).call()
    }

    fn check(&self, from: [i64; 3], to: [i64; 2]) -> Result<()> {
        ensure!(
            from.iter().chain(&to).all(|size| *size > 0),
            Shape,
            "{}: from {from:?} to {to:?}, expected channels and sizes with elements",
            self.operator
        );
        Ok(())
    }

    fn check_type(&self, dtype: DType) -> Result<()> {
        ensure!(
            matches!(dtype, DType::Float32 | DType::Float64),
            DType,
            "{} is not implemented for {dtype}",
            self.operator
        );
        Ok(())
    }

    fn along_rows(&self, images: &Tensor, from_to: ([i64; 2], [i64; 2]), is_back: bool) -> Result<Tensor> {
        aten::matmul(images, &aten::t(&self.matrix(1, images, from_to, is_back)?)?)
    }

    fn along_columns(&self, images: &Tensor, from_to: ([i64; 2], [i64; 2]), is_back: bool) -> Result<Tensor> {
        aten::matmul(&self.matrix(0, images, from_to, is_back)?, images)
    }

    /// Weighted means of bytes in one spatial dimension, rounded to bytes again.
    fn bytes_along(
        &self,
        direction: usize,
        images: &Tensor,
        (from, to): ([i64; 2], [i64; 2]),
    ) -> Result<Tensor> {
        let fixed = FixedPoint::new(&self.weights(direction, from[direction], to[direction])?);
        let half = fixed.half();
        let matrix = Tensor::from_vec(fixed.weights, &[to[direction], from[direction]])?;
        let matrix = aten::_to_copy::with(&matrix).device(images.device()).call()?;
        let sums = match direction {
            0 => aten::matmul(&matrix, images)?,
            _ => aten::matmul(images, &aten::t(&matrix)?)?,
        };
        let sums = aten::add_Scalar(&sums, i64::from(half).into())?;
        let means = aten::__rshift___Scalar(&sums, i64::from(fixed.precision).into())?;
        aten::clamp::call(&means, Some(0.into()), Some(255.into()))
    }

    fn matrix(
        &self,
        direction: usize,
        images: &Tensor,
        (from, to): ([i64; 2], [i64; 2]),
        is_back: bool,
    ) -> Result<Tensor> {
        let weights = self.weights(direction, from[direction], to[direction])?;
        let weights = Tensor::from_vec(weights, &[to[direction], from[direction]])?;
        let like = aten::_to_copy::with(&weights).dtype(images.dtype()).device(images.device());
        if is_back { aten::t(&like.call()?) } else { like.call() }
    }

    /// The matrix of weights, with a row for each new element and a column for each old one.
    fn weights(&self, direction: usize, from: i64, to: i64) -> Result<Vec<f64>> {
        let bands = self.bands(direction, from, to)?;
        let count = from.checked_mul(to).unwrap_or(i64::MAX);
        let mut weights = collected(self.operator, count, |_| 0.0)?;
        for (new, row) in weights.chunks_mut(from as usize).enumerate() {
            let run = bands.of(new);
            row[bands.starts[new]..][..run.len()].copy_from_slice(run);
        }
        Ok(weights)
    }

    /// The weights of each new element.
    ///
    /// # Errors
    /// No memory for them.
    pub(crate) fn bands(&self, direction: usize, from: i64, to: i64) -> Result<Bands<f64>> {
        let scale = match (self.align_corners, self.scales[direction]) {
            (true, _) if to > 1 => (from - 1) as f64 / (to - 1) as f64,
            (true, _) => 0.0,
            (false, Some(scale)) if scale > 0.0 => 1.0 / scale,
            (false, _) => from as f64 / to as f64,
        };
        let support = self.curve.support * scale.max(1.0);
        let shrink = if scale >= 1.0 { 1.0 / scale } else { 1.0 };
        let ends = |new: i64| {
            let centre = scale * (new as f64 + 0.5);
            let start = ((centre - support + 0.5) as i64).clamp(0, from);
            (centre, start, ((centre + support + 0.5) as i64).clamp(start, from))
        };
        let starts = collected(self.operator, to, |new| ends(new).1 as usize)?;
        let mut offsets = collected(self.operator, to.saturating_add(1), |_| 0usize)?;
        let mut count = 0i64;
        for (new, offset) in (0..to).zip(&mut offsets[1..]) {
            let (_, start, end) = ends(new);
            count = count.saturating_add(end - start);
            *offset = count as usize;
        }
        let mut weights = collected(self.operator, count, |_| 0.0)?;
        for new in 0..to as usize {
            let (centre, start, _) = ends(new as i64);
            let run = &mut weights[offsets[new]..offsets[new + 1]];
            for (place, weight) in (start..).zip(&mut *run) {
                *weight = (self.curve.weight)(((place as f64 - centre + 0.5) * shrink).abs());
            }
            let total: f64 = run.iter().sum();
            if total != 0.0 {
                run.iter_mut().for_each(|weight| *weight /= total);
            }
        }
        Ok(Bands { starts, offsets, weights })
    }
}
