//! The out variants of activations and of their gradients.
#![expect(unreachable_pub, reason = "`ops::aten` exports it")]

use torch_library::prelude::*;
use torch_library::{DispatchKeySet, OperatorHandle, Stack};

use crate::ops::autogen::{Rule, Variant, variants};

variants! {
    elu_backward_grad_input: elu_backward Castable =>
        "elu_backward.grad_input(Tensor grad_output, Scalar alpha, Scalar scale, Scalar input_scale, bool is_result, Tensor self_or_result, *, Tensor(a!) grad_input) -> Tensor(a!)";
    glu_backward_grad_input: glu_backward =>
        "glu_backward.grad_input(Tensor grad_output, Tensor self, int dim, *, Tensor(a!) grad_input) -> Tensor(a!)";
    hardshrink_backward_grad_input: hardshrink_backward Castable =>
        "hardshrink_backward.grad_input(Tensor grad_out, Tensor self, Scalar lambd, *, Tensor(a!) grad_input) -> Tensor(a!)";
    hardsigmoid_backward_grad_input: hardsigmoid_backward Castable =>
        "hardsigmoid_backward.grad_input(Tensor grad_output, Tensor self, *, Tensor(a!) grad_input) -> Tensor(a!)";
    hardswish_backward_out: hardswish_backward =>
        "hardswish_backward.out(Tensor grad_output, Tensor self, *, Tensor(a!) out) -> Tensor(a!)";
    leaky_relu_backward_grad_input: leaky_relu_backward Castable =>
        "leaky_relu_backward.grad_input(Tensor grad_output, Tensor self, Scalar negative_slope, bool self_is_result, *, Tensor(a!) grad_input) -> Tensor(a!)";
    log_sigmoid_backward_grad_input: log_sigmoid_backward AsResult Whole =>
        "log_sigmoid_backward.grad_input(Tensor grad_output, Tensor self, Tensor buffer, *, Tensor(a!) grad_input) -> Tensor(a!)";
    log_sigmoid_forward_output: log_sigmoid_forward =>
        "log_sigmoid_forward.output(Tensor self, *, Tensor(a!) output, Tensor(b!) buffer) -> (Tensor(a!), Tensor(b!))";
    logit_backward_grad_input: logit_backward Castable =>
        "logit_backward.grad_input(Tensor grad_output, Tensor self, float? eps=None, *, Tensor(a!) grad_input) -> Tensor(a!)";
    rrelu_with_noise_backward_out: rrelu_with_noise_backward =>
        "rrelu_with_noise_backward.out(Tensor grad_output, Tensor self, Tensor noise, Scalar lower, Scalar upper, bool training, bool self_is_result, *, Tensor(a!) out) -> Tensor(a!)";
    #[tags(nondeterministic_seeded)]
    rrelu_with_noise_out: rrelu_with_noise =>
        "rrelu_with_noise.out(Tensor self, Tensor(b!) noise, Scalar lower=0.125, Scalar upper=0.33333333333333331, bool training=False, Generator? generator=None, *, Tensor(a!) out) -> Tensor(a!)";
    softplus_backward_grad_input: softplus_backward Castable =>
        "softplus_backward.grad_input(Tensor grad_output, Tensor self, Scalar beta, Scalar threshold, *, Tensor(a!) grad_input) -> Tensor(a!)";
    softshrink_backward_grad_input: softshrink_backward Castable =>
        "softshrink_backward.grad_input(Tensor grad_output, Tensor self, Scalar lambd, *, Tensor(a!) grad_input) -> Tensor(a!)";
    celu_out: celu => "celu.out(Tensor self, Scalar alpha=1., *, Tensor(a!) out) -> Tensor(a!)";
    glu_out: glu Castable => "glu.out(Tensor self, int dim=-1, *, Tensor(a!) out) -> Tensor(a!)";
    log_sigmoid_out: log_sigmoid => "log_sigmoid.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)";
}
