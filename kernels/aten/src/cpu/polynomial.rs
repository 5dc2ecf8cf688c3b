//! Kernels of orthogonal polynomials, by their recurrences, or in closed form for high orders.

use num_traits::Float;
use torch_library::Element;
use torch_library::match_dtype;
use torch_library::prelude::*;

use crate::aten;
use crate::functions::airy_ai;
use crate::loops::Pointwise;

/// Defines the kernels of a polynomial: for tensors, and with a scalar `x` or `n`.
macro_rules! polynomials {
    ($($name:ident $of_number:ident $of_order:ident: $polynomial:expr;)+) => {
        #[torch_impl(aten, CPU, Meta)]
        mod kernels {
            use super::Polynomial::*;
            use super::*;

            $(
                fn $name(x: &Tensor, n: &Tensor) -> Result<Tensor> {
                    computed(aten::$name::NAME, x, n, $polynomial)
                }
            )+
        }

        #[torch_impl(aten, CompositeExplicitAutograd)]
        mod of_numbers {
            use super::*;

            $(
                fn $of_number(x: Scalar, n: &Tensor) -> Result<Tensor> {
                    aten::$name(&Tensor::wrapped_number(x), n)
                }

                fn $of_order(x: &Tensor, n: Scalar) -> Result<Tensor> {
                    aten::$name(x, &Tensor::wrapped_number(n))
                }
            )+
        }
    };
}

polynomials! {
    special_chebyshev_polynomial_t special_chebyshev_polynomial_t_x_scalar special_chebyshev_polynomial_t_n_scalar:
        Chebyshev(Kind::First);
    special_chebyshev_polynomial_u special_chebyshev_polynomial_u_x_scalar special_chebyshev_polynomial_u_n_scalar:
        Chebyshev(Kind::Second);
    special_chebyshev_polynomial_v special_chebyshev_polynomial_v_x_scalar special_chebyshev_polynomial_v_n_scalar:
        Chebyshev(Kind::Third);
    special_chebyshev_polynomial_w special_chebyshev_polynomial_w_x_scalar special_chebyshev_polynomial_w_n_scalar:
        Chebyshev(Kind::Fourth);
    special_hermite_polynomial_h special_hermite_polynomial_h_x_scalar special_hermite_polynomial_h_n_scalar:
        HermiteOfPhysics;
    special_hermite_polynomial_he special_hermite_polynomial_he_x_scalar special_hermite_polynomial_he_n_scalar:
        HermiteOfProbability;
    special_laguerre_polynomial_l special_laguerre_polynomial_l_x_scalar special_laguerre_polynomial_l_n_scalar:
        Laguerre;
    special_legendre_polynomial_p special_legendre_polynomial_p_x_scalar special_legendre_polynomial_p_n_scalar:
        Legendre;
    special_shifted_chebyshev_polynomial_t special_shifted_chebyshev_polynomial_t_x_scalar
        special_shifted_chebyshev_polynomial_t_n_scalar:
        ShiftedChebyshev(Kind::First);
    special_shifted_chebyshev_polynomial_u special_shifted_chebyshev_polynomial_u_x_scalar
        special_shifted_chebyshev_polynomial_u_n_scalar:
        ShiftedChebyshev(Kind::Second);
    special_shifted_chebyshev_polynomial_v special_shifted_chebyshev_polynomial_v_x_scalar
        special_shifted_chebyshev_polynomial_v_n_scalar:
        ShiftedChebyshev(Kind::Third);
    special_shifted_chebyshev_polynomial_w special_shifted_chebyshev_polynomial_w_x_scalar
        special_shifted_chebyshev_polynomial_w_n_scalar:
        ShiftedChebyshev(Kind::Fourth);
}

#[torch_impl(aten, CPU, Meta)]
fn special_airy_ai(x: &Tensor) -> Result<Tensor> {
    let call = Pointwise::promoting_to_float(aten::special_airy_ai::NAME, [x])?;
    match_dtype!(call.dtype, T: Float => {
        call.compute(None, call.dtype, |[x]: [T; 1]| airy_ai(x.cast()).cast::<T>())
    }, else => Err(call.unsupported()))
}

fn computed(operator: &'static str, x: &Tensor, n: &Tensor, polynomial: Polynomial) -> Result<Tensor> {
    let call = Pointwise::promoting_to_float(operator, [x, n])?;
    // Computed in the dtype of the elements: whether a sum overflows affects the result.
    match_dtype!(call.dtype, T: Float => {
        call.compute(None, call.dtype, move |[x, n]: [T; 2]| polynomial.at(x, n.cast()))
    }, else => Err(call.unsupported()))
}

#[derive(Clone, Copy)]
enum Polynomial {
    Chebyshev(Kind),
    ShiftedChebyshev(Kind),
    HermiteOfPhysics,
    HermiteOfProbability,
    Laguerre,
    Legendre,
}

/// The kinds of Chebyshev polynomials.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    First,
    Second,
    Third,
    Fourth,
}

/// The largest number of steps of a recurrence.
const LONGEST: i64 = 1 << 24;

impl Polynomial {
    #[inline]
    fn at<T: Float>(self, x: T, n: i64) -> T {
        let one = T::one();
        match (self, n) {
            (_, ..0) => T::zero(),
            (Polynomial::Chebyshev(kind), _) => {
                let end = (x.abs() == one).then_some(x > T::zero());
                kind.at(x, n, end, if kind == Kind::First { 6 } else { 8 })
            }
            (Polynomial::ShiftedChebyshev(kind), _) => {
                let end = (x == one || x == T::zero()).then_some(x == one);
                kind.at(x + x - one, n, end, if kind == Kind::Fourth { 4 } else { 6 })
            }
            (_, 0) => one,
            (Polynomial::Legendre, _) if x.abs() == one => {
                if x > T::zero() {
                    one
                } else {
                    sign(n)
                }
            }
            (Polynomial::HermiteOfPhysics | Polynomial::HermiteOfProbability, _)
                if n > if size_of::<T>() == 4 { 128 } else { 512 } =>
            {
                T::nan()
            }
            (Polynomial::HermiteOfPhysics, _) => {
                let twice = x + x;
                recurrence(one, twice, 1..n, |k, q, p| minus(twice, q, number::<T>(2 * k) * p), false)
            }
            (Polynomial::HermiteOfProbability, _) => {
                recurrence(one, x, 1..n, |k, q, p| minus(x, q, number::<T>(k) * p), false)
            }
            (Polynomial::Laguerre, _) if x == T::zero() => one,
            (Polynomial::Laguerre, _) => {
                let step = |k: i64, q: T, p: T| {
                    minus(number::<T>(2 * k) + (one - x), q, number::<T>(k) * p) / number(k + 1)
                };
                recurrence(one, one - x, 1..n, step, true)
            }
            (Polynomial::Legendre, _) => {
                let step = |k: i64, q: T, p: T| {
                    minus(number::<T>(2 * k + 1) * x, q, number::<T>(k) * p) / number(k + 1)
                };
                recurrence(one, x, 1..n, step, true)
            }
        }
    }
}

impl Kind {
    /// The polynomial at `y`; `end` says whether that is the upper end of the interval, 1, or the lower one, -1. For
    /// orders above `longest` it is computed in closed form.
    #[inline]
    fn at<T: Float>(self, y: T, n: i64, end: Option<bool>, longest: i64) -> T {
        if let Some(is_upper) = end {
            return self.at_end(n, is_upper);
        }
        let (one, twice) = (T::one(), y + y);
        if n > longest && y.abs() < one {
            return self.closed(y, n);
        }
        let first = match self {
            Kind::First => y,
            Kind::Second => twice,
            Kind::Third => twice - one,
            Kind::Fourth => twice + one,
        };
        if n == 0 { one } else { recurrence(one, first, 1..n, |_, q, p| minus(twice, q, p), true) }
    }

    fn at_end<T: Float>(self, n: i64, is_upper: bool) -> T {
        let size = match (self, is_upper) {
            (Kind::First, _) | (Kind::Third, true) | (Kind::Fourth, false) => T::one(),
            (Kind::Second, _) => number::<T>(n) + T::one(),
            (Kind::Third, false) | (Kind::Fourth, true) => number::<T>(n) + number(n) + T::one(),
        };
        if is_upper { size } else { size * sign(n) }
    }

    /// The closed form, by sines and cosines of the angle whose cosine is `y`.
    fn closed<T: Float>(self, y: T, n: i64) -> T {
        let (angle, n_as_number, one) = (y.acos(), number::<T>(n), T::one());
        let half = angle / (one + one);
        let between = (n_as_number + (one + one).recip()) * angle;
        match self {
            Kind::First => (n_as_number * angle).cos(),
            Kind::Second if angle.sin() != T::zero() => ((n_as_number + one) * angle).sin() / angle.sin(),
            Kind::Second => (n_as_number + one) * ((n_as_number + one) * angle).cos() / y,
            Kind::Third if half.sin() != one => between.cos() / half.cos(),
            Kind::Fourth if half.cos() != one => between.sin() / half.sin(),
            Kind::Third | Kind::Fourth => self.at_end(n, self == Kind::Fourth),
        }
    }
}

/// The polynomial after the last step of a recurrence, from those of orders 0 and 1; `step` gets the order of the
/// current one.
#[inline]
fn recurrence<T: Float>(
    before: T,
    first: T,
    steps: std::ops::Range<i64>,
    step: impl Fn(i64, T, T) -> T,
    stops_at_nan: bool,
) -> T {
    if steps.end > LONGEST {
        return T::nan();
    }
    let (mut p, mut q) = (before, first);
    for k in steps {
        if stops_at_nan && q.is_nan() {
            break;
        }
        (p, q) = (q, step(k, q, p));
    }
    q
}

/// `a * b - c` with a single rounding: where the terms nearly cancel, few digits would be left.
#[inline(always)]
fn minus<T: Float>(a: T, b: T, c: T) -> T {
    a.mul_add(b, -c)
}

/// An integer, the number of steps or close to it, as an element.
#[inline(always)]
fn number<T: Float>(n: i64) -> T {
    T::from(n).unwrap_or_else(T::nan)
}

/// 1 for even numbers, -1 for odd ones.
fn sign<T: Float>(n: i64) -> T {
    if n % 2 == 0 { T::one() } else { -T::one() }
}
