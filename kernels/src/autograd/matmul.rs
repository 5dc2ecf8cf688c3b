//! Derivatives of matrix products.

use torch_library::derivatives;

use super::binary::{conj, scaled};
use crate::aten;
use crate::methods::TensorMethods;

derivatives! {
    in aten;

    mm(Tensor self, Tensor mat2) -> Tensor as MmBackward0 {
        self => grad.mm(&conj(&mat2.t()?)?),
        mat2 => conj(&self.t()?)?.mm(grad),
    }
    #[in_place]
    addmm(Tensor self, Tensor mat1, Tensor mat2, *, Scalar beta=1, Scalar alpha=1) -> Tensor as AddmmBackward0 {
        self => scaled(grad, beta),
        mat1 => scaled(&grad.mm(&conj(&mat2.t()?)?)?, alpha),
        mat2 => scaled(&conj(&mat1.t()?)?.mm(grad)?, alpha),
    }
    bmm(Tensor self, Tensor mat2) -> Tensor as BmmBackward0 {
        self => aten::bmm(grad, &conj(&mat2.transpose(1, 2)?)?),
        mat2 => aten::bmm(&conj(&self.transpose(1, 2)?)?, grad),
    }
    mv(Tensor self, Tensor vec) -> Tensor as MvBackward0 {
        self => grad.unsqueeze(1)?.mul(&conj(&vec.unsqueeze(0)?)?),
        vec => aten::mv(&conj(&self.t()?)?, grad),
    }
    dot(Tensor self, Tensor tensor) -> Tensor as DotBackward0 {
        self => grad.mul(&conj(tensor)?),
        tensor => grad.mul(&conj(self)?),
    }
}
