//! What one asks of a stream.

use super::current::resolve;
use super::event::{Done, Event, Stream};
use super::table::of;
use crate::bail;
use crate::device::Device;
use crate::error::Result;

impl Stream {
    /// A further stream of a device.
    ///
    /// # Errors
    /// The device is not there, or has one queue only.
    ///
    /// PyTorch: `torch.Stream`.
    pub fn new(device: Device) -> Result<Stream> {
        let device = resolve(device)?;
        let Some(backend) = of(device.kind)? else { bail!(NotSupported, "{device} has no streams") };
        Ok(Stream { device, id: backend.new_stream(device.index.unwrap_or(0))? })
    }

    /// An event that happens when what was asked so far is done.
    ///
    /// # Errors
    /// As [`Backend::record_event`](super::Backend::record_event).
    ///
    /// PyTorch: `torch.Stream.record_event`.
    pub fn record_event(self) -> Result<Box<dyn Event>> {
        match of(self.device.kind)? {
            Some(backend) => backend.record_event(self),
            None => Ok(Box::new(Done)), // the CPU has done what it was asked
        }
    }

    /// Waits for an event before it goes on.
    ///
    /// # Errors
    /// As [`Backend::wait_event`](super::Backend::wait_event).
    ///
    /// PyTorch: `torch.Stream.wait_event`.
    pub fn wait_event(self, event: &dyn Event) -> Result<()> {
        match of(self.device.kind)? {
            Some(backend) => backend.wait_event(self, event),
            None => event.synchronize(),
        }
    }
}
