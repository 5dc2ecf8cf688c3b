//! Panics in kernels, observers, listeners and destructors of what they own: the first one propagates, the process does
//! not abort, and the thread's state is restored.
#![forbid(unsafe_code)]

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use torch_library::autocast::{self, Autocast};
use torch_library::fake::FakeMode;
use torch_library::guard::{
    EnableGradGuard, ExcludeDispatchKeyGuard, ForceDispatchKeyGuard, GradMode, IncludeDispatchKeyGuard,
    InferenceMode, LocalDispatchKeySet, NoGradGuard, ThreadLocalState,
};
use torch_library::observe::{Observer, ObservingGuard, Scope, Work};
use torch_library::prelude::*;
use torch_library::vmap::{Level, Randomness};
use torch_library::{DeviceType, Dispatcher, Library, LibraryKind};

torch_library! {
    /// Operators for panics.
    pub mod panicking {
        /// Panics.
        always(Tensor self) -> Tensor;
        /// Does not panic.
        never(Tensor self) -> Tensor;
    }
}

#[torch_impl(panicking, CPU)]
mod kernels {
    use torch_library::prelude::*;

    fn always(_: &Tensor) -> Result<Tensor> {
        panic!("the kernel");
    }

    fn never(this: &Tensor) -> Result<Tensor> {
        Ok(this.clone())
    }
}

/// The message of a panic.
fn panic_of<R>(run: impl FnOnce() -> R) -> Option<String> {
    let panic = catch_unwind(AssertUnwindSafe(|| drop(run()))).err()?;
    let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
    text.or_else(|| panic.downcast_ref::<String>().cloned())
}

fn x() -> Tensor {
    Tensor::from([1.0])
}

/// Panics when dropped.
struct Bomb;

impl Drop for Bomb {
    fn drop(&mut self) {
        panic!("the bomb");
    }
}

/// Counts its drops.
struct Counted(Arc<AtomicUsize>);

impl Drop for Counted {
    fn drop(&mut self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

#[test]
fn a_kernel_panics_and_then_the_ends_of_its_observers_do() {
    let ended = Arc::new(AtomicUsize::new(0));
    let count = || {
        let ended = ended.clone();
        move |_: &torch_library::observe::Event<'_>, ()| {
            ended.fetch_add(1, Ordering::Relaxed);
            panic!("the observer");
        }
    };
    let first = Observer::with_context(|_| (), count()).with_outputs().on_this_thread();
    let second = Observer::with_context(|_| (), count()).on_this_thread();
    assert_eq!(panic_of(|| panicking::always(&x())).as_deref(), Some("the kernel"));
    assert_eq!(ended.load(Ordering::Relaxed), 2, "each was told");
    // If the kernel does not panic, the first observer's panic propagates, and each observer was still called.
    assert_eq!(panic_of(|| panicking::never(&x())).as_deref(), Some("the observer"));
    assert_eq!(ended.load(Ordering::Relaxed), 4);
    drop((first, second));
    assert_eq!(panicking::never(&x()).unwrap().sizes(), [1]);
}

#[test]
fn an_observer_that_panics_as_a_call_begins_ends_those_that_have_begun() {
    let (ended, depth) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(9)));
    let count = ended.clone();
    let first = Observer::with_context(
        |_| (),
        move |_, ()| {
            count.fetch_add(1, Ordering::Relaxed);
        },
    );
    let first = first.on_this_thread();
    let second = Observer::new(|_| panic!("at the start")).on_this_thread();
    assert_eq!(panic_of(|| panicking::never(&x())).as_deref(), Some("at the start"));
    assert_eq!(ended.load(Ordering::Relaxed), 1);
    drop((first, second));
    // Later work is observed, and is not counted as nested in the call that panicked.
    let seen = depth.clone();
    let _third = Observer::new(move |event| seen.store(event.depth, Ordering::Relaxed)).on_this_thread();
    panicking::never(&x()).unwrap();
    assert_eq!(depth.load(Ordering::Relaxed), 0);
}

#[test]
fn what_observers_keep_may_panic_as_it_goes() {
    let _first = Observer::with_context(|_| Bomb, |_, _| {}).on_this_thread();
    let _second = Observer::with_context(|_| Bomb, |_, _| {}).on_this_thread();
    assert_eq!(panic_of(|| panicking::always(&x())).as_deref(), Some("the kernel"));
    assert_eq!(panic_of(|| panicking::never(&x())).as_deref(), Some("the bomb"));
}

#[test]
fn named_work_ends_in_spite_of_its_observers() {
    let panicking = Observer::with_context(|_| (), |_, ()| panic!("the observer"));
    let _handle = panicking.of_scopes(&[Scope::User]).on_this_thread();
    let panic = panic_of(|| {
        let _outer = Work::begin("outer");
        let _inner = Work::begin("inner");
        panic!("the work");
    });
    assert_eq!(panic.as_deref(), Some("the work"));
}

#[test]
fn listeners_panic_while_a_library_goes() {
    let dispatcher = Dispatcher::leak_empty();
    let heard = Arc::new(Mutex::new(Vec::new()));
    let listen = |name: &'static str| {
        let heard = heard.clone();
        dispatcher.listen(move |_| {
            heard.lock().unwrap().push(name);
            panic!("{name}");
        })
    };
    let _listeners = [listen("first"), listen("second")];
    let gone = Arc::new(AtomicUsize::new(0));
    let open = || {
        let mut library = Library::open(dispatcher, LibraryKind::Definition, "ns", None).unwrap();
        let counted = Counted(gone.clone());
        let kernel = torch_library::RuntimeKernel::boxed(move |_, _, _| {
            assert_eq!(counted.0.load(Ordering::Relaxed), 0);
            Ok(())
        });
        library.implement("f", DispatchKey::CPU, kernel).unwrap();
        assert_eq!(panic_of(|| library.define("f() -> ()")).as_deref(), Some("first"));
        library
    };
    let library = open();
    assert_eq!(panic_of(move || drop(library)).as_deref(), Some("first"));
    assert_eq!(*heard.lock().unwrap(), ["first", "second", "first", "second"]);
    assert_eq!(gone.load(Ordering::Relaxed), 1, "the closure went in spite of them");

    let library = open();
    let panic = panic_of(move || {
        let _library = library;
        panic!("before");
    });
    assert_eq!(panic.as_deref(), Some("before"));
    assert!(dispatcher.find("ns::f").is_err() && dispatcher.check().is_empty());
}

/// All thread-local state that guards change.
#[derive(Debug, PartialEq)]
struct Thread {
    keys: LocalDispatchKeySet,
    grad: bool,
    inference: bool,
    autocast: (bool, DType, bool),
    vmap: Option<i64>,
    is_rule: bool,
    is_observed: bool,
}

impl Thread {
    fn now() -> Self {
        let cpu = DeviceType::Cpu;
        let seen = Arc::new(AtomicUsize::new(0));
        let count = seen.clone();
        let observer = Observer::new(move |_| {
            count.fetch_add(1, Ordering::Relaxed);
        });
        let handle = observer.of_scopes(&[Scope::User]).on_this_thread();
        drop(Work::begin("look"));
        drop(handle);
        Thread {
            keys: LocalDispatchKeySet::current(),
            grad: GradMode::is_enabled(),
            inference: InferenceMode::is_enabled(),
            autocast: (autocast::is_enabled(cpu), autocast::dtype(cpu), autocast::is_cache_enabled()),
            vmap: Level::innermost().map(|level| level.batch_size()),
            is_rule: Level::current().is_ok(),
            is_observed: seen.load(Ordering::Relaxed) == 1,
        }
    }
}

/// Runs a closure under a guard.
type Guarded = fn(&mut dyn FnMut());

/// Each guard of thread-local state.
const GUARDS: [(&str, Guarded); 13] = [
    ("include", |run| {
        let _guard = IncludeDispatchKeyGuard::new(DispatchKey::PythonTLSSnapshot);
        run();
    }),
    ("exclude", |run| {
        let _guard = ExcludeDispatchKeyGuard::new(DispatchKey::BackendSelect);
        run();
    }),
    ("force", |run| {
        let (included, excluded) = (DispatchKey::PreDispatch.into(), DispatchKey::BackendSelect.into());
        let _guard = ForceDispatchKeyGuard::new(LocalDispatchKeySet { included, excluded });
        run();
    }),
    ("no grad", |run| {
        let _guard = NoGradGuard::new();
        run();
    }),
    ("grad in no grad", |run| {
        let _off = NoGradGuard::new();
        let _on = EnableGradGuard::new();
        let _off = NoGradGuard::new();
        run();
    }),
    ("inference", |run| {
        let _guard = InferenceMode::new(true);
        run();
    }),
    ("a state that was carried here", |run| {
        let state = {
            let _inference = InferenceMode::new(true);
            let _quiet = ObservingGuard::new(false);
            ThreadLocalState::capture()
        };
        state.run(run);
    }),
    ("unobserved", |run| {
        let _guard = ObservingGuard::new(false);
        run();
    }),
    ("autocast", |run| {
        let _guard = Autocast::on(DeviceType::Cpu).dtype(DType::Float16).cache_enabled(false).enter();
        run();
    }),
    ("vmap", |run| {
        let _guard = Level::enter(3, Randomness::Different).unwrap();
        run();
    }),
    ("a rule of vmap", |run| {
        let guard = Level::enter(3, Randomness::Different).unwrap();
        guard.level().serve(run);
    }),
    ("outside of vmap", |run| {
        let _outer = Level::enter(2, Randomness::Different).unwrap();
        let inner = Level::enter(3, Randomness::Different).unwrap();
        inner.level().outside(run);
    }),
    ("fake", |run| {
        let _guard = FakeMode::new();
        run();
    }),
];

#[test]
fn a_panic_leaves_nothing_of_a_guard_behind() {
    let before = Thread::now();
    assert!(before.is_observed);
    for (name, guard) in GUARDS {
        let mut inside = None;
        let panic = panic_of(|| {
            guard(&mut || {
                inside = Some(Thread::now());
                drop(panicking::always(&x()));
                panic!("a guard that keeps the call from its kernel");
            });
        });
        assert!(panic.is_some(), "{name}");
        assert_ne!(inside.as_ref(), Some(&before), "{name} changes nothing");
        assert_eq!(Thread::now(), before, "{name}");
    }
}

#[test]
fn a_panic_ends_the_casts_that_a_region_remembers() {
    let weight = Tensor::from([1.0f32]);
    weight.set_requires_grad(true).unwrap();
    let casts = AtomicUsize::new(0);
    let cast_twice = || {
        for _ in 0..2 {
            let cast = |_: &Tensor, to| {
                casts.fetch_add(1, Ordering::Relaxed);
                Tensor::empty(&[1], to, Device::CPU)
            };
            autocast::cached(&weight, DType::BFloat16, DeviceType::Cpu, cast).unwrap();
        }
    };
    let region = Autocast::on(DeviceType::Cpu);
    let panic = panic_of(|| {
        region.run(|| {
            cast_twice();
            panic!("in the region");
        })
    });
    assert_eq!((panic.as_deref(), casts.load(Ordering::Relaxed)), (Some("in the region"), 1));
    region.run(cast_twice);
    assert_eq!(casts.load(Ordering::Relaxed), 2, "the next region makes its own");
}
