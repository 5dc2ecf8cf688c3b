//! Backends: what the core asks of whoever brings a device, and what it offers them.
//!
//! A backend is a crate with a [`Backend`], kernels at its key, and a fallback for all other operators, which is one
//! line: `#[torch_fallback(PrivateUse1)]` on a function that calls [`cpu_fallback`]. The [guide](crate::guide::backend)
//! goes from an empty folder to a device that passes the tests for backends.
//!
//! | a backend gets | by |
//! |---|---|
//! | devices, memory, copies, streams | its [`Backend`] |
//! | an allocator that keeps freed blocks | [`CachingAllocator`] |
//! | the current device of a thread | [`current_device`], [`DeviceGuard`] |
//! | its current stream | [`current_stream`], [`StreamGuard`] |
//! | operators without a kernel | [`cpu_fallback`], counted by [`fallback_counts`] |
//! | its tensors in host memory, and back | [`host_copy`], [`from_host`], [`on_device`] |

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

/// Waits until a device has done all that was asked of it. The CPU always has.
///
/// # Errors
/// There is no such device, it is lost, or something that was asked of it failed.
///
/// PyTorch: `torch.cuda.synchronize`.
pub fn synchronize(device: Device) -> Result<()> {
    let device = resolve(device)?;
    of(device.kind)?.map_or(Ok(()), |backend| backend.synchronize(device.index.unwrap_or(0)))
}

/// Gives back memory of a device that waits for its next use.
///
/// # Errors
/// As [`synchronize`].
///
/// PyTorch: `torch.cuda.empty_cache`.
pub fn empty_cache(device: Device) -> Result<()> {
    let device = resolve(device)?;
    of(device.kind)?.map_or(Ok(()), |backend| backend.empty_cache(device.index.unwrap_or(0)))
}

/// How much memory of a device is held, where its backend counts.
///
/// # Errors
/// There is no such device.
///
/// PyTorch: `torch.cuda.memory_stats`.
pub fn memory_stats(device: Device) -> Result<Option<MemoryStats>> {
    let device = resolve(device)?;
    Ok(of(device.kind)?.and_then(|backend| backend.memory_stats(device.index.unwrap_or(0))))
}
