//! The out variants of distances.
#![expect(unreachable_pub, reason = "`ops::aten` exports it")]

use torch_library::prelude::*;
use torch_library::{DispatchKeySet, OperatorHandle, Stack};

use crate::ops::autogen::{Variant, variants};

variants! {
    _cdist_backward_out: _cdist_backward =>
        "_cdist_backward.out(Tensor grad_output, Tensor x1, Tensor x2, float p, Tensor cdist, *, Tensor(a!) out) -> Tensor(a!)";
    _pdist_backward_out: _pdist_backward =>
        "_pdist_backward.out(Tensor grad_output, Tensor self, float p, Tensor pdist, *, Tensor(a!) out) -> Tensor(a!)";
    _pdist_forward_out: _pdist_forward =>
        "_pdist_forward.out(Tensor self, float p=2., *, Tensor(a!) out) -> Tensor(a!)";
    _cdist_forward_out: _cdist_forward =>
        "_cdist_forward.out(Tensor x1, Tensor x2, float p, int? compute_mode, *, Tensor(a!) out) -> Tensor(a!)";
    _euclidean_dist_out: _euclidean_dist =>
        "_euclidean_dist.out(Tensor x1, Tensor x2, *, Tensor(a!) out) -> Tensor(a!)";
}
