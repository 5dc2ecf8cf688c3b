//! The out variants of padding.
#![expect(unreachable_pub, reason = "`ops::aten` exports it")]

use torch_library::prelude::*;
use torch_library::{DispatchKeySet, OperatorHandle, Stack};

use crate::ops::autogen::{Rule, Variant, variants};

variants! {
    constant_pad_nd_out: constant_pad_nd =>
        "constant_pad_nd.out(Tensor self, SymInt[] pad, Scalar value=0, *, Tensor(a!) out) -> Tensor(a!)";
    reflection_pad1d_backward_grad_input: reflection_pad1d_backward =>
        "reflection_pad1d_backward.grad_input(Tensor grad_output, Tensor self, SymInt[2] padding, *, Tensor(a!) grad_input) -> Tensor(a!)";
    reflection_pad1d_out: reflection_pad1d =>
        "reflection_pad1d.out(Tensor self, SymInt[2] padding, *, Tensor(a!) out) -> Tensor(a!)";
    reflection_pad2d_backward_grad_input: reflection_pad2d_backward =>
        "reflection_pad2d_backward.grad_input(Tensor grad_output, Tensor self, SymInt[4] padding, *, Tensor(a!) grad_input) -> Tensor(a!)";
    reflection_pad2d_out: reflection_pad2d RelaidImages =>
        "reflection_pad2d.out(Tensor self, SymInt[4] padding, *, Tensor(a!) out) -> Tensor(a!)";
    reflection_pad3d_backward_grad_input: reflection_pad3d_backward =>
        "reflection_pad3d_backward.grad_input(Tensor grad_output, Tensor self, SymInt[6] padding, *, Tensor(a!) grad_input) -> Tensor(a!)";
    reflection_pad3d_out: reflection_pad3d =>
        "reflection_pad3d.out(Tensor self, SymInt[6] padding, *, Tensor(a!) out) -> Tensor(a!)";
    replication_pad1d_backward_grad_input: replication_pad1d_backward =>
        "replication_pad1d_backward.grad_input(Tensor grad_output, Tensor self, SymInt[2] padding, *, Tensor(a!) grad_input) -> Tensor(a!)";
    replication_pad1d_out: replication_pad1d =>
        "replication_pad1d.out(Tensor self, SymInt[2] padding, *, Tensor(a!) out) -> Tensor(a!)";
    replication_pad2d_backward_grad_input: replication_pad2d_backward =>
        "replication_pad2d_backward.grad_input(Tensor grad_output, Tensor self, SymInt[4] padding, *, Tensor(a!) grad_input) -> Tensor(a!)";
    replication_pad2d_out: replication_pad2d Relaid =>
        "replication_pad2d.out(Tensor self, SymInt[4] padding, *, Tensor(a!) out) -> Tensor(a!)";
    replication_pad3d_backward_grad_input: replication_pad3d_backward =>
        "replication_pad3d_backward.grad_input(Tensor grad_output, Tensor self, SymInt[6] padding, *, Tensor(a!) grad_input) -> Tensor(a!)";
    replication_pad3d_out: replication_pad3d =>
        "replication_pad3d.out(Tensor self, SymInt[6] padding, *, Tensor(a!) out) -> Tensor(a!)";
}
