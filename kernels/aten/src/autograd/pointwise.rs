//! Derivatives of element-wise operators of three operands.

use torch_library::derivatives;
use torch_library::prelude::*;

use super::binary::{conj, conj_of};
use super::unary::one_minus;
use crate::aten;
use crate::prelude::*;

derivatives! {
    in aten;

    #[in_place]
    lerp.Scalar(Tensor self, Tensor end, Scalar weight) -> Tensor as LerpBackward0 {
        self => grad.mul(rest_of(conj_of(weight))),
        end => grad.mul(conj_of(weight)),
    }
    #[in_place]
    lerp.Tensor(Tensor self, Tensor end, Tensor weight) -> Tensor as LerpBackward1 {
        self => grad.mul(&conj(&one_minus(weight)?)?),
        end => grad.mul(&conj(weight)?),
        weight => grad.mul(&conj(&end.sub(self)?)?),
    }
    #[in_place]
    addcmul(Tensor self, Tensor tensor1, Tensor tensor2, *, Scalar value=1) -> Tensor as AddcmulBackward0 {
        self => grad.clone(),
        tensor1 => grad.mul(&conj(&tensor2.mul(value)?)?),
        tensor2 => grad.mul(&conj(&tensor1.mul(value)?)?),
    }
    #[in_place]
    addcdiv(Tensor self, Tensor tensor1, Tensor tensor2, *, Scalar value=1) -> Tensor as AddcdivBackward0 {
        self => grad.clone(),
        tensor1 => grad.mul(conj_of(value))?.div(&conj(tensor2)?),
        tensor2 => grad.neg()?.mul(&conj(&tensor1.mul(value)?.div(&tensor2.mul(tensor2)?)?)?),
    }
}

/// `1 - weight`, computed in double precision: in the precision of the gradient, little would be left of it.
fn rest_of(weight: Scalar) -> Scalar {
    match weight {
        Scalar::Complex(z) => Scalar::Complex(Complex64::new(1.0, 0.0) - z),
        real => Scalar::from(1.0 - real.cast::<f64>()),
    }
}
