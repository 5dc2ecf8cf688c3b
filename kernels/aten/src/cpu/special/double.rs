//! Special functions of statistics and physics, computed in double precision: they are called on few elements, so that
//! one loop for all dtypes suffices.
#![cfg_attr(target_arch = "x86_64", expect(unsafe_code, reason = "calls what the processor was asked for"))]

use torch_library::Element;
use torch_library::prelude::*;

use crate::aten;
use crate::functions::{self, ModifiedBessel, NearOne};
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
    special_erfcx(this): Full => |[x]| functions::scaled_complement(x);
    special_log_ndtr(this): Full => |[x]| functions::log_probability(x);
    special_ndtri(this): Full => |[p]| functions::quantile(p);
    special_bessel_j0(this): Full => |[x]| functions::j0(x);
    special_bessel_j1(this): Full => |[x]| functions::j1(x);
    special_bessel_y0(this): Full => |[x]| functions::y0(x);
    special_bessel_y1(this): Full => |[x]| functions::y1(x);
    special_spherical_bessel_j0(x): Full => |[x]| functions::spherical_j0(x);
    special_xlog1py(this, other): Floating => |[x, y]| weighted_logarithm(x, y);
    special_zeta(this, other): Full => |[s, x]| functions::zeta(s, x);
    igamma(this, other): OnlyFloating => |[a, x]| functions::lower_gamma(a, x);
    igammac(this, other): OnlyFloating => |[a, x]| functions::upper_gamma(a, x);
}

/// Computed in vectors, unlike the others.
macro_rules! modified {
    ($($name:ident($argument:ident): $function:ident;)+) => { $(
        #[torch_impl(aten, CPU, Meta)]
        fn $name(output: Output<'_>, $argument: &Tensor) -> Result<Tensor> {
            let call = checked(output, [$argument], Types::Full)?;
            match_opmath!(call.dtype, T: Float => {
                call.compute_elements(None, call.dtype, function!(|[x]: [T; 1]| -> T { x.$function() }))
            }, else => Err(call.unsupported()))
        }
    )+ };
}

modified! {
    special_modified_bessel_i0(this): i0;
    special_modified_bessel_i1(this): i1;
    special_modified_bessel_k0(this): k0;
    special_modified_bessel_k1(this): k1;
    special_scaled_modified_bessel_k0(x): scaled_k0;
    special_scaled_modified_bessel_k1(x): scaled_k1;
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
    let call = checked(output, inputs, types)?;
    match_opmath!(call.dtype, T: Float => {
        call.compute(None, call.dtype, move |inputs: [T; N]| function(from_fn(|n| inputs[n].cast())).cast::<T>())
    }, else => Err(call.unsupported()))
}

fn checked<'a, const N: usize>(
    output: Output<'a>,
    inputs: [&'a Tensor; N],
    types: Types,
) -> Result<Pointwise<'a, N>> {
    let call = match types {
        Types::OnlyFloating => Pointwise::promoting(output, inputs)?,
        _ => Pointwise::promoting_to_float(output, inputs)?,
    };
    if types == Types::Full && matches!(call.dtype, DType::Float16 | DType::BFloat16) {
        return Err(call.unsupported());
    }
    Ok(call)
}
