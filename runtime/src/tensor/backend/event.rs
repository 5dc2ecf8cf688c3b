//! Streams and events, which order the work of devices.

use std::any::Any;

use crate::device::Device;
use crate::error::Result;

/// A queue of a device, whose work is done in order.
///
/// PyTorch: `c10::Stream`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Stream {
    /// The device that the queue belongs to.
    pub device: Device,
    /// The number by which the backend identifies it; 0 is the one that always exists.
    pub id: u64,
}

/// A point in a stream.
///
/// A backend gets its own type back with [`downcast_ref`](#method.downcast_ref).
///
/// PyTorch: `c10::Event`.
pub trait Event: Any + Send + Sync {
    /// Whether the stream has reached this point.
    ///
    /// # Errors
    /// Work that was queued before the event failed.
    ///
    /// PyTorch: `torch.Event.query`.
    fn query(&self) -> Result<bool>;

    /// Waits until the stream has reached this point.
    ///
    /// # Errors
    /// The errors of [`query`](Self::query).
    ///
    /// PyTorch: `torch.Event.synchronize`.
    fn synchronize(&self) -> Result<()>;

    /// The milliseconds from another event of the backend to this one, if the device measures them.
    ///
    /// # Errors
    /// One of the events has not been reached yet.
    ///
    /// PyTorch: `torch.Event.elapsed_time`.
    fn elapsed_since(&self, _earlier: &dyn Event) -> Result<Option<f64>> {
        Ok(None)
    }
}

impl dyn Event {
    /// The event as the type from which the backend made it, if it is that backend's.
    ///
    /// ```
    /// use torch_library::backend::{Done, Event};
    ///
    /// let event: Box<dyn Event> = Box::new(Done);
    /// assert!(event.downcast_ref::<Done>().is_some());
    /// ```
    pub fn downcast_ref<E: Event>(&self) -> Option<&E> {
        let any: &dyn Any = self;
        any.downcast_ref()
    }
}

/// An event that has been reached already.
#[derive(Clone, Copy, Debug)]
pub struct Done;

impl Event for Done {
    fn query(&self) -> Result<bool> {
        Ok(true)
    }

    fn synchronize(&self) -> Result<()> {
        Ok(())
    }
}
