//! Streams and events: the order of what devices do.

use std::any::Any;

use crate::device::Device;
use crate::error::Result;

/// A queue of a device: what is asked of it happens in that order.
///
/// PyTorch: `c10::Stream`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Stream {
    /// Whose queue it is.
    pub device: Device,
    /// The number by which the backend knows it; 0 is the one that is always there.
    pub id: u64,
}

/// A point in a stream.
///
/// A backend gets its own type back by [`downcast_ref`](#method.downcast_ref).
///
/// PyTorch: `c10::Event`.
pub trait Event: Any + Send + Sync {
    /// Whether the stream has come there.
    ///
    /// # Errors
    /// Something before it failed.
    fn query(&self) -> Result<bool>;

    /// Waits until it has.
    ///
    /// # Errors
    /// As [`query`](Self::query).
    fn synchronize(&self) -> Result<()>;

    /// The milliseconds from another event of the backend to this one, where the device measures.
    ///
    /// # Errors
    /// One of them has not happened.
    fn elapsed_since(&self, _earlier: &dyn Event) -> Result<Option<f64>> {
        Ok(None)
    }
}

impl dyn Event {
    /// The event as the type that a backend made it of, if it is that backend's.
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

/// An event that has happened.
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
