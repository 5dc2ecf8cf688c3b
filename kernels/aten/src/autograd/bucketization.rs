//! Look-ups of elements have no derivatives.

use torch_library::derivatives;

use crate::aten;

derivatives! {
    in aten;

    isin.Tensor_Tensor(
        Tensor elements, Tensor test_elements, *, bool assume_unique=False, bool invert=False
    ) -> Tensor as non_differentiable;
}
