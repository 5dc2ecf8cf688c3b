//! Histograms are constant between the ends of their bins.

use torch_library::derivatives;

use crate::aten;

derivatives! {
    in aten;

    histc(Tensor self, int bins=100, Scalar min=0, Scalar max=0) -> Tensor as non_differentiable;
}
