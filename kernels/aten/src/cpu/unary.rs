//! Kernels of unary element-wise functions.

use num_complex::ComplexFloat;
use num_traits::{Float, FloatConst};
use torch_library::prelude::*;
use torch_library::{Element, match_dtype};

use crate::aten;
use crate::functions::{
    Conjugate, Coordinate, ErrorFunction, Functions, Hyperbolic, Inverse, NearOne, PowerOfTwo, Root,
};
use crate::loops::Pointwise;
use crate::loops::{self, function, match_opmath};
use crate::number::{Divided, Number};

mod angles;
pub(super) mod clamp;
mod finite;
mod frexp;
mod odds;
mod rounded;
mod sinc;

use rounded::Rounded;

/// Defines the kernels of functions. Each row gives whether integers are promoted to floating point, the supported
/// dtypes, and the formula; some have a form for the widest registers.
macro_rules! functions {
    ($(
        $name:ident: $promoting:ident $($class:ident)|+ =>
            |$x:ident, $T:ident| $value:expr $(, in registers $wide:ident)?;
    )+) => {
        #[torch_impl(aten, CPU, Meta)]
        mod kernels {
            use super::*;

            $(
                pub(super) fn $name(output: Output<'_>, this: &Tensor) -> Result<Tensor> {
                    let call = Pointwise::$promoting(output, [this])?;
                    match_opmath!(call.dtype, $T: $($class)|+ => {
                        let value = $crate::loops::function!(|[$x]: [$T; 1]| -> $T { $value });
                        $( let value = $crate::functions::Registers::<_, $crate::functions::$wide>::new(value); )?
                        call.compute_elements(None, call.dtype, value)
                    }, else => Err(call.unsupported()))
                }
            )+
        }
    };
}

pub(super) use functions;

functions! {
    relu: promoting_exactly Integer | Unsigned | Float => |x, T| positive_part(x);
    sign: promoting_exactly Bool | Integer | Float => |x, T| sign_of(x);
    exp: promoting_to_float Float | Complex => |x, T| x.exponential(), in registers Exponential;
    exp2: promoting_to_float Float | Complex => |x, T| x.power_of_two();
    log: promoting_to_float Float | Complex => |x, T| x.natural_logarithm(), in registers Logarithm;
    sqrt: promoting_to_float Float | Complex => |x, T| x.square_root(), in registers SquareRoot;
    rsqrt: promoting_to_float Float | Complex => |x, T| T::ONE.over(x.square_root());
    reciprocal: promoting_to_float Float | Complex => |x, T| T::ONE.over(x);
    tanh: promoting_to_float Float | Complex => |x, T| x.hyperbolic_tangent(), in registers HyperbolicTangent;
    sigmoid: promoting_to_float Float | Complex => |x, T| x.logistic();
    expm1: promoting_to_float Float | Complex => |x, T| x.exponential_less_one();
    log1p: promoting_to_float Float | Complex => |x, T| x.logarithm_of_one_more();
    log2: promoting_to_float Float | Complex => |x, T| x.binary_logarithm(), in registers BinaryLogarithm;
    log10: promoting_to_float Float | Complex => |x, T| x.decimal_logarithm(), in registers DecimalLogarithm;
    asin: promoting_to_float Float | Complex => |x, T| x.arcsine();
    acos: promoting_to_float Float | Complex => |x, T| x.arccosine();
    atan: promoting_to_float Float | Complex => |x, T| x.arctangent();
    sinh: promoting_to_float Float | Complex => |x, T| x.hyperbolic_sine();
    cosh: promoting_to_float Float | Complex => |x, T| x.hyperbolic_cosine();
    asinh: promoting_to_float Float | Complex => |x, T| x.inverse_hyperbolic_sine();
    acosh: promoting_to_float Float | Complex => |x, T| x.inverse_hyperbolic_cosine();
    atanh: promoting_to_float Float | Complex => |x, T| x.inverse_hyperbolic_tangent();
    erf: promoting_to_float Float => |x, T| x.error_function();
    erfc: promoting_to_float Float => |x, T| x.complementary_error_function(), in registers ComplementaryError;
    deg2rad: promoting_to_float_like_first Float => |x, T| x.to_radians();
    rad2deg: promoting_to_float_like_first Float => |x, T| x.to_degrees();
    floor: promoting_exactly Integer | Unsigned | Float => |x, T| x.down();
    ceil: promoting_exactly Integer | Unsigned | Float => |x, T| x.up();
    round: promoting_exactly Integer | Unsigned | Float => |x, T| x.nearest();
    trunc: promoting_exactly Integer | Unsigned | Float => |x, T| x.cut();
    frac: promoting_exactly Float => |x, T| x - x.cut();
}

/// `max(x, 0)`, which keeps NaN and -0.
#[inline(always)]
fn positive_part<T: Number + PartialOrd>(x: T) -> T {
    if x < T::ZERO { T::ZERO } else { x }
}

/// The sign: 0 for NaN, and for zeros of either sign.
#[inline(always)]
fn sign_of<T: Number + PartialOrd>(x: T) -> T {
    if x > T::ZERO {
        T::ONE
    } else if x < T::ZERO {
        T::ONE.negated()
    } else {
        T::ZERO
    }
}

#[inline(always)]
fn is_negative<T: Number + PartialOrd>(x: T) -> bool {
    x < T::ZERO
}

/// The absolute value; the smallest integer stays itself.
#[inline(always)]
fn without_sign<T: Number + PartialOrd>(x: T) -> T {
    if x < T::ZERO { x.negated() } else { x }
}

/// `x / |x|` of complex numbers; for real ones it is the sign.
fn direction(output: Output<'_>, this: &Tensor) -> Result<Tensor> {
    match_opmath!(this.dtype(), T: Complex => {
        let call = Pointwise::promoting_exactly(output, [this])?;
        call.compute(None, call.dtype, |[x]: [T; 1]| x.direction())
    }, else => kernels::sign(output, this))
}

#[torch_impl(aten, CPU, Meta)]
mod more {
    use super::*;

    fn neg(output: Output<'_>, this: &Tensor) -> Result<Tensor> {
        let call = Pointwise::promoting_exactly(output, [this])?;
        match_dtype!(call.dtype, T: Half => {
            call.compute(None, call.dtype, |[x]: [T; 1]| T::from_bits(x.to_bits() ^ SIGN_OF_HALF))
        }, else => match_opmath!(call.dtype, T: Integer | Float | Complex => {
            call.compute(None, call.dtype, |[x]: [T; 1]| x.negated())
        }, else => Err(call.unsupported())))
    }

    fn abs(output: Output<'_>, this: &Tensor) -> Result<Tensor> {
        magnitude(output, this)
    }

    fn angle(output: Output<'_>, this: &Tensor) -> Result<Tensor> {
        // Unlike those of real numbers, angles of complex ones are row-major.
        let this = &if this.dtype().is_complex() { aten::contiguous(this)? } else { this.clone() };
        let call = Pointwise::promoting_to_float(output, [this])?;
        let dtype = call.dtype.to_real();
        match_opmath!(call.dtype, T: Float => {
            call.compute(None, dtype, |[x]: [T; 1]| angle_of_real(x))
        }, else => match_opmath!(call.dtype, T: Complex => {
            let angle = function!(|[x]: [T; 1]| -> <T as ComplexFloat>::Real { x.im.angle(x.re) });
            call.compute_elements(None, dtype, angle)
        }, else => Err(call.unsupported())))
    }

    fn sgn(output: Output<'_>, this: &Tensor) -> Result<Tensor> {
        direction(output, this)
    }

    fn signbit(output: Output<'_>, this: &Tensor) -> Result<Tensor> {
        output.exactly(DType::Bool)?;
        let call = Pointwise::promoting(output, [this])?;
        match_opmath!(call.dtype, T: Float => {
            call.compute(None, DType::Bool, |[x]: [T; 1]| x.is_sign_negative())
        }, else => match_opmath!(call.dtype, T: Bool | Integer | Unsigned => {
            call.compute(None, DType::Bool, |[x]: [T; 1]| is_negative(x))
        }, else => Err(call.unsupported())))
    }

    fn logical_not(output: Output<'_>, this: &Tensor) -> Result<Tensor> {
        let call = Pointwise::promoting(output, [this])?;
        match_dtype!(call.dtype, T: NotFloat8 => {
            call.compute(None, DType::Bool, |[x]: [T; 1]| x == T::default())
        }, else => Err(call.unsupported()))
    }

    fn gelu(output: Output<'_>, this: &Tensor, approximate: &str) -> Result<Tensor> {
        let operator = output.operator();
        let call = Pointwise::promoting_exactly(output, [this])?;
        let is_approximated = is_approximated(operator, approximate)?;
        match_opmath!(call.dtype, T: Float => {
            match is_approximated {
                // The library that PyTorch uses for these tensors gives NaN for infinite elements of either sign.
                false if is_of_library(this) => call.compute(None, call.dtype, |[x]: [T; 1]| {
                    gaussian_unit(x) * (T::ONE + x * T::ZERO)
                }),
                false => call.compute(None, call.dtype, |[x]: [T; 1]| gaussian_unit(x)),
                true => call.compute(None, call.dtype, |[x]: [T; 1]| gaussian_unit_by_tanh(x)),
            }
        }, else => Err(call.unsupported()))
    }

    /// The square of booleans is an integer.
    fn square(output: Output<'_>, this: &Tensor) -> Result<Tensor> {
        let mut call = Pointwise::promoting(output, [this])?;
        if call.dtype == DType::Bool {
            call.dtype = DType::Int64;
        }
        match_opmath!(call.dtype, T: Integer | Float | Complex => {
            call.compute_elements(None, call.dtype, function!(|[x]: [T; 1]| -> T { x.times(x) }))
        }, else => Err(call.unsupported()))
    }

    fn isnan(output: Output<'_>, this: &Tensor) -> Result<Tensor> {
        let call = Pointwise::promoting_exactly(output, [this])?;
        match_dtype!(call.dtype, T: NotFloat8 => {
            call.compute(None, DType::Bool, |[x]: [T; 1]| is_unequal_to_itself(x))
        }, else => call.compute(None, DType::Bool, |[x]: [f32; 1]| x.is_nan()))
    }

    fn round_decimals(output: Output<'_>, this: &Tensor, decimals: i64) -> Result<Tensor> {
        let call = Pointwise::promoting_exactly(output, [this])?;
        match_opmath!(call.dtype, T: Float => {
            let places = i32::try_from(decimals.unsigned_abs()).unwrap_or(i32::MAX);
            let power: T = 10f64.powi(places).cast();
            match decimals {
                0 => call.compute(None, call.dtype, |[x]: [T; 1]| x.nearest()),
                1.. => call.compute(None, call.dtype, move |[x]: [T; 1]| (x * power).nearest() / power),
                _ => call.compute(None, call.dtype, move |[x]: [T; 1]| (x / power).nearest() * power),
            }
        }, else => Err(call.unsupported()))
    }
}

/// Computes the same as the composite kernel, in one pass.
#[torch_impl(aten, CPU)]
fn _conj_physical(this: &Tensor) -> Result<Tensor> {
    match_opmath!(this.dtype(), T: Complex => {
        let call = Pointwise::promoting(aten::_conj_physical::NAME, [this])?.strided_like_first();
        call.compute(None, call.dtype, |[x]: [T; 1]| x.conjugate())
    }, else => aten::clone(this))
}

/// Whether `gelu` uses the approximation by `tanh`.
///
/// # Errors
/// An `approximate` other than `"none"` and `"tanh"`.
pub(super) fn is_approximated(operator: &str, approximate: &str) -> Result<bool> {
    match approximate {
        "none" => Ok(false),
        "tanh" => Ok(true),
        other => {
            bail!(Argument, "{operator}: unknown approximation {other:?}, expected \"none\" or \"tanh\"")
        }
    }
}

/// The sign bit of a 16-bit float. Functions of the sign alone are computed on bits, without conversions.
const SIGN_OF_HALF: u16 = 1 << 15;

/// The absolute value: real for complex numbers; the smallest integer stays itself.
fn magnitude(output: Output<'_>, this: &Tensor) -> Result<Tensor> {
    let operator = output.operator();
    // The real result of complex numbers is cast to an `out` of another type; that of real ones is not.
    let call = match this.dtype().is_complex() {
        true => Pointwise::promoting(output, [this])?.strided_like_first(),
        false => Pointwise::promoting_exactly(output, [this])?,
    };
    ensure!(
        !output.is_in_place() || !call.dtype.is_complex(),
        DType,
        "{operator}: the absolute value is real, a tensor of {} cannot hold it in place",
        call.dtype
    );
    let dtype = call.dtype.to_real();
    match_dtype!(call.dtype, T: Half => {
        return call.compute(None, dtype, |[x]: [T; 1]| T::from_bits(x.to_bits() & !SIGN_OF_HALF));
    }, else => {});
    let opmath = match call.dtype {
        DType::Float8E8M0Fnu => return Err(call.unsupported()), // has no sign, and PyTorch no kernel
        dtype => loops::opmath_type_with_float8(dtype),
    };
    match_dtype!(opmath, T: Float => {
        call.compute(None, dtype, |[x]: [T; 1]| x.abs())
    }, else => match_opmath!(call.dtype, T: Integer => {
        call.compute(None, dtype, |[x]: [T; 1]| without_sign(x))
    }, else => match_opmath!(call.dtype, T: Complex => {
        call.compute(None, dtype, |[x]: [T; 1]| x.norm())
    }, else => Err(call.unsupported()))))
}

/// The angle of a real number: π if it is negative, 0 otherwise, NaN for NaN.
#[inline(always)]
fn angle_of_real<T: Float + FloatConst>(x: T) -> T {
    let of_sign = if x < T::zero() { T::PI() } else { T::zero() };
    if x.is_nan() { x } else { of_sign }
}

/// Whether PyTorch passes a tensor to oneDNN.
fn is_of_library(tensor: &Tensor) -> bool {
    let is_line = tensor.numel() > 1 && tensor.is_contiguous(MemoryFormat::Contiguous);
    is_line && matches!(tensor.dtype(), DType::Float32 | DType::BFloat16)
}

#[inline(always)]
fn gaussian_unit<T: Float + FloatConst + Number + ErrorFunction>(x: T) -> T {
    let half = T::ONE / (T::ONE + T::ONE);
    x * half * (T::ONE + (x * T::FRAC_1_SQRT_2()).error_function())
}

#[inline(always)]
fn gaussian_unit_by_tanh<T: Float + FloatConst + Number + Functions>(x: T) -> T {
    let half = T::ONE / (T::ONE + T::ONE);
    let cubic: T = 0.044_715_f64.cast();
    let slope = T::SQRT_2() * T::FRAC_2_SQRT_PI() * half;
    half * x * (T::ONE + (slope * (x + cubic * x * x * x)).hyperbolic_tangent())
}

/// True only for NaN.
#[inline(always)]
#[expect(clippy::eq_op, reason = "that is how NaN is told")]
fn is_unequal_to_itself<T: Copy + PartialEq>(x: T) -> bool {
    x != x
}
