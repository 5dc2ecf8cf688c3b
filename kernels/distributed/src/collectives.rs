//! What both faces of a collective, functional and in place, have in common: sizes, and the call itself.

use torch_library::prelude::*;

use crate::bytes::nbytes;
use crate::group::registry;
use crate::group::{ProcessGroup, Request};
use crate::reduce_op::ReduceOp;
use crate::transport::Call;
use crate::work::Work;
use crate::worker::Kind;

/// The name of the operator that is called, with the timeout of the call.
pub(crate) type Caller = (&'static str, i64);

/// A [`Caller`]; without a timeout, with that of the group.
macro_rules! caller {
    ($namespace:ident :: $name:ident) => {
        caller!($namespace::$name, -1)
    };
    ($namespace:ident :: $name:ident, $timeout:expr) => {
        (concat!(stringify!($namespace), "::", stringify!($name)), $timeout)
    };
}
pub(crate) use caller;

/// A collective of tensors of one type.
pub(crate) fn begin(
    group: &ProcessGroup,
    caller: Caller,
    call: Call,
    inputs: Vec<&Tensor>,
    outputs: Vec<Tensor>,
) -> Result<Work> {
    begin_in_parts(group, caller, call, None, inputs, outputs)
}

/// One in which not all ranks get as much: `splits` are what ranks compare.
fn begin_in_parts(
    group: &ProcessGroup,
    (operator, timeout): Caller,
    call: Call,
    splits: Option<[Vec<i64>; 2]>,
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
    group.submit(Request { operator, kind, inputs, outputs, detail, splits, timeout })
}

/// A reduction for everybody.
pub(crate) fn all_reduce(
    group: &ProcessGroup,
    caller: Caller,
    op: &str,
    inputs: Vec<&Tensor>,
    outputs: Vec<Tensor>,
) -> Result<Work> {
    let (op, dtype) = reduction(op, &inputs)?;
    begin(group, caller, Call::AllReduce { dtype, op }, inputs, outputs)
}

/// Parts of a reduction; inputs lie as they are scattered, one rank's after the other's.
pub(crate) fn reduce_scatter(
    group: &ProcessGroup,
    caller: Caller,
    op: &str,
    inputs: Vec<&Tensor>,
    outputs: Vec<Tensor>,
) -> Result<Work> {
    let (op, dtype) = reduction(op, &inputs)?;
    let lengths = [inputs.iter().map(|x| x.numel()).sum::<i64>(), outputs.iter().map(Tensor::numel).sum()];
    ensure!(
        lengths[0] == lengths[1] * group.size() as i64,
        Shape,
        "{} elements are scattered over {} ranks, and there is room for {} on each",
        lengths[0],
        group.size(),
        lengths[1]
    );
    begin(group, caller, Call::ReduceScatter { dtype, op }, inputs, outputs)
}

/// What an operator is told, and of which numbers.
fn reduction(op: &str, inputs: &[&Tensor]) -> Result<(ReduceOp, DType)> {
    match inputs.first() {
        Some(first) => Ok((op.parse()?, first.dtype())),
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
    caller: Caller,
    rows: [Vec<i64>; 2],
    [send, receive]: [Vec<usize>; 2],
    inputs: Vec<&Tensor>,
    outputs: Vec<Tensor>,
) -> Result<Work> {
    begin_in_parts(group, caller, Call::AllToAll { send, receive }, Some(rows), inputs, outputs)
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

/// The group of a name, where an operator is told its size, too.
pub(crate) fn sized_group(name: &str, size: i64) -> Result<ProcessGroup> {
    let group = registry::process_group(name)?;
    ensure!(
        size == group.size() as i64,
        Argument,
        "group_size is {size}, but group {:?} has {} ranks",
        group.name(),
        group.size()
    );
    Ok(group)
}

fn one_dtype<'a>(tensors: impl Iterator<Item = &'a Tensor>) -> Result<()> {
    let mut dtypes = tensors.map(Tensor::dtype);
    let Some(first) = dtypes.next() else { return Ok(()) };
    match dtypes.find(|dtype| *dtype != first) {
        Some(other) => bail!(DType, "tensors of {first} and of {other}: one collective takes one type"),
        None => Ok(()),
    }
}
