//! MPI requests, with the memory that they read or write, until they are done or abandoned.
#![expect(unsafe_code, reason = "hands memory to a library of C, which works on it in the background")]

use std::ffi::{c_int, c_void};
use std::time::{Duration, Instant};

use mpi::ffi;
use torch_library::prelude::*;

/// The time for which a message is polled without pauses; after that, it probably has not been sent yet.
const EAGER: Duration = Duration::from_millis(2);
/// The interval at which it is polled after that.
const PAUSE: Duration = Duration::from_micros(50);

/// A request that MPI works on in the background. The memory is freed when MPI is done with it, and never before.
pub(crate) struct Request {
    /// On the heap, since MPI may keep its address.
    request: Box<ffi::MPI_Request>,
    /// The memory that MPI reads or writes.
    buffer: Vec<u8>,
    is_done: bool,
}

// SAFETY: a request is a handle that any thread may use, since MPI was started for several threads (`Session::start`).
// The buffer is owned.
unsafe impl Send for Request {}

impl Request {
    /// Begins a request; `begin` gets the address of the buffer, and a place for the handle.
    ///
    /// # Safety
    /// - `begin` makes one call of MPI, which accesses no memory but the buffer, within its length.
    ///
    /// # Errors
    /// Errors of MPI.
    pub(crate) unsafe fn begin(
        buffer: Vec<u8>,
        begin: impl FnOnce(*mut c_void, *mut ffi::MPI_Request) -> c_int,
    ) -> Result<Request> {
        // SAFETY: a constant of MPI, which is set when the library is loaded.
        let request = Box::new(unsafe { ffi::RSMPI_REQUEST_NULL });
        let mut begun = Request { request, buffer, is_done: true };
        let code = begin(begun.buffer.as_mut_ptr().cast(), &mut *begun.request);
        check(code)?; // a failed call has not begun a request
        begun.is_done = false;
        Ok(begun)
    }

    /// Whether the request is done.
    ///
    /// # Errors
    /// Errors of MPI.
    pub(crate) fn test(&mut self) -> Result<bool> {
        if !self.is_done {
            let mut flag = 0;
            // SAFETY: a handle from MPI, a place for one number, and no place for a status.
            check(unsafe { ffi::MPI_Test(&mut *self.request, &mut flag, ffi::RSMPI_STATUS_IGNORE) })?;
            self.is_done = flag != 0;
        }
        Ok(self.is_done)
    }

    /// The memory of a request that is done; otherwise the request itself.
    pub(crate) fn into_buffer(mut self) -> Result<Vec<u8>, Request> {
        if self.is_done { Ok(std::mem::take(&mut self.buffer)) } else { Err(self) }
    }
}

impl Drop for Request {
    /// Leaves memory to MPI that it may still access.
    fn drop(&mut self) {
        if !self.is_done {
            std::mem::forget(std::mem::take(&mut self.buffer));
            // SAFETY: a constant of MPI, which is set when the library is loaded.
            let null = Box::new(unsafe { ffi::RSMPI_REQUEST_NULL });
            std::mem::forget(std::mem::replace(&mut self.request, null));
        }
    }
}

/// Polling with pauses, up to a deadline.
pub(crate) struct Patience {
    begun: Instant,
    deadline: Instant,
}

impl Patience {
    pub(crate) fn until(deadline: Instant) -> Patience {
        Patience { begun: Instant::now(), deadline }
    }

    /// Yields to other threads for a moment; returns whether there is time to poll again. If the message `moves`, MPI
    /// moves it piece by piece while it is polled, so there are no pauses, which would add up.
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

/// Converts an error code of MPI to an error.
///
/// # Errors
/// Any code but that of success.
pub(crate) fn check(code: c_int) -> Result<()> {
    if code == 0 {
        return Ok(());
    }
    let mut text = [0u8; 1024]; // MPI_MAX_ERROR_STRING is 256 to 512 in known libraries
    let mut length = 0;
    // SAFETY: a buffer that is longer than any text of MPI, and a place for its length.
    let known = unsafe { ffi::MPI_Error_string(code, text.as_mut_ptr().cast(), &mut length) };
    let text = match known {
        0 => String::from_utf8_lossy(&text[..(length.max(0) as usize).min(text.len())]).into_owned(),
        _ => format!("error {code}"),
    };
    bail!(Io, "MPI: {text}")
}
