//! Collectives that have begun, which a program can wait for.

use std::collections::HashMap;
use std::fmt;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use torch_library::prelude::*;

use crate::bytes;

/// The outcome of a collective, and the time that the group's thread was busy with it.
type Outcome = (Result<Vec<u8>, String>, Duration);

/// A place for an outcome, which is filled once.
#[derive(Default)]
struct Slot {
    outcome: Mutex<Option<Outcome>>,
    filled: Condvar,
}

impl Slot {
    fn outcome(&self) -> MutexGuard<'_, Option<Outcome>> {
        self.outcome.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The side of a [`Work`] that sets its outcome. Dropping it without one is an error for those that wait.
pub(crate) struct Completion(Arc<Slot>);

impl Completion {
    pub(crate) fn finish(self, result: Result<Vec<u8>, String>, busy: Duration) {
        *self.0.outcome() = Some((result, busy));
    }

    /// Whether somebody has the work, and can wait for it.
    pub(crate) fn is_awaited(&self) -> bool {
        Arc::strong_count(&self.0) > 1
    }
}

impl Drop for Completion {
    fn drop(&mut self) {
        let mut outcome = self.0.outcome();
        outcome.get_or_insert_with(|| (Err("the group ended before it ran this".to_owned()), Duration::ZERO));
        drop(outcome);
        self.0.filled.notify_all();
    }
}

/// A collective that has begun. Its results are in the tensors after [`wait`](Work::wait).
///
/// Before that, tensors may be used, and have their old elements. The exception is a contiguous tensor that a reduction
/// or a broadcast overwrites: it is lent to the collective, and until that is done, reading or writing it is an error
/// of the kind [`Busy`](ErrorKind::Busy).
///
/// Dropping it does not wait; the collective goes on, and results that were to be copied are lost.
///
/// ```
/// use torch_library::prelude::*;
/// use torch_library_distributed::{Work, c10d, threads};
///
/// let ranks = threads::run(2, |group| {
///     let mut x = [Tensor::from([1.0, 2.0])];
///     let (_, ticket) = c10d::allreduce_(&mut x, "world", "sum", None)?;
///     let work = Work::take(ticket)?; // other things can be computed here
///     work.wait()?;
///     assert_eq!(x[0].to_vec::<f64>()?, [2.0, 4.0]);
///     Ok(())
/// });
/// ranks.into_iter().collect::<Result<()>>()
/// # ;
/// # Ok::<(), Error>(())
/// ```
///
/// PyTorch: `c10d::Work`.
#[must_use = "the results are written by `wait`"]
pub struct Work {
    /// `None` for work that was finished at once.
    slot: Option<Arc<Slot>>,
    /// The tensors that the results are written to.
    outputs: Vec<Tensor>,
    operator: String,
}

/// The most works or results that may be left without waiting for them: more than a program has at a time, unless it
/// never waits.
pub(crate) const LIMIT: usize = 1 << 16;

/// Works that operators returned by number, until they are taken.
static TICKETS: Mutex<Option<HashMap<i64, Work>>> = Mutex::new(None);

/// The next number for [`Work::ticket`]; 0 stands for finished work.
static NEXT: AtomicI64 = AtomicI64::new(1);

impl Work {
    /// A work, and the side that completes it.
    pub(crate) fn new(operator: &str, outputs: Vec<Tensor>) -> (Work, Completion) {
        let slot = Arc::new(Slot::default());
        (Work { slot: Some(slot.clone()), outputs, operator: operator.to_owned() }, Completion(slot))
    }

    /// Finished work.
    pub(crate) fn done() -> Work {
        Work { slot: None, outputs: Vec::new(), operator: String::new() }
    }

    /// The work that an operator of `c10d` returned as an `int`. Each number is valid for one call; 0 stands for
    /// finished work.
    ///
    /// # Errors
    /// A number that no operator returned, or that was taken before.
    pub fn take(ticket: i64) -> Result<Work> {
        if ticket == 0 {
            return Ok(Work::done());
        }
        let mut tickets = TICKETS.lock().unwrap_or_else(PoisonError::into_inner);
        match tickets.get_or_insert_default().remove(&ticket) {
            Some(work) => Ok(work),
            None => bail!(Argument, "no work has the number {ticket}, or somebody waits for it already"),
        }
    }

    /// A number by which [`take`](Work::take) finds the work.
    ///
    /// # Errors
    /// Too many works were never taken; they keep their results in memory.
    pub(crate) fn ticket(self) -> Result<i64> {
        if self.slot.is_none() {
            return Ok(0);
        }
        let mut tickets = TICKETS.lock().unwrap_or_else(PoisonError::into_inner);
        self.ticket_in(tickets.get_or_insert_default())
    }

    fn ticket_in(self, tickets: &mut HashMap<i64, Work>) -> Result<i64> {
        ensure!(
            tickets.len() < LIMIT,
            Argument,
            "{LIMIT} collectives were not waited for\n  \
             help: `Work::take(number)?.wait()` waits for one, and its memory is free then"
        );
        let ticket = NEXT.fetch_add(1, Ordering::Relaxed);
        tickets.insert(ticket, self);
        Ok(ticket)
    }

    /// Whether [`wait`](Work::wait) would return at once.
    pub fn is_completed(&self) -> bool {
        self.slot.as_ref().is_none_or(|slot| slot.outcome().is_some())
    }

    /// Waits for the collective and writes its results. It always returns: a collective that takes longer than the
    /// timeout is an error.
    ///
    /// # Errors
    /// A failure, with the rank that caused it, the operator, and the label if there is one; or memory of a result that
    /// is in use.
    pub fn wait(self) -> Result<()> {
        self.wait_timed().map(drop)
    }

    /// As [`wait`](Work::wait); returns the time that the group was busy with the work.
    pub(crate) fn wait_timed(mut self) -> Result<Duration> {
        let Some(slot) = self.slot.take() else { return Ok(Duration::ZERO) };
        let mut outcome = slot.outcome();
        let (result, busy) = loop {
            match outcome.take() {
                Some(outcome) => break outcome,
                None => outcome = slot.filled.wait(outcome).unwrap_or_else(PoisonError::into_inner),
            }
        };
        match result {
            Ok(bytes) => bytes::unpack(&bytes, &self.outputs)?,
            Err(fault) => bail!(Io, "{}: {fault}", self.operator),
        }
        Ok(busy)
    }
}

impl fmt::Debug for Work {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Work")
            .field("operator", &self.operator)
            .field("is_completed", &self.is_completed())
            .finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_work_is_printed_with_its_state() {
        let (work, completion) = Work::new("c10d::allreduce_", Vec::new());
        assert_eq!(format!("{work:?}"), r#"Work { operator: "c10d::allreduce_", is_completed: false }"#);
        completion.finish(Ok(Vec::new()), Duration::ZERO);
        assert_eq!(format!("{work:?}"), r#"Work { operator: "c10d::allreduce_", is_completed: true }"#);
    }

    #[test]
    fn works_that_nobody_waits_for_are_limited() {
        let mut tickets = HashMap::new();
        let ticket = |tickets: &mut _| Work::new("c10d::allreduce_", Vec::new()).0.ticket_in(tickets);
        let first = ticket(&mut tickets).unwrap();
        for _ in 1..LIMIT {
            ticket(&mut tickets).unwrap();
        }
        let error = ticket(&mut tickets).unwrap_err();
        assert!(error.to_string().contains("65536 collectives were not waited for"), "{error}");
        tickets.remove(&first);
        assert!(ticket(&mut tickets).is_ok());
    }
}
