//! A backend within one process: each rank is a thread, and messages are queues in memory.
//!
//! Ranks share nothing else, so a program that works here works on several processes. Tests use it, and programs that
//! try out how they would run on several machines.

use std::collections::{HashMap, HashSet, VecDeque};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Instant;

use torch_library::prelude::*;

use crate::algorithms;
use crate::group::registry::Scope;
use crate::group::{Options, ProcessGroup};
use crate::transport::{Call, Failure, Received, Tag, Transport};

/// The name of the group of all ranks.
pub const WORLD: &str = "world";

/// Runs a function on `ranks` ranks concurrently, and returns the results, in the order of the ranks.
///
/// The group that each rank gets is registered under the name [`WORLD`], so that operators find it. If a rank panics,
/// its result is an error, and so are those of ranks that wait for it.
///
/// ```
/// use torch_library::prelude::*;
/// use torch_library_distributed::{_c10d_functional as functional, threads};
///
/// let sums = threads::run(2, |group| {
///     let x = Tensor::from([1.0, group.rank() as f64]);
///     let sum = functional::all_reduce(&x, "sum", "world")?;
///     functional::wait_tensor(&sum)?.to_vec::<f64>()
/// });
/// for sum in sums {
///     assert_eq!(sum?, [2.0, 1.0]);
/// }
/// # Ok::<(), Error>(())
/// ```
pub fn run<T: Send>(ranks: usize, body: impl Fn(&ProcessGroup) -> Result<T> + Sync) -> Vec<Result<T>> {
    run_with(ranks, Options::default(), body)
}

/// As [`run`], with options for the group.
pub fn run_with<T: Send>(
    ranks: usize,
    options: Options,
    body: impl Fn(&ProcessGroup) -> Result<T> + Sync,
) -> Vec<Result<T>> {
    run_over(ranks, options, |transport| transport, body)
}

/// As [`run_with`], with a transport of the caller's between each group and its backend, which may count messages or
/// inject faults.
pub fn run_over<T: Send>(
    ranks: usize,
    options: Options,
    wrap: impl Fn(Box<dyn Transport>) -> Box<dyn Transport> + Sync,
    body: impl Fn(&ProcessGroup) -> Result<T> + Sync,
) -> Vec<Result<T>> {
    let hub = Arc::new(Hub::default());
    thread::scope(|scope| {
        let spawn = |rank| {
            let transport = Box::new(Threads::new(&hub, rank, ranks));
            let (wrap, body, options) = (&wrap, &body, options.clone());
            scope.spawn(move || {
                let _own_groups = Scope::new();
                let group = ProcessGroup::new(WORLD, wrap(transport), options)?;
                group.register()?;
                body(&group)
            })
        };
        let running: Vec<_> = (0..ranks).map(spawn).collect();
        let ended = running.into_iter().enumerate().map(|(rank, thread)| {
            thread.join().unwrap_or_else(|panic| {
                let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
                let text = text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_default();
                Err(Error::new(ErrorKind::Kernel, format!("rank {rank} panicked: {text}")))
            })
        });
        ended.collect()
    })
}

/// The messages of all groups, until they are received.
#[derive(Default)]
struct Hub {
    mail: Mutex<Mail>,
    changed: Condvar,
}

#[derive(Default)]
struct Mail {
    /// The messages by group, sender, receiver and stream.
    messages: HashMap<(u64, usize, usize, Tag), VecDeque<Vec<u8>>>,
    /// Ranks of groups that have ended.
    gone: HashSet<(u64, usize)>,
    /// The groups that were split off, by parent, members, and the number of times that these were split off before.
    groups: HashMap<(u64, Vec<usize>, u64), u64>,
}

impl Hub {
    fn mail(&self) -> MutexGuard<'_, Mail> {
        self.mail.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// One rank of one group.
struct Threads {
    hub: Arc<Hub>,
    group: u64,
    rank: usize,
    size: usize,
    splits: HashMap<Vec<usize>, u64>,
}

impl Threads {
    fn new(hub: &Arc<Hub>, rank: usize, size: usize) -> Threads {
        Threads { hub: hub.clone(), group: 0, rank, size, splits: HashMap::new() }
    }
}

impl Transport for Threads {
    fn name(&self) -> &'static str {
        "threads"
    }

    fn rank(&self) -> usize {
        self.rank
    }

    fn size(&self) -> usize {
        self.size
    }

    fn send(&mut self, to: usize, tag: Tag, message: Vec<u8>) -> Result<()> {
        let key = (self.group, self.rank, to, tag);
        self.hub.mail().messages.entry(key).or_default().push_back(message);
        self.hub.changed.notify_all();
        Ok(())
    }

    fn receive(&mut self, from: usize, tag: Tag, deadline: Instant) -> Result<Received> {
        let mut mail = self.hub.mail();
        loop {
            let messages = mail.messages.get_mut(&(self.group, from, self.rank, tag));
            if let Some(message) = messages.and_then(VecDeque::pop_front) {
                return Ok(Received::Message(message));
            }
            if mail.gone.contains(&(self.group, from)) {
                return Ok(Received::Gone);
            }
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Ok(Received::Late);
            }
            mail = self.hub.changed.wait_timeout(mail, left).unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    fn split(&mut self, members: &[usize]) -> Result<Box<dyn Transport>> {
        let Some(rank) = members.iter().position(|member| *member == self.rank) else {
            bail!(Argument, "rank {} is not a member of {members:?}", self.rank);
        };
        let times = self.splits.entry(members.to_vec()).or_default();
        let key = (self.group, members.to_vec(), *times);
        *times += 1;
        let mut mail = self.hub.mail();
        let next = mail.groups.len() as u64 + 1;
        let group = *mail.groups.entry(key).or_insert(next);
        let hub = self.hub.clone();
        Ok(Box::new(Threads { hub, group, rank, size: members.len(), splits: HashMap::new() }))
    }

    fn collective(
        &mut self,
        call: &Call,
        input: &[u8],
        output: &mut [u8],
        deadline: Instant,
    ) -> Result<(), Failure> {
        algorithms::run(self, call, input, output, deadline)
    }
}

impl Drop for Threads {
    fn drop(&mut self) {
        self.hub.mail().gone.insert((self.group, self.rank));
        self.hub.changed.notify_all();
    }
}
