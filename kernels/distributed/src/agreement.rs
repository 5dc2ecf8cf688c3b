//! Before a collective: have all ranks come, and do they want the same?
//!
//! Each sends a [`Header`] to rank 0, which compares them and tells everybody what came of it. So whoever is missing or
//! wants something else is named on every rank, and no data moves before.
//!
//! PyTorch: what `TORCH_DISTRIBUTED_DEBUG=DETAIL` and `monitored_barrier` do.

use std::time::{Duration, Instant};

use torch_library::prelude::*;

use crate::header::Header;
use crate::transport::{Received, Tag, Transport};

/// In front of a message that is a fault, not a header.
const FAULT: u8 = b'!';
/// The verdict when all is well.
const GO: &[u8] = b"go";
/// What rank 0 takes at most between its own deadline and the last verdict.
const MARGIN: Duration = Duration::from_secs(1);

/// Finds out whether all ranks do the same now.
///
/// # Errors
/// What is wrong, and with which rank; everybody gets this text.
pub(crate) fn agree(transport: &mut dyn Transport, header: &Header, limit: Duration) -> Result<(), String> {
    match (transport.rank(), transport.size()) {
        (_, 1) => Ok(()),
        (0, _) => judge(transport, header, limit),
        _ => ask(transport, header, limit),
    }
}

/// Tells the others that this rank does not go on. Nobody may be there to hear it.
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

fn ask(transport: &mut dyn Transport, header: &Header, limit: Duration) -> Result<(), String> {
    let failed = |error: Error| format!("{header}: {error}");
    transport.send(0, Tag::Header, header.encode()).map_err(failed)?;
    // Rank 0 may come as late as it lets others come, and then waits as long for the rest.
    let deadline = Instant::now() + 2 * limit + MARGIN;
    match transport.receive(0, Tag::Verdict, deadline).map_err(failed)? {
        Received::Message(message) if message == GO => Ok(()),
        Received::Message(message) => Err(fault(&message)),
        Received::Late => Err(format!("rank 0 did not come to {header} within {:?}", 2 * limit + MARGIN)),
        Received::Gone => Err(format!("rank 0 has ended, which {header} waits for")),
    }
}

fn judge(transport: &mut dyn Transport, header: &Header, limit: Duration) -> Result<(), String> {
    let verdict = collect(transport, header, limit).and_then(|headers| compare(&headers));
    match &verdict {
        Ok(()) => {
            for to in 1..transport.size() {
                let sent = transport.send(to, Tag::Verdict, GO.to_vec());
                sent.map_err(|error| format!("{header}, to rank {to}: {error}"))?;
            }
        }
        Err(fault) => tell(transport, fault),
    }
    verdict
}

fn collect(transport: &mut dyn Transport, header: &Header, limit: Duration) -> Result<Vec<Header>, String> {
    let deadline = Instant::now() + limit;
    let (mut headers, mut late) = (vec![header.clone()], Vec::new());
    for from in 1..transport.size() {
        let received = transport.receive(from, Tag::Header, deadline);
        match received.map_err(|error| format!("{header}, from rank {from}: {error}"))? {
            Received::Message(message) if message.first() == Some(&FAULT) => return Err(fault(&message)),
            Received::Message(message) => match Header::decode(&message) {
                Some(header) => headers.push(header),
                None => return Err(format!("rank {from} sent what is no header, instead of {header}")),
            },
            Received::Late => late.push(from),
            Received::Gone => return Err(format!("rank {from} has ended, which {header} waits for")),
        }
    }
    match &late[..] {
        [] => Ok(headers),
        [rank] => Err(format!("rank {rank} did not come to {header} within {limit:?}")),
        ranks => Err(format!("ranks {ranks:?} did not come to {header} within {limit:?}")),
    }
}

/// The text of a message that is one.
fn fault(message: &[u8]) -> String {
    String::from_utf8_lossy(message.strip_prefix(&[FAULT]).unwrap_or(message)).into_owned()
}

/// What most want is right; of two opinions that of rank 0.
fn compare(headers: &[Header]) -> Result<(), String> {
    let votes = |header: &Header| headers.iter().filter(|other| header.matches(other)).count();
    let most = headers.iter().map(votes).max().unwrap_or(0);
    let Some(usual) = headers.iter().position(|header| votes(header) == most) else { return Ok(()) };
    let other = headers.iter().position(|header| !header.matches(&headers[usual]));
    if let Some(rank) = other {
        return Err(format!(
            "rank {rank} came to {}, and rank {usual} to {}\n  help: all ranks of a group run the same collectives, in \
             the same order, on tensors of the same types and sizes",
            headers[rank], headers[usual]
        ));
    }
    compare_splits(headers)
}

/// What one rank wants to send to another is what that one expects.
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
