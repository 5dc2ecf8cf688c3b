//! Methods of streams.

use super::current::resolve;
use super::event::{Done, Event, Stream};
use super::table::of;
use crate::bail;
use crate::device::Device;
use crate::error::Result;

impl Stream {
    /// Creates a further stream on a device.
    ///
    /// # Errors
    /// The device does not exist, or has only one queue.
    ///
    /// PyTorch: `torch.Stream`.
    pub fn new(device: Device) -> Result<Stream> {
        let device = resolve(device)?;
        let Some(backend) = of(device.kind)? else { bail!(NotSupported, "{device} has no streams") };
        Ok(Stream { device, id: backend.new_stream(device.index.unwrap_or(0))? })
    }

    /// An event that is reached when the work queued so far is finished.
    ///
    /// # Errors
    /// The errors of [`Backend::record_event`](super::Backend::record_event).
    ///
    /// PyTorch: `torch.Stream.record_event`.
    pub fn record_event(self) -> Result<Box<dyn Event>> {
        match of(self.device.kind)? {
            Some(backend) => backend.record_event(self),
            None => Ok(Box::new(Done)), // the CPU has finished already
        }
    }

    /// Makes the stream wait for an event before it goes on.
    ///
    /// # Errors
    /// The errors of [`Backend::wait_event`](super::Backend::wait_event).
    ///
    /// PyTorch: `torch.Stream.wait_event`.
    pub fn wait_event(self, event: &dyn Event) -> Result<()> {
        match of(self.device.kind)? {
            Some(backend) => backend.wait_event(self, event),
            None => event.synchronize(),
        }
    }
}
