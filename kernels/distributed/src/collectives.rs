//! The code that the functional and the in-place form of a collective share: sizes, and the call itself.

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

/// Makes a [`Caller`], with the group's timeout unless one is given.
macro_rules! caller {
    ($namespace:ident :: $name:ident) => {
        caller!($namespace::$name, -1)
    };
    ($namespace:ident :: $name:ident, $timeout:expr) => {
        (concat!(stringify!($namespace), "::", stringify!($name)), $timeout)
    };
}
pub(crate) use caller;

/// Begins a collective of tensors of one type.
pub(crate) fn begin(
    group: &ProcessGroup,
    caller: Caller,
    call: Call,
    inputs: Vec<&Tensor>,
    outputs: Vec<Tensor>,
) -> Result<Work> {
    begin_in_parts(group, caller, call, None, inputs, outputs)
}

/// Begins a collective in which ranks get different amounts; the ranks compare `splits`.
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

/// Begins a reduction whose result all ranks get.
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

/// Begins a reduction of which each rank gets a part; inputs are in the order of the ranks that get them.
pub(crate) fn reduce_scatter(
    group: &ProcessGroup,
    caller: Caller,
    op: &str,
    inputs: Vec<&Tensor>,
    outputs: Vec<Tensor>,
) -> Result<Work> {
    let (op, dtype) = reduction(op, &inputs)?;
    let lengths = [elements(inputs.iter().copied()), elements(&outputs)];
    ensure!(
        lengths[0] == lengths[1].saturating_mul(group.size() as i64),
        Shape,
        "{} elements are scattered over {} ranks, and there is room for {} on each",
        lengths[0],
        group.size(),
        lengths[1]
    );
    begin(group, caller, Call::ReduceScatter { dtype, op }, inputs, outputs)
}

/// The number of elements of tensors; the largest number if there are more.
fn elements<'t>(tensors: impl IntoIterator<Item = &'t Tensor>) -> i64 {
    tensors.into_iter().map(Tensor::numel).fold(0, i64::saturating_add)
}

/// The reduction that an operator's argument names, and the type of the numbers.
fn reduction(op: &str, inputs: &[&Tensor]) -> Result<(ReduceOp, DType)> {
    match inputs.first() {
        Some(first) => Ok((op.parse()?, first.dtype())),
        None => bail!(Argument, "expected at least one tensor"),
    }
}

/// Begins a gathering of the inputs of all ranks; outputs are in the order of the ranks.
pub(crate) fn all_gather(
    group: &ProcessGroup,
    caller: Caller,
    input: &Tensor,
    outputs: Vec<Tensor>,
) -> Result<Work> {
    let room = elements(&outputs);
    ensure!(
        room == input.numel().saturating_mul(group.size() as i64),
        Shape,
        "{} elements of each of {} ranks come, and there is room for {room}",
        input.numel(),
        group.size()
    );
    begin(group, caller, Call::AllGather, vec![input], outputs)
}

/// Begins an exchange of parts between all ranks; the ranks compare `rows`, the numbers of rows sent and received.
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

/// The lengths, in elements and in bytes, of a list with one tensor for each rank.
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

/// The group with a name, for an operator that is also given its size.
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
