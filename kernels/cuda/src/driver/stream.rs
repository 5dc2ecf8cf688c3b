//! Streams, the work that is enqueued on them, and events.
#![expect(unsafe_code, reason = "the driver's functions take handles and addresses")]

use std::ffi::c_void;
use std::sync::Arc;

use cudarc::driver::sys;
use torch_library::backend::Event;
use torch_library::prelude::*;

use super::{CUresult, Context, Entered, Memory, Pinned};

/// A stream: a queue of work of a device.
pub(crate) struct Stream {
    pub(crate) raw: sys::CUstream,
    pub(crate) context: Arc<Context>,
}

// SAFETY: the driver's handles may be used by all threads, also concurrently.
unsafe impl Send for Stream {}
// SAFETY: shared references give the same handles, which threads may use concurrently.
unsafe impl Sync for Stream {}

impl Stream {
    pub(crate) fn new(context: &Arc<Context>) -> Result<Stream> {
        let _entered = context.enter()?;
        let mut raw = std::ptr::null_mut();
        let flags = sys::CUstream_flags_enum::CU_STREAM_NON_BLOCKING as u32;
        // SAFETY: a context is current, and `raw` outlives the call.
        context.outcome(unsafe { sys::cuStreamCreate(&raw mut raw, flags) }, "make a stream")?;
        Ok(Stream { raw, context: context.clone() })
    }

    /// Waits until all work on the stream is done.
    pub(crate) fn synchronize(&self) -> Result<()> {
        let entered = self.context.enter()?;
        self.finish(&entered)
    }

    /// As [`synchronize`](Self::synchronize), in a context that was entered.
    fn finish(&self, _: &Entered<'_>) -> Result<()> {
        // SAFETY: the stream belongs to the current context, and exists as long as `self`.
        self.context.outcome(unsafe { sys::cuStreamSynchronize(self.raw) }, "finish its work")
    }

    /// Writes bytes to a block, and waits until that is done.
    pub(crate) fn write(&self, to: &Memory, offset: usize, bytes: &[u8]) -> Result<()> {
        let address = to.range(offset, bytes.len())?;
        let entered = self.context.enter()?;
        // SAFETY: both ranges are memory of that length, and stay allocated until the stream is done, which is waited for.
        let code =
            unsafe { sys::cuMemcpyHtoDAsync_v2(address, bytes.as_ptr().cast(), bytes.len(), self.raw) };
        self.context.outcome(code, "copy from the host")?;
        self.finish(&entered)
    }

    /// Enqueues a copy from the start of pinned memory.
    ///
    /// # Safety
    /// - The pinned block is neither written nor freed before the stream has done the copy.
    pub(crate) unsafe fn write_pinned(
        &self,
        to: &Memory,
        offset: usize,
        from: &Pinned,
        count: usize,
    ) -> Result<()> {
        let address = to.range(offset, count)?;
        ensure!(count <= from.nbytes, Argument, "a block of {} bytes does not have {count}", from.nbytes);
        let _entered = self.context.enter()?;
        // SAFETY: both ranges are memory of that length. The device's is freed after the stream is done, since the driver
        // waits for it; the caller vouches for the host's.
        let code = unsafe { sys::cuMemcpyHtoDAsync_v2(address, from.address, count, self.raw) };
        self.context.outcome(code, "copy from the host")
    }

    /// Reads bytes of a block, after all earlier work on the stream.
    pub(crate) fn read(&self, from: &Memory, offset: usize, bytes: &mut [u8]) -> Result<()> {
        let address = from.range(offset, bytes.len())?;
        let entered = self.context.enter()?;
        // SAFETY: both ranges are memory of that length, and stay allocated until the stream is done, which is waited for.
        let code =
            unsafe { sys::cuMemcpyDtoHAsync_v2(bytes.as_mut_ptr().cast(), address, bytes.len(), self.raw) };
        let copied = self.context.outcome(code, "copy to the host");
        let done = self.finish(&entered); // also if it failed, since nothing may be written to `bytes` later
        copied.and(done)
    }

    /// Enqueues writing zeros to a block.
    pub(crate) fn clear(&self, memory: &Memory, count: usize) -> Result<()> {
        let address = memory.range(0, count)?;
        let _entered = self.context.enter()?;
        // SAFETY: the range is memory of the device, and is freed after the stream is done, since the driver waits for it.
        self.context.outcome(unsafe { sys::cuMemsetD8Async(address, 0, count, self.raw) }, "clear memory")
    }

    /// Enqueues a copy from another block of the device.
    pub(crate) fn copy(
        &self,
        (to, to_offset): (&Memory, usize),
        (from, from_offset): (&Memory, usize),
        count: usize,
    ) -> Result<()> {
        let (to, from) = (to.range(to_offset, count)?, from.range(from_offset, count)?);
        let _entered = self.context.enter()?;
        // SAFETY: both ranges are memory of the device, and are freed after the stream is done, since the driver waits for
        // it.
        let code = unsafe { sys::cuMemcpyDtoDAsync_v2(to, from, count, self.raw) };
        self.context.outcome(code, "copy on the device")
    }

    /// Copies from a block of another device, and waits until that is done.
    pub(crate) fn copy_from_peer(
        &self,
        (to, to_offset): (&Memory, usize),
        (from, from_offset): (&Memory, usize),
        count: usize,
    ) -> Result<()> {
        let (target, source) = (to.range(to_offset, count)?, from.range(from_offset, count)?);
        let entered = self.context.enter_with(&from.context)?;
        // SAFETY: each range is memory of the device of its context, and stays allocated until the stream is done, which is
        // waited for.
        let code = unsafe {
            sys::cuMemcpyPeerAsync(target, to.context.raw, source, from.context.raw, count, self.raw)
        };
        self.context.outcome(code, "copy from another device")?;
        self.finish(&entered)
    }

    /// Enqueues a launch of a kernel with one structure as its parameter.
    ///
    /// # Safety
    /// - The structure is the one that the kernel takes.
    /// - The kernel, with these parameters, only accesses memory that stays allocated until the stream is done.
    pub(crate) unsafe fn launch(
        &self,
        function: &Function,
        groups: u32,
        threads: [u32; 2],
        params: &[u64],
    ) -> Result<()> {
        let _entered = self.context.enter()?;
        let mut arguments = [params.as_ptr().cast_mut().cast::<c_void>()];
        let none = std::ptr::null_mut();
        // SAFETY: the function's module is never unloaded; the driver copies the parameters before it returns; the caller
        // vouches for the rest.
        let code = unsafe {
            sys::cuLaunchKernel(
                function.0,
                groups,
                1,
                1,
                threads[0],
                threads[1],
                1,
                0,
                self.raw,
                arguments.as_mut_ptr(),
                none,
            )
        };
        self.context.outcome(code, "run a kernel")
    }

    /// Records an event after all work so far.
    pub(crate) fn mark(&self) -> Result<Mark> {
        let entered = self.context.enter()?;
        let mut raw = std::ptr::null_mut();
        // SAFETY: a context is current, and `raw` outlives the call. (No flags: the event measures time, and waiting for it
        // spins.)
        self.context.outcome(unsafe { sys::cuEventCreate(&raw mut raw, 0) }, "make an event")?;
        let mark = Mark { raw, context: self.context.clone() };
        // SAFETY: event and stream belong to the current context, and exist.
        let recorded =
            self.context.outcome(unsafe { sys::cuEventRecord(mark.raw, self.raw) }, "record an event");
        drop(entered); // before the event, which enters the context if it is dropped
        recorded.map(|()| mark)
    }

    /// Makes later work wait for an event.
    pub(crate) fn wait_for(&self, mark: &Mark) -> Result<()> {
        let _entered = self.context.enter_with(&mark.context)?;
        // SAFETY: both exist; an event may belong to another context. The waiting stream keeps what it needs of the event.
        self.context.outcome(unsafe { sys::cuStreamWaitEvent(self.raw, mark.raw, 0) }, "wait for an event")
    }
}

impl Drop for Stream {
    fn drop(&mut self) {
        if let Ok(_entered) = self.context.enter() {
            // SAFETY: the stream is not used after this; the driver finishes its work.
            let _ = unsafe { sys::cuStreamDestroy_v2(self.raw) };
        }
    }
}

/// A loaded kernel; its module stays loaded as long as the context exists.
#[derive(Clone, Copy)]
pub(crate) struct Function(sys::CUfunction);

// SAFETY: the driver's handles may be used by all threads, also concurrently.
unsafe impl Send for Function {}
// SAFETY: shared references give the same handles, which threads may use concurrently.
unsafe impl Sync for Function {}

impl Context {
    /// Loads a compiled module, and finds its function `kernel`.
    pub(crate) fn load(&self, image: &[u8]) -> Result<Function> {
        ensure!(image.last() == Some(&0), Internal, "an image of a module does not end in a zero");
        let _entered = self.enter()?;
        let (mut module, mut function) = (std::ptr::null_mut(), std::ptr::null_mut());
        // SAFETY: a context is current. A binary image contains its own length, and a text ends in a zero, as checked above.
        let code = unsafe { sys::cuModuleLoadData(&raw mut module, image.as_ptr().cast()) };
        self.outcome(code, "load a kernel")?;
        // SAFETY: the module was loaded, and the name ends in a zero.
        let code = unsafe { sys::cuModuleGetFunction(&raw mut function, module, c"kernel".as_ptr()) };
        self.outcome(code, "find a kernel")?;
        Ok(Function(function))
    }
}

/// An event: a point in a stream.
pub(crate) struct Mark {
    raw: sys::CUevent,
    context: Arc<Context>,
}

// SAFETY: the driver's handles may be used by all threads, also concurrently.
unsafe impl Send for Mark {}
// SAFETY: shared references give the same handles, which threads may use concurrently.
unsafe impl Sync for Mark {}

impl Event for Mark {
    fn query(&self) -> Result<bool> {
        let _entered = self.context.enter()?;
        // SAFETY: the event exists, and was recorded when it was made.
        match unsafe { sys::cuEventQuery(self.raw) } {
            CUresult::CUDA_ERROR_NOT_READY => Ok(false),
            code => self.context.outcome(code, "look at an event").map(|()| true),
        }
    }

    fn synchronize(&self) -> Result<()> {
        let _entered = self.context.enter()?;
        // SAFETY: the event exists, and was recorded when it was made.
        self.context.outcome(unsafe { sys::cuEventSynchronize(self.raw) }, "wait for an event")
    }

    fn elapsed_since(&self, earlier: &dyn Event) -> Result<Option<f64>> {
        let Some(earlier) = earlier.downcast_ref::<Mark>() else { return Ok(None) };
        let _entered = self.context.enter_with(&earlier.context)?;
        let mut milliseconds = 0.0;
        // SAFETY: the library is loaded, since there is a context. Drivers since 12.8 have the second name, and all have the
        // first; both functions take a pointer to write to and two events.
        let elapsed = unsafe {
            let library = sys::culib();
            library
                .get::<Elapsed>(b"cuEventElapsedTime_v2")
                .or_else(|_| library.get::<Elapsed>(b"cuEventElapsedTime"))
        };
        let Ok(elapsed) = elapsed else { return Ok(None) };
        // SAFETY: `milliseconds` outlives the call, and both events exist and were recorded.
        let code = unsafe { elapsed(&raw mut milliseconds, earlier.raw, self.raw) };
        self.context.outcome(code, "measure the time between events")?;
        Ok(Some(f64::from(milliseconds)))
    }
}

type Elapsed = unsafe extern "C" fn(*mut f32, sys::CUevent, sys::CUevent) -> CUresult;

impl Drop for Mark {
    fn drop(&mut self) {
        if let Ok(_entered) = self.context.enter() {
            // SAFETY: the event is not used after this; streams that wait for it have what they need.
            let _ = unsafe { sys::cuEventDestroy_v2(self.raw) };
        }
    }
}
