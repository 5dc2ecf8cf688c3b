//! The messages of one collective: sent, waited for until the deadline, in memory that is used again.

use std::time::Instant;

use crate::faults;
use crate::transport::{Failure, Received, Tag, Transport};

/// How many bytes a message has at most: a few of them fit the memory that is nearest to a core, so what comes is
/// still there when it is added or copied, and the next one is under way meanwhile.
pub(crate) const CHUNK: usize = 128 << 10;

/// The other ranks, during one collective.
pub(crate) struct Wire<'a, T: ?Sized> {
    transport: &'a mut T,
    deadline: Instant,
    /// Memory of messages that were taken, for those that will be sent.
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

    /// So many bytes, whatever is in them.
    pub(crate) fn buffer(&mut self, length: usize) -> Vec<u8> {
        let mut buffer = self.spare.pop().unwrap_or_default();
        buffer.resize(length, 0);
        buffer
    }

    /// Takes memory back.
    pub(crate) fn put(&mut self, buffer: Vec<u8>) {
        self.spare.push(buffer);
    }

    /// Sends a message; of nothing, none.
    pub(crate) fn send(&mut self, to: usize, bytes: &[u8]) -> Result<(), Failure> {
        if bytes.is_empty() {
            return Ok(());
        }
        let mut message = self.spare.pop().unwrap_or_default();
        message.clear();
        message.extend_from_slice(bytes);
        Ok(self.transport.send(to, Tag::Data, message)?)
    }

    /// Sends the same to all others.
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

    /// The next message of a rank, which has so many bytes.
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

    /// To each rank its bytes, from each so many as there is room for. Those of this rank are copied.
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

    /// The how many-th chunk to each rank that has one.
    pub(crate) fn send_round(&mut self, sends: &[&[u8]], round: usize) -> Result<(), Failure> {
        self.next_ones().try_for_each(|to| match sends[to].chunks(CHUNK).nth(round) {
            Some(chunk) => self.send(to, chunk),
            None => Ok(()),
        })
    }

    /// The other ranks. Everybody begins with the next one, so that not all send to the same.
    pub(crate) fn next_ones(&self) -> impl DoubleEndedIterator<Item = usize> + use<T> {
        let (me, ranks) = (self.rank(), self.ranks());
        (1..ranks).map(move |step| (me + step) % ranks)
    }

    /// Waits until all that was sent has been taken: from then on nothing moves while nobody looks.
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
