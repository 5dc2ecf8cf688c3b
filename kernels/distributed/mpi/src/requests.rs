//! Requests to MPI, with the memory that they read and write, until they are done or given up.
#![expect(unsafe_code, reason = "hands memory to a library of C, which works on it in the background")]

use std::ffi::{c_int, c_void};
use std::time::{Duration, Instant};

use mpi::ffi;
use torch_library::prelude::*;

/// So long a message is looked for without a break; then it is one that somebody has yet to send.
const EAGER: Duration = Duration::from_millis(2);
/// How often it is looked for then.
const PAUSE: Duration = Duration::from_micros(50);

/// What MPI works on in the background. The memory is freed when MPI is done with it, and never before.
pub(crate) struct Request {
    /// In memory of its own, whose place MPI may know.
    request: Box<ffi::MPI_Request>,
    /// What MPI reads, writes, or looks up counts in.
    buffers: Vec<Vec<u8>>,
    counts: Vec<Vec<c_int>>,
    is_done: bool,
}

// SAFETY: a request is a handle, which any thread may use: MPI was started for several threads (`Session::start`). The
// buffers are owned.
unsafe impl Send for Request {}

impl Request {
    /// Begins a request; `begin` is given where the buffers and the counts lie, and a place for the handle.
    ///
    /// # Safety
    /// `begin` makes one call of MPI, which touches no other memory than these buffers, within their lengths, and reads the
    /// counts.
    ///
    /// # Errors
    /// What MPI says.
    pub(crate) unsafe fn begin(
        mut buffers: Vec<Vec<u8>>,
        counts: Vec<Vec<c_int>>,
        begin: impl FnOnce(&[*mut c_void], &[*const c_int], *mut ffi::MPI_Request) -> c_int,
    ) -> Result<Request> {
        // SAFETY: a constant of MPI's, which is set when the library is loaded.
        let mut request = Box::new(unsafe { ffi::RSMPI_REQUEST_NULL });
        let places: Vec<*mut c_void> = buffers.iter_mut().map(|buffer| buffer.as_mut_ptr().cast()).collect();
        let numbers: Vec<*const c_int> = counts.iter().map(|counts| counts.as_ptr()).collect();
        let code = begin(&places, &numbers, &mut *request);
        // A call that failed has not begun anything.
        let is_done = code != 0;
        let begun = Request { request, buffers, counts, is_done };
        check(code)?;
        Ok(begun)
    }

    /// Whether it is done now.
    ///
    /// # Errors
    /// What MPI says.
    pub(crate) fn test(&mut self) -> Result<bool> {
        if !self.is_done {
            let mut flag = 0;
            // SAFETY: a handle that MPI gave out, and places for one number and for no status.
            check(unsafe { ffi::MPI_Test(&mut *self.request, &mut flag, ffi::RSMPI_STATUS_IGNORE) })?;
            self.is_done = flag != 0;
        }
        Ok(self.is_done)
    }

    /// Waits until it is done, and gives the buffers back; nothing, where the deadline comes first.
    ///
    /// # Errors
    /// What MPI says.
    pub(crate) fn wait(mut self, deadline: Instant) -> Result<Option<Vec<Vec<u8>>>> {
        // MPI moves data while it is asked, piece by piece: a pause here would be one for each piece.
        while !self.test()? {
            if Instant::now() >= deadline {
                return Ok(None);
            }
            std::thread::yield_now();
        }
        Ok(Some(std::mem::take(&mut self.buffers)))
    }
}

impl Drop for Request {
    /// Leaves to MPI what it may still write to.
    fn drop(&mut self) {
        if !self.is_done {
            std::mem::forget(std::mem::take(&mut self.buffers));
            std::mem::forget(std::mem::take(&mut self.counts));
            // SAFETY: a constant of MPI's, as above.
            let null = Box::new(unsafe { ffi::RSMPI_REQUEST_NULL });
            std::mem::forget(std::mem::replace(&mut self.request, null));
        }
    }
}

/// Time between two looks at something, up to a deadline.
pub(crate) struct Patience {
    begun: Instant,
    deadline: Instant,
}

impl Patience {
    pub(crate) fn until(deadline: Instant) -> Patience {
        Patience { begun: Instant::now(), deadline }
    }

    /// Lets others work for a moment. Whether there is time for another look.
    pub(crate) fn wait(&mut self) -> bool {
        let now = Instant::now();
        if now >= self.deadline {
            return false;
        }
        match now - self.begun < EAGER {
            true => std::thread::yield_now(),
            false => std::thread::sleep(PAUSE),
        }
        true
    }
}

/// An error of MPI's, as text.
///
/// # Errors
/// Any code but that of success.
pub(crate) fn check(code: c_int) -> Result<()> {
    if code == 0 {
        return Ok(());
    }
    let mut text = [0u8; 1024]; // MPI_MAX_ERROR_STRING is 256 to 512 in known libraries
    let mut length = 0;
    // SAFETY: a buffer that is longer than any text of MPI's, and a place for its length.
    let known = unsafe { ffi::MPI_Error_string(code, text.as_mut_ptr().cast(), &mut length) };
    let text = match known {
        0 => String::from_utf8_lossy(&text[..(length.max(0) as usize).min(text.len())]).into_owned(),
        _ => format!("error {code}"),
    };
    bail!(Io, "MPI: {text}")
}
