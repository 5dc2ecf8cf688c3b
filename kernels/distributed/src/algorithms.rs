//! Collectives made of messages, for backends without collectives of their own.
//!
//! Each rank reduces one part: it gets the numbers of all others for that part, adds them in the order of the ranks,
//! and sends the result to all. Each number travels twice, as in a ring; but unlike in a ring, 16-bit floats are
//! rounded only once.

use std::time::Instant;

use torch_library::prelude::*;

use crate::reduce_op::ReduceOp;
use crate::reduction::reduce;
use crate::transport::{Call, Failure, Transport};
use crate::wire::{CHUNK, Wire};

/// Runs a collective with messages only, as an implementation of [`Transport::collective`].
///
/// # Errors
/// A rank that sent nothing before the deadline, has ended, or has given up.
pub fn run<T: Transport + ?Sized>(
    transport: &mut T,
    call: &Call,
    input: &[u8],
    output: &mut [u8],
    deadline: Instant,
) -> Result<(), Failure> {
    let (ranks, mut wire) = (transport.size(), Wire::new(transport, deadline));
    match call {
        Call::Barrier => {}
        Call::AllReduce { dtype, op } => all_reduce(&mut wire, (*op, *dtype), output)?,
        Call::ReduceScatter { dtype, op } => reduce_scatter(&mut wire, (*op, *dtype), input, output)?,
        Call::Broadcast { root } => broadcast(&mut wire, *root, output)?,
        Call::AllGather => {
            let lengths = vec![input.len(); ranks];
            wire.exchange(&vec![input; ranks], &mut split_mut(output, lengths)?)?;
        }
        Call::AllToAll { send, receive } => {
            let received = &mut split_mut(output, receive.iter().copied())?;
            wire.exchange(&split(input, send.iter().copied())?, received)?;
        }
    }
    wire.flush()
}

/// Works stripe by stripe, of each of which every rank reduces a part. While one stripe is reduced, the next one is on
/// its way.
fn all_reduce<T: Transport + ?Sized>(
    wire: &mut Wire<'_, T>,
    (op, dtype): (ReduceOp, DType),
    data: &mut [u8],
) -> Result<(), Failure> {
    let ranks = wire.ranks();
    let parts = |stripe| split_evenly_mut(stripe, ranks, dtype.size());
    let mut stripes = data.chunks_mut(ranks * CHUNK).map(parts).collect::<Result<Vec<_>>>()?;
    if let Some(first) = stripes.first() {
        contribute(wire, first)?;
    }
    for number in 0..stripes.len() {
        if let Some(next) = stripes.get(number + 1) {
            contribute(wire, next)?;
        }
        reduce_own(wire, (op, dtype), &mut stripes[number])?;
        if let Some(before) = number.checked_sub(1) {
            take_results(wire, &mut stripes[before])?;
        }
    }
    stripes.last_mut().map_or(Ok(()), |last| take_results(wire, last))
}

/// Sends each rank the part that it is to reduce.
fn contribute<T: Transport + ?Sized>(wire: &mut Wire<'_, T>, parts: &[&mut [u8]]) -> Result<(), Failure> {
    wire.next_ones().try_for_each(|to| wire.send(to, &*parts[to]))
}

/// Reduces this rank's part, and sends the result to all.
fn reduce_own<T: Transport + ?Sized>(
    wire: &mut Wire<'_, T>,
    (op, dtype): (ReduceOp, DType),
    parts: &mut [&mut [u8]],
) -> Result<(), Failure> {
    let own = &mut *parts[wire.rank()];
    if own.is_empty() {
        return Ok(());
    }
    let mut sum = wire.buffer(own.len());
    reduce_from_all(wire, (op, dtype), own, &mut sum)?;
    own.copy_from_slice(&sum);
    wire.send_to_all(sum)
}

fn take_results<T: Transport + ?Sized>(
    wire: &mut Wire<'_, T>,
    parts: &mut [&mut [u8]],
) -> Result<(), Failure> {
    wire.next_ones().try_for_each(|from| {
        let message = wire.receive(from, parts[from].len())?;
        parts[from].copy_from_slice(&message);
        wire.put(message);
        Ok(())
    })
}

/// Reduces this rank's numbers with those of the others, in the order of the ranks.
fn reduce_from_all<T: Transport + ?Sized>(
    wire: &mut Wire<'_, T>,
    (op, dtype): (ReduceOp, DType),
    own: &[u8],
    out: &mut [u8],
) -> Result<(), Failure> {
    let (me, ranks) = (wire.rank(), wire.ranks());
    let receive = |rank| if rank == me { Ok(Vec::new()) } else { wire.receive(rank, own.len()) };
    let received = (0..ranks).map(receive).collect::<Result<Vec<_>, _>>()?;
    let part = |rank: usize| if rank == me { own } else { &received[rank] };
    reduce(op, dtype, &(0..ranks).map(part).collect::<Vec<_>>(), out)?;
    received.into_iter().filter(|message| !message.is_empty()).for_each(|message| wire.put(message));
    Ok(())
}

fn reduce_scatter<T: Transport + ?Sized>(
    wire: &mut Wire<'_, T>,
    reduction: (ReduceOp, DType),
    input: &[u8],
    output: &mut [u8],
) -> Result<(), Failure> {
    let (me, ranks) = (wire.rank(), wire.ranks());
    let parts = split(input, (0..ranks).map(|_| output.len()))?;
    wire.send_round(&parts, 0)?;
    for (round, (own, out)) in parts[me].chunks(CHUNK).zip(output.chunks_mut(CHUNK)).enumerate() {
        wire.send_round(&parts, round + 1)?;
        reduce_from_all(wire, reduction, own, out)?;
    }
    Ok(())
}

/// The root sends each rank a part, and all ranks send their parts to all others, so that the root sends the data only
/// once, and not once for each rank.
fn broadcast<T: Transport + ?Sized>(
    wire: &mut Wire<'_, T>,
    root: usize,
    data: &mut [u8],
) -> Result<(), Failure> {
    let (me, ranks) = (wire.rank(), wire.ranks());
    let mut parts = split_evenly_mut(data, ranks, 1)?;
    let mut nothing: Vec<&mut [u8]> = (0..ranks).map(|_| <&mut [u8]>::default()).collect();
    if me == root {
        let own = std::mem::take(&mut parts[me]);
        let mut sends: Vec<&[u8]> = parts.iter().map(|part| &**part).collect();
        wire.exchange(&sends, &mut nothing)?;
        sends.fill(own);
        sends[me] = &[];
        return wire.exchange(&sends, &mut nothing);
    }
    nothing[root] = &mut *parts[me];
    wire.exchange(&vec![&[][..]; ranks], &mut nothing)?;
    let own = std::mem::take(&mut parts[me]);
    let mut sends = vec![&*own; ranks];
    (sends[me], sends[root]) = (&[], &[]);
    wire.exchange(&sends, &mut parts)
}

fn split(mut bytes: &[u8], lengths: impl IntoIterator<Item = usize>) -> Result<Vec<&[u8]>> {
    let cut = |length| {
        let Some((part, rest)) = bytes.split_at_checked(length) else {
            return too_short(bytes.len(), length);
        };
        bytes = rest;
        Ok(part)
    };
    lengths.into_iter().map(cut).collect()
}

fn split_mut(mut bytes: &mut [u8], lengths: impl IntoIterator<Item = usize>) -> Result<Vec<&mut [u8]>> {
    let cut = |length| {
        let own = std::mem::take(&mut bytes);
        let left = own.len();
        let Some((part, rest)) = own.split_at_mut_checked(length) else { return too_short(left, length) };
        bytes = rest;
        Ok(part)
    };
    lengths.into_iter().map(cut).collect()
}

fn too_short<T>(left: usize, wanted: usize) -> Result<T> {
    bail!(Internal, "a part of a collective is {wanted} bytes, and {left} are left")
}

/// Splits bytes into one part for each rank, of whole elements; the first parts have one more if they do not divide
/// evenly.
fn split_evenly_mut(bytes: &mut [u8], ranks: usize, size: usize) -> Result<Vec<&mut [u8]>> {
    let elements = bytes.len() / size;
    split_mut(bytes, (0..ranks).map(|rank| (elements / ranks + usize::from(rank < elements % ranks)) * size))
}
