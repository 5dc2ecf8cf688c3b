//! Registration listeners, and the events that have not been delivered to them yet.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::dropping;
use crate::operator::OperatorHandle;

/// An operator was defined or removed. Kernels alone cause no events.
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
    pub(super) is_telling: bool,
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

    fn next(&self) -> Option<RegistrationEvent> {
        let mut queue = self.queue();
        let event = if queue.is_telling || queue.is_removed { None } else { queue.events.pop_front() };
        queue.is_telling |= event.is_some();
        event
    }

    /// Delivers all queued events, unless a thread is doing so already.
    pub(super) fn tell(&self) {
        /// Ends the delivery, also after a panic of the listener.
        struct Telling<'l>(&'l Listener);
        impl Drop for Telling<'_> {
            fn drop(&mut self) {
                self.0.queue().is_telling = false;
            }
        }
        while let Some(event) = self.next() {
            let _telling = Telling(self);
            (self.listen)(event);
        }
    }
}
