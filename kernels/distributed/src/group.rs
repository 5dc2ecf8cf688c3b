//! Process groups: ranks that run collectives together.

use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use torch_library::prelude::*;

use crate::buffers::Buffers;
use crate::header::{Header, describe};
use crate::label;
use crate::transport::{Call, Tag, Transport};
use crate::work::Work;
use crate::worker::{self, Job, Kind};

pub(crate) mod registry;

/// The options of a group.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Options {
    /// The time that a rank waits for another one, unless an operator is called with a timeout of its own.
    pub timeout: Duration,
    /// Whether functional collectives are finished when they return, so that `wait_tensor` has nothing to wait for.
    pub blocking: bool,
}

impl Default for Options {
    /// A timeout of one minute, and collectives that run concurrently with the program.
    fn default() -> Options {
        Options { timeout: Duration::from_secs(60), blocking: false }
    }
}

impl Options {
    /// Sets the time that a rank waits for another one.
    #[must_use]
    pub fn timeout(self, timeout: Duration) -> Options {
        Options { timeout, ..self }
    }

    /// Whether functional collectives end before they return.
    #[must_use]
    pub fn blocking(self, blocking: bool) -> Options {
        Options { blocking, ..self }
    }
}

/// A group of ranks that run collectives together, as seen from one of them.
///
/// Operators take a group by its name, see [`register`](ProcessGroup::register). All handles refer to the same group,
/// which ends with the last one, after the work that was begun is done. A message for which somebody still has a
/// [`Work`] is expected until it comes, its timeout is over, or its sender has ended.
///
/// PyTorch: `c10d::ProcessGroup`.
#[derive(Clone)]
pub struct ProcessGroup(Arc<Inner>);

struct Inner {
    name: String,
    backend: &'static str,
    rank: usize,
    size: usize,
    options: Options,
    jobs: Mutex<Option<Sender<Job>>>,
    thread: Mutex<Option<JoinHandle<()>>>,
    sequence: AtomicU64,
}

/// An operator's request to a group.
pub(crate) struct Request<'a> {
    pub(crate) operator: &'static str,
    pub(crate) kind: Kind,
    pub(crate) inputs: Vec<&'a Tensor>,
    pub(crate) outputs: Vec<Tensor>,
    /// A description of everything besides the tensors that has to be the same on all ranks.
    pub(crate) detail: String,
    pub(crate) splits: Option<[Vec<i64>; 2]>,
    /// The timeout in milliseconds; -1 for the group's.
    pub(crate) timeout: i64,
}

impl ProcessGroup {
    /// A group over a backend, with a thread that runs its collectives.
    ///
    /// # Errors
    /// The system cannot start a thread.
    pub fn new(name: &str, transport: Box<dyn Transport>, options: Options) -> Result<ProcessGroup> {
        let (backend, rank, size) = (transport.name(), transport.rank(), transport.size());
        let (jobs, received) = channel();
        let thread = std::thread::Builder::new()
            .name(format!("group {name}"))
            .spawn(move || worker::run(transport, &received))
            .map_err(|error| {
                Error::new(ErrorKind::Io, format!("cannot start a thread for group {name:?}: {error}"))
            })?;
        Ok(ProcessGroup(Arc::new(Inner {
            name: name.to_owned(),
            backend,
            rank,
            size,
            options,
            jobs: Mutex::new(Some(jobs)),
            thread: Mutex::new(Some(thread)),
            sequence: AtomicU64::new(0),
        })))
    }

    /// The name by which operators find it.
    pub fn name(&self) -> &str {
        &self.0.name
    }

    /// The name of its backend: `mpi`, `threads`.
    pub fn backend(&self) -> &'static str {
        self.0.backend
    }

    /// The number of this rank, from 0 on.
    pub fn rank(&self) -> usize {
        self.0.rank
    }

    /// The number of ranks.
    pub fn size(&self) -> usize {
        self.0.size
    }

    /// Whether functional collectives end before they return.
    pub(crate) fn is_blocking(&self) -> bool {
        self.0.options.blocking || self.0.size == 1
    }

    /// Registers the group, so that operators find it by its name, until [`unregister`](ProcessGroup::unregister).
    ///
    /// # Errors
    /// Another group has that name.
    pub fn register(&self) -> Result<()> {
        registry::add(self.clone())
    }

    /// Removes the group from the registry. The group ends with its last handle.
    pub fn unregister(&self) {
        registry::remove(self.name());
    }

    /// Makes a group of some of the ranks, in the given order, and registers it under a name. All ranks of this group
    /// have to make the same call; those that are not members get `None`.
    ///
    /// # Errors
    /// An empty list of members, a member that is repeated or does not exist, a name that is taken, or ranks that do
    /// not make the call.
    ///
    /// PyTorch: `torch.distributed.new_group`.
    pub fn new_group(&self, name: &str, members: &[usize]) -> Result<Option<ProcessGroup>> {
        let mut sorted = members.to_vec();
        sorted.sort_unstable();
        sorted.dedup();
        let fits = sorted.len() == members.len() && sorted.last().is_some_and(|last| *last < self.size());
        ensure!(
            fits,
            Argument,
            "{members:?} cannot be the members of a new group, expected different ranks below {}",
            self.size()
        );
        let (reply, answer) = channel();
        let kind = Kind::Split { members: members.to_vec(), reply };
        let detail = format!("group {name:?} of ranks {members:?}");
        let request = Request {
            operator: "new_group",
            kind,
            inputs: Vec::new(),
            outputs: Vec::new(),
            detail,
            splits: None,
            timeout: -1,
        };
        self.submit(request)?.wait()?;
        let Ok(transport) = answer.try_recv() else { return Ok(None) };
        let group = ProcessGroup::new(name, transport, self.0.options.clone())?;
        group.register()?;
        Ok(Some(group))
    }

    /// Begins an operation.
    pub(crate) fn submit(&self, request: Request<'_>) -> Result<Work> {
        let Request { operator, kind, inputs, mut outputs, detail, splits, timeout } = request;
        let limit = match u64::try_from(timeout) {
            Ok(timeout) => Duration::from_millis(timeout),
            Err(_) => self.0.options.timeout,
        };
        let is_collective = matches!(kind, Kind::Collective(_) | Kind::Split { .. });
        let tensors = match &kind {
            Kind::Collective(Call::AllToAll { .. }) => {
                inputs.first().map_or(String::new(), |tensor| tensor.dtype().to_string())
            }
            Kind::Receive { .. } => describe(&outputs.iter().collect::<Vec<_>>()),
            _ => describe(&inputs),
        };
        let sequence = match is_collective {
            true => self.0.sequence.fetch_add(1, Ordering::Relaxed),
            false => 0,
        };
        let operator_name = operator.to_owned();
        let header =
            Header { operator: operator_name, sequence, tensors, detail, label: label::current(), splits };
        let buffers = match &kind {
            Kind::Collective(call) if call.is_in_place() => Buffers::in_place(&inputs, &mut outputs)?,
            Kind::Collective(_) => Buffers::apart(&inputs, &outputs)?,
            _ => Buffers::message(&inputs)?,
        };
        let (work, completion) = Work::new(operator, outputs);
        if self.size() == 1 && matches!(kind, Kind::Collective(_)) {
            completion.finish(Ok(buffers.into_results_of_one()), Duration::ZERO);
            return Ok(work);
        }
        let job = Job { header, kind, buffers, limit, completion };
        if let Some(jobs) = &*self.0.jobs.lock().unwrap_or_else(PoisonError::into_inner) {
            let _ = jobs.send(job); // if the thread has ended, dropping the job reports that
        }
        Ok(work)
    }

    /// Checks a rank that is given as an argument.
    pub(crate) fn checked_rank(&self, rank: i64, what: &str) -> Result<usize> {
        match usize::try_from(rank) {
            Ok(rank) if rank < self.size() => Ok(rank),
            _ => bail!(
                Argument,
                "{what} is rank {rank}, but group {:?} has {} ranks",
                self.name(),
                self.size()
            ),
        }
    }

    /// The other rank of a message, and the stream of the message.
    pub(crate) fn peer(&self, rank: i64, tag: i64, what: &str) -> Result<(usize, Tag)> {
        let rank = self.checked_rank(rank, what)?;
        ensure!(rank != self.rank(), Argument, "{what} is this rank itself, {rank}");
        match i32::try_from(tag) {
            Ok(tag @ 0..=MAX_TAG) => Ok((rank, Tag::User(tag))),
            _ => bail!(Argument, "tag is {tag}, expected 0 to {MAX_TAG}"),
        }
    }
}

/// The greatest tag of a message; backends add a few tags of their own.
const MAX_TAG: i32 = (1 << 24) - 1;

impl Drop for Inner {
    /// Waits for the work that was begun.
    fn drop(&mut self) {
        drop(self.jobs.get_mut().unwrap_or_else(PoisonError::into_inner).take());
        if let Some(thread) = self.thread.get_mut().unwrap_or_else(PoisonError::into_inner).take() {
            let _ = thread.join();
        }
    }
}

impl fmt::Debug for ProcessGroup {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Inner { name, backend, rank, size, .. } = &*self.0;
        write!(f, "ProcessGroup({name:?}, {backend}, rank {rank} of {size})")
    }
}
