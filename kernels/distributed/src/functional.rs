//! Kernels of the functional collectives.

use torch_library::geometry::saturating_numel;
use torch_library::prelude::*;
use torch_library_kernels::aten;

use crate::collectives::{self, Caller, caller, sized_group};
use crate::group::ProcessGroup;
use crate::group::registry::process_group;
use crate::ops::_c10d_functional;
use crate::transport::Call;
use crate::work::Work;
use crate::{pending, shapes};

/// Registers a result for `wait_tensor`, or waits for it here.
fn later(group: &ProcessGroup, work: Work, result: Tensor) -> Result<Tensor> {
    // A result without elements has no memory by which it could be found, and needs no waiting.
    match group.is_blocking() || result.numel() == 0 {
        true => work.wait()?,
        false => pending::add(result.clone(), work)?,
    }
    Ok(result)
}

/// A result of zeros, until the elements arrive.
fn zeros(sizes: &[i64], like: &Tensor) -> Result<Tensor> {
    Tensor::zeros(sizes, like.dtype(), like.device())
}

/// Reduces copies of the inputs in place, so that both forms share the code.
fn reduced(
    caller: Caller,
    inputs: &[&Tensor],
    op: &str,
    group: &ProcessGroup,
) -> Result<(Vec<Tensor>, Work)> {
    let results: Vec<Tensor> =
        inputs.iter().map(|input| zeros(input.sizes(), input)).collect::<Result<_>>()?;
    let work = collectives::all_reduce(group, caller, op, inputs.to_vec(), results.clone())?;
    Ok((results, work))
}

#[torch_impl(crate::ops::_c10d_functional, CPU)]
mod cpu {
    use super::*;

    fn all_reduce(input: &Tensor, reduce_op: &str, group_name: &str) -> Result<Tensor> {
        let group = process_group(group_name)?;
        let (mut results, work) =
            reduced(caller!(_c10d_functional::all_reduce), &[input], reduce_op, &group)?;
        later(&group, work, results.swap_remove(0))
    }

    fn all_reduce_<'a>(input: &'a mut Tensor, reduce_op: &str, group_name: &str) -> Result<&'a mut Tensor> {
        let group = process_group(group_name)?;
        let outputs = vec![input.clone()];
        collectives::all_reduce(
            &group,
            caller!(_c10d_functional::all_reduce_),
            reduce_op,
            vec![input],
            outputs,
        )?
        .wait()?;
        Ok(input)
    }

    fn all_reduce_coalesced(inputs: &[Tensor], reduce_op: &str, group_name: &str) -> Result<Vec<Tensor>> {
        let group = process_group(group_name)?;
        let inputs: Vec<&Tensor> = inputs.iter().collect();
        let (results, work) =
            reduced(caller!(_c10d_functional::all_reduce_coalesced), &inputs, reduce_op, &group)?;
        work.wait()?; // there is one work for several tensors, each of which may be waited for separately
        Ok(results)
    }

    fn all_reduce_coalesced_<'a>(
        inputs: &'a mut [Tensor],
        reduce_op: &str,
        group_name: &str,
    ) -> Result<&'a mut [Tensor]> {
        let group = process_group(group_name)?;
        let (read, written) = (inputs.iter().collect(), inputs.to_vec());
        let caller = caller!(_c10d_functional::all_reduce_coalesced_);
        collectives::all_reduce(&group, caller, reduce_op, read, written)?.wait()?;
        Ok(inputs)
    }

    fn all_gather_into_tensor(input: &Tensor, group_size: i64, group_name: &str) -> Result<Tensor> {
        let group = sized_group(group_name, group_size)?;
        let result = zeros(&shapes::gathered(input, group_size)?, input)?;
        let outputs = vec![result.clone()];
        let work = collectives::all_gather(
            &group,
            caller!(_c10d_functional::all_gather_into_tensor),
            input,
            outputs,
        )?;
        later(&group, work, result)
    }

    fn all_gather_into_tensor_out<'a>(
        input: &Tensor,
        group_size: i64,
        group_name: &str,
        out: &'a mut Tensor,
    ) -> Result<&'a mut Tensor> {
        let group = sized_group(group_name, group_size)?;
        shapes::check_out(out, &shapes::gathered(input, group_size)?)?;
        let caller = caller!(_c10d_functional::all_gather_into_tensor_out);
        collectives::all_gather(&group, caller, input, vec![out.clone()])?.wait()?;
        Ok(out)
    }

    fn all_gather_into_tensor_coalesced(
        inputs: &[Tensor],
        group_size: i64,
        group_name: &str,
    ) -> Result<Vec<Tensor>> {
        let gather = |input| _c10d_functional::all_gather_into_tensor(input, group_size, group_name);
        inputs.iter().map(gather).collect()
    }

    fn reduce_scatter_tensor(
        input: &Tensor,
        reduce_op: &str,
        group_size: i64,
        group_name: &str,
    ) -> Result<Tensor> {
        let group = sized_group(group_name, group_size)?;
        let result = zeros(&shapes::scattered(input, group_size)?, input)?;
        let (caller, outputs) = (caller!(_c10d_functional::reduce_scatter_tensor), vec![result.clone()]);
        let work = collectives::reduce_scatter(&group, caller, reduce_op, vec![input], outputs)?;
        later(&group, work, result)
    }

    fn reduce_scatter_tensor_out<'a>(
        input: &Tensor,
        reduce_op: &str,
        group_size: i64,
        group_name: &str,
        out: &'a mut Tensor,
    ) -> Result<&'a mut Tensor> {
        let group = sized_group(group_name, group_size)?;
        shapes::check_out(out, &shapes::scattered(input, group_size)?)?;
        let (caller, outputs) = (caller!(_c10d_functional::reduce_scatter_tensor_out), vec![out.clone()]);
        collectives::reduce_scatter(&group, caller, reduce_op, vec![input], outputs)?.wait()?;
        Ok(out)
    }

    fn reduce_scatter_tensor_coalesced(
        inputs: &[Tensor],
        reduce_op: &str,
        group_size: i64,
        group_name: &str,
    ) -> Result<Vec<Tensor>> {
        let scatter =
            |input| _c10d_functional::reduce_scatter_tensor(input, reduce_op, group_size, group_name);
        inputs.iter().map(scatter).collect()
    }

    fn all_to_all_single(
        input: &Tensor,
        output_split_sizes: &[i64],
        input_split_sizes: &[i64],
        group_name: &str,
    ) -> Result<Tensor> {
        let group = process_group(group_name)?;
        let result = zeros(&shapes::exchanged(input, output_split_sizes, input_split_sizes)?, input)?;
        let rows = [
            splits(&group, input_split_sizes, input.sizes()[0])?,
            splits(&group, output_split_sizes, result.sizes()[0])?,
        ];
        let row = saturating_numel(&input.sizes()[1..]);
        let bytes = |rows: &Vec<i64>| {
            rows.iter().map(|rows| (rows * row) as usize * input.dtype().size()).collect::<Vec<_>>()
        };
        let lengths = [bytes(&rows[0]), bytes(&rows[1])];
        let (caller, outputs) = (caller!(_c10d_functional::all_to_all_single), vec![result.clone()]);
        let work = collectives::all_to_all(&group, caller, rows, lengths, vec![input], outputs)?;
        later(&group, work, result)
    }

    fn broadcast(input: &Tensor, src: i64, group_name: &str) -> Result<Tensor> {
        let group = process_group(group_name)?;
        let root = group.checked_rank(src, "the source")?;
        let result = zeros(input.sizes(), input)?;
        let (call, outputs) = (Call::Broadcast { root }, vec![result.clone()]);
        let work =
            collectives::begin(&group, caller!(_c10d_functional::broadcast), call, vec![input], outputs)?;
        later(&group, work, result)
    }

    fn broadcast_<'a>(input: &'a mut Tensor, src: i64, group_name: &str) -> Result<&'a mut Tensor> {
        let group = process_group(group_name)?;
        let root = group.checked_rank(src, "the source")?;
        let (call, outputs) = (Call::Broadcast { root }, vec![input.clone()]);
        collectives::begin(&group, caller!(_c10d_functional::broadcast_), call, vec![input], outputs)?
            .wait()?;
        Ok(input)
    }

    fn wait_tensor(input: &Tensor) -> Result<Tensor> {
        pending::wait(input)?;
        aten::clone(input)
    }

    fn wait_tensors(tensors: &[Tensor]) -> Result<Vec<Tensor>> {
        tensors.iter().map(wait_tensor).collect()
    }

    /// Equal splits, if none are given.
    #[torch_impl(helper)]
    fn splits(group: &ProcessGroup, given: &[i64], rows: i64) -> Result<Vec<i64>> {
        let ranks = group.size();
        if given.is_empty() {
            ensure!(
                rows % ranks as i64 == 0,
                Shape,
                "{rows} rows are not divisible by {ranks} ranks\n  help: splits say how many go where"
            );
            return Ok(vec![rows / ranks as i64; ranks]);
        }
        ensure!(given.len() == ranks, Argument, "splits {given:?} are not one for each of {ranks} ranks");
        Ok(given.to_vec())
    }
}

#[torch_impl(crate::ops::_c10d_functional, Meta)]
mod meta {
    use super::*;

    fn all_reduce(input: &Tensor, reduce_op: &str, _: &str) -> Result<Tensor> {
        reduce_op.parse::<crate::ReduceOp>()?.check(input.dtype())?;
        like(input, input.sizes())
    }

    fn all_reduce_<'a>(input: &'a mut Tensor, reduce_op: &str, _: &str) -> Result<&'a mut Tensor> {
        reduce_op.parse::<crate::ReduceOp>()?.check(input.dtype())?;
        Ok(input)
    }

    fn all_reduce_coalesced(inputs: &[Tensor], reduce_op: &str, group_name: &str) -> Result<Vec<Tensor>> {
        inputs.iter().map(|input| all_reduce(input, reduce_op, group_name)).collect()
    }

    fn all_reduce_coalesced_<'a>(
        inputs: &'a mut [Tensor],
        reduce_op: &str,
        _: &str,
    ) -> Result<&'a mut [Tensor]> {
        let op: crate::ReduceOp = reduce_op.parse()?;
        inputs.iter().try_for_each(|input| op.check(input.dtype()))?;
        Ok(inputs)
    }

    fn all_gather_into_tensor(input: &Tensor, group_size: i64, _: &str) -> Result<Tensor> {
        like(input, &shapes::gathered(input, group_size)?)
    }

    fn all_gather_into_tensor_out<'a>(
        input: &Tensor,
        group_size: i64,
        _: &str,
        out: &'a mut Tensor,
    ) -> Result<&'a mut Tensor> {
        shapes::check_out(out, &shapes::gathered(input, group_size)?)?;
        Ok(out)
    }

    fn all_gather_into_tensor_coalesced(
        inputs: &[Tensor],
        group_size: i64,
        group_name: &str,
    ) -> Result<Vec<Tensor>> {
        inputs.iter().map(|input| all_gather_into_tensor(input, group_size, group_name)).collect()
    }

    fn reduce_scatter_tensor(input: &Tensor, reduce_op: &str, group_size: i64, _: &str) -> Result<Tensor> {
        reduce_op.parse::<crate::ReduceOp>()?.check(input.dtype())?;
        like(input, &shapes::scattered(input, group_size)?)
    }

    fn reduce_scatter_tensor_out<'a>(
        input: &Tensor,
        _: &str,
        group_size: i64,
        _: &str,
        out: &'a mut Tensor,
    ) -> Result<&'a mut Tensor> {
        shapes::check_out(out, &shapes::scattered(input, group_size)?)?;
        Ok(out)
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

    fn all_to_all_single(input: &Tensor, from: &[i64], to: &[i64], _: &str) -> Result<Tensor> {
        like(input, &shapes::exchanged(input, from, to)?)
    }

    fn broadcast(input: &Tensor, _: i64, _: &str) -> Result<Tensor> {
        like(input, input.sizes())
    }

    fn broadcast_<'a>(input: &'a mut Tensor, _: i64, _: &str) -> Result<&'a mut Tensor> {
        Ok(input)
    }

    fn wait_tensor(input: &Tensor) -> Result<Tensor> {
        aten::clone(input)
    }

    fn wait_tensors(tensors: &[Tensor]) -> Result<Vec<Tensor>> {
        tensors.iter().map(aten::clone).collect()
    }

    #[torch_impl(helper)]
    fn like(input: &Tensor, sizes: &[i64]) -> Result<Tensor> {
        Tensor::empty(sizes, input.dtype(), input.device())
    }
}
