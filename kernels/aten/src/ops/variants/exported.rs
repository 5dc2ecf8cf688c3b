//! The out variants of operators that distributions, sequences and exported programs call.
#![expect(unreachable_pub, reason = "what extends this namespace exports it")]

use torch_library::prelude::*;
use torch_library::{DispatchKeySet, OperatorHandle, Stack};

use crate::ops::autogen::{Variant, variants};

variants! {
    super::super::exported::aten;
    #[tags(nondeterministic_seeded)]
    _standard_gamma_out: _standard_gamma =>
        "_standard_gamma.out(Tensor self, Generator? generator=None, *, Tensor(a!) out) -> Tensor(a!)";
    _standard_gamma_grad_out: _standard_gamma_grad =>
        "_standard_gamma_grad.out(Tensor self, Tensor output, *, Tensor(a!) out) -> Tensor(a!)";
    #[tags(nondeterministic_seeded)]
    _sample_dirichlet_out: _sample_dirichlet =>
        "_sample_dirichlet.out(Tensor self, Generator? generator=None, *, Tensor(a!) out) -> Tensor(a!)";
    _dirichlet_grad_out: _dirichlet_grad =>
        "_dirichlet_grad.out(Tensor x, Tensor alpha, Tensor total, *, Tensor(a!) out) -> Tensor(a!)";
    _pack_padded_sequence_out: _pack_padded_sequence =>
        "_pack_padded_sequence.out(Tensor input, Tensor lengths, bool batch_first, *, Tensor(a!) out0, Tensor(b!) out1) -> (Tensor(a!), Tensor(b!))";
}
