//! Bad input, panics and re-entrant calls must not crash, hang, leak, or leave state behind.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use torch_library::prelude::*;
use torch_library::{Dispatcher, ErrorKind, Library, LibraryKind, RuntimeKernel, trace};

torch_library! {
    /// Operators for the tests of this file.
    pub mod hostile {
        /// Adds one.
        next(int x) -> int;
    }
}

#[torch_impl(hostile, CompositeExplicitAutograd)]
fn next(x: i64) -> Result<i64> {
    Ok(x + 1)
}

/// The key of a call without tensors in a dispatcher without fallbacks.
const KEY: DispatchKey = DispatchKey::ADInplaceOrView;

/// A kernel for any operator that takes nothing and returns nothing.
fn idle() -> RuntimeKernel {
    RuntimeKernel::boxed(|_, _, _| Ok(()))
}

#[test]
fn a_typed_kernel_is_no_fallback() {
    let dispatcher = Dispatcher::leak_empty();
    let mut library = Library::open(dispatcher, LibraryKind::Implementation, "_", None).unwrap();
    let kernel = hostile::next::kernel(Ok);
    let error = library.fallback(DispatchKey::CPU, kernel).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Type, "{error}");
    assert!(error.to_string().contains("hostile::next"), "{error}");
    assert!(dispatcher.fallbacks().is_empty());
}

/// Calls an operator when it is dropped.
struct CallsWhenDropped;

impl Drop for CallsWhenDropped {
    fn drop(&mut self) {
        hostile::next(1).unwrap();
    }
}

#[test]
fn a_listener_may_call_while_it_goes() {
    let _other = trace::listen(|_| ());
    let captured = CallsWhenDropped;
    drop(trace::listen(move |_| {
        let _ = &captured;
    }));
}

#[test]
fn a_listener_that_panics_hears_the_next_call() {
    let heard = Arc::new(AtomicUsize::new(0));
    let counter = heard.clone();
    let thread = std::thread::current().id();
    let _guard = trace::listen(move |_| {
        if std::thread::current().id() == thread {
            assert!(counter.fetch_add(1, Ordering::Relaxed) > 0, "the first call");
        }
    });
    assert!(std::panic::catch_unwind(|| hostile::next(1)).is_err());
    assert_eq!(hostile::next(1).unwrap(), 2);
    assert_eq!(heard.load(Ordering::Relaxed), 2);
}

#[test]
fn a_listener_hears_other_dispatchers() {
    let dispatcher = Dispatcher::leak_empty();
    let mut library = Library::open(dispatcher, LibraryKind::Definition, "own", None).unwrap();
    let operator = library.define("idle() -> ()").unwrap();
    library.implement("idle", KEY, idle()).unwrap();
    operator.call_boxed(&mut Stack::new()).unwrap();

    let heard = Arc::new(AtomicUsize::new(0));
    let counter = heard.clone();
    let guard = trace::listen(move |event| {
        counter.fetch_add(usize::from(event.operator == operator), Ordering::Relaxed);
    });
    operator.call_boxed(&mut Stack::new()).unwrap();
    drop(guard);
    operator.call_boxed(&mut Stack::new()).unwrap();
    assert_eq!(heard.load(Ordering::Relaxed), 1);
}

#[test]
fn a_kernel_may_drop_its_own_library_and_register_another() {
    let dispatcher = Dispatcher::leak_empty();
    let mut library = Library::open(dispatcher, LibraryKind::Definition, "own", None).unwrap();
    let operator = library.define("swap() -> ()").unwrap();
    let own = Arc::new(Mutex::new(None::<Library>));
    let mine = own.clone();
    let kernel = RuntimeKernel::boxed(move |operator, _, _| {
        drop(mine.lock().unwrap().take());
        let mut next = Library::open(dispatcher, LibraryKind::Definition, "own", None)?;
        next.define("swap() -> ()")?;
        assert!(operator.call_boxed(&mut Stack::new()).is_err(), "the operator is gone");
        *mine.lock().unwrap() = Some(next);
        Ok(())
    });
    library.implement("swap", KEY, kernel).unwrap();
    *own.lock().unwrap() = Some(library);
    operator.call_boxed(&mut Stack::new()).unwrap();
    assert_eq!(dispatcher.operators().len(), 1);
}

#[test]
fn a_kernel_that_is_not_registered_is_freed() {
    let captured = Arc::new(());
    let mut library = Library::open(Dispatcher::leak_empty(), LibraryKind::Definition, "own", None).unwrap();
    let (boxed, typed) = (captured.clone(), captured.clone());
    let boxed = RuntimeKernel::boxed(move |_, _, _| {
        let _ = &boxed;
        Ok(())
    });
    library.implement("another::name", DispatchKey::CPU, boxed).unwrap_err();
    let typed = hostile::next::kernel(move |x| {
        let _ = &typed;
        Ok(x)
    });
    library.implement("next", DispatchKey::CPU, typed).unwrap_err();
    assert_eq!(Arc::strong_count(&captured), 1);
}

#[test]
fn a_number_is_not_repeated_without_end() {
    let mut library = Library::open(Dispatcher::leak_empty(), LibraryKind::Definition, "own", None).unwrap();
    let operator = library.define("long(int[2147483647] sizes) -> ()").unwrap();
    library.implement("long", KEY, idle()).unwrap();
    let error = operator.call_with([Value::Int(1)], []).unwrap_err();
    assert!(error.to_string().contains("own::long: argument `sizes`"), "{error}");
}

#[test]
fn a_long_unknown_name_is_refused_at_once() {
    let start = std::time::Instant::now();
    let name = format!("hostile::{}", "x".repeat(4 << 20));
    assert!(Dispatcher::global().find(&name).is_err());
    assert!(start.elapsed().as_secs() < 5);
}
