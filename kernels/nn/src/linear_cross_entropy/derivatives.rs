//! Derivatives with respect to the linear layer.

use torch_library::derivatives;
use torch_library::prelude::*;

use super::kernels::Gradients;
use super::ops::torch_nn;
use super::problem::{Arguments, Problem};
use crate::aten;

derivatives! {
    in super::ops::torch_nn;

    _linear_cross_entropy_batch_chunked(
        Tensor input, Tensor linear_weight, Tensor target, Tensor? linear_bias, Tensor? weight, str reduction,
        SymInt ignore_index, float label_smoothing, SymInt batch_chunk_size, str acc_policy, ScalarType acc_dtype,
        bool allow_retain_graph, bool compute_input_grad, bool compute_linear_weight_grad,
        bool compute_linear_bias_grad
    ) -> (Tensor, Tensor, Tensor, Tensor) {
        input => scaled(grad, result1, compute_input_grad, "input"),
        linear_weight => scaled(grad, result2, compute_linear_weight_grad, "linear_weight"),
        linear_bias => scaled(grad, result3, compute_linear_bias_grad, "linear_bias"),
        target => cannot_require_grad,
        weight => cannot_require_grad,
        result1 => non_differentiable,
        result2 => non_differentiable,
        result3 => non_differentiable,
    }
    _linear_cross_entropy_batch_chunked_no_reduction(
        Tensor input, Tensor linear_weight, Tensor target, Tensor? linear_bias, Tensor? weight,
        SymInt ignore_index, SymInt batch_chunk_size, str acc_policy, ScalarType acc_dtype
    ) -> Tensor {
        (input, linear_weight, linear_bias) => {
            let operator = torch_nn::_linear_cross_entropy_batch_chunked_no_reduction::NAME;
            of_rows(grad, &Arguments {
                operator, input, linear_weight, target, linear_bias, weight, ignore_index, batch_chunk_size, acc_dtype,
            }, mask)
        },
        target => cannot_require_grad,
        weight => cannot_require_grad,
    }
}

/// The gradient that the forward pass has computed, times that of the loss.
fn scaled(grad: &Tensor, gradient: &Tensor, is_computed: bool, argument: &str) -> Result<Tensor> {
    ensure!(
        is_computed,
        Autograd,
        "{}: {argument} requires a gradient, which the call did not ask for: pass compute_{argument}_grad as true",
        torch_nn::_linear_cross_entropy_batch_chunked::NAME
    );
    aten::mul_Tensor(gradient, grad)
}

type Three = (Option<Tensor>, Option<Tensor>, Option<Tensor>);

/// The gradients of losses of rows. `grad` has the sizes `[N]`.
fn of_rows(grad: &Tensor, of: &Arguments<'_>, mask: [bool; 3]) -> Result<Three> {
    let problem = Problem::new(of)?;
    let grad = aten::to_dtype(grad, of.acc_dtype)?;
    let mut gradients = Gradients::new(&problem, mask)?;
    for chunk in problem.chunks() {
        let (start, chunk) = chunk?;
        gradients.add(&problem, start, &chunk, &aten::narrow(&grad, 0, start, chunk.mass.numel())?)?;
    }
    let [of_input, of_weight, of_bias] = gradients.cast(of.input.dtype())?;
    Ok((of_input, of_weight, of_bias))
}
