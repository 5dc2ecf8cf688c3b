//! What a backend is: messages between the ranks of a group, and collectives on bytes.

use std::fmt;
use std::time::Instant;

use torch_library::prelude::*;

use crate::reduce_op::ReduceOp;

/// Which stream of messages between two ranks. Messages of one stream arrive in the order in which they were sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Tag {
    /// Headers, on their way to the first rank.
    Header,
    /// What the first rank makes of them.
    Verdict,
    /// Parts of a collective.
    Data,
    /// What ranks know of a collective that failed.
    Fault,
    /// What `send` and `recv_` exchange, with the caller's tag.
    User(i32),
}

/// What came from another rank.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Received {
    /// A message.
    Message(Vec<u8>),
    /// None until the deadline.
    Late,
    /// None, and there will be none: the rank has ended.
    Gone,
}

/// Why a collective did not come to its end on this rank.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Failure {
    /// Another rank did not do its part until the deadline, or has ended.
    Silent {
        /// That rank.
        rank: usize,
        /// What it did instead: `has ended`.
        how: String,
    },
    /// Something went wrong on this rank.
    Here(String),
    /// Another rank said that the collective failed.
    Heard {
        /// That rank.
        rank: usize,
        /// What it said.
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

impl From<Error> for Failure {
    fn from(error: Error) -> Failure {
        Failure::Here(error.to_string())
    }
}

/// A collective, as far as bytes are concerned.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Call {
    /// Everybody gets the reduction of all inputs, which are equally long.
    AllReduce {
        /// The elements' type.
        dtype: DType,
        /// How they become one.
        op: ReduceOp,
    },
    /// Everybody gets the input of one rank.
    Broadcast {
        /// That rank.
        root: usize,
    },
    /// Everybody gets all inputs, one behind the other.
    AllGather,
    /// Each gets its part of the reduction of all inputs.
    ReduceScatter {
        /// The elements' type.
        dtype: DType,
        /// How they become one.
        op: ReduceOp,
    },
    /// Each gets from each the part that is meant for it.
    AllToAll {
        /// How many bytes go to each rank.
        send: Vec<usize>,
        /// How many come from each.
        receive: Vec<usize>,
    },
    /// Nothing: that all have come is known before.
    Barrier,
}

impl Call {
    /// Whether it reads what it overwrites: there is no input beside the output then.
    #[must_use]
    pub fn is_in_place(&self) -> bool {
        matches!(self, Call::AllReduce { .. } | Call::Broadcast { .. })
    }
}

/// The ranks of one group, as one of them sees them: a backend.
///
/// A group calls it on one thread, which is its own, and collectives in the same order on all ranks; that they are the
/// same was found out before. Nothing here waits beyond a deadline.
///
/// PyTorch: `c10d::Backend`.
pub trait Transport: Send {
    /// The name of the backend: `mpi`.
    fn name(&self) -> &'static str;

    /// Which rank of the group this is.
    fn rank(&self) -> usize;

    /// How many ranks the group has.
    fn size(&self) -> usize;

    /// Sends a message, and does not wait until somebody receives it.
    ///
    /// # Errors
    /// What the backend says. Of a rank that has ended it may say nothing.
    fn send(&mut self, to: usize, tag: Tag, message: Vec<u8>) -> Result<()>;

    /// Takes the next message of a stream.
    ///
    /// # Errors
    /// What the backend says.
    fn receive(&mut self, from: usize, tag: Tag, deadline: Instant) -> Result<Received>;

    /// Moves on what was sent. A rank that has yet to take something, if there is one.
    ///
    /// # Errors
    /// What the backend says.
    fn unsent(&mut self) -> Result<Option<usize>> {
        Ok(None)
    }

    /// The members, in this order, as a group of their own; called by the members alone, and by all of them.
    ///
    /// # Errors
    /// What the backend says.
    fn split(&mut self, members: &[usize]) -> Result<Box<dyn Transport>>;

    /// Runs a collective. One that is [in place](Call::is_in_place) has its input in `output`, and `input` is empty.
    ///
    /// A backend that has messages alone calls [`algorithms::run`](crate::algorithms::run).
    ///
    /// # Errors
    /// A rank that did not do its part until the deadline.
    fn collective(
        &mut self,
        call: &Call,
        input: &[u8],
        output: &mut [u8],
        deadline: Instant,
    ) -> Result<(), Failure>;
}
