//! A communicator of MPI as a [`Transport`].
#![expect(unsafe_code, reason = "calls a library of C")]

use std::ffi::c_int;
use std::time::{Duration, Instant};

use mpi::ffi;
use torch_library::prelude::*;
use torch_library_distributed::{Call, Failure, Received, ReduceOp, Tag, Transport, algorithms};

use crate::requests::{Patience, Request, check};

/// How long a rank that leaves waits until its last messages are gone.
const FAREWELL: Duration = Duration::from_secs(1);

/// A communicator. It is not freed before MPI ends: that would wait for ranks that may not be there.
pub(crate) struct Communicator {
    handle: ffi::MPI_Comm,
    rank: usize,
    size: usize,
    /// Messages that MPI has not sent yet.
    outgoing: Vec<Request>,
}

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
        Ok(Communicator { handle, rank: rank as usize, size: size as usize, outgoing: Vec::new() })
    }

    /// Forgets what is sent.
    fn sweep(&mut self) -> Result<()> {
        let mut left = Vec::new();
        for mut request in std::mem::take(&mut self.outgoing) {
            if !request.test()? {
                left.push(request);
            }
        }
        self.outgoing = left;
        Ok(())
    }

    /// A message, if one is there.
    fn poll(&mut self, from: usize, tag: Tag, deadline: Instant) -> Result<Option<Vec<u8>>> {
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
        let buffer = vec![0; length.max(0) as usize];
        // SAFETY: one call, which writes `length` bytes at most to a buffer of that length.
        let request = unsafe {
            Request::begin(vec![buffer], Vec::new(), |places, _, request| {
                ffi::MPI_Imrecv(places[0], length, ffi::RSMPI_UINT8_T, &mut message, request)
            })
        }?;
        Ok(request.wait(deadline.max(Instant::now() + FAREWELL))?.and_then(|mut buffers| buffers.pop()))
    }

    /// MPI's own collective; nothing, where it has none for these numbers.
    fn native(&self, call: &Call, input: &[u8]) -> Result<Option<Request>> {
        let (comm, bytes) = (self.handle, int(input.len())?);
        let request = match call {
            Call::AllReduce { dtype, op } => {
                let Some((datatype, op)) = datatype(*dtype).zip(operation(*op, *dtype)) else {
                    return Ok(None);
                };
                let (input, output) = (input.to_vec(), vec![0; input.len()]);
                if [&input, &output].iter().any(|buffer| buffer.as_ptr().align_offset(dtype.size()) != 0) {
                    return Ok(None);
                }
                let count = bytes / dtype.size() as c_int;
                // SAFETY: one call, which reads and writes `count` elements, as long as each buffer.
                unsafe {
                    Request::begin(vec![input, output], Vec::new(), |places, _, request| {
                        ffi::MPI_Iallreduce(places[0], places[1], count, datatype, op, comm, request)
                    })
                }
            }
            Call::Broadcast { root } => {
                let root = *root as c_int;
                // SAFETY: one call, which reads or writes as many bytes as the buffer has: sizes are the same everywhere.
                unsafe {
                    Request::begin(vec![input.to_vec()], Vec::new(), |places, _, request| {
                        ffi::MPI_Ibcast(places[0], bytes, ffi::RSMPI_UINT8_T, root, comm, request)
                    })
                }
            }
            Call::AllGather => {
                let output = vec![0; input.len() * self.size];
                // SAFETY: one call, which reads one buffer, and writes as many bytes for each rank to the other.
                unsafe {
                    Request::begin(vec![input.to_vec(), output], Vec::new(), |places, _, request| {
                        let kind = ffi::RSMPI_UINT8_T;
                        ffi::MPI_Iallgather(places[0], bytes, kind, places[1], bytes, kind, comm, request)
                    })
                }
            }
            Call::AllToAll { send, receive } => return self.all_to_all(input, send, receive).map(Some),
            Call::ReduceScatter { .. } | Call::Barrier => return Ok(None),
        };
        request.map(Some)
    }

    fn all_to_all(&self, input: &[u8], send: &[usize], receive: &[usize]) -> Result<Request> {
        let comm = self.handle;
        ensure!(
            send.len() == self.size
                && receive.len() == self.size
                && send.iter().sum::<usize>() == input.len(),
            Internal,
            "{} bytes in parts of {send:?}",
            input.len()
        );
        let output = vec![0; receive.iter().sum()];
        let ints = |list: &[usize]| list.iter().map(|length| int(*length)).collect::<Result<Vec<c_int>>>();
        let counts = vec![ints(send)?, ints(&starts(send))?, ints(receive)?, ints(&starts(receive))?];
        // SAFETY: one call; the counts lie behind each other, one for each rank, and their sums are the buffers' lengths.
        unsafe {
            Request::begin(vec![input.to_vec(), output], counts, |places, counts, request| {
                let kind = ffi::RSMPI_UINT8_T;
                ffi::MPI_Ialltoallv(
                    places[0], counts[0], counts[1], kind, places[1], counts[2], counts[3], kind, comm,
                    request,
                )
            })
        }
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
            Request::begin(vec![message], Vec::new(), |places, _, request| {
                ffi::MPI_Isend(places[0], length, ffi::RSMPI_UINT8_T, to as c_int, number(tag), comm, request)
            })
        }?;
        self.outgoing.push(request);
        Ok(())
    }

    fn receive(&mut self, from: usize, tag: Tag, deadline: Instant) -> Result<Received> {
        let mut patience = Patience::until(deadline);
        loop {
            if let Some(message) = self.poll(from, tag, deadline)? {
                return Ok(Received::Message(message));
            }
            if !patience.wait() {
                return Ok(Received::Late);
            }
        }
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

    fn collective(&mut self, call: &Call, input: Vec<u8>, deadline: Instant) -> Result<Vec<u8>, Failure> {
        let Some(request) = self.native(call, &input)? else {
            return algorithms::run(self, call, &input, deadline);
        };
        drop(input);
        let Some(mut output) = request.wait(deadline)?.and_then(|mut buffers| buffers.pop()) else {
            return Err(Failure("a rank that began it did not go on in time; MPI does not say which".into()));
        };
        if let Call::AllReduce { dtype, op: ReduceOp::Avg } = call {
            algorithms::divide(*dtype, &mut output, self.size)?;
        }
        Ok(output)
    }
}

impl Drop for Communicator {
    fn drop(&mut self) {
        let mut patience = Patience::until(Instant::now() + FAREWELL);
        while self.sweep().is_ok() && !self.outgoing.is_empty() && patience.wait() {}
    }
}

/// MPI counts in numbers of C.
fn int(number: usize) -> Result<c_int> {
    match c_int::try_from(number) {
        Ok(number) => Ok(number),
        Err(_) => bail!(NotSupported, "MPI sends less than 2 GiB at a time, and this is {number} bytes"),
    }
}

/// Where the parts begin.
fn starts(lengths: &[usize]) -> Vec<usize> {
    let mut next = 0;
    let start = |length| {
        next += length;
        next - length
    };
    lengths.iter().map(start).collect()
}

/// Streams as MPI's tags.
fn number(tag: Tag) -> c_int {
    match tag {
        Tag::Header => 0,
        Tag::Verdict => 1,
        Tag::Data => 2,
        Tag::User(tag) => 3 + tag,
    }
}

/// Types that MPI adds as they are added here: halves it does not know, and `bool` is no number.
fn datatype(dtype: DType) -> Option<ffi::MPI_Datatype> {
    // SAFETY: constants of MPI's.
    Some(unsafe {
        match dtype {
            DType::UInt8 => ffi::RSMPI_UINT8_T,
            DType::Int8 => ffi::RSMPI_INT8_T,
            DType::Int16 => ffi::RSMPI_INT16_T,
            DType::Int32 => ffi::RSMPI_INT32_T,
            DType::Int64 => ffi::RSMPI_INT64_T,
            DType::UInt16 => ffi::RSMPI_UINT16_T,
            DType::UInt32 => ffi::RSMPI_UINT32_T,
            DType::UInt64 => ffi::RSMPI_UINT64_T,
            DType::Float32 => ffi::RSMPI_FLOAT,
            DType::Float64 => ffi::RSMPI_DOUBLE,
            _ => return None,
        }
    })
}

/// MPI's least and greatest numbers do not say what NaN is.
fn operation(op: ReduceOp, dtype: DType) -> Option<ffi::MPI_Op> {
    // SAFETY: constants of MPI's.
    Some(unsafe {
        match op {
            ReduceOp::Sum | ReduceOp::Avg => ffi::RSMPI_SUM,
            ReduceOp::Product => ffi::RSMPI_PROD,
            ReduceOp::Min | ReduceOp::Max if dtype.is_floating_point() => return None,
            ReduceOp::Min => ffi::RSMPI_MIN,
            ReduceOp::Max => ffi::RSMPI_MAX,
            ReduceOp::Band => ffi::RSMPI_BAND,
            ReduceOp::Bor => ffi::RSMPI_BOR,
            ReduceOp::Bxor => ffi::RSMPI_BXOR,
        }
    })
}
