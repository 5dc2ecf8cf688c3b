//! Products of rows with the matrices of experts, and their gradients: a matrix product for each expert that has rows.

use torch_library::prelude::*;
use torch_library_aten::aten;

use crate::groups;
use crate::ops::transformers;

#[torch_impl(transformers, CompositeExplicitAutograd)]
mod kernels {
    use super::*;

    fn grouped_mm_fallback(input: &Tensor, weight: &Tensor, offs: &Tensor) -> Result<Tensor> {
        const OPERATOR: &str = transformers::grouped_mm_fallback::NAME;
        let [rows, columns] = groups::check(OPERATOR, input, weight, offs)?;
        let products = zeros(&[rows, columns], input)?;
        for (expert, start, count) in groups::of(OPERATOR, offs, rows)? {
            let own = aten::narrow(input, 0, start, count)?;
            let mut out = aten::narrow(&products, 0, start, count)?;
            aten::mm_out(&own, &aten::select_int(weight, 0, expert)?, &mut out)?;
        }
        Ok(products)
    }

    fn grouped_mm_fallback_backward(
        input: &Tensor,
        weight: &Tensor,
        offs: &Tensor,
        grad_output: &Tensor,
    ) -> Result<(Tensor, Tensor)> {
        const OPERATOR: &str = transformers::grouped_mm_fallback_backward::NAME;
        let sizes = groups::check(OPERATOR, input, weight, offs)?;
        check_gradient(OPERATOR, grad_output, sizes)?;
        let (of_input, of_weight) = (aten::zeros_like(input)?, aten::zeros_like(weight)?);
        for (expert, start, count) in groups::of(OPERATOR, offs, sizes[0])? {
            let grad = aten::narrow(grad_output, 0, start, count)?;
            let matrix = aten::t(&aten::select_int(weight, 0, expert)?)?;
            aten::mm_out(&grad, &matrix, &mut aten::narrow(&of_input, 0, start, count)?)?;
            let own = aten::t(&aten::narrow(input, 0, start, count)?)?;
            aten::mm_out(&own, &grad, &mut aten::select_int(&of_weight, 0, expert)?)?;
        }
        Ok((of_input, of_weight))
    }
}

// Without these, the ends would be read, which have no elements there.
#[torch_impl(transformers, Meta)]
mod meta {
    use super::*;

    fn grouped_mm_fallback(input: &Tensor, weight: &Tensor, offs: &Tensor) -> Result<Tensor> {
        let sizes = groups::check(transformers::grouped_mm_fallback::NAME, input, weight, offs)?;
        zeros(&sizes, input)
    }

    fn grouped_mm_fallback_backward(
        input: &Tensor,
        weight: &Tensor,
        offs: &Tensor,
        grad_output: &Tensor,
    ) -> Result<(Tensor, Tensor)> {
        const OPERATOR: &str = transformers::grouped_mm_fallback_backward::NAME;
        check_gradient(OPERATOR, grad_output, groups::check(OPERATOR, input, weight, offs)?)?;
        Ok((aten::zeros_like(input)?, aten::zeros_like(weight)?))
    }
}

fn check_gradient(operator: &str, grad: &Tensor, sizes: [i64; 2]) -> Result<()> {
    ensure!(
        grad.sizes() == sizes,
        Shape,
        "{operator}: a gradient of sizes {:?} for products of sizes {sizes:?}",
        grad.sizes()
    );
    Ok(())
}

fn zeros(sizes: &[i64], like: &Tensor) -> Result<Tensor> {
    Tensor::zeros(sizes, like.dtype(), like.device())
}
