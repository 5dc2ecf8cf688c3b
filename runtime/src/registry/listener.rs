//! A listener, and what it has not been told yet.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::dropping;
use crate::operator::OperatorHandle;

/// An operator came or went. Kernels do not count, nor do names that have only kernels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RegistrationEvent {
    /// It is defined.
    Registered(OperatorHandle),
    /// It is defined no more. The handle knows its names and its schema's text; all else it refuses.
    Deregistered(OperatorHandle),
}

pub(super) type Listen = dyn Fn(RegistrationEvent) + Send + Sync;

/// A listener, and what it has not been told yet.
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

/// What a listener holds may be the handle of another one, and so on.
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

    /// Tells what there is to tell, unless somebody does.
    pub(super) fn tell(&self) {
        /// Until a panic of the listener included.
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
