//! Derivatives of the functional collectives: each is another collective, so all ranks have to run `backward`.
//!
//! PyTorch: `torch.distributed.nn.functional`, and `_c10d_functional_autograd`.

use torch_library::derivatives;
use torch_library::prelude::*;
use torch_library_kernels::aten;

use crate::group::registry::process_group;
use crate::ops::_c10d_functional::{self as functional, wait_tensor};
use crate::reduce_op::ReduceOp;

derivatives! {
    in crate::ops::_c10d_functional;

    all_reduce(Tensor input, str reduce_op, str group_name) -> Tensor {
        input => reduced(grad, reduce_op, group_name),
    }

    all_gather_into_tensor(Tensor input, int group_size, str group_name) -> Tensor {
        input => wait_tensor(&functional::reduce_scatter_tensor(grad, "sum", group_size, group_name)?),
    }

    reduce_scatter_tensor(Tensor input, str reduce_op, int group_size, str group_name) -> Tensor {
        input => gathered(grad, reduce_op, group_size, group_name),
    }

    all_to_all_single(Tensor input, SymInt[] output_split_sizes, SymInt[] input_split_sizes, str group_name) -> Tensor {
        input => wait_tensor(&functional::all_to_all_single(grad, input_split_sizes, output_split_sizes, group_name)?),
    }

    broadcast(Tensor input, int src, str group_name) -> Tensor {
        input => of_source(grad, src, group_name),
    }

    wait_tensor(Tensor input) -> Tensor {
        input => grad.clone(),
    }
}

/// The gradient of a reduction: every rank's result depends on this input, so the gradients of all ranks are reduced.
fn reduced(grad: &Tensor, op: &str, group: &str) -> Result<Tensor> {
    linear(op)?;
    wait_tensor(&functional::all_reduce(grad, op, group)?)
}

/// The gradient of a scattered reduction: each rank has a part of it, so the parts are gathered.
fn gathered(grad: &Tensor, op: &str, group_size: i64, group: &str) -> Result<Tensor> {
    let is_average = linear(op)?;
    let grad = wait_tensor(&functional::all_gather_into_tensor(grad, group_size, group)?)?;
    match is_average {
        true => aten::div_Scalar(&grad, (group_size as f64).into()),
        false => Ok(grad),
    }
}

/// The gradient of a broadcast: the source gets all gradients, since the inputs of others were not used.
fn of_source(grad: &Tensor, source: i64, group: &str) -> Result<Tensor> {
    let sum = wait_tensor(&functional::all_reduce(grad, "sum", group)?)?;
    match process_group(group)?.rank() as i64 == source {
        true => Ok(sum),
        false => aten::zeros_like(&sum),
    }
}

/// Whether a linear reduction is an average, and not a sum.
fn linear(op: &str) -> Result<bool> {
    match op.parse()? {
        ReduceOp::Sum => Ok(false),
        ReduceOp::Avg => Ok(true),
        _ => bail!(Autograd, "the reduction {op:?} has no derivative here; \"sum\" and \"avg\" have one"),
    }
}

#[torch_impl(crate::ops::_c10d_functional_autograd, CompositeImplicitAutograd)]
mod composite {
    use super::*;

    fn all_gather_into_tensor(input: &Tensor, group_size: i64, group_name: &str) -> Result<Tensor> {
        functional::all_gather_into_tensor(input, group_size, group_name)
    }

    fn reduce_scatter_tensor(
        input: &Tensor,
        reduce_op: &str,
        group_size: i64,
        group_name: &str,
    ) -> Result<Tensor> {
        functional::reduce_scatter_tensor(input, reduce_op, group_size, group_name)
    }

    fn all_to_all_single(
        input: &Tensor,
        output_split_sizes: &[i64],
        input_split_sizes: &[i64],
        group_name: &str,
    ) -> Result<Tensor> {
        functional::all_to_all_single(input, output_split_sizes, input_split_sizes, group_name)
    }
}
