//! Special functions of statistics and physics, all but one computed in double precision: they are called on few
//! elements, so that one loop for all dtypes suffices.
#![cfg_attr(target_arch = "x86_64", expect(unsafe_code, reason = "calls what the processor was asked for"))]

use num_traits::Float;
use torch_library::Element;
use torch_library::prelude::*;

use crate::aten;
use crate::functions::{self, Functions, NearOne};
use crate::inlined::from_fn;
#[cfg(target_arch = "x86_64")]
use crate::loops;
use crate::loops::Pointwise;
use crate::loops::{function, match_opmath};

/// Which narrower dtypes a function supports.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Types {
    /// All floating-point dtypes.
    Floating,
    /// Only `float32` and `float64`.
    Full,
    /// All floating-point dtypes; integers are not promoted.
    OnlyFloating,
}

/// Defines the kernels of unary and binary functions. Each row gives the supported dtypes and the formula, which is
/// compiled for processors with fused multiplication and addition as well: on others that is a call.
macro_rules! functions {
    ($($name:ident($($argument:ident),+): $types:ident => |[$($x:ident),+]| $value:expr;)+) => {
        #[torch_impl(aten, CPU, Meta)]
        mod kernels {
            use super::*;

            $(
                fn $name(output: Output<'_>, $($argument: &Tensor),+) -> Result<Tensor> {
                    const COUNT: usize = count!($($argument)+);

                    #[inline(always)]
                    fn any([$($x),+]: [f64; COUNT]) -> f64 {
                        $value
                    }

                    #[cfg(target_arch = "x86_64")]
                    #[target_feature(enable = "avx2,fma")]
                    fn wide(inputs: [f64; COUNT]) -> f64 {
                        any(inputs)
                    }

                    #[cfg(target_arch = "x86_64")]
                    if loops::has_avx2() {
                        // SAFETY: `has_avx2` found the features that it is compiled for.
                        let function = |inputs| unsafe { wide(inputs) };
                        return computed(output, [$($argument),+], Types::$types, function);
                    }
                    computed(output, [$($argument),+], Types::$types, any)
                }
            )+
        }
    };
}

macro_rules! count {
    ($a:ident) => {
        1
    };
    ($a:ident $b:ident) => {
        2
    };
}

functions! {
    i0(this): Floating => |[x]| functions::i0(x);
    special_i0e(this): Floating => |[x]| functions::scaled_i0(x);
    special_i1(this): Floating => |[x]| functions::i1(x);
    special_i1e(this): Floating => |[x]| functions::scaled_i1(x);
    special_erfcx(this): Full => |[x]| functions::scaled_complement(x);
    special_log_ndtr(this): Full => |[x]| functions::log_probability(x);
    special_ndtri(this): Full => |[p]| functions::quantile(p);
    special_bessel_j0(this): Full => |[x]| functions::j0(x);
    special_bessel_j1(this): Full => |[x]| functions::j1(x);
    special_bessel_y0(this): Full => |[x]| functions::y0(x);
    special_bessel_y1(this): Full => |[x]| functions::y1(x);
    special_modified_bessel_i0(this): Full => |[x]| functions::i0(x);
    special_modified_bessel_i1(this): Full => |[x]| functions::i1(x);
    special_modified_bessel_k0(this): Full => |[x]| functions::k0(x);
    special_modified_bessel_k1(this): Full => |[x]| functions::k1(x);
    special_scaled_modified_bessel_k0(x): Full =>
        |[x]| functions::scaled_k0(x);
    special_scaled_modified_bessel_k1(x): Full =>
        |[x]| functions::scaled_k1(x);
    special_spherical_bessel_j0(x): Full => |[x]| functions::spherical_j0(x);
    special_xlog1py(this, other): Floating => |[x, y]| weighted_logarithm(x, y);
    special_zeta(this, other): Full => |[s, x]| functions::zeta(s, x);
    igamma(this, other): OnlyFloating => |[a, x]| functions::lower_gamma(a, x);
    igammac(this, other): OnlyFloating => |[a, x]| functions::upper_gamma(a, x);
}

/// Computed in the opmath type, unlike the others, since it is called on many elements.
#[torch_impl(aten, CPU, Meta)]
fn special_entr(output: Output<'_>, this: &Tensor) -> Result<Tensor> {
    let call = Pointwise::promoting_to_float(output, [this])?;
    match_opmath!(call.dtype, T: Float => {
        call.compute_elements(None, call.dtype, function!(|[x]: [T; 1]| -> T { entropy(x) }))
    }, else => Err(call.unsupported()))
}

/// The entropy of one probability; minus infinity for negative numbers.
#[inline(always)]
fn entropy<T: Float + Functions>(probability: T) -> T {
    let of_positive = -probability * probability.natural_logarithm();
    let of_none = if probability < T::zero() { T::neg_infinity() } else { T::zero() };
    if probability > T::zero() || probability.is_nan() { of_positive } else { of_none }
}

/// `x * log1p(y)`: 0 where `x` is 0, unless `y` is NaN.
#[inline(always)]
fn weighted_logarithm(x: f64, y: f64) -> f64 {
    if y.is_nan() {
        y
    } else if x == 0.0 {
        0.0
    } else {
        x * y.logarithm_of_one_more()
    }
}

fn computed<const N: usize>(
    output: Output<'_>,
    inputs: [&Tensor; N],
    types: Types,
    function: fn([f64; N]) -> f64,
) -> Result<Tensor> {
    let call = match types {
        Types::OnlyFloating => Pointwise::promoting(output, inputs)?,
        _ => Pointwise::promoting_to_float(output, inputs)?,
    };
    if types == Types::Full && matches!(call.dtype, DType::Float16 | DType::BFloat16) {
        return Err(call.unsupported());
    }
    match_opmath!(call.dtype, T: Float => {
        call.compute(None, call.dtype, move |inputs: [T; N]| function(from_fn(|n| inputs[n].cast())).cast::<T>())
    }, else => Err(call.unsupported()))
}
