//! The losses, and with them the gradients that are asked for.

use torch_library::prelude::*;

use super::chunk::Chunk;
use super::ops::torch_nn;
use super::problem::{Arguments, Problem};
use crate::aten;

#[torch_impl(torch_nn, CompositeExplicitAutograd)]
mod composite {
    use super::*;

    fn _linear_cross_entropy_batch_chunked(
        input: &Tensor,
        linear_weight: &Tensor,
        target: &Tensor,
        linear_bias: Option<&Tensor>,
        weight: Option<&Tensor>,
        reduction: &str,
        ignore_index: i64,
        label_smoothing: f64,
        batch_chunk_size: i64,
        acc_policy: &str,
        acc_dtype: DType,
        _allow_retain_graph: bool,
        compute_input_grad: bool,
        compute_linear_weight_grad: bool,
        compute_linear_bias_grad: bool,
    ) -> Result<(Tensor, Tensor, Tensor, Tensor)> {
        const OPERATOR: &str = torch_nn::_linear_cross_entropy_batch_chunked::NAME;
        ensure!(
            matches!(reduction, "mean" | "sum"),
            Argument,
            "{OPERATOR}: unknown reduction {reduction:?}, expected \"mean\" or \"sum\""
        );
        ensure!(
            label_smoothing <= 0.0,
            Argument,
            "{OPERATOR}: label_smoothing is {label_smoothing}, only 0 is implemented"
        );
        check_policy(OPERATOR, acc_policy)?;
        let arguments = Arguments {
            operator: OPERATOR,
            input,
            linear_weight,
            target,
            linear_bias,
            weight,
            ignore_index,
            batch_chunk_size,
            acc_dtype,
        };
        let problem = Problem::new(&arguments)?;
        let mut loss = Tensor::zeros(&[], acc_dtype, input.device())?;
        let mut scale = aten::ones_like(&loss)?;
        if reduction == "mean" {
            scale = aten::div_Tensor(&scale, &problem.divisor()?)?;
        }
        let mask = [compute_input_grad, compute_linear_weight_grad, compute_linear_bias_grad];
        let mut gradients = Gradients::new(&problem, mask)?;
        for chunk in problem.chunks() {
            let (start, chunk) = chunk?;
            aten::add__Tensor(&mut loss, &aten::sum(&chunk.losses()?)?)?;
            gradients.add(&problem, start, &chunk, &scale)?;
        }
        let loss = aten::to_dtype(&aten::mul_Tensor(&loss, &scale)?, input.dtype())?;
        let [of_input, of_weight, of_bias] = gradients.cast(input.dtype())?;
        let empty = |sizes: &[i64]| Tensor::zeros(sizes, input.dtype(), input.device());
        Ok((
            loss,
            of_input.map_or_else(|| empty(&[0, 0]), Ok)?,
            of_weight.map_or_else(|| empty(&[0, 0]), Ok)?,
            of_bias.map_or_else(|| empty(&[0]), Ok)?,
        ))
    }

    fn _linear_cross_entropy_batch_chunked_no_reduction(
        input: &Tensor,
        linear_weight: &Tensor,
        target: &Tensor,
        linear_bias: Option<&Tensor>,
        weight: Option<&Tensor>,
        ignore_index: i64,
        batch_chunk_size: i64,
        acc_policy: &str,
        acc_dtype: DType,
    ) -> Result<Tensor> {
        const OPERATOR: &str = torch_nn::_linear_cross_entropy_batch_chunked_no_reduction::NAME;
        check_policy(OPERATOR, acc_policy)?;
        let arguments = Arguments {
            operator: OPERATOR,
            input,
            linear_weight,
            target,
            linear_bias,
            weight,
            ignore_index,
            batch_chunk_size,
            acc_dtype,
        };
        let problem = Problem::new(&arguments)?;
        let losses = Tensor::zeros(problem.mass.sizes(), input.dtype(), input.device())?;
        for chunk in problem.chunks() {
            let (start, chunk) = chunk?;
            let mut out = aten::narrow(&losses, 0, start, chunk.mass.numel())?;
            aten::copy_(&mut out, &chunk.losses()?)?;
        }
        Ok(losses)
    }
}

/// Callers of PyTorch's operators resolve its default, `"auto"`, themselves.
fn check_policy(operator: &str, policy: &str) -> Result<()> {
    ensure!(
        policy != "auto",
        Argument,
        "{operator}: acc_policy is \"auto\", expected \"keep\" or \"compact\""
    );
    Ok(())
}

/// The gradients of `input`, `linear_weight` and `linear_bias` that are asked for.
pub(super) struct Gradients([Option<Tensor>; 3]);

impl Gradients {
    pub(super) fn new(problem: &Problem, mask: [bool; 3]) -> Result<Self> {
        let of = |sizes: &[i64]| Tensor::zeros(sizes, problem.acc_dtype, problem.input.device());
        let (input, weight) = (problem.input.sizes(), problem.linear_weight.sizes());
        let [of_input, of_weight, of_bias] = mask;
        Ok(Gradients([
            of_input.then(|| of(input)).transpose()?,
            of_weight.then(|| of(weight)).transpose()?,
            of_bias.then(|| of(weight.get(..1).unwrap_or_default())).transpose()?,
        ]))
    }

    /// Adds those of a chunk that begins with row `start`.
    pub(super) fn add(&mut self, problem: &Problem, start: i64, chunk: &Chunk, scale: &Tensor) -> Result<()> {
        let Gradients([of_input, of_weight, of_bias]) = self;
        if of_input.is_none() && of_weight.is_none() && of_bias.is_none() {
            return Ok(());
        }
        let gradient = chunk.logits_gradient(scale)?;
        if let Some(of_input) = of_input {
            let mut out = aten::narrow(of_input, 0, start, chunk.mass.numel())?;
            aten::copy_(&mut out, &aten::mm(&gradient, &problem.linear_weight)?)?;
        }
        if let Some(of_weight) = of_weight {
            aten::addmm_(of_weight, &aten::t(&gradient)?, &chunk.input)?;
        }
        if let Some(of_bias) = of_bias {
            aten::add__Tensor(of_bias, &aten::sum_dim_IntList(&gradient, Some(&[0]))?)?;
        }
        Ok(())
    }

    pub(super) fn cast(self, dtype: DType) -> Result<[Option<Tensor>; 3]> {
        let [of_input, of_weight, of_bias] =
            self.0.map(|all| all.map(|all| aten::to_dtype(&all, dtype)).transpose());
        Ok([of_input?, of_weight?, of_bias?])
    }
}
