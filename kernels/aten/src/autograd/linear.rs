//! Derivatives of products of vectors.

use torch_library::derivatives;

use super::binary::{conj, scaled};
use crate::aten;
use crate::prelude::*;

derivatives! {
    in aten;

    _trilinear(
        Tensor i1, Tensor i2, Tensor i3, int[] expand1, int[] expand2, int[] expand3, int[] sumdim, int unroll_dim=1
    ) -> Tensor as TrilinearBackward0 {
        i1 => aten::_trilinear(grad, &conj(i2)?, &conj(i3)?, sumdim, expand2, expand3, expand1),
        i2 => aten::_trilinear(&conj(i1)?, grad, &conj(i3)?, expand1, sumdim, expand3, expand2),
        i3 => aten::_trilinear(&conj(i1)?, &conj(i2)?, grad, expand1, expand2, sumdim, expand3),
    }
    #[in_place]
    addmv(Tensor self, Tensor mat, Tensor vec, *, Scalar beta=1, Scalar alpha=1) -> Tensor as AddmvBackward0 {
        self => scaled(grad, beta),
        mat => scaled(&aten::outer(grad, &conj(vec)?)?, alpha),
        vec => scaled(&aten::mv(&conj(&mat.t()?)?, grad)?, alpha),
    }
    #[in_place]
    addr(Tensor self, Tensor vec1, Tensor vec2, *, Scalar beta=1, Scalar alpha=1) -> Tensor as AddrBackward0 {
        self => scaled(grad, beta),
        vec1 => scaled(&aten::mv(grad, &conj(vec2)?)?, alpha),
        vec2 => scaled(&aten::mv(&grad.t()?, &conj(vec1)?)?, alpha),
    }
    vdot(Tensor self, Tensor other) -> Tensor as VdotBackward0 {
        self => conj(grad)?.mul(other),
        other => grad.mul(self),
    }
    linalg_cross(Tensor self, Tensor other, *, int dim=-1) -> Tensor as LinalgCrossBackward0 {
        self => aten::linalg_cross::call(&conj(other)?, grad, dim),
        other => aten::linalg_cross::call(grad, &conj(self)?, dim),
    }
}
