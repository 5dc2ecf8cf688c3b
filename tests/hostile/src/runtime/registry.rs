//! Libraries that are loaded and dropped, kernels that lie, and registrations in the middle of calls.
#![forbid(unsafe_code)]

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use torch_library::prelude::*;
use torch_library::{Dispatcher, Library, LibraryKind, OperatorInfo, RegistrationEvent, RuntimeKernel, trace};

use crate::harness::{allowed, attempt, count, right_or_refused, rounds, together};

torch_library! {
    /// Operators for these programs.
    pub mod registry {
        /// Adds one, or another number where it is overridden.
        bump(int x) -> int;
        /// Writes in place.
        touch_(Tensor(a!) self, int times=1) -> Tensor(a!);
        /// Takes a tensor and one of its numbers.
        split(Tensor self) -> (Tensor, int);
        /// Takes optional tensors and a string.
        many(Tensor?[] list, str text='a', int[2] pair=0) -> Tensor[];
    }
}

#[torch_impl(registry::bump, CompositeExplicitAutograd)]
fn bump(x: i64) -> Result<i64> {
    Ok(x + 1)
}

const KEY: DispatchKey = DispatchKey::CompositeExplicitAutograd;

fn adds(n: i64) -> RuntimeKernel {
    RuntimeKernel::boxed(move |_, _, stack| {
        let x: i64 = stack.pop_as()?;
        stack.push(x + n);
        Ok(())
    })
}

fn call(name: &str, x: i64) -> Result<i64> {
    let mut stack = Stack::from_iter([Value::Int(x)]);
    Dispatcher::global().find(name)?.call_boxed(&mut stack)?;
    stack.pop_as()
}

/// Counts the operators of these programs; there are thousands of others.
fn own_operators() -> impl Iterator<Item = OperatorInfo> {
    let operators = Dispatcher::global().operators().into_iter();
    operators.filter(|info| info.operator.namespace() == "registry")
}

/// Threads define, override, call, list, explain and drop, all at once.
pub(crate) fn libraries_come_and_go() -> Result<()> {
    together(&[
        &|_| assert!((1..=4).contains(&registry::bump(0).unwrap())),
        &|_| {
            let mut library = Library::fragment("registry").unwrap();
            if allowed(library.define("passing(int x) -> int")).is_some() {
                attempt(library.implement("passing", KEY, adds(2)));
                assert_eq!(right_or_refused(call("registry::passing", 1), &["passing"]).unwrap_or(3), 3);
            }
        },
        &|_| {
            if let Some(found) = allowed(call("registry::passing", 1)) {
                assert_eq!(found, 3);
            }
        },
        &|_| {
            let mut library = Library::implementation("registry", KEY).unwrap();
            library.implement("bump", KEY, adds(4)).unwrap();
            assert!((1..=4).contains(&registry::bump(0).unwrap()));
        },
        &|round| {
            let bump = Dispatcher::global().find("registry::bump").unwrap();
            let _ = (bump.schema().is_ok(), bump.place().to_string(), bump.tags().len());
            if round.is_multiple_of(64) {
                own_operators().for_each(|info| attempt(info.operator.schema()));
            }
        },
    ]);
    assert_eq!(registry::bump(0)?, 1);
    assert!(Dispatcher::global().find("registry::passing").is_err());
    Ok(())
}

/// A kernel drops its own library in the middle of a call, and goes on.
pub(crate) fn library_dropped_by_its_kernel() -> Result<()> {
    for round in rounds() {
        let own = Arc::new(Mutex::new(None::<Library>));
        let mut library = Library::fragment("registry")?;
        let (mine, captured) = (Arc::clone(&own), vec![round; 100]);
        library.define("fleeting(int x) -> int")?;
        let kernel = RuntimeKernel::boxed(move |operator, _, stack| {
            drop(mine.lock().unwrap_or_else(PoisonError::into_inner).take());
            assert!(operator.call_boxed(&mut Stack::from_iter([Value::Int(1)])).is_err());
            let x: i64 = stack.pop_as()?;
            stack.push(x + captured.iter().filter(|value| **value == round).count() as i64);
            Ok(())
        });
        library.implement("fleeting", KEY, kernel)?;
        *own.lock().unwrap_or_else(PoisonError::into_inner) = Some(library);
        assert_eq!(call("registry::fleeting", 1)?, 101);
        if round >= count(100, 2) {
            break;
        }
    }
    Ok(())
}

/// A kernel is overridden by a new closure 20 000 times: later cycles must take no longer than the first, and little memory.
pub(crate) fn overrides_without_end() -> Result<()> {
    let cycles = |many: usize| -> Result<f64> {
        let start = Instant::now();
        for round in 0..many as i64 {
            let held = vec![round; 4096];
            let mut library = Library::implementation("registry", KEY)?;
            let kernel = registry::bump::kernel(move |x| Ok(x + held[0]));
            library.implement("bump", KEY, kernel)?;
            assert_eq!(registry::bump(1)?, 1 + round);
        }
        Ok(start.elapsed().as_secs_f64())
    };
    let some = count(2000, 4);
    let first = cycles(some)?;
    cycles(count(16_000, 4))?;
    let last = cycles(some)?;
    if !cfg!(miri) {
        assert!(last < 0.2 + 4.0 * first, "{some} cycles took {first:.3} s at first, and {last:.3} s later on");
    }
    assert_eq!(registry::bump(1)?, 2);
    Ok(())
}

/// Operators of the same name are defined and dropped again and again.
pub(crate) fn names_of_one_library() -> Result<()> {
    for _ in 0..count(2_000, 4) {
        let mut library = Library::fragment("registry")?;
        library.define("again(int x) -> int")?;
        library.implement("again", KEY, RuntimeKernel::fallthrough())?;
    }
    Ok(())
}

/// A kernel defines operators, overrides itself and lists everything, while other threads are inside it too.
pub(crate) fn registers_while_it_is_called() -> Result<()> {
    let mut library = Library::fragment("registry")?;
    library.define("busy(int x) -> int")?;
    let kernel = RuntimeKernel::boxed(|operator, _, stack| {
        let mut inner = Library::fragment("registry")?;
        if inner.define("inner(int x) -> int").is_ok() {
            attempt(inner.implement("inner", KEY, adds(1)));
        }
        attempt(inner.implement("busy", KEY, adds(5)));
        let _ = (Dispatcher::global().operators().len(), operator.schema().is_ok());
        attempt(operator.call_boxed(&mut Stack::from_iter([Value::Int(1)])));
        let x: i64 = stack.pop_as()?;
        stack.push(x + 1);
        Ok(())
    });
    library.implement("busy", KEY, kernel)?;
    let calls = |_| {
        if let Some(found) = allowed(call("registry::busy", 0)) {
            assert!(found == 1 || found == 5);
        }
    };
    together(&[&calls, &calls, &|_| assert!(call("registry::bump", 0).is_ok())]);
    Ok(())
}

/// Listeners that register, call, listen and drop each other while they are notified.
pub(crate) fn listeners_reenter() -> Result<()> {
    let guards = Arc::new(Mutex::new(Vec::new()));
    let kept = Arc::clone(&guards);
    let listener = Dispatcher::global().listen(move |event| {
        let (RegistrationEvent::Registered(operator) | RegistrationEvent::Deregistered(operator)) = event;
        if operator.namespace() != "registry" {
            return;
        }
        attempt(call("registry::bump", 1));
        let inner = Dispatcher::global().listen(|_| ());
        let trace = trace::listen(|_| drop(trace::listen(|_| ())));
        attempt(call("registry::bump", 1));
        drop(trace);
        if let Ok(mut kept) = kept.try_lock()
            && kept.len() < 4
        {
            kept.push(inner);
        }
    });
    let mut library = Library::fragment("registry")?;
    library.define("heard(int x) -> int")?;
    library.implement("heard", KEY, adds(1))?;
    assert_eq!(call("registry::heard", 1)?, 2);
    drop(library);
    drop(listener);
    guards.lock().unwrap_or_else(PoisonError::into_inner).clear();
    Ok(())
}

/// Threads register one namespace by hand, while it is called.
pub(crate) fn registered_twice() -> Result<()> {
    together(&[
        &|_| torch_library::register!(registry),
        &|_| torch_library::register!(registry),
        &|_| assert_eq!(registry::bump(1).unwrap(), 2),
    ]);
    Ok(())
}

/// Boxed kernels that leave too many values, too few, or wrong ones on the stack.
pub(crate) fn boxed_kernels_that_lie() -> Result<()> {
    type Lie = fn(&mut Stack<'_>);
    let lies: [Lie; 9] = [
        |_| (),
        |stack| drop(stack.pop()),
        |stack| while stack.pop().is_some() {},
        |stack| {
            while stack.pop().is_some() {}
            (0..100).for_each(|i| stack.push(i));
        },
        |stack| stack.push(Tensor::undefined()),
        |stack| {
            while stack.pop().is_some() {}
            stack.push(Tensor::from([9.0; 9]));
        },
        |stack| {
            while stack.pop().is_some() {}
            stack.push(Value::None);
            stack.push("text".to_owned());
        },
        |stack| {
            let n = stack.len();
            stack.drop_last(n);
            stack.push(Tensor::from([1i64]));
            stack.push(1.5);
        },
        |stack| {
            let n = stack.len();
            for value in stack.last_mut(n) {
                *value = Value::Int(-1);
            }
        },
    ];
    for lie in lies {
        let mut library = Library::fragment("registry")?;
        for name in ["bump", "touch_", "split", "many"] {
            for key in [DispatchKey::CPU, KEY] {
                let kernel = RuntimeKernel::boxed(move |_, _, stack| {
                    lie(stack);
                    Ok(())
                });
                attempt(library.implement(name, key, kernel));
            }
        }
        let mut x = Tensor::from([1.0, 2.0]);
        attempt(registry::bump(1));
        attempt(registry::touch_(&mut x).map(|touched| touched.sizes().to_vec()));
        if let Some((tensor, number)) = allowed(registry::split(&x)) {
            let _ = (tensor.to_string(), number);
        }
        for tensor in allowed(registry::many(&[None, Some(x.clone())])).unwrap_or_default() {
            assert!(!tensor.to_string().is_empty());
        }
        assert_eq!(x.to_vec::<f64>()?, [1.0, 2.0]);
    }
    assert_eq!(registry::bump(1)?, 2);
    Ok(())
}

/// Operators are looked up by name, and called with wrong types.
pub(crate) fn wrong_types_by_name() -> Result<()> {
    let bump = Dispatcher::global().find("registry::bump")?;
    assert!(bump.typed::<fn(f64) -> Result<i64>, _>().is_err());
    assert!(bump.typed::<fn(i64) -> Result<f64>, _>().is_err());
    assert!(bump.typed::<fn(i64, i64) -> Result<i64>, _>().is_err());
    assert!(bump.typed::<fn(&Tensor) -> Result<i64>, _>().is_err());
    assert_eq!(bump.typed::<fn(i64) -> Result<i64>, _>()?.call(1)?, 2);
    let values = || -> Vec<Value<'static>> {
        vec![Value::None, Value::Bool(true), Value::Str("x".into()), Tensor::from([1i64]).into(), Value::Float(0.5)]
    };
    for OperatorInfo { operator, .. } in own_operators() {
        for n in 0..4 {
            for value in 0..5 {
                let mut stack: Stack<'_> = (0..n).map(|i| values().swap_remove((value + i) % 5)).collect();
                attempt(operator.call_boxed(&mut stack));
            }
        }
    }
    Ok(())
}

/// A typed kernel is registered for an operator with another schema, in a dispatcher of its own and in the global one.
pub(crate) fn kernel_of_another_operator() -> Result<()> {
    let own = Dispatcher::leak_empty();
    let mut library = Library::open(own, LibraryKind::Definition, "registry", None)?;
    library.define("bump(Tensor a, Tensor b, str c) -> Tensor")?;
    library.define("touch_(int x) -> int")?;
    for name in ["bump", "touch_", "split", "registry::many"] {
        for mut library in [Library::fragment("registry")?, Library::open(own, LibraryKind::Fragment, "registry", None)?] {
            let split = registry::split::kernel(|this| Ok((this.clone(), 0x4141_4141)));
            let is_right = name == "split";
            let registered = library.implement(name, DispatchKey::CPU, split);
            let fallback = library.fallback(DispatchKey::CPU, registry::bump::kernel(Ok));
            assert!(fallback.is_err());
            assert!(is_right || registered.is_err(), "{name}");
            let mut stack = Stack::from_iter([Value::Int(0x4141_4141), Value::Int(1), Value::Int(2)]);
            if let Some(operator) = allowed(own.find("registry::bump")) {
                attempt(operator.call_boxed(&mut stack));
            }
        }
    }
    let x = Tensor::from([1.0]);
    attempt(registry::split(&x));
    Ok(())
}

/// Two kernels for one operator and key conflict for a moment, while the operator is called.
pub(crate) fn conflicts_while_called() -> Result<()> {
    let conflicting = |_| {
        let mut one = Library::fragment("registry").unwrap();
        attempt(one.implement("split", DispatchKey::CPU, registry::split::kernel(|x| Ok((x.clone(), 1)))));
        let mut other = Library::fragment("registry").unwrap();
        attempt(other.implement("split", DispatchKey::CPU, registry::split::kernel(|x| Ok((x.clone(), 2)))));
    };
    together(&[&conflicting, &conflicting, &|_| {
        if let Some((_, number)) = allowed(registry::split(&Tensor::from([1.0]))) {
            assert!(number == 1 || number == 2);
        }
        let _ = torch_library::init();
    }]);
    Ok(())
}
