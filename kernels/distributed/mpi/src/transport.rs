//! A communicator of MPI as a [`Transport`].
#![expect(unsafe_code, reason = "calls a library of C")]

use std::collections::{HashMap, VecDeque};
use std::ffi::c_int;
use std::time::{Duration, Instant};

use mpi::ffi;
use torch_library::prelude::*;
use torch_library_distributed::{Call, Failure, Received, Tag, Transport, algorithms};

use crate::requests::{Patience, Request, check};

/// How long a rank that leaves waits until its last messages are gone.
const FAREWELL: Duration = Duration::from_secs(1);

/// A communicator. It is not freed before MPI ends: that would wait for ranks that may not be there.
pub(crate) struct Communicator {
    handle: ffi::MPI_Comm,
    rank: usize,
    size: usize,
    /// Messages that MPI has not sent yet, and to whom.
    outgoing: VecDeque<(usize, Request)>,
    /// Messages that are on their way here.
    incoming: HashMap<(usize, Tag), Request>,
    /// Memory of messages that were sent, for those that come.
    spare: Vec<Vec<u8>>,
}

/// Messages of fewer bytes get memory of their own, which costs less than to look for some.
const WORTH_KEEPING: usize = 4 << 10;
/// So many pieces of memory are kept at most.
const MOST_SPARE: usize = 64;

// SAFETY: a communicator is a handle, which any thread may use: MPI was started for several threads (`Session::start`).
unsafe impl Send for Communicator {}

impl Communicator {
    /// All processes that were started together, in a communicator that nobody else uses.
    ///
    /// # Errors
    /// What MPI says. MPI has to be running.
    pub(crate) fn world() -> Result<Communicator> {
        // SAFETY: a constant of MPI's, as all `RSMPI_` names below are.
        let mut handle = unsafe { ffi::RSMPI_COMM_NULL };
        // SAFETY: MPI runs, or says that it does not; a place for a handle.
        check(unsafe { ffi::MPI_Comm_dup(ffi::RSMPI_COMM_WORLD, &mut handle) })?;
        Communicator::of(handle)
    }

    fn of(handle: ffi::MPI_Comm) -> Result<Communicator> {
        let (mut rank, mut size) = (0, 0);
        // SAFETY: a communicator that MPI just made, and places for a number each. Errors are returned from here on.
        unsafe {
            check(ffi::MPI_Comm_set_errhandler(handle, ffi::RSMPI_ERRORS_RETURN))?;
            check(ffi::MPI_Comm_rank(handle, &mut rank))?;
            check(ffi::MPI_Comm_size(handle, &mut size))?;
        }
        let (rank, size) = (rank as usize, size as usize);
        let (outgoing, incoming) = (VecDeque::new(), HashMap::new());
        Ok(Communicator { handle, rank, size, outgoing, incoming, spare: Vec::new() })
    }

    /// Forgets what is sent, but for the memory.
    fn sweep(&mut self) -> Result<()> {
        for (to, mut request) in std::mem::take(&mut self.outgoing) {
            request.test()?;
            match request.into_buffer() {
                Ok(buffer) => self.keep(buffer),
                Err(request) => self.outgoing.push_back((to, request)),
            }
        }
        Ok(())
    }

    fn keep(&mut self, buffer: Vec<u8>) {
        if buffer.len() >= WORTH_KEEPING && self.spare.len() < MOST_SPARE {
            self.spare.push(buffer);
        }
    }

    /// Memory for a message; what is in it does not matter.
    fn buffer(&mut self, length: usize) -> Vec<u8> {
        let fits = |buffer: &Vec<u8>| (length..=2 * length).contains(&buffer.len());
        match self.spare.iter().position(fits) {
            Some(place) => {
                let mut buffer = self.spare.swap_remove(place);
                buffer.truncate(length);
                buffer
            }
            None => vec![0; length],
        }
    }

    /// A message, if one is there.
    fn poll(&mut self, from: usize, tag: Tag) -> Result<Option<Vec<u8>>> {
        let mut request = match self.incoming.remove(&(from, tag)) {
            Some(request) => request,
            None => match self.begin_to_receive(from, tag)? {
                Some(request) => request,
                None => return Ok(None),
            },
        };
        request.test()?;
        Ok(match request.into_buffer() {
            Ok(message) => Some(message),
            Err(request) => {
                self.incoming.insert((from, tag), request);
                None
            }
        })
    }

    fn begin_to_receive(&mut self, from: usize, tag: Tag) -> Result<Option<Request>> {
        // SAFETY: constants; a status is plain numbers, which MPI writes.
        let (mut message, mut status) = unsafe { (ffi::RSMPI_MESSAGE_NULL, std::mem::zeroed()) };
        let (mut flag, mut length) = (0, 0);
        // SAFETY: a communicator that lives, and places for what is found.
        check(unsafe {
            ffi::MPI_Improbe(from as c_int, number(tag), self.handle, &mut flag, &mut message, &mut status)
        })?;
        if flag == 0 {
            return Ok(None);
        }
        // SAFETY: the status that MPI just wrote.
        check(unsafe { ffi::MPI_Get_count(&status, ffi::RSMPI_UINT8_T, &mut length) })?;
        let buffer = self.buffer(length.max(0) as usize);
        // SAFETY: one call, which writes `length` bytes at most to a buffer of that length.
        let request = unsafe {
            Request::begin(buffer, |place, request| {
                ffi::MPI_Imrecv(place, length, ffi::RSMPI_UINT8_T, &mut message, request)
            })
        }?;
        Ok(Some(request))
    }
}

impl Transport for Communicator {
    fn name(&self) -> &'static str {
        "mpi"
    }

    fn rank(&self) -> usize {
        self.rank
    }

    fn size(&self) -> usize {
        self.size
    }

    fn send(&mut self, to: usize, tag: Tag, message: Vec<u8>) -> Result<()> {
        self.sweep()?;
        let (comm, length) = (self.handle, int(message.len())?);
        // SAFETY: one call, which reads as many bytes as the buffer has.
        let request = unsafe {
            Request::begin(message, |place, request| {
                ffi::MPI_Isend(place, length, ffi::RSMPI_UINT8_T, to as c_int, number(tag), comm, request)
            })
        }?;
        self.outgoing.push_back((to, request));
        Ok(())
    }

    fn receive(&mut self, from: usize, tag: Tag, deadline: Instant) -> Result<Received> {
        let mut patience = Patience::until(deadline);
        loop {
            if let Some(message) = self.poll(from, tag)? {
                return Ok(Received::Message(message));
            }
            if !patience.wait(self.incoming.contains_key(&(from, tag))) {
                return Ok(Received::Late);
            }
        }
    }

    fn unsent(&mut self) -> Result<Option<usize>> {
        self.sweep()?;
        Ok(self.outgoing.front().map(|(to, _)| *to))
    }

    fn split(&mut self, members: &[usize]) -> Result<Box<dyn Transport>> {
        let ranks = members.iter().map(|rank| int(*rank)).collect::<Result<Vec<c_int>>>()?;
        // SAFETY: handles that MPI gave out, places for others, and as many ranks as are said.
        let handle = unsafe {
            let (mut all, mut some) = (ffi::RSMPI_GROUP_NULL, ffi::RSMPI_GROUP_NULL);
            let mut handle = ffi::RSMPI_COMM_NULL;
            check(ffi::MPI_Comm_group(self.handle, &mut all))?;
            check(ffi::MPI_Group_incl(all, int(ranks.len())?, ranks.as_ptr(), &mut some))?;
            check(ffi::MPI_Comm_create_group(self.handle, some, 0, &mut handle))?;
            check(ffi::MPI_Group_free(&mut some))?;
            check(ffi::MPI_Group_free(&mut all))?;
            handle
        };
        Ok(Box::new(Communicator::of(handle)?))
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

impl Drop for Communicator {
    fn drop(&mut self) {
        let mut patience = Patience::until(Instant::now() + FAREWELL);
        while self.sweep().is_ok() && !self.outgoing.is_empty() && patience.wait(true) {}
    }
}

/// MPI counts in numbers of C.
fn int(number: usize) -> Result<c_int> {
    match c_int::try_from(number) {
        Ok(number) => Ok(number),
        Err(_) => bail!(NotSupported, "MPI sends less than 2 GiB at a time, and this is {number} bytes"),
    }
}

/// Streams as MPI's tags.
fn number(tag: Tag) -> c_int {
    match tag {
        Tag::Header => 0,
        Tag::Verdict => 1,
        Tag::Data => 2,
        Tag::Fault => 3,
        Tag::User(tag) => 4 + tag,
    }
}
