//! Registration listeners, and the events that have not been delivered to them yet.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::dropping;
use crate::operator::OperatorHandle;

/// An operator was defined or removed. Kernels alone cause no events.
///
/// PyTorch: the methods of `c10::OpRegistrationListener`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RegistrationEvent {
    /// The operator was defined.
    Registered(OperatorHandle),
    /// The operator was removed. The handle still has its names and the text of its schema, but refuses everything
    /// else.
    Deregistered(OperatorHandle),
}

pub(super) type Listen = dyn Fn(RegistrationEvent) + Send + Sync;

/// A listener, with the events that have not been delivered to it yet.
pub(super) struct Listener {
    pub(super) listen: Box<Listen>,
    pub(super) queue: Mutex<Queue>,
}

#[derive(Default)]
pub(super) struct Queue {
    pub(super) events: VecDeque<RegistrationEvent>,
    pub(super) is_delivering: bool,
    pub(super) is_removed: bool,
}

thread_local! {
    static GONE: dropping::Queue<Box<Listen>> = const { dropping::Queue::new() };
}

/// Queues the closure, because recursion could overflow the stack: it may own the handle of another listener, and so
/// on.
impl Drop for Listener {
    fn drop(&mut self) {
        dropping::in_turn(&GONE, std::mem::replace(&mut self.listen, Box::new(|_| {})));
    }
}

impl Listener {
    pub(super) fn queue(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn next_event(&self) -> Option<RegistrationEvent> {
        let mut queue = self.queue();
        let event = if queue.is_delivering || queue.is_removed { None } else { queue.events.pop_front() };
        queue.is_delivering |= event.is_some();
        event
    }

    /// Delivers all queued events, unless a thread is doing so already.
    pub(super) fn deliver(&self) {
        /// Ends the delivery, also after a panic of the listener.
        struct Delivery<'l>(&'l Listener);
        impl Drop for Delivery<'_> {
            fn drop(&mut self) {
                self.0.queue().is_delivering = false;
            }
        }
        while let Some(event) = self.next_event() {
            let _delivery = Delivery(self);
            (self.listen)(event);
        }
    }
}
