//! Derivatives of Bessel functions.

use torch_library::derivatives;
use torch_library::prelude::*;

use crate::aten;
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

    special_scaled_modified_bessel_k0(Tensor x) -> Tensor as non_differentiable;
    special_scaled_modified_bessel_k1(Tensor x) -> Tensor as non_differentiable;
    special_spherical_bessel_j0(Tensor x) -> Tensor as non_differentiable;
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
