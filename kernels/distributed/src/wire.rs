//! The messages of one collective: sending them, waiting for them until the deadline, and reusing their memory.

use std::time::Instant;

use crate::faults;
use crate::transport::{Failure, Received, Tag, Transport};

/// The largest message, in bytes: a few of this size fit a core's cache, so that a message is still there when it is
/// added or copied, while the next one is on its way.
pub(crate) const CHUNK: usize = 128 << 10;

/// The connection to the other ranks, during one collective.
pub(crate) struct Wire<'a, T: ?Sized> {
    transport: &'a mut T,
    deadline: Instant,
    /// Memory of received messages, for messages that will be sent.
    spare: Vec<Vec<u8>>,
}

impl<'a, T: Transport + ?Sized> Wire<'a, T> {
    pub(crate) fn new(transport: &'a mut T, deadline: Instant) -> Self {
        Wire { transport, deadline, spare: Vec::new() }
    }

    pub(crate) fn rank(&self) -> usize {
        self.transport.rank()
    }

    pub(crate) fn ranks(&self) -> usize {
        self.transport.size()
    }

    /// A buffer of `length` bytes, with any contents.
    pub(crate) fn buffer(&mut self, length: usize) -> Vec<u8> {
        let mut buffer = self.spare.pop().unwrap_or_default();
        buffer.resize(length, 0);
        buffer
    }

    /// Takes a buffer back, for reuse.
    pub(crate) fn put(&mut self, buffer: Vec<u8>) {
        self.spare.push(buffer);
    }

    /// Sends a message, unless it is empty.
    pub(crate) fn send(&mut self, to: usize, bytes: &[u8]) -> Result<(), Failure> {
        if bytes.is_empty() {
            return Ok(());
        }
        let mut message = self.spare.pop().unwrap_or_default();
        message.clear();
        message.extend_from_slice(bytes);
        Ok(self.transport.send(to, Tag::Data, message)?)
    }

    /// Sends the same message to all other ranks.
    pub(crate) fn send_to_all(&mut self, message: Vec<u8>) -> Result<(), Failure> {
        let mut others = self.next_ones();
        let last = others.next_back();
        for to in others {
            self.send(to, &message)?;
        }
        match last {
            Some(to) => Ok(self.transport.send(to, Tag::Data, message)?),
            None => Ok(()),
        }
    }

    /// Receives the next message of a rank, which has `length` bytes.
    pub(crate) fn receive(&mut self, from: usize, length: usize) -> Result<Vec<u8>, Failure> {
        if length == 0 {
            return Ok(Vec::new());
        }
        let how = match faults::receive(self.transport, from, Tag::Data, self.deadline)? {
            Received::Message(message) if message.len() == length => return Ok(message),
            Received::Message(message) => {
                let what =
                    format!("{} bytes came from rank {from}, and {length} were expected", message.len());
                return Err(Failure::Here(what));
            }
            Received::Late => "sent nothing more in time",
            Received::Gone => "ended",
        };
        Err(Failure::Silent { rank: from, how: how.to_owned() })
    }

    /// Sends each rank its bytes, and receives from each as many as there is room for. This rank's own bytes are
    /// copied.
    pub(crate) fn exchange(&mut self, sends: &[&[u8]], receives: &mut [&mut [u8]]) -> Result<(), Failure> {
        let (me, ranks) = (self.rank(), self.ranks());
        receives[me].copy_from_slice(sends[me]);
        let lengths = sends.iter().map(|bytes| bytes.len());
        let longest = lengths.chain(receives.iter().map(|bytes| bytes.len())).max().unwrap_or(0);
        self.send_round(sends, 0)?;
        for round in 0..longest.div_ceil(CHUNK) {
            self.send_round(sends, round + 1)?;
            for from in (1..ranks).map(|step| (me + ranks - step) % ranks) {
                let Some(place) = receives[from].chunks_mut(CHUNK).nth(round) else { continue };
                let message = self.receive(from, place.len())?;
                place.copy_from_slice(&message);
                self.put(message);
            }
        }
        Ok(())
    }

    /// Sends chunk number `round` to each rank that has one.
    pub(crate) fn send_round(&mut self, sends: &[&[u8]], round: usize) -> Result<(), Failure> {
        self.next_ones().try_for_each(|to| match sends[to].chunks(CHUNK).nth(round) {
            Some(chunk) => self.send(to, chunk),
            None => Ok(()),
        })
    }

    /// The other ranks, beginning with the next one, so that not all ranks send to the same one first.
    pub(crate) fn next_ones(&self) -> impl DoubleEndedIterator<Item = usize> + use<T> {
        let (me, ranks) = (self.rank(), self.ranks());
        (1..ranks).map(move |step| (me + step) % ranks)
    }

    /// Waits until all messages have been received, since after the collective no code drives their progress.
    pub(crate) fn flush(&mut self) -> Result<(), Failure> {
        while let Some(rank) = self.transport.unsent()? {
            if Instant::now() >= self.deadline {
                return Err(Failure::Silent { rank, how: "took nothing more in time".to_owned() });
            }
            std::thread::yield_now();
        }
        Ok(())
    }
}
