//! The interface of backends: messages between the ranks of a group, and collectives on bytes.

use std::fmt;
use std::time::Instant;

use torch_library::prelude::*;

use crate::reduce_op::ReduceOp;

/// A stream of messages between two ranks. Messages of one stream arrive in the order in which they were sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Tag {
    /// Headers, which are sent to the first rank.
    Header,
    /// Verdicts of the first rank on the headers.
    Verdict,
    /// Parts of a collective.
    Data,
    /// Reports of ranks on a collective that failed.
    Fault,
    /// Messages of `send` and `recv_`, with the caller's tag.
    User(i32),
}

/// The outcome of receiving from another rank.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Received {
    /// A message.
    Message(Vec<u8>),
    /// No message before the deadline.
    Late,
    /// No message, and there will be none, since the rank has ended.
    Gone,
}

/// The reason why a collective failed on this rank.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Failure {
    /// Another rank did not do its part before the deadline, or has ended.
    Silent {
        /// The rank.
        rank: usize,
        /// A description of what it did, such as `has ended`.
        how: String,
    },
    /// An error on this rank.
    Here(String),
    /// Another rank said that the collective failed.
    Heard {
        /// The rank.
        rank: usize,
        /// Its report.
        report: Vec<u8>,
    },
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Failure::Silent { rank, how } => write!(f, "rank {rank} {how}"),
            Failure::Here(what) => f.write_str(what),
            Failure::Heard { rank, .. } => write!(f, "rank {rank} has given up"),
        }
    }
}

impl std::error::Error for Failure {}

impl From<Error> for Failure {
    fn from(error: Error) -> Failure {
        Failure::Here(error.to_string())
    }
}

/// A collective, on bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Call {
    /// All ranks get the reduction of all inputs, which are equally long.
    AllReduce {
        /// The type of the elements.
        dtype: DType,
        /// The reduction.
        op: ReduceOp,
    },
    /// All ranks get the input of one rank.
    Broadcast {
        /// The rank.
        root: usize,
    },
    /// All ranks get all inputs, one after the other.
    AllGather,
    /// Each rank gets its part of the reduction of all inputs.
    ReduceScatter {
        /// The type of the elements.
        dtype: DType,
        /// The reduction.
        op: ReduceOp,
    },
    /// Each rank gets from each rank the part that is meant for it.
    AllToAll {
        /// The number of bytes sent to each rank.
        send: Vec<usize>,
        /// The number of bytes received from each rank.
        receive: Vec<usize>,
    },
    /// No data: the agreement before it has shown that all ranks have arrived.
    Barrier,
}

impl Call {
    /// Whether the collective works in place: there is no input besides the output then.
    #[must_use]
    pub fn is_in_place(&self) -> bool {
        matches!(self, Call::AllReduce { .. } | Call::Broadcast { .. })
    }
}

/// A backend: the ranks of one group, as seen from one of them.
///
/// A group calls it on a thread of its own, with collectives in the same order on all ranks, after checking that they
/// are the same. No method waits beyond a deadline.
///
/// PyTorch: `c10d::Backend`.
pub trait Transport: Send {
    /// The name of the backend: `mpi`.
    fn name(&self) -> &'static str;

    /// The number of this rank in the group.
    fn rank(&self) -> usize;

    /// The number of ranks in the group.
    fn size(&self) -> usize;

    /// Sends a message, without waiting until it is received.
    ///
    /// # Errors
    /// Errors of the backend, which may not notice that a rank has ended.
    fn send(&mut self, to: usize, tag: Tag, message: Vec<u8>) -> Result<()>;

    /// Receives the next message of a stream.
    ///
    /// # Errors
    /// Errors of the backend.
    fn receive(&mut self, from: usize, tag: Tag, deadline: Instant) -> Result<Received>;

    /// Makes progress on messages that were sent. Returns a rank that has not received one yet, if there is one.
    ///
    /// # Errors
    /// Errors of the backend.
    fn unsent(&mut self) -> Result<Option<usize>> {
        Ok(None)
    }

    /// Makes a group of the members, in this order; all members call it, and no other rank.
    ///
    /// # Errors
    /// Errors of the backend.
    fn split(&mut self, members: &[usize]) -> Result<Box<dyn Transport>>;

    /// Runs a collective. One that is [in place](Call::is_in_place) has its input in `output`, and `input` is empty.
    ///
    /// A backend that only has messages calls [`algorithms::run`](crate::algorithms::run).
    ///
    /// # Errors
    /// A rank that did not do its part before the deadline.
    fn collective(
        &mut self,
        call: &Call,
        input: &[u8],
        output: &mut [u8],
        deadline: Instant,
    ) -> Result<(), Failure>;
}
