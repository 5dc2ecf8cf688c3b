//! Element-wise primitives: each is an operator of `aten`, or nearly one.

use torch_library::prelude::*;
use torch_library_aten::aten;

use crate::ops::prims;

/// Defines kernels that call an operator of `aten` with the same tensors.
macro_rules! forwarded {
    ($module:ident; $($name:ident($($argument:ident),+) => $operator:ident;)+) => {
        #[torch_impl(prims, CompositeImplicitAutograd)]
        mod $module {
            use super::*;

            $(
                fn $name($($argument: &Tensor),+) -> Result<Tensor> {
                    aten::$operator($($argument),+)
                }
            )+
        }
    };
}

forwarded! {
    of_one;
    abs(x) => abs;
    acos(x) => acos;
    acosh(x) => acosh;
    asin(x) => asin;
    asinh(x) => asinh;
    atan(x) => atan;
    atanh(x) => atanh;
    bessel_i0(x) => i0;
    bessel_i0e(x) => special_i0e;
    bessel_i1(x) => special_i1;
    bessel_i1e(x) => special_i1e;
    bessel_j0(x) => special_bessel_j0;
    bessel_j1(x) => special_bessel_j1;
    bitwise_not(x) => bitwise_not;
    ceil(x) => ceil;
    conj_physical(x) => conj_physical;
    cos(x) => cos;
    cosh(x) => cosh;
    digamma(x) => digamma;
    erf(x) => erf;
    erf_inv(x) => erfinv;
    erfc(x) => erfc;
    erfcx(x) => special_erfcx;
    exp(x) => exp;
    exp2(x) => exp2;
    expm1(x) => expm1;
    floor(x) => floor;
    isfinite(x) => isfinite;
    lgamma(x) => lgamma;
    log(x) => log;
    log10(x) => log10;
    log1p(x) => log1p;
    log2(x) => log2;
    ndtri(x) => special_ndtri;
    neg(x) => neg;
    reciprocal(x) => reciprocal;
    round(x) => round;
    rsqrt(x) => rsqrt;
    sign(x) => sign;
    signbit(x) => signbit;
    sin(x) => sin;
    sinh(x) => sinh;
    spherical_bessel_j0(x) => special_spherical_bessel_j0;
    sqrt(x) => sqrt;
    tan(x) => tan;
    tanh(x) => tanh;
    trunc(x) => trunc;
}

forwarded! {
    of_two;
    add(x, y) => add_Tensor;
    atan2(x, y) => atan2;
    bitwise_and(x, y) => bitwise_and_Tensor;
    bitwise_or(x, y) => bitwise_or_Tensor;
    bitwise_xor(x, y) => bitwise_xor_Tensor;
    eq(x, y) => eq_Tensor;
    fmax(x, y) => fmax;
    fmin(x, y) => fmin;
    fmod(x, y) => fmod_Tensor;
    gcd(x, y) => gcd;
    ge(x, y) => ge_Tensor;
    gt(x, y) => gt_Tensor;
    hypot(x, y) => hypot;
    igamma(x, y) => igamma;
    igammac(x, y) => igammac;
    le(x, y) => le_Tensor;
    lt(x, y) => lt_Tensor;
    maximum(x, y) => maximum;
    minimum(x, y) => minimum;
    mul(x, y) => mul_Tensor;
    ne(x, y) => ne_Tensor;
    nextafter(x, y) => nextafter;
    pow(x, y) => pow_Tensor_Tensor;
    remainder(x, y) => remainder_Tensor;
    shift_left(x, y) => bitwise_left_shift_Tensor;
    shift_right_arithmetic(x, y) => bitwise_right_shift_Tensor;
    sub(x, y) => sub_Tensor;
    zeta(x, y) => special_zeta;
}

#[torch_impl(prims, CompositeImplicitAutograd)]
mod others {
    use super::*;

    fn cbrt(this: &Tensor) -> Result<Tensor> {
        let root = aten::pow_Tensor_Scalar(&aten::abs(this)?, (1.0 / 3.0).into())?;
        aten::copysign_Tensor(&root, this)
    }

    fn fill(this: &Tensor, value: Scalar) -> Result<Tensor> {
        aten::fill_Scalar(this, value)
    }

    fn frexp(this: &Tensor) -> Result<(Tensor, Tensor)> {
        aten::frexp_Tensor(this)
    }

    fn clone(this: &Tensor, memory_format: Option<MemoryFormat>) -> Result<Tensor> {
        aten::clone::call(this, memory_format)
    }

    fn div(this: &Tensor, other: &Tensor) -> Result<Tensor> {
        let rounding = if this.dtype().is_integer() { Some("trunc") } else { None };
        aten::div_Tensor_mode(this, other, rounding)
    }

    fn r#where(pred: &Tensor, a: &Tensor, b: &Tensor) -> Result<Tensor> {
        aten::where_self(pred, a, b)
    }
    fn fma(a: &Tensor, b: &Tensor, c: &Tensor) -> Result<Tensor> {
        aten::add_Tensor(&aten::mul_Tensor(a, b)?, c)
    }

    fn inductor_cvt_e8m0_rceil(input: &Tensor) -> Result<Tensor> {
        let dtype = input.dtype();
        ensure!(
            matches!(dtype, DType::Float32 | DType::Float16 | DType::BFloat16),
            DType,
            "a scale is made of float32, float16 or bfloat16, not of {dtype}"
        );
        let bits = aten::view_dtype(&aten::to_dtype(input, DType::Float32)?, DType::Int32)?;
        let exponent = aten::bitwise_right_shift_Tensor_Scalar(&bits, 23.into())?;
        let exponent = aten::bitwise_and_Scalar(&exponent, 0xff.into())?;
        let mantissa = aten::bitwise_and_Scalar(&bits, 0x7f_ffff.into())?;
        let scale = aten::add_Tensor(&exponent, &aten::ne_Scalar(&mantissa, 0.into())?)?;
        aten::to_dtype(&aten::clamp::with(&scale).max(Some(254.into())).call()?, DType::UInt8)
    }
}
