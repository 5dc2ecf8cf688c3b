//! Derivatives with respect to the rows and the matrices of experts; also second ones, which transformers lacks.

use torch_library::derivatives;
use torch_library::prelude::*;
use torch_library_aten::aten;

use crate::ops::transformers;

derivatives! {
    in crate::ops::transformers;

    grouped_mm_fallback(Tensor input, Tensor weight, Tensor offs) -> Tensor {
        (input, weight) => transformers::grouped_mm_fallback_backward(input, weight, offs, grad),
        offs => non_differentiable,
    }
    grouped_mm_fallback_backward(Tensor input, Tensor weight, Tensor offs, Tensor grad_output) -> (Tensor, Tensor) {
        (input, weight, grad_output) => second(grads, input, weight, offs, grad_output),
        offs => non_differentiable,
    }
}

type Three = (Option<Tensor>, Option<Tensor>, Option<Tensor>);

/// The gradients of the backward pass, which makes `grad_output · weightᵀ` and `inputᵀ · grad_output` of each expert.
fn second(
    grads: &[Option<Tensor>],
    input: &Tensor,
    weight: &Tensor,
    offs: &Tensor,
    grad_output: &Tensor,
) -> Result<Three> {
    let backward = |input: &Tensor, weight: &Tensor| {
        transformers::grouped_mm_fallback_backward(input, weight, offs, grad_output)
    };
    let [of_input, of_weight] = [&grads[0], &grads[1]].map(Option::as_ref);
    let to_input = of_weight.map(|of_weight| backward(input, of_weight)).transpose()?;
    let to_weight = of_input.map(|of_input| backward(of_input, weight)).transpose()?;
    let by_rows = of_input.map(|of_input| transformers::grouped_mm_fallback(of_input, weight, offs));
    let by_experts = of_weight.map(|of_weight| transformers::grouped_mm_fallback(input, of_weight, offs));
    let to_grad = match (by_rows.transpose()?, by_experts.transpose()?) {
        (Some(rows), Some(experts)) => Some(aten::add_Tensor(&rows, &experts)?),
        (rows, experts) => rows.or(experts),
    };
    Ok((to_input.map(|gradients| gradients.0), to_weight.map(|gradients| gradients.1), to_grad))
}
