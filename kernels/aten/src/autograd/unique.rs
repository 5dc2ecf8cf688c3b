//! Derivatives of operators that find distinct elements.

use torch_library::derivatives;
use torch_library::prelude::*;

use crate::aten;

derivatives! {
    in aten;

    _unique(Tensor self, bool sorted=True, bool return_inverse=False) -> (Tensor, Tensor) as UniqueBackward0 {
        self => without_derivative(),
        result1 => non_differentiable,
    }
}

fn without_derivative() -> Result<Tensor> {
    bail!(NotSupported, "the derivative of `_unique` is not implemented")
}
