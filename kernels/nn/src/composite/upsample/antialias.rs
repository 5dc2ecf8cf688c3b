//! Antialiased resizing: each pixel is a mean over all that it covers, computed as products with a matrix of weights on
//! both sides.

use std::f64::consts::PI;

use torch_library::prelude::*;

use crate::aten;
use crate::composite::collected;
use crate::fixed_point::FixedPoint;

/// Writes the operators of an interpolation filter, and those of their gradients.
macro_rules! resizing {
    ($($name:ident $backward:ident: $curve:ident $keeps_format:literal;)+) => {
        /// Operators with derivatives of their own.
        #[torch_impl(aten, CompositeExplicitAutograd, FuncTorchBatchedDecomposition)]
        mod derived {
            use super::*;

            $(
                fn $name(
                    this: &Tensor,
                    output_size: &[i64],
                    align_corners: bool,
                    scales_h: Option<f64>,
                    scales_w: Option<f64>,
                ) -> Result<Tensor> {
                    let operator = aten::$name::NAME;
                    let scales = [scales_h, scales_w];
                    Resizing { operator, curve: $curve, align_corners, scales, keeps_format: $keeps_format }
                        .forth(this, output_size)
                }

                fn $backward(
                    grad_output: &Tensor,
                    output_size: &[i64],
                    input_size: &[i64],
                    align_corners: bool,
                    scales_h: Option<f64>,
                    scales_w: Option<f64>,
                ) -> Result<Tensor> {
                    let operator = aten::$backward::NAME;
                    let scales = [scales_h, scales_w];
                    Resizing { operator, curve: $curve, align_corners, scales, keeps_format: $keeps_format }
                        .back(grad_output, output_size, input_size)
                }
            )+
        }
    };
}

resizing! {
    _upsample_bilinear2d_aa _upsample_bilinear2d_aa_backward: LINEAR true;
    _upsample_bicubic2d_aa _upsample_bicubic2d_aa_backward: CUBIC false;
    _upsample_lanczos2d_aa _upsample_lanczos2d_aa_backward: LANCZOS false;
}

/// An interpolation filter: the weight of a pixel by its distance, and the distance beyond which it is zero.
struct Curve {
    support: f64,
    weight: fn(f64) -> f64,
}

const LINEAR: Curve = Curve { support: 1.0, weight: |distance| (1.0 - distance).max(0.0) };

/// The cubic convolution that image libraries use, with the parameter -1/2.
const CUBIC: Curve = Curve {
    support: 2.0,
    weight: |x| match x {
        x if x < 1.0 => (1.5 * x - 2.5) * x * x + 1.0,
        x if x < 2.0 => ((-0.5 * x + 2.5) * x - 4.0) * x + 2.0,
        _ => 0.0,
    },
};

/// The ideal filter, in the window of its three first periods.
const LANCZOS: Curve = Curve {
    support: 3.0,
    weight: |x| match x * PI {
        0.0 => 1.0,
        angle if x < 3.0 => angle.sin() / angle * (angle / 3.0).sin() / (angle / 3.0),
        _ => 0.0,
    },
};

/// The arguments of a resizing operator.
struct Resizing {
    operator: &'static str,
    curve: Curve,
    align_corners: bool,
    scales: [Option<f64>; 2],
    /// Whether the gradient of the input has the memory format of the result's gradient.
    keeps_format: bool,
}

impl Resizing {
    fn forth(&self, input: &Tensor, output_size: &[i64]) -> Result<Tensor> {
        let &[_, channels, height, width] = input.sizes() else {
            bail!(Shape, "{}: sizes {:?}, expected a batch of images", self.operator, input.sizes())
        };
        let &[new_height, new_width] = output_size else {
            bail!(Argument, "{}: output_size is {output_size:?}, expected two numbers", self.operator)
        };
        self.check([channels, height, width], [new_height, new_width])?;
        let (from, to) = ([height, width], [new_height, new_width]);
        let format = input.suggest_memory_format();
        if from == to {
            return aten::clone::with(input).memory_format(Some(format)).call(); // in any dtype, whatever the scales
        }
        let is_bytes = input.dtype() == DType::UInt8;
        if !is_bytes {
            self.check_type(input.dtype())?;
        }
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

    /// The gradient of the input: the gradient of each pixel is distributed to the pixels that it was made of.
    fn back(&self, grad: &Tensor, output_size: &[i64], input_size: &[i64]) -> Result<Tensor> {
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
        let from_to = ([height, width], [new_height, new_width]);
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
        let matrix = aten::_to_copy::with(&matrix).device(Some(images.device())).call()?;
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
        let like = aten::_to_copy::with(&weights).dtype(Some(images.dtype())).device(Some(images.device()));
        if is_back { aten::t(&like.call()?) } else { like.call() }
    }

    /// The matrix of weights, with a row for each new element and a column for each old one.
    fn weights(&self, direction: usize, from: i64, to: i64) -> Result<Vec<f64>> {
        let scale = match (self.align_corners, self.scales[direction]) {
            (true, _) if to > 1 => (from - 1) as f64 / (to - 1) as f64,
            (true, _) => 0.0,
            (false, Some(scale)) if scale > 0.0 => 1.0 / scale,
            (false, _) => from as f64 / to as f64,
        };
        let support = self.curve.support * scale.max(1.0);
        let shrink = if scale >= 1.0 { 1.0 / scale } else { 1.0 };
        let count = from.checked_mul(to).unwrap_or(i64::MAX);
        let mut weights = collected(self.operator, count, |_| 0.0)?;
        for (new, row) in weights.chunks_mut(from as usize).enumerate() {
            let centre = scale * (new as f64 + 0.5);
            let start = ((centre - support + 0.5) as i64).clamp(0, from);
            let end = ((centre + support + 0.5) as i64).clamp(start, from);
            let places = start as usize..end as usize;
            for place in places.clone() {
                row[place] = (self.curve.weight)(((place as f64 - centre + 0.5) * shrink).abs());
            }
            let total: f64 = row[places.clone()].iter().sum();
            if total != 0.0 {
                row[places].iter_mut().for_each(|weight| *weight /= total);
            }
        }
        Ok(weights)
    }
}
