//! Finding out, after a collective failed, which rank is to blame: the others exchange reports, so that all name the
//! same rank.
//!
//! A rank that waits for another in vain cannot tell whether that one is dead, or itself waits for a dead one. So each
//! rank that gives up reports which rank it waited for, reads the others' reports, and blames the ranks that were
//! waited for but sent no report.

use std::time::{Duration, Instant};

use torch_library::prelude::*;

use crate::header::Header;
use crate::transport::{Failure, Received, Tag, Transport};

/// The interval at which a waiting rank checks whether another one has given up.
const LOOK: Duration = Duration::from_millis(50);
/// The time that a live rank has to report: it checks at the interval [`LOOK`], and may have numbers to add in between.
const GRACE: Duration = Duration::from_secs(1);
/// The separator of the fields of a report.
const FIELD: char = '\u{1f}';

/// As far ahead as a deadline may be: a hundred years, which the system's clock can count.
const FAR: Duration = Duration::from_secs(100 * 365 * 24 * 60 * 60);

/// The end of a time limit that begins now, however long it is.
pub(crate) fn deadline(limit: Duration) -> Instant {
    Instant::now() + limit.min(FAR)
}

/// A rank's report of a failure.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Report {
    /// The rank that it waited for in vain.
    accused: Option<usize>,
    /// A description of the failure; empty if the rank only heard of it.
    text: String,
}

impl Report {
    fn new(rank: usize, header: &Header, failure: &Failure) -> Report {
        match failure {
            Failure::Silent { rank, how } => {
                Report { accused: Some(*rank), text: format!("rank {rank} began {header}, and then {how}") }
            }
            Failure::Here(what) => {
                Report { accused: None, text: format!("{header} failed on rank {rank}: {what}") }
            }
            Failure::Heard { .. } => Report { accused: None, text: String::new() },
        }
    }

    fn encode(&self) -> Vec<u8> {
        let accused = self.accused.map_or(String::new(), |rank| rank.to_string());
        format!("{accused}{FIELD}{}", self.text).into_bytes()
    }

    /// A message that is not a valid report accuses no rank.
    fn decode(bytes: &[u8]) -> Report {
        let text = String::from_utf8_lossy(bytes);
        let (accused, text) = text.split_once(FIELD).unwrap_or_default();
        Report { accused: accused.parse().ok(), text: text.to_owned() }
    }
}

/// Receives the next message of a stream, unless another rank gives up meanwhile.
///
/// # Errors
/// Errors of the backend; another rank that has given up.
pub(crate) fn receive<T: Transport + ?Sized>(
    transport: &mut T,
    from: usize,
    tag: Tag,
    deadline: Instant,
) -> Result<Received, Failure> {
    loop {
        let pause = deadline.min(Instant::now() + LOOK);
        match transport.receive(from, tag, pause)? {
            Received::Late if pause < deadline => listen(transport)?,
            received => return Ok(received),
        }
    }
}

/// Checks whether another rank has given up, which is an error.
fn listen<T: Transport + ?Sized>(transport: &mut T) -> Result<(), Failure> {
    let me = transport.rank();
    for rank in (0..transport.size()).filter(|rank| *rank != me) {
        if let Received::Message(report) = transport.receive(rank, Tag::Fault, Instant::now())? {
            return Err(Failure::Heard { rank, report });
        }
    }
    Ok(())
}

/// Finds out, together with the other ranks, why a collective failed.
pub(crate) fn settle(transport: &mut dyn Transport, header: &Header, failure: &Failure) -> String {
    let (me, ranks) = (transport.rank(), transport.size());
    let own = Report::new(me, header, failure);
    for to in (0..ranks).filter(|to| *to != me) {
        let _ = transport.send(to, Tag::Fault, own.encode()); // the other rank may be gone
    }
    let deadline = Instant::now() + GRACE;
    let mut hear = |rank| match failure {
        _ if rank == me => Some(own.clone()),
        Failure::Heard { rank: other, report } if *other == rank => Some(Report::decode(report)),
        _ => match transport.receive(rank, Tag::Fault, deadline) {
            Ok(Received::Message(report)) => Some(Report::decode(&report)),
            _ => None,
        },
    };
    let reports: Vec<Option<Report>> = (0..ranks).map(&mut hear).collect();
    verdict(&reports).unwrap_or_else(|| format!("{header} failed on rank {me}: {failure}"))
}

/// The verdict from all reports: all ranks have the same reports, so they reach the same verdict.
fn verdict(reports: &[Option<Report>]) -> Option<String> {
    let said = || reports.iter().flatten();
    let is_silent = |report: &&Report| report.accused.is_some_and(|rank| reports.get(rank) == Some(&None));
    let found = said()
        .find(is_silent)
        .or_else(|| said().find(|report| report.accused.is_none() && !report.text.is_empty()))
        .or_else(|| said().find(|report| report.accused.is_some()));
    found.map(|report| report.text.clone())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn waits_for(rank: usize) -> Option<Report> {
        Some(Report { accused: Some(rank), text: format!("rank {rank} is silent") })
    }

    #[test]
    fn the_silent_one_is_blamed_and_not_who_waits_for_it() {
        let reports = [waits_for(1), waits_for(2), None, waits_for(1)];
        assert_eq!(verdict(&reports).as_deref(), Some("rank 2 is silent"));
    }

    #[test]
    fn who_has_nothing_to_say_is_not_blamed_unless_somebody_waits_for_it() {
        let failed = Some(Report { accused: None, text: "rank 3 has no memory".into() });
        let reports = [waits_for(3), None, waits_for(3), failed];
        assert_eq!(verdict(&reports).as_deref(), Some("rank 3 has no memory"));
    }

    #[test]
    fn a_report_survives_its_way() {
        for report in [waits_for(7), Some(Report { accused: None, text: String::new() })] {
            assert_eq!(report.as_ref().map(|report| Report::decode(&report.encode())), report);
        }
    }
}
