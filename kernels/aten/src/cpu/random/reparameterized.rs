//! How random numbers of gamma and beta distributions move with the parameters of the distributions, if they keep
//! their quantiles: `-(∂F/∂parameter) / f`, of the distribution function `F` and the density `f`. Neither has a closed
//! form, so there are series for numbers near the ends, expansions at saddle points for large parameters, and fitted
//! fractions of polynomials for the rest.

use num_traits::Float;
use torch_library::Element;
use torch_library::match_dtype;
use torch_library::prelude::*;

use crate::aten;
use crate::functions::Gamma;
use crate::loops::Pointwise;
use crate::loops::pointwise::unsupported;

#[torch_impl(aten, CPU, Meta)]
mod kernels {
    use super::*;

    fn _standard_gamma_grad(this: &Tensor, output: &Tensor) -> Result<Tensor> {
        let [this, output] = row_major(aten::_standard_gamma_grad::NAME, [this, output])?;
        let call = Pointwise::promoting(aten::_standard_gamma_grad::NAME, [&this, &output])?;
        match_dtype!(call.dtype, T: Float => {
            call.compute(None, T::DTYPE, |[shape, x]: [T; 2]| of_gamma(shape.cast(), x.cast()).cast::<T>())
        }, else => Err(call.unsupported()))
    }

    fn _dirichlet_grad(x: &Tensor, alpha: &Tensor, total: &Tensor) -> Result<Tensor> {
        let [x, alpha, total] = row_major(aten::_dirichlet_grad::NAME, [x, alpha, total])?;
        let call = Pointwise::promoting(aten::_dirichlet_grad::NAME, [&x, &alpha, &total])?;
        match call.dtype {
            DType::Float32 => {
                call.compute(None, call.dtype, |[x, alpha, total]: [f32; 3]| of_dirichlet(x, alpha, total))
            }
            _ => call.compute(None, call.dtype, |[x, alpha, total]: [f64; 3]| of_dirichlet(x, alpha, total)),
        }
    }
}

/// Operands of one dtype, row-major, so that the result is, too.
fn row_major<const N: usize>(operator: &str, operands: [&Tensor; N]) -> Result<[Tensor; N]> {
    let dtype = operands[0].dtype();
    if !matches!(dtype, DType::Float32 | DType::Float64) {
        return Err(unsupported(operator, dtype));
    }
    if let Some(other) = operands.iter().find(|operand| operand.dtype() != dtype) {
        bail!(DType, "{operator}: tensors of {dtype} and {}, expected one dtype", other.dtype())
    }
    let mut copies = operands.map(Tensor::clone);
    for copy in &mut copies {
        *copy = aten::contiguous(copy)?;
    }
    Ok(copies)
}

/// The derivative of a number from the gamma distribution of this shape with respect to the shape.
///
/// PyTorch: `standard_gamma_grad_one`, which has these thresholds in single precision.
fn of_gamma(shape: f64, x: f64) -> f64 {
    if x < f64::from(0.8f32) {
        of_small_gamma(shape, x)
    } else if shape > 8.0 {
        of_gamma_of_large_shape(shape, x)
    } else {
        let (u, v) = ((x / shape).ln(), shape.ln());
        let [a, b, c] = &GAMMA;
        let of_u: [f64; 8] = std::array::from_fn(|i| a[i] + u * (b[i] + u * c[i]));
        let [p, q] = [&of_u[..4], &of_u[4..]].map(|factors| polynomial(factors, v));
        (p / q).exp()
    }
}

/// By the Taylor series of the distribution function.
fn of_small_gamma(shape: f64, x: f64) -> f64 {
    let (mut numerator, mut denominator) = (1.0, shape);
    let (mut series, mut squares) = (1.0 / shape, 1.0 / (shape * shape));
    for i in 1..=5 {
        numerator *= -x / f64::from(i);
        denominator += 1.0;
        series += numerator / denominator;
        squares += numerator / (denominator * denominator);
    }
    let power = x.powf(shape);
    let density = x.powf(shape - 1.0) * (-x).exp();
    let slope = (x.ln() - shape.digamma()) * (power * series) - power * squares;
    or_zero(-slope / density)
}

/// By Rice's expansion at the saddle point.
fn of_gamma_of_large_shape(shape: f64, x: f64) -> f64 {
    if f64::from(0.9f32) * shape <= x && x <= f64::from(1.1f32) * shape {
        let square = shape * shape;
        let first = 1.0 + 24.0 * shape * (1.0 + 12.0 * shape);
        let second = 1440.0 * square + 6.0 * x * (53.0 - 120.0 * x) - 65.0 * x * x / shape
            + shape * (107.0 + 3600.0 * x);
        return first * second / (1_244_160.0 * square * square);
    }
    let (root, logarithm, distance) = ((8.0 * shape).sqrt(), (x / shape).ln(), shape - x);
    let power = (x - shape - shape * logarithm).powf(-1.5);
    let terms = root / distance + if x < shape { -power } else { power };
    let term = logarithm * terms - (2.0 / shape).sqrt() * (shape + x) / (distance * distance);
    let stirling = 1.0 + 1.0 / (12.0 * shape) * (1.0 + 1.0 / (24.0 * shape));
    -stirling * (x * term) / root
}

/// The derivative of a number from the beta distribution of `alpha` and `total - alpha` with respect to `alpha`,
/// divided by `1 - x`.
///
/// PyTorch: `dirichlet_grad_one`.
fn of_dirichlet<T: Element + Float + Gamma>(x: T, alpha: T, total: T) -> T {
    let beta = total - alpha;
    let to_ends = (total * x * (T::one() - x)).cast::<f64>();
    let half = 0.5.cast::<T>();
    let [wide_x, wide_alpha, wide_total]: [f64; 3] = [x, alpha, total].map(|number| number.cast());
    let wide_beta = wide_total - wide_alpha;
    if x <= half && to_ends < 2.5 {
        of_beta_near_zero(x, alpha, beta)
    } else if x >= half && to_ends < 0.75 {
        -of_beta_near_zero_by_beta(T::one() - x, beta, alpha)
    } else if wide_alpha > 6.0 && wide_beta > 6.0 {
        of_beta_of_large_parameters(wide_x, wide_alpha, wide_beta).cast()
    } else {
        let u = wide_x.ln();
        let a = wide_alpha.ln() - u;
        let b = wide_total.ln() - a;
        let [p, q] = BETA.map(|factors| {
            let places = factors
                .as_flattened()
                .iter()
                .zip([1.0, u, u * u].into_iter().flat_map(|u| [1.0, a, a * a].map(|a| u * a)));
            places.map(|(factors, place)| place * polynomial(factors, b)).sum::<f64>()
        });
        let rough = wide_x * (total.digamma() - alpha.digamma()).cast::<f64>() / wide_beta;
        (p / q * rough).cast()
    }
}

/// With respect to `alpha`, by the Taylor series at zero.
fn of_beta_near_zero<T: Element + Float + Gamma>(x: T, alpha: T, beta: T) -> T {
    let factor = alpha.digamma() - (alpha + beta).digamma() - x.ln();
    let mut numerator = T::one();
    let mut series = numerator / alpha * (factor + T::one() / alpha);
    for i in 1..=10 {
        let i: T = i.cast();
        numerator = numerator * ((i - beta) * x / i);
        let denominator = alpha + i;
        series = series + numerator / denominator * (factor + T::one() / denominator);
    }
    or_zero(x * (T::one() - x).powf(-beta) * series)
}

/// With respect to `beta`, by the Taylor series at zero.
fn of_beta_near_zero_by_beta<T: Element + Float + Gamma>(x: T, alpha: T, beta: T) -> T {
    let factor = (alpha + beta).digamma() - beta.digamma();
    let (mut numerator, mut product, mut slope, mut series) = (T::one(), T::one(), T::zero(), factor / alpha);
    for i in 1..=8 {
        let i: T = i.cast();
        numerator = numerator * (-x / i);
        slope = slope * (beta - i) + product;
        product = product * (beta - i);
        series = series + numerator / (alpha + i) * (slope + factor * product);
    }
    or_zero(-(T::one() - x).powf(T::one() - beta) * series)
}

/// With respect to `alpha`, by Rice's expansion at the saddle point.
fn of_beta_of_large_parameters(x: f64, alpha: f64, beta: f64) -> f64 {
    let total = alpha + beta;
    let mean = alpha / total;
    let deviation = (alpha * beta / (total + 1.0)).sqrt() / total;
    if (x - mean).abs() <= 0.1 * deviation {
        return of_beta_at_mean(x, alpha, beta);
    }
    let stirling = |n: f64| 1.0 + 1.0 / (12.0 * n) + 1.0 / (288.0 * n * n);
    let distance = alpha * (x - 1.0) + beta * x;
    let first = (2.0 * (alpha * alpha) * (x - 1.0) + alpha * beta * (x - 1.0) - x * (beta * beta))
        / ((2.0 * alpha / beta).sqrt() * total.powf(1.5) * distance * distance);
    let second = 0.5 * (alpha / (total * x)).ln();
    let third = (8.0 * alpha * beta / total).sqrt() / distance;
    let base = beta * (beta / (total * (1.0 - x))).ln() + alpha * (alpha / (total * x)).ln();
    let fourth = base.powf(-1.5);
    let terms = first + second * (third + if x < mean { fourth } else { -fourth });
    stirling(alpha) * stirling(beta) / stirling(total) * (-x / (2.0 * alpha * beta / total).sqrt()) * terms
}

/// [`of_beta_of_large_parameters`] near the mean, where that is singular.
fn of_beta_at_mean(x: f64, alpha: f64, beta: f64) -> f64 {
    let (total, square) = (alpha + beta, beta * beta);
    let polynomial = polynomial(
        &[
            47.0 * x * square * square,
            (43.0 + 20.0 * (16.0 + 27.0 * beta) * x) * square * beta,
            3.0 * (59.0 + 180.0 * beta - 90.0 * x) * square,
            (453.0 + 1620.0 * beta * (1.0 - x) - 455.0 * x) * beta,
            8.0 * (1.0 - x) * (135.0 * beta - 11.0),
        ],
        alpha,
    );
    let numerator = (1.0 + 12.0 * alpha) * (1.0 + 12.0 * beta) / (total * total);
    let denominator = 12_960.0 * alpha * alpha * alpha * beta * beta * (1.0 + 12.0 * total);
    numerator / (1.0 - x) * polynomial / denominator
}

/// A polynomial with these coefficients, the constant one first.
fn polynomial(coefficients: &[f64], x: f64) -> f64 {
    coefficients.iter().rev().fold(0.0, |sum, coefficient| coefficient + x * sum)
}

fn or_zero<T: Float>(x: T) -> T {
    if x.is_nan() { T::zero() } else { x }
}

/// Coefficients in `ln(x / shape)`, of which each four are those of a polynomial in `ln(shape)`.
const GAMMA: [[f64; 8]; 3] = [
    [
        0.160_093_98,
        -0.094_634_809,
        0.025_146_376,
        -0.003_064_834_3,
        1.0,
        0.326_681_15,
        0.104_060_89,
        0.001_417_908_4,
    ],
    [
        0.534_878_93,
        0.129_807_1,
        0.065_735_949,
        -0.001_564_975_8,
        0.166_394_65,
        0.020_070_113,
        -0.003_593_891_5,
        -0.000_583_926_23,
    ],
    [
        0.040_121_004,
        -0.006_591_402_2,
        -0.002_628_604_7,
        -0.001_344_177_7,
        0.017_050_642,
        -0.002_130_932_6,
        0.000_850_923_67,
        -1.524_787_7e-7,
    ],
];

/// Coefficients in `ln(x)`, in `ln(alpha / x)` and in `ln(total · x / alpha)`: of a numerator and a denominator.
const BETA: [[[[f64; 4]; 3]; 3]; 2] = [
    [
        [
            [1.003_668_233, -0.010_611_074_88, -0.065_788_833_4, 0.012_016_428_63],
            [0.633_683_599_1, -0.355_743_259_9, 0.054_862_516_48, -0.001_465_281_033],
            [-0.032_762_319_06, 0.004_474_107_445, 0.002_429_354_597, -0.000_155_756_901_3],
        ],
        [
            [0.221_950_385, -0.318_767_633_1, 0.017_999_157_43, 0.010_748_238_14],
            [-0.295_124_964_3, 0.062_199_544_79, 0.015_355_565_98, 0.001_550_077_057],
            [0.021_553_102_98, 0.004_170_831_599, 0.001_292_462_449, 6.976_601_077e-5],
        ],
        [
            [-0.059_808_414_33, 0.008_441_916_499, 0.010_856_181_72, 0.002_319_392_565],
            [0.029_114_135_04, 0.014_002_437_77, -0.002_721_828_457, 0.000_751_041_181],
            [0.005_900_514_878, -0.001_936_558_688, -9.495_446_725e-6, 5.385_558_597e-5],
        ],
    ],
    [
        [
            [1.0, -0.029_240_219_34, -0.044_383_426_61, 0.007_285_809_825],
            [0.635_756_747_2, -0.347_345_671_1, 0.054_546_564_94, -0.002_407_477_521],
            [-0.033_013_223_27, 0.004_845_219_414, 0.002_314_805_83, -0.000_230_724_814_9],
        ],
        [
            [0.592_532_057_7, -0.175_767_813_5, 0.015_059_286_19, 0.000_564_515_273],
            [0.101_481_585_8, -0.065_891_867_03, 0.012_728_861_14, -0.000_731_664_695_6],
            [-0.007_258_481_865, 0.001_096_195_486, 0.000_393_499_422_3, -4.127_019_25e-5],
        ],
        [
            [0.064_696_493_21, -0.023_670_143_7, 0.002_902_096_474, -5.896_963_079e-5],
            [0.001_925_008_108, -0.002_869_809_258, 0.000_800_058_914_1, -6.063_713_228e-5],
            [-0.000_347_740_733_6, 6.959_756_487e-5, 1.097_287_507e-5, -1.650_964_693e-6],
        ],
    ],
];
