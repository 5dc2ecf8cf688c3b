//! Batching rules of the functional collectives: all examples of a `vmap` are sent in one message.
//!
//! PyTorch: none; its `vmap` runs collectives for one example after the other.

use torch_library::prelude::*;
use torch_library::vmap::Level;
use torch_library_kernels::prelude::*;
use torch_library_kernels::vmap::front;

use crate::ops::_c10d_functional as functional;

/// The rule of an element-wise collective: the batch is a dimension like any other.
fn elementwise(input: &Tensor, collective: impl FnOnce(&Tensor) -> Result<Tensor>) -> Result<Tensor> {
    let level = Level::current()?;
    level.wrap(collective(&front(level, input)?)?, 0)
}

/// The rule of a collective whose rows go to or come from different ranks: the batch dimension comes after the rows.
fn by_rows(input: &Tensor, collective: impl FnOnce(&Tensor) -> Result<Tensor>) -> Result<Tensor> {
    let level = Level::current()?;
    let examples = front(level, input)?;
    ensure!(
        examples.dim() > 1,
        Shape,
        "an example without dimensions has no rows\n  help: `x.reshape(&[1])` has one"
    );
    level.wrap(collective(&examples.transpose(0, 1)?)?, 1)
}

#[torch_impl(crate::ops::_c10d_functional, FuncTorchBatched)]
mod batched {
    use super::*;

    fn all_reduce(input: &Tensor, reduce_op: &str, group_name: &str) -> Result<Tensor> {
        elementwise(input, |input| functional::all_reduce(input, reduce_op, group_name))
    }

    fn all_reduce_<'a>(input: &'a mut Tensor, reduce_op: &str, group_name: &str) -> Result<&'a mut Tensor> {
        let (mut value, _) = Level::current()?.unwrap(input);
        functional::all_reduce_(&mut value, reduce_op, group_name)?;
        Ok(input)
    }

    fn all_gather_into_tensor(input: &Tensor, group_size: i64, group_name: &str) -> Result<Tensor> {
        by_rows(input, |input| functional::all_gather_into_tensor(input, group_size, group_name))
    }

    fn all_gather_into_tensor_coalesced(
        inputs: &[Tensor],
        group_size: i64,
        group_name: &str,
    ) -> Result<Vec<Tensor>> {
        inputs.iter().map(|input| all_gather_into_tensor(input, group_size, group_name)).collect()
    }

    fn reduce_scatter_tensor(
        input: &Tensor,
        reduce_op: &str,
        group_size: i64,
        group_name: &str,
    ) -> Result<Tensor> {
        by_rows(input, |input| functional::reduce_scatter_tensor(input, reduce_op, group_size, group_name))
    }

    fn reduce_scatter_tensor_coalesced(
        inputs: &[Tensor],
        reduce_op: &str,
        group_size: i64,
        group_name: &str,
    ) -> Result<Vec<Tensor>> {
        let scatter = |input| reduce_scatter_tensor(input, reduce_op, group_size, group_name);
        inputs.iter().map(scatter).collect()
    }

    fn all_to_all_single(input: &Tensor, from: &[i64], to: &[i64], group_name: &str) -> Result<Tensor> {
        by_rows(input, |input| functional::all_to_all_single(input, from, to, group_name))
    }

    fn broadcast(input: &Tensor, src: i64, group_name: &str) -> Result<Tensor> {
        elementwise(input, |input| functional::broadcast(input, src, group_name))
    }

    fn broadcast_<'a>(input: &'a mut Tensor, src: i64, group_name: &str) -> Result<&'a mut Tensor> {
        let (mut value, _) = Level::current()?.unwrap(input);
        functional::broadcast_(&mut value, src, group_name)?;
        Ok(input)
    }

    /// Waits for the tensor with all examples, which is the one that is registered as the result.
    fn wait_tensor(input: &Tensor) -> Result<Tensor> {
        let level = Level::current()?;
        match level.unwrap(input) {
            (value, Some(dim)) => level.wrap(functional::wait_tensor(&value)?, dim),
            (value, None) => functional::wait_tensor(&value),
        }
    }

    fn wait_tensors(tensors: &[Tensor]) -> Result<Vec<Tensor>> {
        tensors.iter().map(wait_tensor).collect()
    }
}
