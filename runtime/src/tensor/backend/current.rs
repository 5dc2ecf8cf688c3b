//! The current device and the current streams of a thread.

use std::cell::RefCell;
use std::fmt;
use std::marker::PhantomData;

use super::Backend;
use super::event::Stream;
use super::table::of;
use crate::device::{Device, DeviceType};
use crate::ensure;
use crate::error::Result;

#[derive(Default)]
struct Current {
    /// The index of the current device of a type, if it is not 0.
    devices: Vec<(DeviceType, u8)>,
    /// The current stream of a device, if it is not its first.
    streams: Vec<Stream>,
}

thread_local! {
    static CURRENT: RefCell<Current> = const { RefCell::new(Current { devices: Vec::new(), streams: Vec::new() }) };
}

fn index_of(kind: DeviceType) -> u8 {
    CURRENT.with_borrow(|current| {
        current.devices.iter().find(|(other, _)| *other == kind).map_or(0, |(_, at)| *at)
    })
}

fn set_index(kind: DeviceType, index: u8) {
    CURRENT.with_borrow_mut(|current| {
        current.devices.retain(|(other, _)| *other != kind);
        current.devices.push((kind, index));
    });
}

/// The device of a type that this thread uses if no index is given: the first, or that of a [`DeviceGuard`].
///
/// # Errors
/// There is no device of this type.
///
/// PyTorch: `torch.cuda.current_device`.
pub fn current_device(kind: DeviceType) -> Result<Device> {
    resolve(kind.into())
}

/// Adds the current index to a device without one, if its type has a backend.
///
/// # Errors
/// There is no device of this type with that index.
pub fn resolve(device: Device) -> Result<Device> {
    let Some(backend) = of(device.kind)? else { return Ok(device) };
    let (index, count) = (device.index.unwrap_or_else(|| index_of(device.kind)), backend.device_count());
    if count == 0 {
        backend.check_available()?;
    }
    ensure!(
        usize::from(index) < count,
        Device,
        "there is no device {device}: {} has {count} {}",
        backend.name(),
        if count == 1 { "device" } else { "devices" }
    );
    Ok(Device::new(device.kind, Some(index)))
}

/// While it lives, a device is the current one of its type on this thread.
///
/// PyTorch: `c10::DeviceGuard`, `torch.cuda.device`.
#[must_use = "a guard acts while it lives"]
pub struct DeviceGuard {
    before: Option<(&'static dyn Backend, u8)>,
    not_send: PhantomData<*const ()>,
}

impl fmt::Debug for DeviceGuard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let before = self.before.map(|(backend, index)| (backend.name(), index));
        f.debug_struct("DeviceGuard").field("before", &before).finish_non_exhaustive()
    }
}

impl DeviceGuard {
    /// Makes a device the current one; a device without a backend always is.
    ///
    /// # Errors
    /// The device does not exist, or its backend fails.
    pub fn new(device: Device) -> Result<DeviceGuard> {
        let device = resolve(device)?;
        let before = match (of(device.kind)?, device.index) {
            (Some(backend), Some(index)) => {
                let before = index_of(device.kind);
                backend.set_device(index)?;
                set_index(device.kind, index);
                Some((backend, before))
            }
            _ => None,
        };
        Ok(DeviceGuard { before, not_send: PhantomData })
    }
}

impl Drop for DeviceGuard {
    fn drop(&mut self) {
        if let Some((backend, index)) = self.before {
            set_index(backend.device_type(), index);
            let _ = backend.set_device(index); // it was current before; if it was lost since, its next use reports that
        }
    }
}

/// The stream that receives this thread's calls on a device.
///
/// # Errors
/// The device does not exist.
///
/// PyTorch: `torch.cuda.current_stream`.
pub fn current_stream(device: Device) -> Result<Stream> {
    let device = resolve(device)?;
    let of_device = |stream: &&Stream| stream.device == device;
    let set = CURRENT.with_borrow(|current| current.streams.iter().find(of_device).copied());
    Ok(set.unwrap_or(Stream { device, id: 0 }))
}

fn set_stream(stream: Stream) {
    CURRENT.with_borrow_mut(|current| {
        current.streams.retain(|other| other.device != stream.device);
        current.streams.push(stream);
    });
}

/// While it lives, a stream is the current one of its device on this thread.
///
/// PyTorch: `c10::StreamGuard`, `torch.cuda.stream`.
#[must_use = "a guard acts while it lives"]
#[derive(Debug)]
pub struct StreamGuard {
    before: Stream,
    not_send: PhantomData<*const ()>,
}

impl StreamGuard {
    /// Makes a stream the current one.
    ///
    /// # Errors
    /// The stream's device does not exist.
    pub fn new(stream: Stream) -> Result<StreamGuard> {
        let before = current_stream(stream.device)?;
        set_stream(Stream { device: before.device, ..stream });
        Ok(StreamGuard { before, not_send: PhantomData })
    }
}

impl Drop for StreamGuard {
    fn drop(&mut self) {
        set_stream(self.before);
    }
}
