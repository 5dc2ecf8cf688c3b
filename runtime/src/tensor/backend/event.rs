//! Streams and events: the order of what devices do.

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
/// PyTorch: `c10::Event`.
pub trait Event: Send + Sync {
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
