//! Window functions: weights that fade out the ends of a frame of a signal.

use std::f64::consts::{PI, TAU};

use torch_library::prelude::*;

use crate::aten;
use crate::below_autograd::below_autograd;
use crate::composite::collected;
use crate::functions::ModifiedBessel;

/// The properties of a window, besides its shape.
struct Window {
    operator: &'static str,
    len: i64,
    is_periodic: bool,
    dtype: DType,
    layout: Option<Layout>,
    device: Option<Device>,
    pin_memory: Option<bool>,
}

impl Window {
    /// A window whose points are computed from the numbers 0, 1, … up to `count - 1`; a periodic window has one more
    /// point, which is dropped.
    ///
    /// # Errors
    /// A negative length, a dtype that is not floating-point, more points than there is memory for.
    fn of(self, points: impl FnOnce(&Window, Tensor, i64) -> Result<Tensor>) -> Result<Tensor> {
        let (operator, dtype) = (self.operator, self.dtype);
        ensure!(self.len >= 0, Argument, "{operator}: a window of {} points cannot be created", self.len);
        // As in PyTorch, a window of fewer than two points may be complex.
        let is_known = dtype.is_floating_point() || (dtype.is_complex() && self.len < 2);
        ensure!(is_known, DType, "{operator}: a window of {dtype}, expected a floating-point type");
        if self.len < 2 {
            let (dtype, device) = (Some(dtype), self.device);
            return aten::ones::call(&[self.len], dtype, self.layout, device, self.pin_memory);
        }
        let count = self.len.checked_add(i64::from(self.is_periodic));
        let Some(count) = count else {
            bail!(Argument, "{operator}: a window of {} points cannot be created", self.len)
        };
        let numbers =
            aten::arange::call(count.into(), Some(dtype), self.layout, self.device, self.pin_memory)?;
        let found = below_autograd(|| points(&self, numbers, count))?;
        if self.is_periodic { aten::narrow(&found, 0, 0, self.len) } else { Ok(found) }
    }

    /// `alpha` minus `beta` times one period of the cosine.
    fn of_cosine(self, alpha: f64, beta: f64) -> Result<Tensor> {
        self.of(|_, mut x, count| {
            aten::mul__Scalar(&mut x, (TAU / (count - 1) as f64).into())?;
            aten::cos_(&mut x)?;
            aten::mul__Scalar(&mut x, (-beta).into())?;
            aten::add__Scalar(&mut x, alpha.into())?;
            Ok(x)
        })
    }

    fn of_two_cosines(self) -> Result<Tensor> {
        self.of(|_, x, count| {
            let x = aten::mul_Scalar(&x, (PI / (count - 1) as f64).into())?;
            let wave = |turns: i64, factor: f64| {
                aten::mul_Scalar(&aten::cos(&aten::mul_Scalar(&x, turns.into())?)?, factor.into())
            };
            aten::add_Scalar(&aten::sub_Tensor(&wave(4, 0.08)?, &wave(2, 0.5)?)?, 0.42.into())
        })
    }

    fn of_triangle(self) -> Result<Tensor> {
        self.of(|_, mut x, count| {
            aten::mul__Scalar(&mut x, (2.0 / (count - 1) as f64).into())?;
            let rising = (count - 1) / 2 + 1;
            let mut falling = aten::narrow(&x, 0, rising, count - rising)?;
            aten::mul__Scalar(&mut falling, (-1).into())?;
            aten::add__Scalar(&mut falling, 2.into())?;
            Ok(x)
        })
    }

    fn of_bessel(self, beta: f64) -> Result<Tensor> {
        self.of(|window, mut x, count| {
            if x.device() == Device::META {
                return Ok(x);
            }
            let (middle, peak) = ((count - 1) as f64 / 2.0, beta.i0());
            let is_wide = window.dtype == DType::Float64;
            let argument = |at: i64| {
                let away = (at as f64 - middle) / middle;
                beta * (1.0 - away * away).sqrt()
            };
            let mut points = Tensor::from_vec(collected(window.operator, count, argument)?, &[count])?;
            aten::i0_(&mut points)?; // in vectors
            // In `float32`, numbers overflow where they do in PyTorch, which computes in that dtype.
            let share =
                |point: f64| if is_wide { point / peak } else { f64::from(point as f32 / peak as f32) };
            let shares: Vec<f64> = points.to_vec::<f64>()?.into_iter().map(share).collect();
            points.fill_from(shares)?;
            aten::copy_(&mut x, &points)?;
            Ok(x)
        })
    }
}

/// Defines the kernels of windows. Each row gives the name in Rust, the arguments besides the length, whether the
/// window is periodic, and its points.
macro_rules! windows {
    ($($name:ident($($argument:ident: $ty:ty),*) = $is_periodic:expr,
        |$window:ident| $points:expr;)+) => {
        #[torch_impl(aten, CompositeExplicitAutograd)]
        mod kernels {
            use super::*;

            $(
                fn $name(
                    len: i64,
                    $($argument: $ty,)*
                    dtype: Option<DType>,
                    layout: Option<Layout>,
                    device: Option<Device>,
                    pin_memory: Option<bool>,
                ) -> Result<Tensor> {
                    let (operator, is_periodic) = (aten::$name::NAME, $is_periodic);
                    let dtype = dtype.unwrap_or(DType::DEFAULT);
                    let $window = Window { operator, len, is_periodic, dtype, layout, device, pin_memory };
                    $points
                }
            )+
        }
    };
}

windows! {
    hann_window() = true, |window| window.of_cosine(0.5, 0.5);
    hann_window_periodic(periodic: bool) = periodic, |window| window.of_cosine(0.5, 0.5);
    hamming_window() = true, |window| window.of_cosine(0.54, 0.46);
    hamming_window_periodic(periodic: bool) = periodic,
        |window| window.of_cosine(0.54, 0.46);
    hamming_window_periodic_alpha(periodic: bool, alpha: f64) = periodic,
        |window| window.of_cosine(alpha, 0.46);
    hamming_window_periodic_alpha_beta(periodic: bool, alpha: f64,
        beta: f64) = periodic,
        |window| window.of_cosine(alpha, beta);
    blackman_window() = true, |window| window.of_two_cosines();
    blackman_window_periodic(periodic: bool) = periodic,
        |window| window.of_two_cosines();
    bartlett_window() = true, |window| window.of_triangle();
    bartlett_window_periodic(periodic: bool) = periodic, |window| window.of_triangle();
    kaiser_window() = true, |window| window.of_bessel(12.0);
    kaiser_window_periodic(periodic: bool) = periodic, |window| window.of_bessel(12.0);
    kaiser_window_beta(periodic: bool, beta: f64) = periodic,
        |window| window.of_bessel(beta);
}
