//! Kernels of the collectives that write to the caller's tensors.

use torch_library::prelude::*;

use crate::collectives::{self, Caller, caller};
use crate::group::Request;
use crate::group::registry;
use crate::transport::Call;
use crate::work::Work;
use crate::worker::Kind;

/// The return values of an operator: its outputs, with the ticket of the work, or 0 if the work is done.
fn begun<T>(outputs: T, work: Work, async_op: bool) -> Result<(T, i64)> {
    match async_op {
        true => Ok((outputs, work.ticket()?)),
        false => work.wait().map(|()| (outputs, 0)),
    }
}

/// The only tensor of a message.
fn one(tensors: &[Tensor]) -> Result<&Tensor> {
    match tensors {
        [tensor] => Ok(tensor),
        _ => bail!(Argument, "{} tensors, but a message is one tensor", tensors.len()),
    }
}

#[torch_impl(crate::ops::c10d, CPU)]
mod cpu {
    use super::*;

    fn allreduce_<'a>(
        tensors: &'a mut [Tensor],
        process_group: &str,
        reduce_op: &str,
        sparse_indices: Option<&Tensor>,
        async_op: bool,
        timeout: i64,
    ) -> Result<(&'a mut [Tensor], i64)> {
        ensure!(sparse_indices.is_none(), NotSupported, "sparse tensors are not supported");
        let group = registry::process_group(process_group)?;
        let (read, written) = (tensors.iter().collect(), tensors.to_vec());
        let caller = caller!(c10d::allreduce_, timeout);
        let work = collectives::all_reduce(&group, caller, reduce_op, read, written)?;
        begun(tensors, work, async_op)
    }

    fn broadcast_<'a>(
        tensors: &'a mut [Tensor],
        process_group: &str,
        root_rank: i64,
        root_tensor: i64,
        async_op: bool,
        timeout: i64,
    ) -> Result<(&'a mut [Tensor], i64)> {
        ensure!(root_tensor == 0, NotSupported, "root_tensor is {root_tensor}: a rank has one device, 0");
        let group = registry::process_group(process_group)?;
        let call = Call::Broadcast { root: group.checked_rank(root_rank, "the root")? };
        let (read, written) = (tensors.iter().collect(), tensors.to_vec());
        let work = collectives::begin(&group, caller!(c10d::broadcast_, timeout), call, read, written)?;
        begun(tensors, work, async_op)
    }

    fn allgather_<'a>(
        output_tensors: &'a mut [Tensor],
        input_tensors: &[Tensor],
        process_group: &str,
        async_op: bool,
        timeout: i64,
    ) -> Result<(&'a mut [Tensor], i64)> {
        let group = registry::process_group(process_group)?;
        let input = one(input_tensors)?;
        equal(output_tensors, input, group.size())?;
        let outputs = output_tensors.to_vec();
        let work = collectives::all_gather(&group, caller!(c10d::allgather_, timeout), input, outputs)?;
        begun(output_tensors, work, async_op)
    }

    fn _allgather_base_<'a>(
        output_tensor: &'a mut Tensor,
        input_tensor: &Tensor,
        process_group: &str,
        async_op: bool,
        timeout: i64,
    ) -> Result<(&'a mut Tensor, i64)> {
        let group = registry::process_group(process_group)?;
        let (caller, outputs) = (caller!(c10d::_allgather_base_, timeout), vec![output_tensor.clone()]);
        let work = collectives::all_gather(&group, caller, input_tensor, outputs)?;
        begun(output_tensor, work, async_op)
    }

    fn reduce_scatter_<'a>(
        output_tensors: &'a mut [Tensor],
        input_tensors: &[Tensor],
        process_group: &str,
        reduce_op: &str,
        async_op: bool,
        timeout: i64,
    ) -> Result<(&'a mut [Tensor], i64)> {
        let group = registry::process_group(process_group)?;
        equal(input_tensors, one(output_tensors)?, group.size())?;
        let (read, written) = (input_tensors.iter().collect(), output_tensors.to_vec());
        let caller = caller!(c10d::reduce_scatter_, timeout);
        let work = collectives::reduce_scatter(&group, caller, reduce_op, read, written)?;
        begun(output_tensors, work, async_op)
    }

    fn _reduce_scatter_base_<'a>(
        output_tensor: &'a mut Tensor,
        input_tensor: &Tensor,
        process_group: &str,
        reduce_op: &str,
        async_op: bool,
        timeout: i64,
    ) -> Result<(&'a mut Tensor, i64)> {
        let group = registry::process_group(process_group)?;
        let (caller, outputs) = (caller!(c10d::_reduce_scatter_base_, timeout), vec![output_tensor.clone()]);
        let work = collectives::reduce_scatter(&group, caller, reduce_op, vec![input_tensor], outputs)?;
        begun(output_tensor, work, async_op)
    }

    fn alltoall_<'a>(
        output_tensors: &'a mut [Tensor],
        input_tensors: &[Tensor],
        process_group: &str,
        async_op: bool,
        timeout: i64,
    ) -> Result<(&'a mut [Tensor], i64)> {
        let group = registry::process_group(process_group)?;
        let [[to, send], [from, receive]] = [
            collectives::one_for_each(&group, input_tensors)?,
            collectives::one_for_each(&group, output_tensors)?,
        ];
        let rows = [to, from].map(|counts| counts.into_iter().map(|count| count as i64).collect());
        let (read, written) = (input_tensors.iter().collect(), output_tensors.to_vec());
        let caller = caller!(c10d::alltoall_, timeout);
        let work = collectives::all_to_all(&group, caller, rows, [send, receive], read, written)?;
        begun(output_tensors, work, async_op)
    }

    fn barrier(_: &Tensor, process_group: &str, _: &[i64], async_op: bool, timeout: i64) -> Result<i64> {
        let group = registry::process_group(process_group)?;
        let caller = caller!(c10d::barrier, timeout);
        let work = collectives::begin(&group, caller, Call::Barrier, Vec::new(), Vec::new())?;
        begun((), work, async_op).map(|((), ticket)| ticket)
    }

    fn send(tensors: &[Tensor], process_group: &str, dst: i64, tag: i64) -> Result<i64> {
        let group = registry::process_group(process_group)?;
        let (to, tag) = group.peer(dst, tag, "the destination")?;
        message(&group, caller!(c10d::send), Kind::Send { to, tag }, vec![one(tensors)?], Vec::new())
    }

    fn recv_(tensors: &mut [Tensor], process_group: &str, src: i64, tag: i64) -> Result<i64> {
        let group = registry::process_group(process_group)?;
        let (from, tag) = group.peer(src, tag, "the source")?;
        let outputs = vec![one(tensors)?.clone()];
        message(&group, caller!(c10d::recv_), Kind::Receive { from, tag }, Vec::new(), outputs)
    }

    #[torch_impl(helper)]
    fn message(
        group: &crate::ProcessGroup,
        (operator, timeout): Caller,
        kind: Kind,
        inputs: Vec<&Tensor>,
        outputs: Vec<Tensor>,
    ) -> Result<i64> {
        let detail = String::new();
        let request = Request { operator, kind, inputs, outputs, detail, splits: None, timeout };
        group.submit(request)?.ticket()
    }

    /// Checks that there is one tensor for each rank, all with the sizes of `like`.
    #[torch_impl(helper)]
    fn equal(tensors: &[Tensor], like: &Tensor, ranks: usize) -> Result<()> {
        ensure!(tensors.len() == ranks, Argument, "{} tensors for {ranks} ranks", tensors.len());
        match tensors.iter().find(|tensor| tensor.sizes() != like.sizes()) {
            Some(other) => bail!(Shape, "sizes {:?} and {:?} differ", like.sizes(), other.sizes()),
            None => Ok(()),
        }
    }
}

/// Kernels for `Meta`: nothing is sent, sizes stay the same, and the work is done.
#[torch_impl(crate::ops::c10d, Meta)]
mod meta {
    use super::*;

    fn allreduce_<'a>(
        tensors: &'a mut [Tensor],
        _: &str,
        _: &str,
        _: Option<&Tensor>,
        _: bool,
        _: i64,
    ) -> Result<(&'a mut [Tensor], i64)> {
        Ok((tensors, 0))
    }

    fn broadcast_<'a>(
        tensors: &'a mut [Tensor],
        _: &str,
        _: i64,
        _: i64,
        _: bool,
        _: i64,
    ) -> Result<(&'a mut [Tensor], i64)> {
        Ok((tensors, 0))
    }

    fn allgather_<'a>(
        outputs: &'a mut [Tensor],
        _: &[Tensor],
        _: &str,
        _: bool,
        _: i64,
    ) -> Result<(&'a mut [Tensor], i64)> {
        Ok((outputs, 0))
    }

    fn _allgather_base_<'a>(
        output: &'a mut Tensor,
        _: &Tensor,
        _: &str,
        _: bool,
        _: i64,
    ) -> Result<(&'a mut Tensor, i64)> {
        Ok((output, 0))
    }

    fn reduce_scatter_<'a>(
        outputs: &'a mut [Tensor],
        _: &[Tensor],
        _: &str,
        _: &str,
        _: bool,
        _: i64,
    ) -> Result<(&'a mut [Tensor], i64)> {
        Ok((outputs, 0))
    }

    fn _reduce_scatter_base_<'a>(
        output: &'a mut Tensor,
        _: &Tensor,
        _: &str,
        _: &str,
        _: bool,
        _: i64,
    ) -> Result<(&'a mut Tensor, i64)> {
        Ok((output, 0))
    }

    fn alltoall_<'a>(
        outputs: &'a mut [Tensor],
        _: &[Tensor],
        _: &str,
        _: bool,
        _: i64,
    ) -> Result<(&'a mut [Tensor], i64)> {
        Ok((outputs, 0))
    }

    fn barrier(_: &Tensor, _: &str, _: &[i64], _: bool, _: i64) -> Result<i64> {
        Ok(0)
    }

    fn send(_: &[Tensor], _: &str, _: i64, _: i64) -> Result<i64> {
        Ok(0)
    }

    fn recv_(_: &mut [Tensor], _: &str, _: i64, _: i64) -> Result<i64> {
        Ok(0)
    }
}
