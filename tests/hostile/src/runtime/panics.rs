//! Panics in every place where user code runs, some while another panic is unwinding.
#![forbid(unsafe_code)]

use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, catch_unwind, panic_any};
use std::thread;

use torch_library::guard::{
    ExcludeDispatchKeyGuard, ForceDispatchKeyGuard, GradMode, IncludeDispatchKeyGuard, LocalDispatchKeySet, no_grad,
};
use torch_library::observe::{Event, Observer, ObservingGuard, Work};
use torch_library::prelude::*;
use torch_library::vmap::{Level, Randomness};
use torch_library::{DeviceType, Library, RuntimeKernel, autocast, trace};

use crate::harness::{allowed, attempt, rounds};

torch_library! {
    /// Operators for these programs.
    pub mod panics {
        /// Returns the number, or panics if it is negative.
        careful(int x) -> int;
        /// Returns the sum of the elements, or panics if it is negative.
        total(Tensor self) -> float;
    }
}

#[torch_impl(panics::careful, CompositeExplicitAutograd)]
fn careful(x: i64) -> Result<i64> {
    assert!(x >= 0, "a negative number");
    Ok(x)
}

#[torch_impl(panics::total, CPU)]
fn total(this: &Tensor) -> Result<f64> {
    let sum = this.to_vec::<f64>()?.iter().sum();
    assert!(sum >= 0.0, "a negative sum");
    Ok(sum)
}

fn assert_unharmed() {
    assert_eq!(panics::careful(3).map_err(|error| error.to_string()), Ok(3));
    assert_eq!(panics::total(&Tensor::from([1.0, 2.0])).map_err(|error| error.to_string()), Ok(3.0));
}

/// A panic payload that itself panics when it is dropped, always.
struct Bomb;

impl Drop for Bomb {
    fn drop(&mut self) {
        panic!("when dropped");
    }
}

/// A kernel panics, then the observers' end callbacks panic during unwinding, with payloads that panic when dropped.
pub(crate) fn kernel_and_observer_panic() -> Result<()> {
    let is_careful = |event: &Event<'_>| event.call.is_some_and(|call| call.operator.name() == "careful");
    let with_text = Observer::with_context(is_careful, |_, panics| assert!(!panics, "the observer too"));
    let with_bomb = Observer::with_context(is_careful, |_, panics| {
        if panics {
            panic_any(Bomb);
        }
    });
    let handles = (with_text.with_inputs().with_outputs().on_this_thread(), with_bomb.on_all_threads());
    for _ in 0..3 {
        for call in [|| panics::careful(-1), || careful_boxed(-1)] {
            std::mem::forget(catch_unwind(call));
        }
        let end = catch_unwind(|| {
            let _work = Work::begin("panics");
            careful_boxed(-1)
        });
        assert!(end.is_err());
        std::mem::forget(end);
    }
    drop(handles);
    assert_unharmed();
    Ok(())
}

fn careful_boxed(x: i64) -> Result<i64> {
    let mut stack = Stack::from_iter([Value::Int(x)]);
    panics::careful::handle().call_boxed(&mut stack)?;
    stack.pop_as()
}

/// A panic within every guard and mode leaves the thread as it was.
pub(crate) fn kernel_panics_under_guards() -> Result<()> {
    let keys = LocalDispatchKeySet::current();
    let tracer = DispatchKeySet::from_key(DispatchKey::Tracer);
    for _ in 0..3 {
        let end = catch_unwind(AssertUnwindSafe(|| {
            let _force = ForceDispatchKeyGuard::new(LocalDispatchKeySet { included: tracer, ..keys });
            let _include = IncludeDispatchKeyGuard::new(DispatchKey::TESTING_ONLY_GenericMode);
            let _exclude = ExcludeDispatchKeyGuard::new(DispatchKey::AutogradCPU);
            let _level = Level::enter(2, Randomness::Same);
            let _observing = ObservingGuard::new(false);
            let _cast = autocast::Autocast::on(DeviceType::Cpu).enter();
            no_grad(|| {
                attempt(panics::careful(1));
                panic!("under all of them");
            })
        }));
        assert!(end.is_err());
        assert_eq!(LocalDispatchKeySet::current(), keys);
        assert!(GradMode::is_enabled() && Level::innermost().is_none());
        assert_unharmed();
    }
    Ok(())
}

/// Observers, listeners and traces that panic at each step.
pub(crate) fn observer_panics_everywhere() -> Result<()> {
    for step in 0..3 {
        let at = move |here: usize| assert_ne!(here, step, "an observer");
        let handle = Observer::with_context(move |_| at(0), move |_, ()| at(1)).with_inputs().on_all_threads();
        let trace = trace::listen(move |_| at(2));
        let end = catch_unwind(|| panics::total(&Tensor::from([1.0])));
        if let Ok(Ok(sum)) = end {
            assert_eq!(sum, 1.0);
        }
        let _ = thread::spawn(|| panics::careful(1)).join();
        drop((handle, trace));
        assert_unharmed();
    }
    Ok(())
}

/// A kernel throws a payload that panics when dropped; the program catches it and keeps it alive.
pub(crate) fn payload_that_panics() -> Result<()> {
    let mut library = Library::fragment("panics")?;
    library.define("bomb() -> ()")?;
    let key = DispatchKey::CompositeExplicitAutograd;
    library.implement("bomb", key, RuntimeKernel::boxed(|_, _, _| panic_any(Bomb)))?;
    let bomb = torch_library::Dispatcher::global().find("panics::bomb")?;
    let _trace = trace::listen(|_| ());
    for _ in 0..3 {
        let caught = catch_unwind(AssertUnwindSafe(|| bomb.call_boxed(&mut Stack::new())));
        std::mem::forget(caught);
    }
    drop(library);
    assert_unharmed();
    Ok(())
}

/// Closures that panic when the registry, an observer or a hook drops them.
pub(crate) fn closures_that_panic_when_dropped() -> Result<()> {
    let caught = |work: &mut dyn FnMut()| std::mem::forget(catch_unwind(AssertUnwindSafe(work)));
    for _ in 0..2 {
        caught(&mut || {
            let bomb = Bomb;
            let kernel = RuntimeKernel::boxed(move |_, _, _| {
                let _ = &bomb;
                Ok(())
            });
            allowed(Library::fragment("panics").and_then(|mut library| {
                library.implement("nowhere::at_all", DispatchKey::CPU, kernel)
            }));
        });
        caught(&mut || {
            let bomb = Bomb;
            drop(trace::listen(move |_| {
                let _ = &bomb;
            }));
        });
        caught(&mut || {
            let (x, bomb) = (Tensor::from([1.0]), Bomb);
            attempt(x.set_requires_grad(true));
            allowed(x.register_hook(move |_| {
                let _ = &bomb;
                Ok(None)
            }));
        });
        caught(&mut || {
            let keys = DispatchKeySet::from_key(DispatchKey::TESTING_ONLY_GenericWrapper);
            let x = Tensor::from([1.0]);
            attempt(Tensor::wrapper(x.storage().clone(), x.geometry(), x.dtype(), keys, Bomb));
        });
        assert_unharmed();
    }
    Ok(())
}

/// Calls while the thread's own thread-local values are dropped, before those of the runtime and after them.
pub(crate) fn calls_at_thread_exit() -> Result<()> {
    struct Calls;

    impl Drop for Calls {
        fn drop(&mut self) {
            let x = Tensor::from([1.0, 2.0]);
            assert_eq!(allowed(panics::total(&x)).unwrap_or(3.0), 3.0);
            attempt(x.clone().resize(&[100_000], None));
            attempt(no_grad(|| panics::careful(1)));
            let _keys = IncludeDispatchKeyGuard::new(DispatchKey::Tracer);
            let _level = Level::enter(2, Randomness::Same);
            drop(trace::listen(|_| ()));
            drop(Observer::new(|_| ()).on_this_thread());
            let _fake = torch_library::fake::FakeMode::new();
        }
    }

    thread_local!(static LAST: RefCell<Option<Calls>> = const { RefCell::new(None) });
    let uses_everything = || drop(Calls);
    for first in [true, false] {
        let ended = thread::spawn(move || {
            if first {
                uses_everything();
            }
            LAST.with(|last| *last.borrow_mut() = Some(Calls));
            if !first {
                uses_everything();
            }
        });
        assert!(ended.join().is_ok());
    }
    rounds().take(3).for_each(|_| assert_unharmed());
    Ok(())
}
