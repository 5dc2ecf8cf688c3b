//! Derivatives of special functions of statistics and physics.

use std::f64::consts::{FRAC_1_SQRT_2, FRAC_2_SQRT_PI, SQRT_2};

use torch_library::derivatives;
use torch_library::prelude::*;

use crate::aten;
use crate::composite::analysis::of_each_variable;
use crate::prelude::*;

derivatives! {
    in aten;

    #[in_place]
    i0(Tensor self) -> Tensor as I0Backward0 {
        self => grad.mul(&aten::special_i1(self)?),
    }
    special_i0e(Tensor self) -> Tensor as SpecialI0EBackward0 {
        self => grad.mul(&aten::special_i1e(self)?.sub(&aten::sgn(self)?.mul(result)?)?),
    }
    special_i1(Tensor self) -> Tensor as SpecialI1Backward0 {
        self => {
            let place = Divisor::of(self)?;
            let slope = aten::i0(&place.safe)?.sub(&result.mul(&aten::reciprocal(&place.safe)?)?)?;
            grad.mul(&place.slope(&slope)?)
        },
    }
    special_i1e(Tensor self) -> Tensor as SpecialI1EBackward0 {
        self => {
            let place = Divisor::of(self)?;
            let factor = aten::sgn(&place.safe)?.add(&aten::reciprocal(&place.safe)?)?;
            grad.mul(&place.slope(&aten::special_i0e(&place.safe)?.sub(&result.mul(&factor)?)?)?)
        },
    }
    special_bessel_j0(Tensor self) -> Tensor as SpecialBesselJ0Backward0 {
        self => grad.neg()?.mul(&aten::special_bessel_j1(self)?),
    }
    special_bessel_j1(Tensor self) -> Tensor as SpecialBesselJ1Backward0 {
        self => {
            let place = Divisor::of(self)?;
            let slope = aten::special_bessel_j0(&place.safe)?.sub(&result.mul(&aten::reciprocal(&place.safe)?)?)?;
            grad.mul(&place.slope(&slope)?)
        },
    }
    special_bessel_y0(Tensor self) -> Tensor as SpecialBesselY0Backward0 {
        self => grad.neg()?.mul(&aten::special_bessel_y1(self)?),
    }
    special_bessel_y1(Tensor self) -> Tensor as SpecialBesselY1Backward0 {
        self => {
            let slope = aten::special_bessel_y0(self)?.sub(&result.mul(&aten::reciprocal(self)?)?)?;
            let at_zero = aten::eq_Scalar(self, 0.into())?;
            grad.mul(&aten::masked_fill_Scalar(&slope, &at_zero, f64::INFINITY.into())?)
        },
    }
    special_modified_bessel_i0(Tensor self) -> Tensor as SpecialModifiedBesselI0Backward0 {
        self => grad.mul(&aten::special_modified_bessel_i1(self)?),
    }
    special_modified_bessel_i1(Tensor self) -> Tensor as SpecialModifiedBesselI1Backward0 {
        self => {
            let place = Divisor::of(self)?;
            let slope = aten::i0(&place.safe)?.sub(&result.mul(&aten::reciprocal(&place.safe)?)?)?;
            grad.mul(&place.slope(&slope)?)
        },
    }
    special_modified_bessel_k0(Tensor self) -> Tensor as SpecialModifiedBesselK0Backward0 {
        self => grad.neg()?.mul(&aten::special_modified_bessel_k1(self)?),
    }
    special_modified_bessel_k1(Tensor self) -> Tensor as SpecialModifiedBesselK1Backward0 {
        self => {
            let slope = aten::special_modified_bessel_k0(self)?.add(&result.mul(&aten::reciprocal(self)?)?)?;
            grad.mul(&slope.neg()?)
        },
    }

    special_entr(Tensor self) -> Tensor as SpecialEntrBackward0 {
        self => grad.mul(&self.log()?.add(1)?.neg()?),
    }
    special_erfcx(Tensor self) -> Tensor as SpecialErfcxBackward0 {
        self => grad.mul(&self.mul(2)?.mul(result)?.sub(FRAC_2_SQRT_PI)?),
    }
    special_log_ndtr(Tensor self) -> Tensor as SpecialLogNdtrBackward0 {
        self => {
            let tail = aten::special_erfcx(&self.mul(-FRAC_1_SQRT_2)?)?;
            grad.div(&tail)?.mul(FRAC_2_SQRT_PI * FRAC_1_SQRT_2)
        },
    }
    special_ndtri(Tensor self) -> Tensor as SpecialNdtriBackward0 {
        self => grad.mul(&aten::square(result)?.div(2)?.exp()?.mul(2.0 * SQRT_2 / FRAC_2_SQRT_PI)?),
    }

    special_xlog1py(Tensor self, Tensor other) -> Tensor as SpecialXlog1PyBackward0 {
        self => {
            let is_flat = aten::logical_and(&aten::eq_Scalar(self, 0.into())?, &aten::le_Scalar(other, (-1).into())?)?;
            aten::masked_fill_Scalar(&aten::special_xlog1py(grad, other)?, &is_flat, 0.into())
        },
        other => grad.mul(&self.div(&other.add(1)?)?),
    }
    special_xlog1py.self_scalar(Scalar self, Tensor other) -> Tensor as SpecialXlog1PyBackward1 {
        other => grad.mul(self)?.div(&other.add(1)?),
    }
    special_xlog1py.other_scalar(Tensor self, Scalar other) -> Tensor as SpecialXlog1PyBackward2 {
        self => {
            let slope = aten::special_xlog1py_other_scalar(grad, other)?;
            let is_flat = other.cast::<f64>() <= -1.0;
            match is_flat {
                true => aten::masked_fill_Scalar(&slope, &aten::eq_Scalar(self, 0.into())?, 0.into()),
                false => Ok(slope),
            }
        },
    }
    // There is no derivative with respect to the exponent.
    special_zeta(Tensor self, Tensor other) -> Tensor as SpecialZetaBackward0 {
        self => without_derivative("zeta"),
        other => grad.mul(&self.neg()?)?.mul(&aten::special_zeta(&self.add(1)?, other)?),
    }
    special_zeta.self_scalar(Scalar self, Tensor other) -> Tensor as SpecialZetaBackward1 {
        other => {
            let order: f64 = self.to()?;
            grad.mul(-order)?.mul(&aten::special_zeta_self_scalar(Scalar::from(order + 1.0), other)?)
        },
    }
    special_zeta.other_scalar(Tensor self, Scalar other) -> Tensor as SpecialZetaBackward2 {
        self => without_derivative("zeta"),
    }

    // There is no derivative with respect to the shape.
    #[in_place]
    igamma(Tensor self, Tensor other) -> Tensor as IgammaBackward0 {
        self => without_derivative("igamma"),
        other => grad.mul(&gamma_density(self, other)?),
    }
    #[in_place]
    igammac(Tensor self, Tensor other) -> Tensor as IgammacBackward0 {
        self => without_derivative("igammac"),
        other => grad.mul(&gamma_density(self, other)?.neg()?),
    }

    special_scaled_modified_bessel_k0(Tensor x) -> Tensor as non_differentiable;
    special_scaled_modified_bessel_k1(Tensor x) -> Tensor as non_differentiable;
    special_spherical_bessel_j0(Tensor x) -> Tensor as non_differentiable;

    #[in_place]
    mvlgamma(Tensor self, int p) -> Tensor as MvlgammaBackward0 {
        self => {
            let slopes = aten::digamma(&of_each_variable("MvlgammaBackward0", self, p)?)?;
            grad.mul(&aten::sum_dim_IntList(&slopes, Some(&[-1]))?)
        },
    }
}

/// The density of the gamma distribution: the derivative of `igamma` with respect to its second argument.
fn gamma_density(shape: &Tensor, place: &Tensor) -> Result<Tensor> {
    let power = aten::xlogy_Tensor(&shape.sub(1)?, place)?;
    power.sub(place)?.sub(&aten::lgamma(shape)?)?.exp()
}

/// For formulas that divide by the element: whether it is almost zero.
struct Divisor {
    is_near_zero: Tensor,
    /// The element, or 1 where it is almost zero.
    safe: Tensor,
}

impl Divisor {
    fn of(this: &Tensor) -> Result<Self> {
        let epsilon = match this.dtype() {
            DType::Float64 => f64::EPSILON,
            DType::BFloat16 => 2f64.powi(-7),
            DType::Float16 => 2f64.powi(-10),
            _ => f32::EPSILON.into(),
        };
        let is_near_zero = aten::le_Scalar(&aten::abs(this)?, epsilon.into())?;
        let safe = aten::masked_fill_Scalar(this, &is_near_zero, 1.into())?;
        Ok(Divisor { is_near_zero, safe })
    }

    /// The slope: one half where the element is almost zero.
    fn slope(&self, elsewhere: &Tensor) -> Result<Tensor> {
        aten::masked_fill_Scalar(elsewhere, &self.is_near_zero, 0.5.into())
    }
}

fn without_derivative(function: &str) -> Result<Tensor> {
    bail!(NotSupported, "the derivative of `{function}` for its first argument is not implemented")
}
