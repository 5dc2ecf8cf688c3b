//! The agreement before a collective: whether all ranks have arrived, and make the same call.
//!
//! Each rank sends a [`Header`] to rank 0, which compares them and sends the verdict to all. So a rank that is missing
//! or makes another call is named on every rank, before any data moves. A few bytes can travel with the headers and the
//! verdicts.
//!
//! PyTorch: what `TORCH_DISTRIBUTED_DEBUG=DETAIL` and `monitored_barrier` do.

use std::time::Duration;

use torch_library::prelude::*;

use crate::faults;
use crate::header::Header;
use crate::transport::{Failure, Received, Tag, Transport};

/// The first byte of a message that reports a fault.
const FAULT: u8 = b'!';
/// The first byte of any other message.
const GOOD: u8 = b'.';
/// The most time that rank 0 takes between its own deadline and the last verdict.
const MARGIN: Duration = Duration::from_secs(1);

/// Computes the result of each rank from the parts of all ranks.
pub(crate) type Results<'a> = dyn Fn(&[Vec<u8>]) -> Result<Vec<Vec<u8>>> + 'a;

/// Data that travels with the headers: a part from each rank to rank 0, and a result back.
pub(crate) struct Luggage<'a> {
    pub(crate) own: &'a [u8],
    /// Called on rank 0 with the parts of all ranks; returns a result for each.
    pub(crate) results: &'a Results<'a>,
}

impl Luggage<'_> {
    /// Headers without data.
    pub(crate) const NONE: Luggage<'static> = Luggage { own: &[], results: &|parts| Ok(parts.to_vec()) };
}

/// Finds out whether all ranks make the same call, and returns this rank's result.
///
/// # Errors
/// A disagreement, with the rank that it concerns, in the same words on all ranks; or a rank that gave up on an earlier
/// collective.
pub(crate) fn agree(
    transport: &mut dyn Transport,
    header: &Header,
    luggage: &Luggage<'_>,
    limit: Duration,
) -> Result<Vec<u8>, Failure> {
    match transport.rank() {
        0 => judge(transport, header, luggage, limit).inspect_err(|failure| {
            if let Failure::Here(fault) = failure {
                tell(transport, fault);
            }
        }),
        _ => ask(transport, header, luggage.own, limit),
    }
}

/// Tells the others that this rank gives up. They may have ended already.
pub(crate) fn tell(transport: &mut dyn Transport, fault: &str) {
    let message = [&[FAULT], fault.as_bytes()].concat();
    let (others, tag) = match transport.rank() {
        0 => (1..transport.size(), Tag::Verdict),
        _ => (0..1, Tag::Header),
    };
    for to in others {
        let _ = transport.send(to, tag, message.clone());
    }
}

fn ask(
    transport: &mut dyn Transport,
    header: &Header,
    own: &[u8],
    limit: Duration,
) -> Result<Vec<u8>, Failure> {
    let failed = |error: Error| Failure::Here(format!("{header}: {error}"));
    transport.send(0, Tag::Header, [&[GOOD], &header.envelope(own)[..]].concat()).map_err(failed)?;
    // Rank 0 may arrive as late as the timeout allows, and then waits for the others as long again.
    let limit = limit.saturating_mul(2).saturating_add(MARGIN);
    let what = match faults::receive(transport, 0, Tag::Verdict, faults::deadline(limit))? {
        Received::Message(mut message) if message.first() == Some(&GOOD) => {
            message.remove(0);
            return Ok(message);
        }
        Received::Message(message) => fault(&message),
        Received::Late => format!("rank 0 did not call {header} within {limit:?}"),
        Received::Gone => format!("rank 0 has ended, which {header} waits for"),
    };
    Err(Failure::Here(what))
}

fn judge(
    transport: &mut dyn Transport,
    header: &Header,
    luggage: &Luggage<'_>,
    limit: Duration,
) -> Result<Vec<u8>, Failure> {
    let (headers, given) = collect(transport, header, luggage.own, limit)?;
    let results = compare(&headers).and_then(|()| {
        let results = (luggage.results)(&given);
        results.map_err(|error| format!("{header}: {error}"))
    });
    let mut results = results.map_err(Failure::Here)?;
    for (to, result) in results.iter().enumerate().skip(1) {
        let sent = transport.send(to, Tag::Verdict, [&[GOOD], &result[..]].concat());
        sent.map_err(|error| Failure::Here(format!("{header}, to rank {to}: {error}")))?;
    }
    Ok(results.swap_remove(0))
}

/// Collects the headers of all ranks, and their data.
fn collect(
    transport: &mut dyn Transport,
    header: &Header,
    own: &[u8],
    limit: Duration,
) -> Result<(Vec<Header>, Vec<Vec<u8>>), Failure> {
    let deadline = faults::deadline(limit);
    let (mut headers, mut given, mut late) = (vec![header.clone()], vec![own.to_vec()], Vec::new());
    for from in 1..transport.size() {
        let what = match faults::receive(transport, from, Tag::Header, deadline)? {
            Received::Message(message) if message.first() == Some(&FAULT) => fault(&message),
            Received::Message(message) => match Header::open(message.get(1..).unwrap_or_default()) {
                Some((header, own)) => {
                    headers.push(header);
                    given.push(own.to_vec());
                    continue;
                }
                None => format!("rank {from} sent something other than a header for {header}"),
            },
            Received::Late => {
                late.push(from);
                continue;
            }
            Received::Gone => format!("rank {from} has ended, which {header} waits for"),
        };
        return Err(Failure::Here(what));
    }
    match &late[..] {
        [] => Ok((headers, given)),
        [rank] => Err(Failure::Here(format!("rank {rank} did not call {header} within {limit:?}"))),
        ranks => Err(Failure::Here(format!("ranks {ranks:?} did not call {header} within {limit:?}"))),
    }
}

/// The text of a message that reports a fault.
fn fault(message: &[u8]) -> String {
    String::from_utf8_lossy(message.get(1..).unwrap_or_default()).into_owned()
}

/// Compares the headers: the one that most ranks have counts as right, in a tie that of the lowest rank.
fn compare(headers: &[Header]) -> Result<(), String> {
    let votes = |header: &Header| headers.iter().filter(|other| header.matches(other)).count();
    let most = headers.iter().map(votes).max().unwrap_or(0);
    let Some(usual) = headers.iter().position(|header| votes(header) == most) else { return Ok(()) };
    let other = headers.iter().position(|header| !header.matches(&headers[usual]));
    if let Some(rank) = other {
        return Err(format!(
            "rank {rank} called {}, and rank {usual} called {}\n  \
             help: all ranks of a group must call the same collectives, in the same order, on tensors of the same \
             types and sizes",
            headers[rank], headers[usual]
        ));
    }
    compare_splits(headers)
}

/// Checks that each rank expects from each other rank as many rows as that one sends.
fn compare_splits(headers: &[Header]) -> Result<(), String> {
    let splits: Option<Vec<_>> = headers.iter().map(|header| header.splits.as_ref()).collect();
    let Some(splits) = splits else { return Ok(()) };
    for (from, [sends, _]) in splits.iter().enumerate() {
        for (to, [_, expects]) in splits.iter().enumerate() {
            if sends.get(to) != expects.get(from) {
                let rows = |rows: Option<&i64>| rows.map_or("none".into(), i64::to_string);
                return Err(format!(
                    "rank {from} sends {} rows to rank {to}, which expects {}, in {}",
                    rows(sends.get(to)),
                    rows(expects.get(from)),
                    headers[from]
                ));
            }
        }
    }
    Ok(())
}
