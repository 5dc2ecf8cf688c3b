//! Backends: the interface that a device implements, and what the runtime offers to it.
//!
//! A backend is a crate with a [`Backend`], kernels at its key, and a fallback for all other operators, which is one
//! line: `#[torch_fallback(PrivateUse1)]` on a function that calls [`cpu_fallback`]. The [guide](crate::guide::backend)
//! goes from an empty folder to a device that passes the tests for backends.
//!
//! | a backend needs | it uses |
//! |---|---|
//! | devices, memory, copies, streams | its [`Backend`] |
//! | an allocator that keeps freed blocks | [`CachingAllocator`] |
//! | the current device of a thread | [`current_device`], [`DeviceGuard`] |
//! | its current stream | [`current_stream`], [`StreamGuard`] |
//! | operators without a kernel | [`cpu_fallback`], counted by [`fallback_counts`] |
//! | copies of its tensors in host memory, and back | [`host_copy`], [`from_host`], [`on_device`] |

mod fallback;
mod policy;
mod staging;

pub use crate::tensor::backend::{
    Allocation, Backend, Block, CachingAllocator, DeviceGuard, Done, Event, MemoryStats, RawAllocator,
    Stream, StreamGuard, backends, current_device, current_stream, default_generator, device_count,
    from_host, host_copy, manual_seed_all, of, on_device, register, resolve,
};
pub use fallback::cpu_fallback;
pub use policy::{FallbackPolicy, fallback_counts, reset_fallback_counts, set_fallback_policy};

use crate::device::Device;
use crate::error::Result;

/// Waits until a device has finished all work that was queued. The CPU always has.
///
/// # Errors
/// The device does not exist or is lost, or queued work failed.
///
/// PyTorch: `torch.cuda.synchronize`.
pub fn synchronize(device: Device) -> Result<()> {
    let device = resolve(device)?;
    of(device.kind)?.map_or(Ok(()), |backend| backend.synchronize(device.index.unwrap_or(0)))
}

/// Frees cached memory of a device that is not in use.
///
/// # Errors
/// The errors of [`synchronize`].
///
/// PyTorch: `torch.cuda.empty_cache`.
pub fn empty_cache(device: Device) -> Result<()> {
    let device = resolve(device)?;
    of(device.kind)?.map_or(Ok(()), |backend| backend.empty_cache(device.index.unwrap_or(0)))
}

/// How much memory of a device is held, if its backend keeps statistics.
///
/// # Errors
/// The device does not exist.
///
/// PyTorch: `torch.cuda.memory_stats`.
pub fn memory_stats(device: Device) -> Result<Option<MemoryStats>> {
    let device = resolve(device)?;
    Ok(of(device.kind)?.and_then(|backend| backend.memory_stats(device.index.unwrap_or(0))))
}
