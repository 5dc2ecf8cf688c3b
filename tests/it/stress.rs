//! Everything at once: libraries, overrides, fallbacks and listeners are added and removed while other threads call.
//!
//! It runs for a second, or for `STRESS_SECONDS`; the sanitizers run it, see `.ci/sanitize`.
#![expect(unreachable_pub, reason = "the items of a namespace are public")]

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, RwLock};
use std::thread;
use std::time::{Duration, Instant};

use torch_library::guard::IncludeDispatchKeyGuard;
use torch_library::prelude::*;
use torch_library::{Dispatcher, ErrorKind, Library, LibraryKind, OperatorHandle, RuntimeKernel, trace};

torch_library! {
    /// Operators for the test of this file.
    pub mod stress {
        /// Adds one, or another number where it is overridden.
        bump(int x) -> int;
        /// Scales a tensor in place, or leaves it unchanged.
        touch_(Tensor(a!) self, int times=1) -> Tensor(a!);
    }
}

#[torch_impl(stress, CompositeExplicitAutograd)]
mod kernels {
    use super::*;

    pub fn bump(x: i64) -> Result<i64> {
        Ok(x + 1)
    }

    pub fn touch_(this: &mut Tensor, _times: i64) -> Result<&mut Tensor> {
        Ok(this)
    }
}

/// A key that no other test uses.
const KEY: DispatchKey = DispatchKey::TESTING_ONLY_GenericWrapper;

/// The numbers that kernels of this test add.
const ADDED: std::ops::RangeInclusive<i64> = 1..=4;

fn adds<const N: i64>() -> RuntimeKernel {
    RuntimeKernel::boxed(|_, _, stack| {
        let x: i64 = stack.pop_as()?;
        stack.push(x + N);
        Ok(())
    })
}

/// A kernel that redispatches to the next key.
fn passes() -> RuntimeKernel {
    RuntimeKernel::boxed(|operator, keys, stack| operator.redispatch_boxed(keys.remove(KEY), stack))
}

/// The result of a call, or `None` if the operator or its kernel has been removed.
fn call(operator: OperatorHandle) -> Option<i64> {
    let mut stack = Stack::from_iter([Value::Int(10)]);
    match operator.call_boxed(&mut stack) {
        Ok(()) => Some(stack.pop_as::<i64>().unwrap() - 10),
        Err(error) => {
            let kind = error.kind();
            assert!(matches!(kind, ErrorKind::UnknownOperator | ErrorKind::MissingKernel), "{error}");
            None
        }
    }
}

/// Calls in every way. Calls of the typed operators never fail, because their linked kernels stay.
fn calls(stale: &RwLock<Vec<OperatorHandle>>) {
    assert!(ADDED.contains(&stress::bump(0).unwrap()));
    let mut tensor = Tensor::from([1.0]);
    stress::touch_(&mut tensor).unwrap();
    let bump = Dispatcher::global().find("stress::bump").unwrap();
    assert!(ADDED.contains(&call(bump).unwrap()));
    if let Ok(operator) = Dispatcher::global().find("stress::passing") {
        assert!(call(operator).is_none_or(|added| ADDED.contains(&added)));
    }
    let stale: Vec<_> = stale.read().unwrap().clone();
    for operator in stale {
        assert!(call(operator).is_none_or(|added| ADDED.contains(&added)));
        let _ = operator.schema();
    }
}

/// Defines an operator, calls it and removes it.
fn load(stale: &RwLock<Vec<OperatorHandle>>) {
    let mut library = Library::fragment("stress").unwrap();
    let Ok(operator) = library.define("passing(int x) -> int") else {
        return; // another thread has defined it
    };
    library.implement("passing", DispatchKey::CompositeExplicitAutograd, adds::<2>()).unwrap();
    assert_eq!(call(operator), Some(2));
    let mut stale = stale.write().unwrap();
    if !stale.contains(&operator) {
        stale.push(operator);
    }
    drop(stale);
    drop(library);
}

/// Overrides a linked kernel twice; the order of removal alternates.
fn override_twice(round: usize) {
    let key = DispatchKey::CompositeExplicitAutograd;
    let mut first = Library::implementation("stress", key).unwrap();
    first.implement("bump", key, adds::<3>()).unwrap();
    let mut second = Library::implementation("stress", key).unwrap();
    second.implement("bump", key, stress::bump::kernel(|x| Ok(x + 4))).unwrap();
    if round.is_multiple_of(2) {
        drop(first);
    } else {
        drop(second);
    }
}

/// Adds and removes a fallback for all operators; calls pass through it in between.
fn fall_back(round: usize) {
    let mut library = Library::open(Dispatcher::global(), LibraryKind::Implementation, "_", None).unwrap();
    library
        .fallback(KEY, if round.is_multiple_of(2) { passes() } else { RuntimeKernel::fallthrough() })
        .unwrap();
    let _guard = IncludeDispatchKeyGuard::new(KEY);
    assert!(ADDED.contains(&stress::bump(0).unwrap()));
}

/// Adds and removes a listener; it must see at least the call made in between.
fn listen() {
    let heard = Arc::new(AtomicUsize::new(0));
    let counter = heard.clone();
    let me = thread::current().id();
    let guard = trace::listen(move |_| {
        counter.fetch_add(usize::from(thread::current().id() == me), Ordering::Relaxed);
    });
    stress::bump(0).unwrap();
    drop(guard);
    assert_eq!(heard.load(Ordering::Relaxed), 1);
    stress::bump(0).unwrap();
    assert_eq!(heard.load(Ordering::Relaxed), 1);
}

#[test]
fn libraries_come_and_go_while_others_call() {
    let seconds = std::env::var("STRESS_SECONDS").ok().and_then(|text| text.parse().ok()).unwrap_or(1.0);
    let end = Instant::now() + Duration::from_secs_f64(seconds);
    let done = AtomicBool::new(false);
    let stale = RwLock::new(Vec::new());
    let rounds = |work: &dyn Fn(usize)| {
        let mut round = 0;
        while round == 0 || !done.load(Ordering::Relaxed) {
            work(round);
            round += 1;
            done.fetch_or(Instant::now() >= end, Ordering::Relaxed);
        }
    };
    thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| rounds(&|_| calls(&stale)));
            scope.spawn(|| rounds(&|_| load(&stale)));
        }
        scope.spawn(|| rounds(&|round| override_twice(round)));
        scope.spawn(|| rounds(&|round| fall_back(round)));
        scope.spawn(|| rounds(&|_| listen()));
    });
    assert_eq!(stress::bump(0).unwrap(), 1, "the linked kernel is back");
    assert!(stale.into_inner().unwrap().into_iter().all(|operator| call(operator).is_none()));
    assert_eq!(Dispatcher::global().check(), []);
}
