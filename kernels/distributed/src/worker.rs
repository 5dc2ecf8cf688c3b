//! The thread of a group, which runs one collective after the other.

use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender};
use std::time::{Duration, Instant};

use torch_library::prelude::*;

use crate::agreement::{self, Luggage};
use crate::buffers::Buffers;
use crate::header::Header;
use crate::transport::{Call, Failure, Received, Tag, Transport};
use crate::work::Completion;
use crate::{faults, small};

/// A job for the thread.
pub(crate) struct Job {
    pub(crate) header: Header,
    pub(crate) kind: Kind,
    pub(crate) buffers: Buffers,
    pub(crate) limit: Duration,
    pub(crate) completion: Completion,
}

pub(crate) enum Kind {
    Collective(Call),
    Send {
        to: usize,
        tag: Tag,
    },
    Receive {
        from: usize,
        tag: Tag,
    },
    /// Splits off a group: all ranks of the group get this job, and members reply with a transport of their own.
    Split {
        members: Vec<usize>,
        reply: Sender<Box<dyn Transport>>,
    },
}

/// The reason why a collective failed.
enum Fault {
    /// Before data moved: rank 0 has told all ranks, or only this rank knows.
    Disagreement(String),
    /// While data moved, here or on another rank, or for a reason that only this rank knows.
    Broken(Failure),
}

/// The interval at which the thread looks for messages that it expects besides collectives.
const LOOK: Duration = Duration::from_micros(200);

/// The state of the thread.
struct Worker {
    transport: Box<dyn Transport>,
    /// The first failure: no job is done after it, since no rank knows how far the others got.
    fault: Option<String>,
    /// Messages that may come at any time.
    expected: Vec<(Job, Instant)>,
}

/// Does jobs until the channel closes.
pub(crate) fn run(transport: Box<dyn Transport>, jobs: &Receiver<Job>) {
    let mut worker = Worker { transport, fault: None, expected: Vec::new() };
    loop {
        let job = match worker.is_idle() {
            true => jobs.recv().map_err(|_| RecvTimeoutError::Disconnected),
            false => jobs.recv_timeout(LOOK),
        };
        match job {
            Ok(job) => worker.begin(job),
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => {
                worker.expected.retain(|(job, _)| job.completion.is_awaited());
                if worker.expected.is_empty() {
                    break;
                }
                std::thread::sleep(LOOK); // messages may still come, until their deadlines
            }
        }
        worker.look_for_messages();
    }
    worker.leave();
}

impl Worker {
    /// Whether the thread has nothing to do until the next job comes.
    fn is_idle(&mut self) -> bool {
        self.expected.is_empty() && !matches!(self.transport.unsent(), Ok(Some(_)))
    }

    fn begin(&mut self, job: Job) {
        let begun = Instant::now();
        match job.kind {
            Kind::Receive { .. } => {
                let deadline = faults::deadline(job.limit);
                self.expected.push((job, deadline));
            }
            Kind::Send { to, tag } => {
                let sent = self.transport.send(to, tag, job.header.envelope(&job.buffers.input));
                let sent = sent.map(|()| Vec::new()).map_err(|error| format!("to rank {to}: {error}"));
                job.completion.finish(sent, begun.elapsed());
            }
            Kind::Collective(_) | Kind::Split { .. } => {
                let Job { header, kind, mut buffers, limit, completion } = job;
                let done = match &self.fault {
                    Some(fault) => {
                        Err(format!("the group cannot be used any more, because it failed before: {fault}"))
                    }
                    None => self.collective(&header, &kind, &mut buffers, limit),
                };
                let results = buffers.into_results(); // ends the lease of lent memory before waiters are told
                completion.finish(done.map(|()| results), begun.elapsed());
            }
        }
    }

    /// Agrees on a collective and runs it. Any failure ends the group, and all ranks are told.
    fn collective(
        &mut self,
        header: &Header,
        kind: &Kind,
        buffers: &mut Buffers,
        limit: Duration,
    ) -> Result<(), String> {
        let done = match kind {
            Kind::Collective(call) => self.agree_and_move(header, call, buffers, limit),
            Kind::Split { members, reply } => self.agree_and_split(header, members, reply, limit),
            Kind::Send { .. } | Kind::Receive { .. } => Ok(()),
        };
        done.map_err(|failure| {
            let is_disagreement = matches!(failure, Fault::Disagreement(_));
            let fault = match failure {
                Fault::Disagreement(fault) => fault,
                Fault::Broken(failure) => faults::settle(&mut *self.transport, header, &failure),
            };
            // Rank 0 has already told all ranks of a disagreement.
            if !(is_disagreement && self.transport.rank() == 0) {
                agreement::tell(&mut *self.transport, &fault);
            }
            self.fault = Some(fault.clone());
            fault
        })
    }

    fn agree(&mut self, header: &Header, luggage: &Luggage<'_>, limit: Duration) -> Result<Vec<u8>, Fault> {
        agreement::agree(&mut *self.transport, header, luggage, limit).map_err(|failure| match failure {
            Failure::Here(fault) => Fault::Disagreement(fault),
            failure => Fault::Broken(failure),
        })
    }

    fn agree_and_move(
        &mut self,
        header: &Header,
        call: &Call,
        buffers: &mut Buffers,
        limit: Duration,
    ) -> Result<(), Fault> {
        let (rank, ranks) = (self.transport.rank(), self.transport.size());
        let (input, output) = buffers.parts().map_err(|error| Fault::Broken(error.into()))?;
        if small::is_small(call, input, output, ranks) {
            let own = small::contribution(call, rank, input, output);
            let luggage = Luggage { own, results: &|given| small::results(call, given) };
            let result = self.agree(header, &luggage, limit)?;
            let (length, expected) = (result.len(), output.len());
            let wrong = || Fault::Broken(Failure::Here(format!("{length} bytes came instead of {expected}")));
            output
                .get_mut(..length)
                .filter(|_| length == expected)
                .ok_or_else(wrong)?
                .copy_from_slice(&result);
            return Ok(());
        }
        self.agree(header, &Luggage::NONE, limit)?;
        let deadline = faults::deadline(limit);
        self.transport.collective(call, input, output, deadline).map_err(Fault::Broken)
    }

    fn agree_and_split(
        &mut self,
        header: &Header,
        members: &[usize],
        reply: &Sender<Box<dyn Transport>>,
        limit: Duration,
    ) -> Result<(), Fault> {
        self.agree(header, &Luggage::NONE, limit)?;
        if members.contains(&self.transport.rank()) {
            let part = self.transport.split(members).map_err(|error| Fault::Broken(error.into()))?;
            let _ = reply.send(part); // if the receiver is gone, the group is not wanted
        }
        Ok(())
    }

    fn look_for_messages(&mut self) {
        for (job, deadline) in std::mem::take(&mut self.expected) {
            let Kind::Receive { from, tag } = job.kind else { continue };
            let result = match self.transport.receive(from, tag, Instant::now()) {
                Ok(Received::Late) if Instant::now() < deadline => {
                    self.expected.push((job, deadline));
                    continue;
                }
                Ok(Received::Message(message)) => open(&job.header, &message, from),
                Ok(Received::Late) => {
                    Err(format!("rank {from} sent nothing to {} within {:?}", job.header, job.limit))
                }
                Ok(Received::Gone) => Err(format!("rank {from} has ended, which {} waits for", job.header)),
                Err(error) => Err(format!("from rank {from}: {error}")),
            };
            job.completion.finish(result, Duration::ZERO);
        }
    }

    /// Tells ranks that may wait for this one that it ends.
    fn leave(&mut self) {
        if self.fault.is_none() && self.transport.size() > 1 {
            let rank = self.transport.rank();
            agreement::tell(&mut *self.transport, &format!("rank {rank} has left the group"));
        }
    }
}

/// The payload of a message, if its header is the expected one.
fn open(header: &Header, message: &[u8], from: usize) -> Result<Vec<u8>, String> {
    match Header::open(message) {
        Some((sent, payload)) if sent.tensors == header.tensors => Ok(payload.to_vec()),
        Some((sent, _)) => Err(format!("rank {from} sent {} to {header}", sent.tensors)),
        None => Err(format!("rank {from} sent something other than a message to {header}")),
    }
}
