//! An MPI communicator as a [`Transport`].
#![expect(unsafe_code, reason = "calls a library of C")]

use std::collections::{HashMap, VecDeque};
use std::ffi::c_int;
use std::time::{Duration, Instant};

use mpi::ffi;
use torch_library::prelude::*;
use torch_library_distributed::{Call, Failure, Received, Tag, Transport, algorithms};

use crate::requests::{Patience, Request, check};

/// The time that a leaving rank waits until its last messages are sent.
const FAREWELL: Duration = Duration::from_secs(1);

/// A communicator. It is not freed before MPI ends, since that would wait for ranks that may be gone.
pub(crate) struct Communicator {
    handle: ffi::MPI_Comm,
    rank: usize,
    size: usize,
    /// Messages that MPI has not sent yet, with their receivers.
    outgoing: VecDeque<(usize, Request)>,
    /// Messages that are being received.
    incoming: HashMap<(usize, Tag), Request>,
    /// Memory of sent messages, for incoming ones.
    spare: Vec<Vec<u8>>,
}

/// Messages of fewer bytes get new memory, which costs less than looking for spare memory.
const WORTH_KEEPING: usize = 4 << 10;
/// The most pieces of memory that are kept.
const MOST_SPARE: usize = 64;

// SAFETY: MPI's handles belong to the process, not to a thread, and any thread may pass them to MPI:
// `Session::start`, the only code that makes communicators, refuses an MPI without `MPI_THREAD_MULTIPLE`.
unsafe impl Send for Communicator {}

impl Communicator {
    /// A communicator of all processes that were started together, which no other code uses.
    ///
    /// # Errors
    /// Errors of MPI, which has to be running.
    pub(crate) fn world() -> Result<Communicator> {
        // SAFETY: a constant that the bindings define as a static, which nothing writes.
        let mut handle = unsafe { ffi::RSMPI_COMM_NULL };
        // SAFETY: MPI reads a communicator that it defines itself, and writes one handle to a local variable of that
        // type. `Session::start` has initialised MPI, and finalises it only after this call.
        check(unsafe { ffi::MPI_Comm_dup(ffi::RSMPI_COMM_WORLD, &mut handle) })?;
        Communicator::of(handle)
    }

    fn of(handle: ffi::MPI_Comm) -> Result<Communicator> {
        let (mut rank, mut size) = (0, 0);
        // SAFETY: the handle is from a call of MPI that succeeded, and nothing frees communicators. MPI writes one `int`
        // to each of two local variables. The first call makes MPI return the errors of the others.
        unsafe {
            check(ffi::MPI_Comm_set_errhandler(handle, ffi::RSMPI_ERRORS_RETURN))?;
            check(ffi::MPI_Comm_rank(handle, &mut rank))?;
            check(ffi::MPI_Comm_size(handle, &mut size))?;
        }
        let (rank, size) = (rank as usize, size as usize);
        let (outgoing, incoming) = (VecDeque::new(), HashMap::new());
        Ok(Communicator { handle, rank, size, outgoing, incoming, spare: Vec::new() })
    }

    /// Removes messages that have been sent, and keeps their memory.
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

    /// Memory for a message, with any contents.
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

    /// Takes a message, if one has arrived.
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
        // SAFETY: the first is a constant, a static of the bindings that nothing writes. A status is a C struct of
        // integers, for which zeros are valid.
        let (mut message, mut status) = unsafe { (ffi::RSMPI_MESSAGE_NULL, std::mem::zeroed()) };
        let (mut flag, mut length) = (0, 0);
        // SAFETY: the communicator is not freed while `self` lives. MPI writes a flag, a message and a status to three
        // local variables of these types, and keeps none of their addresses.
        check(unsafe {
            ffi::MPI_Improbe(from as c_int, number(tag), self.handle, &mut flag, &mut message, &mut status)
        })?;
        if flag == 0 {
            return Ok(None);
        }
        // SAFETY: `MPI_Improbe` has found a message, so it wrote the status; MPI writes one `int` to a local variable.
        check(unsafe { ffi::MPI_Get_count(&status, ffi::RSMPI_UINT8_T, &mut length) })?;
        let buffer = self.buffer(length.max(0) as usize);
        // SAFETY: one call, which receives the message that was found above, of `length` bytes; the buffer has as many
        // (`buffer`), and `request` is the place for the handle.
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
        // SAFETY: one call, which reads `length` bytes, the length of `message`; `int` has refused one that no C `int`
        // can hold. `request` is the place for the handle.
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
        // SAFETY: each handle is a constant, which is written before it is read, or is from a call that succeeded:
        // `check` returns at the first that fails. MPI writes to local variables of the handles' types, and reads
        // `ranks.len()` numbers from `ranks`, which lives until the end. Each group is freed once, and not used again.
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

/// Converts a number to C's `int`, in which MPI counts.
fn int(number: usize) -> Result<c_int> {
    match c_int::try_from(number) {
        Ok(number) => Ok(number),
        Err(_) => bail!(NotSupported, "MPI sends less than 2 GiB at a time, and this is {number} bytes"),
    }
}

/// A stream as an MPI tag.
fn number(tag: Tag) -> c_int {
    match tag {
        Tag::Header => 0,
        Tag::Verdict => 1,
        Tag::Data => 2,
        Tag::Fault => 3,
        Tag::User(tag) => 4 + tag,
    }
}
