//! Logical operators have no derivatives.

use torch_library::derivatives;

use crate::aten;

derivatives! {
    in aten;

    logical_and(Tensor self, Tensor other) -> Tensor as non_differentiable;
    logical_or(Tensor self, Tensor other) -> Tensor as non_differentiable;
    logical_xor(Tensor self, Tensor other) -> Tensor as non_differentiable;
}
