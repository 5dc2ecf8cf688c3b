//! Kernel closures are registered and removed while other threads call them: each is dropped once its last call has
//! returned, and no memory leaks. A test binary of its own, because it counts the memory of the process.
#![expect(unsafe_code, reason = "an allocator that counts")]

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicBool, AtomicIsize, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use torch_library::prelude::*;
use torch_library::{Dispatcher, Library, LibraryKind, OperatorHandle, RuntimeKernel};

struct Counting;

static LIVE: AtomicIsize = AtomicIsize::new(0);

// SAFETY: each function calls that of the system's allocator, which fulfils the contract of `GlobalAlloc`.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        LIVE.fetch_add(layout.size() as isize, Ordering::Relaxed);
        // SAFETY: the caller guarantees of `layout` what the system's allocator requires.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        LIVE.fetch_sub(layout.size() as isize, Ordering::Relaxed);
        // SAFETY: the memory is from `alloc`, hence from the system's allocator, with this layout.
        unsafe { System.dealloc(memory, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

torch_library! {
    /// Operators whose kernels are replaced.
    pub mod overrides {
        /// Replaced by a typed closure.
        typed(int x) -> int;
        /// Replaced by boxed closures.
        boxed(int x) -> int;
        /// Served by a fallback that is replaced.
        fallback(int x) -> int;
        /// Replaced by a closure that drops its own library.
        suicidal(int x) -> int;
        /// Replaced by closures that register and panic when dropped.
        harmful(int x) -> int;
    }
}

#[torch_impl(overrides, CompositeExplicitAutograd)]
mod kernels {
    use torch_library::prelude::*;

    fn typed(_: i64) -> Result<i64> {
        Ok(-1)
    }
    fn boxed(_: i64) -> Result<i64> {
        Ok(-1)
    }
    fn fallback(_: i64) -> Result<i64> {
        Ok(-1)
    }
    fn suicidal(_: i64) -> Result<i64> {
        Ok(-1)
    }
    fn harmful(_: i64) -> Result<i64> {
        Ok(-1)
    }
}

/// How often closures are registered and removed: `OVERRIDES` times, or by default as many as this build does quickly.
fn cycles() -> i64 {
    let asked = std::env::var("OVERRIDES").ok().map(|text| text.parse().expect("OVERRIDES is a number"));
    asked.unwrap_or(match (cfg!(miri), cfg!(debug_assertions)) {
        (true, _) => 3,
        (_, true) => 1000,
        (_, false) => 20_000,
    })
}

const KEY: DispatchKey = DispatchKey::CompositeExplicitAutograd;

/// Serialises the tests of this file, because they count the same memory.
fn alone() -> MutexGuard<'static, ()> {
    static TURN: Mutex<()> = Mutex::new(());
    TURN.lock().unwrap_or_else(PoisonError::into_inner)
}

/// What a closure captures; `there` counts the live ones.
struct Capture {
    value: i64,
    _bulk: [u64; 32],
    there: Arc<AtomicIsize>,
}

impl Capture {
    fn new(value: i64, there: &Arc<AtomicIsize>) -> Self {
        there.fetch_add(1, Ordering::Relaxed);
        Capture { value, _bulk: [0; 32], there: there.clone() }
    }
}

impl Drop for Capture {
    fn drop(&mut self) {
        self.there.fetch_sub(1, Ordering::Relaxed);
    }
}

/// The kernel of a cycle: adds the captured value to its argument.
fn add(capture: &Capture, x: i64) -> Result<i64> {
    Ok(x + capture.value)
}

fn boxed_kernel(capture: Capture) -> RuntimeKernel {
    RuntimeKernel::boxed(move |_, _, stack| {
        let x: i64 = stack.pop_as()?;
        stack.push(add(&capture, x)?);
        Ok(())
    })
}

fn call(operator: OperatorHandle, x: i64) -> Result<i64> {
    let mut stack = Stack::from_iter([Value::Int(x)]);
    operator.call_boxed(&mut stack)?;
    stack.pop_as()
}

/// Registers closures of each kind, calls them, and drops them.
fn cycle(index: i64, there: &Arc<AtomicIsize>) {
    let capture = || Capture::new(index, there);
    let mut library = Library::fragment("overrides").unwrap();
    let typed = capture();
    let kernel = overrides::typed::kernel(move |x| add(&typed, x));
    library.implement("typed", KEY, kernel.named(&format!("number {index}"))).unwrap();
    library.implement("boxed", KEY, boxed_kernel(capture())).unwrap();
    library.implement("boxed", KEY, boxed_kernel(Capture::new(index + 1, there))).unwrap();
    let mut fallbacks = Library::implementation("_", DispatchKey::TESTING_ONLY_GenericMode).unwrap();
    fallbacks
        .fallback(DispatchKey::TESTING_ONLY_GenericMode, boxed_kernel(Capture::new(index + 2, there)))
        .unwrap();
    assert_eq!(overrides::typed(1).unwrap(), index + 1);
    assert_eq!(overrides::boxed(1).unwrap(), index + 2);
    assert_eq!(call(overrides::boxed::handle(), 1).unwrap(), index + 2);
    let generic =
        torch_library::guard::include(DispatchKey::TESTING_ONLY_GenericMode, || overrides::fallback(1));
    assert_eq!(generic.unwrap(), index + 3);
    drop((library, fallbacks));
    assert_eq!(overrides::typed(1).unwrap() + overrides::boxed(1).unwrap(), -2);
}

#[test]
fn overriding_and_dropping_takes_no_memory_while_others_call() {
    let _alone = alone();
    let (there, done) = (Arc::new(AtomicIsize::new(0)), AtomicBool::new(false));
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !done.load(Ordering::Relaxed) {
                // Whichever kernel is registered: the result is that of one kernel, never an error or a mix of two.
                let (typed, boxed) = (overrides::typed(1).unwrap(), overrides::boxed(1).unwrap());
                assert!(typed >= -1 && boxed >= -1);
                std::thread::yield_now();
            }
        });
        (0..cycles().min(100)).for_each(|index| cycle(index, &there));
        let before = LIVE.load(Ordering::Relaxed);
        (0..cycles()).for_each(|index| cycle(index, &there));
        let more = LIVE.load(Ordering::Relaxed) - before;
        done.store(true, Ordering::Relaxed);
        assert!(more < 16 * 1024, "{more} bytes more after {} cycles", cycles());
    });
    assert_eq!(there.load(Ordering::Relaxed), 0, "closures that are still there");
}

#[test]
fn defining_the_same_again_takes_no_memory() {
    let _alone = alone();
    let dispatcher = Dispatcher::leak_empty();
    let cycle = || {
        let mut library = Library::open(dispatcher, LibraryKind::Definition, "again", None).unwrap();
        let operator = library.define("f(int x) -> int").unwrap();
        let there = Arc::new(AtomicIsize::new(0));
        let key = DispatchKey::ADInplaceOrView; // the key of calls without tensors
        library.implement("f", key, boxed_kernel(Capture::new(1, &there))).unwrap();
        assert_eq!(call(operator, 1).unwrap(), 2);
    };
    (0..cycles().min(100)).for_each(|_| cycle());
    let before = LIVE.load(Ordering::Relaxed);
    (0..cycles()).for_each(|_| cycle());
    let more = LIVE.load(Ordering::Relaxed) - before;
    assert!(more < 4096, "{more} bytes more after {} definitions", cycles());
}

#[test]
fn many_overrides_at_a_time_go_with_their_library() {
    let _alone = alone();
    let (there, at_a_time) = (Arc::new(AtomicIsize::new(0)), cycles().min(20_000));
    let round = || {
        let mut library = Library::fragment("overrides").unwrap();
        for index in 0..at_a_time {
            let capture = Capture::new(index, &there);
            library.implement("boxed", KEY, boxed_kernel(capture)).unwrap();
        }
        assert_eq!(overrides::boxed(1).unwrap(), at_a_time);
    };
    assert_eq!(overrides::boxed(1).unwrap(), -1); // from now on, each registration is published
    round();
    let before = LIVE.load(Ordering::Relaxed);
    round();
    let more = LIVE.load(Ordering::Relaxed) - before;
    assert!(more < 4096, "{more} bytes more after a second round");
    assert_eq!((there.load(Ordering::Relaxed), overrides::boxed(1).unwrap()), (0, -1));
}

#[test]
fn a_kernel_may_drop_its_own_library() {
    let _alone = alone();
    let there = Arc::new(AtomicIsize::new(0));
    let own: Arc<Mutex<Option<Library>>> = Arc::default();
    let capture = Capture::new(5, &there);
    let (to_drop, seen) = (own.clone(), there.clone());
    let kernel = overrides::suicidal::kernel(move |x| {
        drop(to_drop.lock().unwrap().take());
        assert_eq!(seen.load(Ordering::Relaxed), 1, "the closure that runs is still there");
        assert_eq!(overrides::suicidal(x)?, -1, "nobody else finds it");
        add(&capture, x)
    });
    let mut library = Library::fragment("overrides").unwrap();
    library.implement("suicidal", KEY, kernel).unwrap();
    *own.lock().unwrap() = Some(library);
    assert_eq!(overrides::suicidal(1).unwrap(), 6);
    assert_eq!(there.load(Ordering::Relaxed), 0, "it went as its call ended");
    assert_eq!(overrides::suicidal(1).unwrap(), -1);
}

/// When dropped, registers a kernel and panics.
struct Harmful(Arc<AtomicUsize>);

impl Drop for Harmful {
    fn drop(&mut self) {
        self.0.fetch_add(1, Ordering::Relaxed);
        let mut library = Library::fragment("overrides").unwrap();
        library.implement("harmful", KEY, overrides::harmful::kernel(|_| Ok(7))).unwrap();
        assert_eq!(overrides::harmful(1).unwrap(), 7);
        panic!("as it goes");
    }
}

#[test]
fn closures_may_register_and_panic_as_they_go() {
    let _alone = alone();
    let gone = Arc::new(AtomicUsize::new(0));
    let register = || {
        let mut library = Library::fragment("overrides").unwrap();
        for _ in 0..3 {
            let harmful = Harmful(gone.clone());
            let kernel =
                overrides::harmful::kernel(move |x| Ok(x + harmful.0.load(Ordering::Relaxed) as i64));
            library.implement("harmful", KEY, kernel).unwrap();
        }
        library
    };
    let library = register();
    assert!(std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| drop(library))).is_err());
    assert_eq!(gone.load(Ordering::Relaxed), 3, "each went, in spite of the others");
    assert_eq!(overrides::harmful(1).unwrap(), -1);

    // Also while the thread is already unwinding, when a second panic would abort the process.
    let library = register();
    let panic = std::panic::catch_unwind(std::panic::AssertUnwindSafe(move || {
        let _library = library;
        panic!("the first");
    }));
    assert_eq!(panic.unwrap_err().downcast_ref::<&str>(), Some(&"the first"));
    assert_eq!((gone.load(Ordering::Relaxed), overrides::harmful(1).unwrap()), (6, -1));

    // A closure whose registration is refused is also dropped while no lock is held.
    let harmful = Harmful(gone.clone());
    let kernel = overrides::harmful::kernel(move |x| Ok(x + harmful.0.load(Ordering::Relaxed) as i64));
    let refused = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        let mut library = Library::fragment("overrides").unwrap();
        library.implement("typed", KEY, kernel).map_err(|error| error.to_string())
    }));
    assert!(refused.is_err() && gone.load(Ordering::Relaxed) == 7);
}
