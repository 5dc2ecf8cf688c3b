//! Thread state of other modules that [`ThreadLocalState`](super::ThreadLocalState) carries to other threads.

use std::any::{Any, TypeId};
use std::cell::RefCell;
use std::sync::Arc;

/// The thread state of the layers above this module that is carried as well, which they implement for
/// [`Program`](crate::program::Program). It stays in cells of their own, since many calls read it.
pub(crate) trait Layered {
    /// All of it as one value.
    type State: Clone + Send + Sync;

    fn capture() -> Self::State;

    /// Makes this the state of the thread, and returns the previous one, which is dropped outside of all cells.
    fn replace(state: Self::State) -> Self::State;
}

/// At most one value of each type; cheap to clone, and free while there is none.
#[derive(Clone, Default)]
pub(super) struct Carried(Vec<(TypeId, Arc<dyn Any + Send + Sync>)>);

thread_local! {
    static CARRIED: RefCell<Carried> = const { RefCell::new(Carried(Vec::new())) };
}

impl Carried {
    pub(super) fn capture() -> Self {
        CARRIED.try_with(|carried| carried.borrow().clone()).unwrap_or_default()
    }

    /// Makes these the thread's values, and returns the previous ones.
    pub(super) fn replace(self) -> Self {
        // At its end a thread has lost its values, and needs none.
        CARRIED.try_with(|carried| carried.replace(self)).unwrap_or_default()
    }
}

/// This thread's value of a type, if it has one.
pub(crate) fn carried<T: Any + Send + Sync>() -> Option<Arc<T>> {
    let Carried(values) = Carried::capture();
    values.into_iter().find_map(|(_, value)| value.downcast::<T>().ok())
}

/// Sets this thread's value of a type, or removes it.
pub(crate) fn set_carried<T: Any + Send + Sync>(value: Option<T>) {
    let mut carried = Carried::capture();
    carried.0.retain(|(id, _)| *id != TypeId::of::<T>());
    carried.0.extend(value.map(|value| (TypeId::of::<T>(), Arc::new(value) as Arc<dyn Any + Send + Sync>)));
    drop(carried.replace()); // outside of the cell: dropping a value may run code that asks for values
}
