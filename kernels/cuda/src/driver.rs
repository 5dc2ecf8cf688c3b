//! CUDA's driver, loaded when a device is first asked for: contexts, memory, and errors.
#![expect(unsafe_code, reason = "the driver's functions take handles and addresses")]

mod stream;

use std::ffi::{CStr, c_char, c_int, c_void};
use std::sync::{Arc, OnceLock, PoisonError, RwLock, RwLockReadGuard};

use cudarc::driver::sys;
use torch_library::prelude::*;

pub(crate) use stream::{Function, Mark, Stream};
pub(crate) use sys::CUresult;

/// The number of devices, or the reason why there are none.
pub(crate) fn device_count() -> Result<u8> {
    static COUNT: OnceLock<Result<u8, String>> = OnceLock::new();
    match COUNT.get_or_init(count) {
        Ok(count) => Ok(*count),
        Err(why) => bail!(Device, "{why}"),
    }
}

fn count() -> Result<u8, String> {
    // SAFETY: loading the driver's library runs its initialisers, which may run at any time; the user who installed it
    // vouches for that.
    if !unsafe { sys::is_culib_present() } {
        return Err("there is no CUDA driver: `libcuda.so` (Windows: `nvcuda.dll`) was not found\n  help: it comes with \
             NVIDIA's driver; a container gets it from the NVIDIA container toolkit, other places by `LD_LIBRARY_PATH`"
            .to_owned());
    }
    // SAFETY: the library is loaded, and flags must be 0.
    let started = unsafe { sys::cuInit(0) };
    let mut count = 0;
    let counted = match started {
        // SAFETY: the driver is initialised; `count` outlives the call.
        CUresult::CUDA_SUCCESS => unsafe { sys::cuDeviceGetCount(&raw mut count) },
        failed => failed,
    };
    match counted {
        CUresult::CUDA_SUCCESS => Ok(u8::try_from(count).unwrap_or(u8::MAX)),
        CUresult::CUDA_ERROR_NO_DEVICE => {
            Err("the CUDA driver finds no GPU\n  help: `nvidia-smi -L` lists those that it \
             can use; `CUDA_VISIBLE_DEVICES` may hide them"
                .to_owned())
        }
        failed => Err(format!(
            "the CUDA driver does not start: {}\n  \
             help: `nvidia-smi` should work first; after an update of the driver, its kernel module must be reloaded",
            described(failed)
        )),
    }
}

/// An error's name and the driver's description of it.
fn described(code: CUresult) -> String {
    let (mut name, mut text): (*const c_char, *const c_char) = (std::ptr::null(), std::ptr::null());
    // SAFETY: both pointers outlive the calls, which write addresses of constants of the driver there, or nothing.
    unsafe {
        let _ = sys::cuGetErrorName(code, &raw mut name);
        let _ = sys::cuGetErrorString(code, &raw mut text);
    }
    let read = |text: *const c_char| match text.is_null() {
        true => String::new(),
        // SAFETY: not null, so it is a constant of the driver that ends in a zero.
        false => unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned(),
    };
    format!("{} ({})", read(name), read(text))
}

/// Whether an error makes the context unusable: all later calls fail with it too.
fn is_fatal(code: CUresult) -> bool {
    use CUresult as C;
    matches!(
        code,
        C::CUDA_ERROR_ILLEGAL_ADDRESS
            | C::CUDA_ERROR_LAUNCH_FAILED
            | C::CUDA_ERROR_LAUNCH_TIMEOUT
            | C::CUDA_ERROR_ASSERT
            | C::CUDA_ERROR_HARDWARE_STACK_ERROR
            | C::CUDA_ERROR_ILLEGAL_INSTRUCTION
            | C::CUDA_ERROR_MISALIGNED_ADDRESS
            | C::CUDA_ERROR_INVALID_ADDRESS_SPACE
            | C::CUDA_ERROR_INVALID_PC
            | C::CUDA_ERROR_ECC_UNCORRECTABLE
            | C::CUDA_ERROR_NVLINK_UNCORRECTABLE
            | C::CUDA_ERROR_CONTEXT_IS_DESTROYED
            | C::CUDA_ERROR_DEVICE_UNAVAILABLE
            | C::CUDA_ERROR_UNKNOWN
    )
}

/// A device's primary context, which other CUDA libraries of the process use too.
pub(crate) struct Context {
    raw: sys::CUcontext,
    device: sys::CUdevice,
    pub(crate) index: u8,
    pub(crate) name: String,
    /// The major and minor number of its compute capability.
    pub(crate) capability: (i32, i32),
    lost: OnceLock<String>,
    /// Held to read by each call to the driver, and to write by a reset, so that no call uses what a reset destroys.
    resets: RwLock<()>,
}

/// A context that is this thread's current one, and is not reset as long as this lives. A thread has only one of these
/// at a time: a second one would wait for a reset that waits for the first.
pub(crate) struct Entered<'a> {
    _held: RwLockReadGuard<'a, ()>,
    _other: Option<RwLockReadGuard<'a, ()>>,
}

// SAFETY: the driver's handles may be used by all threads, also concurrently; each thread has its own current context.
unsafe impl Send for Context {}
// SAFETY: shared references give the same handles, which threads may use concurrently.
unsafe impl Sync for Context {}

impl Context {
    /// Opens the primary context of a device with an index below the count.
    pub(crate) fn open(index: u8) -> Result<Arc<Context>> {
        let (mut device, mut raw) = (0, std::ptr::null_mut());
        // SAFETY: the driver was initialised when devices were counted; the variables that are written to outlive the
        // calls.
        let opened = unsafe {
            match sys::cuDeviceGet(&raw mut device, c_int::from(index)) {
                CUresult::CUDA_SUCCESS => sys::cuDevicePrimaryCtxRetain(&raw mut raw, device),
                failed => failed,
            }
        };
        match opened {
            CUresult::CUDA_SUCCESS => {}
            CUresult::CUDA_ERROR_OUT_OF_MEMORY => bail!(
                OutOfMemory,
                "cuda:{index} does not open: {}\n  help: `nvidia-smi` lists who uses its memory",
                described(opened)
            ),
            _ => bail!(Device, "cuda:{index} does not open: {}", described(opened)),
        }
        let mut letters = [0 as c_char; 256];
        // SAFETY: the buffer is as long as the argument says, and always ends in a zero, since its last byte is not
        // written.
        let name = unsafe {
            let _ = sys::cuDeviceGetName(letters.as_mut_ptr(), letters.len() as c_int - 1, device);
            CStr::from_ptr(letters.as_ptr()).to_string_lossy().into_owned()
        };
        let attribute = |which| {
            let mut value = 0;
            // SAFETY: `value` outlives the call, and `device` was obtained above.
            let _ = unsafe { sys::cuDeviceGetAttribute(&raw mut value, which, device) };
            value
        };
        let capability = (
            attribute(sys::CUdevice_attribute::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR),
            attribute(sys::CUdevice_attribute::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR),
        );
        Ok(Arc::new(Context {
            raw,
            device,
            index,
            name,
            capability,
            lost: OnceLock::new(),
            resets: RwLock::new(()),
        }))
    }

    /// Checks the outcome of a call to the driver.
    ///
    /// # Errors
    /// The call failed; if that makes the context unusable, all later calls fail too.
    pub(crate) fn outcome(&self, code: CUresult, doing: &str) -> Result<()> {
        if code == CUresult::CUDA_SUCCESS {
            return Ok(());
        }
        let (index, what) = (self.index, described(code));
        if is_fatal(code) {
            let _ = self.lost.set(what); // the first reason is kept
            return self.check();
        }
        match code {
            CUresult::CUDA_ERROR_OUT_OF_MEMORY => {
                bail!(OutOfMemory, "cuda:{index} could not {doing}: {what}")
            }
            _ => bail!(Device, "cuda:{index} could not {doing}: {what}"),
        }
    }

    /// Checks that the context can be used.
    pub(crate) fn check(&self) -> Result<()> {
        if let Some(why) = self.lost.get() {
            bail!(
                Device,
                "cuda:{} is lost, with everything on it: {why}\n  \
                 help: the next tensor that is created there reopens it; after some failures only a new process can",
                self.index
            );
        }
        Ok(())
    }

    pub(crate) fn is_lost(&self) -> bool {
        self.lost.get().is_some()
    }

    /// Resets the context, after the calls that are in progress: everything on the device is lost.
    pub(crate) fn reset(&self) {
        let _alone = self.resets.write().unwrap_or_else(PoisonError::into_inner);
        let _ = self.lost.set("it was reset".to_owned());
        // SAFETY: the device exists. No call uses the context now, and later ones first check whether it is lost.
        let _ = unsafe { sys::cuDevicePrimaryCtxReset_v2(self.device) };
    }

    /// Keeps the context from being reset.
    fn hold(&self) -> Result<RwLockReadGuard<'_, ()>> {
        let held = self.resets.read().unwrap_or_else(PoisonError::into_inner);
        self.check()?;
        Ok(held)
    }

    /// Makes the context this thread's current one, and keeps it from being reset.
    pub(crate) fn enter(&self) -> Result<Entered<'_>> {
        self.enter_with(self)
    }

    /// As [`enter`](Self::enter), for a call that uses something of another context, too.
    pub(crate) fn enter_with<'a>(&'a self, other: &'a Context) -> Result<Entered<'a>> {
        // In the order of devices, so that two such calls and two resets cannot wait for each other.
        let [first, second] = if self.index <= other.index { [self, other] } else { [other, self] };
        let held = first.hold()?;
        let other = if std::ptr::eq(first, second) { None } else { Some(second.hold()?) };
        // SAFETY: the context was retained, and exists until the process ends or it is reset, which the guard prevents.
        self.outcome(unsafe { sys::cuCtxSetCurrent(self.raw) }, "become current")?;
        Ok(Entered { _held: held, _other: other })
    }

    /// Waits for all streams.
    pub(crate) fn synchronize(&self) -> Result<()> {
        let _entered = self.enter()?;
        // SAFETY: a context is current.
        self.outcome(unsafe { sys::cuCtxSynchronize() }, "finish its work")
    }

    /// Allocates memory of the device.
    pub(crate) fn allocate(self: &Arc<Self>, nbytes: usize) -> Result<Memory> {
        let _entered = self.enter()?;
        let mut address = 0;
        // SAFETY: a context is current, and `address` outlives the call.
        let code = unsafe { sys::cuMemAlloc_v2(&raw mut address, nbytes) };
        self.outcome(code, &format!("allocate {nbytes} bytes"))?;
        Ok(Memory { context: self.clone(), address, nbytes })
    }

    /// Allocates pinned memory of the host, which the device can read by itself.
    pub(crate) fn allocate_pinned(self: &Arc<Self>, nbytes: usize) -> Result<Pinned> {
        let _entered = self.enter()?;
        let mut address = std::ptr::null_mut();
        // SAFETY: a context is current, and `address` outlives the call. The flag lets all contexts use the memory.
        let code = unsafe { sys::cuMemHostAlloc(&raw mut address, nbytes, sys::CU_MEMHOSTALLOC_PORTABLE) };
        self.outcome(code, &format!("allocate {nbytes} pinned bytes"))?;
        Ok(Pinned { context: self.clone(), address, nbytes })
    }
}

/// A block of device memory.
pub(crate) struct Memory {
    context: Arc<Context>,
    pub(crate) address: u64,
    pub(crate) nbytes: usize,
}

impl Memory {
    /// The address of a range of the block.
    fn range(&self, offset: usize, count: usize) -> Result<u64> {
        let is_inside = offset.checked_add(count).is_some_and(|end| end <= self.nbytes);
        ensure!(
            is_inside,
            Argument,
            "a block of {} bytes does not have {count} bytes at {offset}",
            self.nbytes
        );
        Ok(self.address + offset as u64)
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        // A lost context has lost its memory too, and its addresses may have been given out again.
        if let Ok(_entered) = self.context.enter() {
            // SAFETY: this context returned the address, and it is not used after this; the driver waits until the device
            // is done with it.
            let _ = unsafe { sys::cuMemFree_v2(self.address) };
        }
    }
}

/// A block of pinned host memory.
pub(crate) struct Pinned {
    context: Arc<Context>,
    address: *mut c_void,
    nbytes: usize,
}

// SAFETY: the memory belongs to this block alone, and is written through `&mut` or by `write`, which states its conditions.
unsafe impl Send for Pinned {}
// SAFETY: a shared reference only writes by `write`, whose callers ensure that nothing else uses the block.
unsafe impl Sync for Pinned {}

impl Pinned {
    /// Writes bytes to the start of the block.
    ///
    /// # Errors
    /// The context is lost, and the block with it.
    ///
    /// # Safety
    /// - Nothing reads or writes the block during the call; in particular, no stream copies from it.
    pub(crate) unsafe fn write(&self, bytes: &[u8]) -> Result<()> {
        let _entered = self.context.enter()?;
        assert!(bytes.len() <= self.nbytes, "a block of {} bytes takes no {}", self.nbytes, bytes.len());
        // SAFETY: the block has as many bytes, which no reset frees meanwhile, and the caller vouches that nothing else
        // uses them; `bytes` is other memory.
        unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), self.address.cast::<u8>(), bytes.len()) };
        Ok(())
    }
}

impl Drop for Pinned {
    fn drop(&mut self) {
        if let Ok(_entered) = self.context.enter() {
            // SAFETY: the driver returned the address, and blocks that streams use wait for these before they are dropped.
            let _ = unsafe { sys::cuMemFreeHost(self.address) };
        }
    }
}
