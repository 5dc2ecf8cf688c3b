//! What a backend is: messages between the ranks of a group, and collectives on bytes.

use std::fmt;
use std::time::Instant;

use torch_library::prelude::*;

use crate::algorithms;
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

/// Why a collective did not come to its end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure(pub String);

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
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

    /// The members, in this order, as a group of their own; called by the members alone, and by all of them.
    ///
    /// # Errors
    /// What the backend says.
    fn split(&mut self, members: &[usize]) -> Result<Box<dyn Transport>>;

    /// Runs a collective; returns the output. A backend that has none of its own needs only messages.
    ///
    /// # Errors
    /// A rank that did not do its part until the deadline.
    fn collective(&mut self, call: &Call, input: Vec<u8>, deadline: Instant) -> Result<Vec<u8>, Failure> {
        algorithms::run(self, call, &input, deadline)
    }
}
