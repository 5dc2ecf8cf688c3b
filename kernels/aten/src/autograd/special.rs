//! Derivatives of special functions.

use std::f64::consts::{FRAC_1_SQRT_2, FRAC_2_SQRT_PI, PI, SQRT_2};

use torch_library::derivatives;
use torch_library::prelude::*;

use crate::aten;
use crate::composite::special::of_each_variable;
use crate::prelude::*;

mod bessel;

derivatives! {
    in aten;

    #[in_place]
    erfinv(Tensor self) -> Tensor as ErfinvBackward0 {
        self => {
            let root = aten::erfinv(self)?; // recomputed, as the result may have been written to
            grad.mul(&root.mul(&root)?.exp()?)?.mul(PI.sqrt() / 2.0)
        },
    }
    #[in_place]
    lgamma(Tensor self) -> Tensor as LgammaBackward0 {
        self => grad.mul(&aten::digamma(self)?),
    }
    #[in_place]
    digamma(Tensor self) -> Tensor as DigammaBackward0 {
        self => grad.mul(&aten::polygamma(1, self)?),
    }
    polygamma(int n, Tensor self) -> Tensor as PolygammaBackward0 {
        // For the largest order there is no next one; but for orders that large, the results are not finite anyway.
        self => grad.mul(&aten::polygamma(n.saturating_add(1), self)?),
    }
    polygamma_(Tensor(a!) self, int n) -> Tensor(a!) as PolygammaBackward0 {
        self => grad.mul(&aten::polygamma(n.saturating_add(1), self)?),
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

fn without_derivative(function: &str) -> Result<Tensor> {
    bail!(NotSupported, "the derivative of `{function}` for its first argument is not implemented")
}
