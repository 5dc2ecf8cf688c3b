//! The thread of a group, which does one collective after the other.

use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender};
use std::time::{Duration, Instant};

use torch_library::prelude::*;

use crate::agreement;
use crate::header::Header;
use crate::transport::{Call, Received, Tag, Transport};
use crate::work::Completion;

/// What the thread is to do.
pub(crate) struct Job {
    pub(crate) header: Header,
    pub(crate) kind: Kind,
    pub(crate) input: Vec<u8>,
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
    /// To all of the group; members answer with a transport of their own.
    Split {
        members: Vec<usize>,
        reply: Sender<Box<dyn Transport>>,
    },
}

/// How often messages that are waited for beside collectives are looked for.
const LOOK: Duration = Duration::from_micros(200);

/// What the thread knows.
struct Worker {
    transport: Box<dyn Transport>,
    /// What went wrong first: nothing is done after it, since nobody knows where the others are.
    fault: Option<String>,
    /// Messages that may come at any time.
    expected: Vec<(Job, Instant)>,
}

/// Does jobs until there are none any more.
pub(crate) fn run(transport: Box<dyn Transport>, jobs: &Receiver<Job>) {
    let mut worker = Worker { transport, fault: None, expected: Vec::new() };
    loop {
        let job = match worker.expected.is_empty() {
            true => jobs.recv().map_err(|_| RecvTimeoutError::Disconnected),
            false => jobs.recv_timeout(LOOK),
        };
        match job {
            Ok(job) => worker.begin(job),
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => break,
        }
        worker.look_for_messages();
    }
    worker.leave();
}

impl Worker {
    fn begin(&mut self, job: Job) {
        let begun = Instant::now();
        match job.kind {
            Kind::Receive { .. } => {
                let deadline = begun + job.limit;
                self.expected.push((job, deadline));
            }
            Kind::Send { to, tag } => {
                let sent = self.transport.send(to, tag, envelope(&job.header, &job.input));
                let sent = sent.map(|()| Vec::new()).map_err(|error| format!("to rank {to}: {error}"));
                job.completion.finish(sent, begun.elapsed());
            }
            Kind::Collective(_) | Kind::Split { .. } => {
                let result = match &self.fault {
                    Some(fault) => Err(format!("the group cannot be used since this went wrong: {fault}")),
                    None => self.collective(job.header, job.kind, job.input, job.limit),
                };
                job.completion.finish(result, begun.elapsed());
            }
        }
    }

    fn collective(
        &mut self,
        header: Header,
        kind: Kind,
        input: Vec<u8>,
        limit: Duration,
    ) -> Result<Vec<u8>, String> {
        if let Err(fault) = agreement::agree(&mut *self.transport, &header, limit) {
            // Rank 0 has told everybody; what this rank alone knows, it tells.
            if self.transport.rank() != 0 {
                agreement::tell(&mut *self.transport, &fault);
            }
            self.fault = Some(fault.clone());
            return Err(fault);
        }
        let result = match kind {
            Kind::Split { members, reply } => self.split(&members, &reply),
            Kind::Collective(call) => self
                .transport
                .collective(&call, input, Instant::now() + limit)
                .map_err(|failure| failure.to_string()),
            Kind::Send { .. } | Kind::Receive { .. } => Ok(Vec::new()),
        };
        result.map_err(|why| {
            let fault = format!("{header} failed on rank {}: {why}", self.transport.rank());
            agreement::tell(&mut *self.transport, &fault);
            self.fault = Some(fault.clone());
            fault
        })
    }

    fn split(&mut self, members: &[usize], reply: &Sender<Box<dyn Transport>>) -> Result<Vec<u8>, String> {
        if members.contains(&self.transport.rank()) {
            let part = self.transport.split(members).map_err(|error| error.to_string())?;
            let _ = reply.send(part); // nobody to hear it: then nobody wants the group
        }
        Ok(Vec::new())
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

    /// Tells those that may wait for this rank.
    fn leave(&mut self) {
        if self.fault.is_none() && self.transport.size() > 1 {
            let rank = self.transport.rank();
            agreement::tell(&mut *self.transport, &format!("rank {rank} has left the group"));
        }
    }
}

/// A message with what it is.
fn envelope(header: &Header, payload: &[u8]) -> Vec<u8> {
    let header = header.encode();
    [&(header.len() as u64).to_le_bytes(), &header[..], payload].concat()
}

/// The payload of a message, if that is what was expected.
fn open(header: &Header, message: &[u8], from: usize) -> Result<Vec<u8>, String> {
    let parts = message.split_first_chunk().and_then(|(length, rest)| {
        let (sent, payload) = rest.split_at_checked(u64::from_le_bytes(*length) as usize)?;
        Some((Header::decode(sent)?, payload))
    });
    match parts {
        Some((sent, payload)) if sent.tensors == header.tensors => Ok(payload.to_vec()),
        Some((sent, _)) => Err(format!("rank {from} sent {} to {header}", sent.tensors)),
        None => Err(format!("rank {from} sent what is no message to {header}")),
    }
}
