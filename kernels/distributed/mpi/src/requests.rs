//! Requests to MPI, with the memory that they read or write, until they are done or given up.
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
    /// What MPI reads or writes.
    buffer: Vec<u8>,
    is_done: bool,
}

// SAFETY: a request is a handle, which any thread may use: MPI was started for several threads (`Session::start`). The
// buffer is owned.
unsafe impl Send for Request {}

impl Request {
    /// Begins a request; `begin` is given where the buffer lies, and a place for the handle.
    ///
    /// # Safety
    /// - `begin` makes one call of MPI, which touches no other memory than the buffer, within its length.
    ///
    /// # Errors
    /// What MPI says.
    pub(crate) unsafe fn begin(
        buffer: Vec<u8>,
        begin: impl FnOnce(*mut c_void, *mut ffi::MPI_Request) -> c_int,
    ) -> Result<Request> {
        // SAFETY: a constant of MPI's, which is set when the library is loaded.
        let request = Box::new(unsafe { ffi::RSMPI_REQUEST_NULL });
        let mut begun = Request { request, buffer, is_done: true };
        let code = begin(begun.buffer.as_mut_ptr().cast(), &mut *begun.request);
        check(code)?; // a call that failed has not begun anything
        begun.is_done = false;
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

    /// The memory, of a request that is done; the request itself, of one that is not.
    pub(crate) fn into_buffer(mut self) -> Result<Vec<u8>, Request> {
        if self.is_done { Ok(std::mem::take(&mut self.buffer)) } else { Err(self) }
    }
}

impl Drop for Request {
    /// Leaves to MPI what it may still write to.
    fn drop(&mut self) {
        if !self.is_done {
            std::mem::forget(std::mem::take(&mut self.buffer));
            // SAFETY: a constant of MPI's, which is set when the library is loaded.
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

    /// Lets others work for a moment. Whether there is time for another look. What `moves` is moved by MPI while it
    /// is asked, piece by piece: a pause would be one for each piece.
    pub(crate) fn wait(&mut self, moves: bool) -> bool {
        let now = Instant::now();
        if now >= self.deadline {
            return false;
        }
        match moves || now - self.begun < EAGER {
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
