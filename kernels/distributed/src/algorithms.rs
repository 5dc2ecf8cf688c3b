//! Collectives made of messages, for backends that have none, and for numbers that a backend cannot add.

use std::time::Instant;

use torch_library::prelude::*;

use crate::reduce_op::ReduceOp;
pub use crate::reduction::divide;
use crate::reduction::reduce;
use crate::transport::{Call, Failure, Received, Tag, Transport};

impl From<Error> for Failure {
    fn from(error: Error) -> Failure {
        Failure(error.to_string())
    }
}

/// Runs a collective by messages alone.
///
/// # Errors
/// A rank that sent nothing until the deadline, or ended.
pub fn run<T: Transport + ?Sized>(
    transport: &mut T,
    call: &Call,
    input: &[u8],
    deadline: Instant,
) -> Result<Vec<u8>, Failure> {
    let ranks = transport.size();
    match call {
        Call::Barrier => Ok(Vec::new()),
        Call::AllReduce { dtype, op } => {
            let parts = split_evenly(input, ranks, dtype.size());
            let mine = scatter_reduced(transport, (*op, *dtype), parts, deadline)?;
            Ok(exchange(transport, &vec![&mine[..]; ranks], deadline)?.concat())
        }
        Call::ReduceScatter { dtype, op } => {
            let parts = split_evenly(input, ranks, dtype.size());
            scatter_reduced(transport, (*op, *dtype), parts, deadline)
        }
        Call::AllGather => Ok(exchange(transport, &vec![input; ranks], deadline)?.concat()),
        Call::AllToAll { send, receive } => {
            let received = exchange(transport, &split(input, send), deadline)?;
            let expected = received.iter().map(Vec::len).eq(receive.iter().copied());
            if !expected {
                return Err(Failure(format!("expected {receive:?} bytes of the ranks, and others came")));
            }
            Ok(received.concat())
        }
        Call::Broadcast { root } if transport.rank() == *root => {
            for to in (0..ranks).filter(|to| to != root) {
                transport.send(to, Tag::Data, input.to_vec())?;
            }
            Ok(input.to_vec())
        }
        Call::Broadcast { root } => receive(transport, *root, deadline),
    }
}

/// Sends each rank its part, and reduces what comes, in the order of the ranks.
fn scatter_reduced<T: Transport + ?Sized>(
    transport: &mut T,
    (op, dtype): (ReduceOp, DType),
    parts: Vec<&[u8]>,
    deadline: Instant,
) -> Result<Vec<u8>, Failure> {
    let received = exchange(transport, &parts, deadline)?;
    let mut reduced = vec![0; parts[transport.rank()].len()];
    let received: Vec<&[u8]> = received.iter().map(Vec::as_slice).collect();
    reduce(op, dtype, &received, &mut reduced)?;
    Ok(reduced)
}

/// To each rank a part, from each a part.
fn exchange<T: Transport + ?Sized>(
    transport: &mut T,
    parts: &[&[u8]],
    deadline: Instant,
) -> Result<Vec<Vec<u8>>, Failure> {
    let (me, ranks) = (transport.rank(), transport.size());
    // Everybody begins with the next one, so that not all send to the same.
    for to in (1..ranks).map(|step| (me + step) % ranks) {
        transport.send(to, Tag::Data, parts[to].to_vec())?;
    }
    let from = |from| if from == me { Ok(parts[me].to_vec()) } else { receive(transport, from, deadline) };
    (0..ranks).map(from).collect()
}

fn receive<T: Transport + ?Sized>(
    transport: &mut T,
    from: usize,
    deadline: Instant,
) -> Result<Vec<u8>, Failure> {
    match transport.receive(from, Tag::Data, deadline)? {
        Received::Message(message) => Ok(message),
        Received::Late => Err(Failure(format!("rank {from} began it, and then sent nothing more in time"))),
        Received::Gone => Err(Failure(format!("rank {from} began it, and then ended"))),
    }
}

fn split<'a>(mut input: &'a [u8], lengths: &[usize]) -> Vec<&'a [u8]> {
    let mut parts = Vec::with_capacity(lengths.len());
    for length in lengths {
        let (part, rest) = input.split_at((*length).min(input.len()));
        parts.push(part);
        input = rest;
    }
    parts
}

/// Whole elements; the first parts have one more where they do not divide.
fn split_evenly(input: &[u8], ranks: usize, size: usize) -> Vec<&[u8]> {
    let elements = input.len() / size;
    let length = |rank| (elements / ranks + usize::from(rank < elements % ranks)) * size;
    split(input, &(0..ranks).map(length).collect::<Vec<_>>())
}
