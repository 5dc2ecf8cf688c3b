//! Thread state of other modules that travels with [`ThreadLocalState`](super::ThreadLocalState).

use std::any::{Any, TypeId};
use std::cell::RefCell;
use std::sync::Arc;

/// The thread state of the layers above this module that travels as well, which they implement for
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
pub(super) struct Travelling(Vec<(TypeId, Arc<dyn Any + Send + Sync>)>);

thread_local! {
    static TRAVELLING: RefCell<Travelling> = const { RefCell::new(Travelling(Vec::new())) };
}

impl Travelling {
    pub(super) fn capture() -> Self {
        TRAVELLING.try_with(|travelling| travelling.borrow().clone()).unwrap_or_default()
    }

    /// Makes these the thread's values, and returns the previous ones.
    pub(super) fn replace(self) -> Self {
        // At its end a thread has lost its values, and needs none.
        TRAVELLING.try_with(|travelling| travelling.replace(self)).unwrap_or_default()
    }
}

/// This thread's value of a type, if it has one.
pub(crate) fn travelling<T: Any + Send + Sync>() -> Option<Arc<T>> {
    let Travelling(values) = Travelling::capture();
    values.into_iter().find_map(|(_, value)| value.downcast::<T>().ok())
}

/// Sets this thread's value of a type, or removes it.
pub(crate) fn set_travelling<T: Any + Send + Sync>(value: Option<T>) {
    let mut travelling = Travelling::capture();
    travelling.0.retain(|(id, _)| *id != TypeId::of::<T>());
    travelling
        .0
        .extend(value.map(|value| (TypeId::of::<T>(), Arc::new(value) as Arc<dyn Any + Send + Sync>)));
    drop(travelling.replace()); // outside of the cell: dropping a value may run code that asks for values
}
