//! A value that can be replaced under readers: one atomic load to read, no lock, no reference count.
#![expect(unsafe_code, reason = "readers follow a raw pointer to the current value")]

use std::ptr;
use std::sync::atomic::{AtomicPtr, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

/// A value, the values that replaced it, and which of them is current.
///
/// # How it works
/// 1. The first value is stored inline; `current` is null.
/// 2. [`publish`](Published::publish) keeps the new value in `later` and stores its address in `current`.
/// 3. No value moves or drops before the `Published` itself does, so a reader's reference stays good however
///    often the value is replaced meanwhile; it just shows what was current when it was taken.
/// 4. A value equal to an earlier one is published again rather than kept twice: a tensor that is transposed in
///    place a million times keeps two geometries.
/// 5. With `&mut` nobody reads, and everything but the new value can go: [`replace`](Published::replace).
///
/// # Orderings
/// The store in `publish` is a release and the load in `get` an acquire, so a reader that sees an address sees
/// the value behind it. The mutex orders writers among themselves.
pub(super) struct Published<T> {
    first: T,
    /// Null for `first`, else the address inside an `Arc` of `later`.
    current: AtomicPtr<T>,
    /// Most values are never replaced, and make no room for others.
    later: OnceLock<Box<Mutex<Later<T>>>>,
}

/// Only grows; `Arc` rather than `Box` because its contents may be pointed at while it moves.
type Later<T> = Vec<Arc<T>>;

impl<T: PartialEq> Published<T> {
    #[inline]
    pub(super) fn new(first: T) -> Self {
        Published { first, current: AtomicPtr::new(ptr::null_mut()), later: OnceLock::new() }
    }

    /// The current value.
    #[inline(always)]
    pub(super) fn get(&self) -> &T {
        let current = self.current.load(Ordering::Acquire);
        if current.is_null() {
            return &self.first;
        }
        // SAFETY: a non-null `current` points into an `Arc` in `later`, which loses nothing while `self` is
        // borrowed; nobody makes a `&mut` of what is inside.
        unsafe { &*current }
    }

    /// Makes a value current for everyone.
    pub(super) fn publish(&self, value: T) {
        let later = self.later.get_or_init(Box::default);
        let mut later = later.lock().unwrap_or_else(PoisonError::into_inner);
        let address = if value == self.first {
            ptr::null()
        } else if let Some(earlier) = later.iter().find(|earlier| ***earlier == value) {
            Arc::as_ptr(earlier)
        } else {
            later.push(Arc::new(value));
            Arc::as_ptr(&later[later.len() - 1])
        };
        self.current.store(address.cast_mut(), Ordering::Release);
    }

    /// The first value, which nobody has seen.
    #[inline]
    pub(super) fn first_mut(&mut self) -> &mut T {
        &mut self.first
    }

    /// Makes a value the only one.
    pub(super) fn replace(&mut self, value: T) {
        *self = Published::new(value);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn old_references_stay_good() {
        let cell = Published::new(String::from("a"));
        let first = cell.get();
        cell.publish("b".into());
        let second = cell.get();
        cell.publish("a".into());
        assert_eq!((first.as_str(), second.as_str(), cell.get().as_str()), ("a", "b", "a"));
        assert!(ptr::eq(first, cell.get()), "an earlier value is published again");
    }

    #[test]
    fn equal_values_are_kept_once() {
        let mut cell = Published::new(0);
        for i in 0..1000 {
            cell.publish(i % 3);
        }
        assert_eq!(cell.later.get().unwrap().lock().unwrap().len(), 2);
        cell.replace(7);
        assert!(*cell.get() == 7 && cell.later.get().is_none());
    }

    #[test]
    fn readers_see_whole_values_while_writers_publish() {
        let cell = Published::new([0u64; 16]);
        std::thread::scope(|scope| {
            for writer in 0..2 {
                let cell = &cell;
                scope.spawn(move || (0..200).for_each(|i| cell.publish([i * 2 + writer; 16])));
            }
            for _ in 0..2_000 {
                let value = cell.get();
                assert!(value.iter().all(|x| *x == value[0]));
            }
        });
    }
}
