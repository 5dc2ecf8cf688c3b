//! What both faces of a collective, functional and in place, have in common: sizes, and the call itself.

use torch_library::prelude::*;

use crate::bytes::nbytes;
use crate::group::{ProcessGroup, Request};
use crate::reduce_op::ReduceOp;
use crate::transport::Call;
use crate::work::Work;
use crate::worker::Kind;

/// The name of the operator that is called, with the timeout of the call.
pub(crate) type Caller = (&'static str, i64);

/// A collective of tensors of one type.
pub(crate) fn begin(
    group: &ProcessGroup,
    (operator, timeout): Caller,
    call: Call,
    inputs: Vec<&Tensor>,
    outputs: Vec<Tensor>,
) -> Result<Work> {
    one_dtype(inputs.iter().copied().chain(&outputs))?;
    let detail = match &call {
        Call::AllReduce { dtype, op } | Call::ReduceScatter { dtype, op } => {
            op.check(*dtype)?;
            op.to_string()
        }
        Call::Broadcast { root } => format!("from rank {root}"),
        Call::AllGather | Call::AllToAll { .. } | Call::Barrier => String::new(),
    };
    let kind = Kind::Collective(call);
    group.submit(Request { operator, kind, inputs, outputs, detail, splits: None, timeout })
}

/// A reduction for everybody.
pub(crate) fn all_reduce(
    group: &ProcessGroup,
    caller: Caller,
    op: &str,
    inputs: Vec<&Tensor>,
    outputs: Vec<Tensor>,
) -> Result<Work> {
    let op: ReduceOp = op.parse()?;
    match inputs.first().map(|tensor| tensor.dtype()) {
        Some(dtype) => begin(group, caller, Call::AllReduce { dtype, op }, inputs, outputs),
        None => bail!(Argument, "no tensors"),
    }
}

/// Parts of a reduction; inputs lie as they are scattered, one rank's after the other's.
pub(crate) fn reduce_scatter(
    group: &ProcessGroup,
    caller: Caller,
    op: &str,
    inputs: Vec<&Tensor>,
    outputs: Vec<Tensor>,
) -> Result<Work> {
    let op: ReduceOp = op.parse()?;
    let lengths = [inputs.iter().map(|x| x.numel()).sum::<i64>(), outputs.iter().map(Tensor::numel).sum()];
    ensure!(
        lengths[0] == lengths[1] * group.size() as i64,
        Shape,
        "{} elements are scattered over {} ranks, and there is room for {} on each",
        lengths[0],
        group.size(),
        lengths[1]
    );
    match inputs.first().map(|tensor| tensor.dtype()) {
        Some(dtype) => begin(group, caller, Call::ReduceScatter { dtype, op }, inputs, outputs),
        None => bail!(Argument, "no tensors"),
    }
}

/// Inputs of all ranks; outputs lie as they come, one rank's after the other's.
pub(crate) fn all_gather(
    group: &ProcessGroup,
    caller: Caller,
    input: &Tensor,
    outputs: Vec<Tensor>,
) -> Result<Work> {
    let room: i64 = outputs.iter().map(Tensor::numel).sum();
    ensure!(
        room == input.numel() * group.size() as i64,
        Shape,
        "{} elements of each of {} ranks come, and there is room for {room}",
        input.numel(),
        group.size()
    );
    begin(group, caller, Call::AllGather, vec![input], outputs)
}

/// Parts to and from each rank; `rows` are what ranks compare, those that go and those that come.
pub(crate) fn all_to_all(
    group: &ProcessGroup,
    (operator, timeout): Caller,
    rows: [Vec<i64>; 2],
    [send, receive]: [Vec<usize>; 2],
    inputs: Vec<&Tensor>,
    outputs: Vec<Tensor>,
) -> Result<Work> {
    one_dtype(inputs.iter().copied().chain(&outputs))?;
    let kind = Kind::Collective(Call::AllToAll { send, receive });
    let detail = String::new();
    group.submit(Request { operator, kind, inputs, outputs, detail, splits: Some(rows), timeout })
}

/// The lengths of tensors that go to, or come from, one rank each.
pub(crate) fn one_for_each(group: &ProcessGroup, tensors: &[Tensor]) -> Result<[Vec<usize>; 2]> {
    ensure!(
        tensors.len() == group.size(),
        Argument,
        "{} tensors for {} ranks, which take one each",
        tensors.len(),
        group.size()
    );
    let elements = tensors.iter().map(|tensor| tensor.numel() as usize).collect();
    Ok([elements, tensors.iter().map(nbytes).collect()])
}

/// The group's size where an operator is told it, too.
pub(crate) fn check_size(group: &ProcessGroup, size: i64) -> Result<()> {
    ensure!(
        size == group.size() as i64,
        Argument,
        "group_size is {size}, but group {:?} has {} ranks",
        group.name(),
        group.size()
    );
    Ok(())
}

fn one_dtype<'a>(tensors: impl Iterator<Item = &'a Tensor>) -> Result<()> {
    let mut dtypes = tensors.map(Tensor::dtype);
    let Some(first) = dtypes.next() else { return Ok(()) };
    match dtypes.find(|dtype| *dtype != first) {
        Some(other) => bail!(DType, "tensors of {first} and of {other}: one collective takes one type"),
        None => Ok(()),
    }
}
