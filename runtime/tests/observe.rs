//! Observers of calls and other work. Observers on all threads also see the calls of other tests, so each test has its
//! own operator.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use torch_library::guard::ThreadLocalState;
use torch_library::observe::{Event, Observer, ObserverHandle, ObservingGuard, Scope, Work};
use torch_library::prelude::*;
use torch_library::trace;

torch_library! {
    /// Operators to be observed.
    pub mod seen {
        /// Adds.
        plus(Tensor a, float b) -> Tensor;
        /// Adds, in place.
        plus_.By(Tensor(a!) a, float by) -> Tensor(a!);
        /// Halves and doubles.
        both(Tensor a) -> (Tensor half, Tensor double);
        /// Passes through two layers.
        layered(Tensor a) -> Tensor;
        /// Fails.
        fails(Tensor a) -> Tensor;
        /// Calls another operator.
        outer(Tensor a) -> Tensor;
        /// Called by `outer` alone.
        within(Tensor a) -> Tensor;
        /// Takes no tensors.
        words(str text, int[] numbers, bool? flag=None) -> str;
        /// Called by an observer.
        inner(Tensor a) -> Tensor;
        /// Called many times.
        often(int a) -> int;
        /// Called once by each thread.
        first(int a) -> int;
        /// For observers on one thread.
        here(int a) -> int;
        /// For regions without observers.
        region(int a) -> int;
        /// For observer handles.
        handled(int a) -> int;
        /// Panics.
        panics(int a) -> int;
    }
}

fn map(a: &Tensor, f: impl Fn(f32) -> f32) -> Result<Tensor> {
    Ok(a.to_vec::<f32>()?.into_iter().map(f).collect::<Vec<_>>().into())
}

#[torch_impl(seen, CPU)]
mod cpu {
    use super::{map, seen};
    use torch_library::prelude::*;

    fn plus(a: &Tensor, b: f64) -> Result<Tensor> {
        map(a, |a| a + b as f32)
    }
    fn plus__By(a: &mut Tensor, by: f64) -> Result<&mut Tensor> {
        let moved = map(a, |a| a + by as f32)?.to_vec::<f32>()?;
        a.copy_from_slice(&moved)?;
        Ok(a)
    }
    fn both(a: &Tensor) -> Result<(Tensor, Tensor)> {
        Ok((map(a, |a| a / 2.0)?, map(a, |a| a * 2.0)?))
    }
    fn layered(a: &Tensor) -> Result<Tensor> {
        Ok(a.clone())
    }
    fn fails(_: &Tensor) -> Result<Tensor> {
        bail!(Kernel, "as it should")
    }
    fn outer(a: &Tensor) -> Result<Tensor> {
        seen::within(a)
    }
    fn within(a: &Tensor) -> Result<Tensor> {
        map(a, |a| a + 1.0)
    }
    fn inner(a: &Tensor) -> Result<Tensor> {
        Ok(a.clone())
    }
}

#[torch_impl(seen, AutogradCPU)]
fn layered(keys: DispatchKeySet, a: &Tensor) -> Result<Tensor> {
    seen::layered::redispatch(keys & DispatchKeySet::full_after(DispatchKey::AutogradOther), a)
}

#[torch_impl(seen, CompositeExplicitAutograd)]
mod anywhere {
    use torch_library::prelude::*;

    fn words(text: &str, numbers: &[i64], flag: Option<bool>) -> Result<String> {
        Ok(format!("{text} {numbers:?} {flag:?}"))
    }
    fn first(a: i64) -> Result<i64> {
        Ok(a)
    }
    fn often(a: i64) -> Result<i64> {
        Ok(a)
    }
    fn here(a: i64) -> Result<i64> {
        Ok(a)
    }
    fn region(a: i64) -> Result<i64> {
        Ok(a)
    }
    fn handled(a: i64) -> Result<i64> {
        Ok(a)
    }
    fn panics(_: i64) -> Result<i64> {
        panic!("as it should")
    }
}

type Lines = Arc<Mutex<Vec<String>>>;

fn take(lines: &Lines) -> Vec<String> {
    std::mem::take(&mut *lines.lock().unwrap())
}

/// The line for an event, such as `>plus [1.0, 2.0] Float(3.0)` at the start of a call and `<plus [4.0]` at its end.
fn line(mark: char, event: &Event<'_>, values: &[Value<'_>]) -> String {
    let values = values.iter().map(|value| match value.as_tensor() {
        Some(tensor) => format!(" {:?}", tensor.to_vec::<f32>().unwrap()),
        None => format!(" {value:?}"),
    });
    format!("{mark}{}{}", event.name().trim_start_matches("seen::"), values.collect::<String>())
}

/// An observer that records the start and the end of all events whose names begin with `name`.
fn writer(name: &'static str) -> (Lines, Observer) {
    let lines = Lines::default();
    let (starts, ends) = (lines.clone(), lines.clone());
    let is_ours = move |event: &Event<'_>| event.name().starts_with(name);
    let observer = Observer::with_context(
        move |event| {
            if is_ours(event) {
                starts.lock().unwrap().push(line('>', event, event.inputs));
            }
            event.id
        },
        move |event, id: u64| {
            assert_eq!(id, event.id);
            if is_ours(event) {
                ends.lock().unwrap().push(line('<', event, event.outputs));
            }
        },
    );
    (lines, observer)
}

fn count(name: &'static str) -> (Arc<AtomicUsize>, Observer) {
    let count = Arc::new(AtomicUsize::new(0));
    let counter = count.clone();
    let observer = Observer::new(move |event| {
        if event.name() == name {
            counter.fetch_add(1, Ordering::Relaxed);
        }
    });
    (count, observer)
}

#[test]
fn typed_calls_show_inputs_and_outputs_to_those_who_ask() -> Result<()> {
    let (lines, observer) = writer("seen::plus");
    let handle = observer.with_inputs().with_outputs().on_all_threads();
    let mut x = Tensor::from([1f32, 2.0]);
    assert_eq!(seen::plus(&x, 3.0)?.to_vec::<f32>()?, [4.0, 5.0]);
    assert_eq!(take(&lines), [">plus [1.0, 2.0] Float(3.0)", "<plus [4.0, 5.0]"]);

    let address = std::ptr::from_ref(&x);
    assert!(std::ptr::eq(seen::plus__By(&mut x, 1.0)?, address));
    assert_eq!(take(&lines), [">plus_.By [1.0, 2.0] Float(1.0)", "<plus_.By [2.0, 3.0]"]);

    let mut stack = Stack::from_iter([Value::from(x), Value::Float(1.0)]);
    seen::plus::handle().call_boxed(&mut stack)?;
    assert_eq!(take(&lines), [">plus [2.0, 3.0] Float(1.0)", "<plus [3.0, 4.0]"]);
    drop(handle);
    seen::plus(&Tensor::from([1f32]), 1.0)?;
    assert!(take(&lines).is_empty());
    Ok(())
}

#[test]
fn every_kind_of_value_is_shown() -> Result<()> {
    let (lines, observer) = writer("seen::words");
    let _handle = observer.with_inputs().with_outputs().on_this_thread();
    assert_eq!(seen::words("a", &[1, 2])?, "a [1, 2] None");
    assert_eq!(take(&lines), [r#">words Str("a") Ints([1, 2]) None"#, r#"<words Str("a [1, 2] None")"#]);
    let (lines, observer) = writer("seen::both");
    let _handle = observer.with_outputs().on_this_thread();
    let (half, double) = seen::both(&Tensor::from([2f32]))?;
    assert_eq!((half.item()?, double.item()?), (Scalar::Float(1.0), Scalar::Float(4.0)));
    assert_eq!(take(&lines), [">both", "<both [1.0] [4.0]"]);
    Ok(())
}

#[test]
fn values_are_for_those_who_ask_alone() -> Result<()> {
    let (asked, asking) = writer("seen::outer");
    let (not_asked, not_asking) = writer("seen::outer");
    let _handles = [asking.with_inputs().on_this_thread(), not_asking.on_this_thread()];
    seen::outer(&Tensor::from([1f32]))?;
    assert_eq!(take(&asked), [">outer [1.0]", "<outer"]);
    assert_eq!(take(&not_asked), [">outer", "<outer"]);
    Ok(())
}

#[test]
fn calls_are_seen_and_redispatches_on_request() -> Result<()> {
    let x = Tensor::from([1f32]);
    let (calls, observer) = count("seen::layered");
    let (all, observer_of_all) = count("seen::layered");
    let _handles = [observer.on_this_thread(), observer_of_all.with_redispatches().on_this_thread()];
    seen::layered(&x)?;
    seen::layered::handle().call_boxed(&mut Stack::from_iter([Value::from(&x)]))?;
    assert_eq!((calls.load(Ordering::Relaxed), all.load(Ordering::Relaxed)), (2, 4));
    Ok(())
}

#[test]
fn a_trace_sees_the_kind_of_a_typed_call_whose_values_are_shown() -> Result<()> {
    let lines = Lines::default();
    let writing = lines.clone();
    let this_thread = std::thread::current().id();
    let _trace = trace::listen(move |event| {
        if std::thread::current().id() == this_thread {
            let key = event.key;
            writing.lock().unwrap().push(format!(
                "{}{} {} {key}",
                " ".repeat(event.depth),
                event.kind,
                event.operator
            ));
        }
    });
    let _values = Observer::new(|_| {}).with_inputs().on_this_thread();
    seen::layered(&Tensor::from([1f32]))?;
    assert_eq!(take(&lines), ["call seen::layered AutogradCPU", " redispatch seen::layered CPU"]);
    Ok(())
}

#[test]
fn a_call_that_fails_ends_without_outputs() {
    let (lines, observer) = writer("seen::fails");
    let handle = observer.with_outputs().on_this_thread();
    assert!(seen::fails(&Tensor::from([1f32])).is_err());
    assert_eq!(take(&lines), [">fails", "<fails"]);
    drop(handle);
    let (lines, observer) = writer("seen::panics");
    let _handle = observer.on_this_thread();
    assert!(std::panic::catch_unwind(|| seen::panics(1)).is_err());
    assert_eq!(take(&lines), [">panics", "<panics"]);
}

#[test]
fn what_an_observer_calls_is_not_observed() -> Result<()> {
    let calls = Arc::new(AtomicUsize::new(0));
    let counter = calls.clone();
    let _handle = Observer::new(move |event| {
        counter.fetch_add(1, Ordering::Relaxed);
        assert_eq!(event.depth, 0);
        seen::inner(&Tensor::from([1f32])).unwrap();
    })
    .on_this_thread();
    seen::inner(&Tensor::from([1f32]))?;
    seen::inner(&Tensor::from([1f32]))?;
    assert_eq!(calls.load(Ordering::Relaxed), 2);
    Ok(())
}

#[test]
fn samples_are_a_share_of_all() -> Result<()> {
    let observed = |probability| -> Result<usize> {
        let (count, observer) = count("seen::often");
        let _handle = observer.sampled(probability).on_this_thread();
        for a in 0..1000 {
            seen::often(a)?;
        }
        Ok(count.load(Ordering::Relaxed))
    };
    assert_eq!((observed(0.0)?, observed(1.0)?), (0, 1000));
    let half = observed(0.5)?;
    assert!((400..600).contains(&half), "{half} of 1000 with probability 0.5");
    Ok(())
}

#[test]
fn the_first_calls_of_all_threads_are_samples_too() -> Result<()> {
    let (count, observer) = count("seen::first");
    let _handle = observer.sampled(0.5).on_all_threads();
    std::thread::scope(|scope| {
        (0..200).for_each(|_| drop(scope.spawn(|| seen::first(1).map(drop))));
    });
    let half = count.load(Ordering::Relaxed);
    assert!((60..140).contains(&half), "{half} of 200 threads with probability 0.5");
    Ok(())
}

#[test]
fn an_observer_goes_with_its_handle_wherever_that_is_dropped() {
    let kept = Arc::new(());
    let owner = kept.clone();
    let handle = Observer::new(move |_| drop(owner.clone())).on_this_thread();
    assert_eq!(Arc::strong_count(&kept), 2);
    std::thread::scope(|scope| scope.spawn(move || drop(handle)).join()).unwrap();
    assert_eq!(Arc::strong_count(&kept), 1);
}

#[test]
fn observers_of_a_thread_travel_with_its_state() -> Result<()> {
    let call = || seen::here(1).map(drop);
    let (count, observer) = count("seen::here");
    let handle = observer.on_this_thread();
    let state = ThreadLocalState::capture();
    std::thread::scope(|scope| scope.spawn(call).join()).unwrap()?;
    assert_eq!(count.load(Ordering::Relaxed), 0);
    std::thread::scope(|scope| scope.spawn(|| state.run(call)).join()).unwrap()?;
    assert_eq!(count.load(Ordering::Relaxed), 1);
    std::thread::scope(|scope| scope.spawn(move || drop(handle)).join()).unwrap();
    call()?;
    std::thread::scope(|scope| scope.spawn(|| state.run(call)).join()).unwrap()?;
    assert_eq!(count.load(Ordering::Relaxed), 1);
    Ok(())
}

#[test]
fn a_region_can_be_nobodys_business() -> Result<()> {
    let (count, observer) = count("seen::region");
    let _handle = observer.on_all_threads();
    {
        let _quiet = ObservingGuard::new(false);
        seen::region(1)?;
        std::thread::scope(|scope| scope.spawn(|| seen::region(1)).join()).unwrap()?;
        assert_eq!(count.load(Ordering::Relaxed), 1, "another thread is not in the region");
        {
            let _loud = ObservingGuard::new(true);
            seen::region(1)?;
        }
        seen::region(1)?;
    }
    seen::region(1)?;
    assert_eq!(count.load(Ordering::Relaxed), 3);
    Ok(())
}

#[test]
fn handles_disable_enable_and_remove() -> Result<()> {
    fn is_send<T: Send + Sync>(_: &T) {}
    let (count, observer) = count("seen::handled");
    let handle: ObserverHandle = observer.on_all_threads();
    is_send(&handle);
    let (_, another) = self::count("seen::nothing");
    let _somebody_watches_all_the_while = another.on_this_thread();
    let counted = || {
        seen::handled(1)?;
        Ok::<_, Error>(count.load(Ordering::Relaxed))
    };
    assert_eq!(counted()?, 1);
    handle.disable();
    handle.disable();
    assert_eq!(counted()?, 1);
    handle.enable();
    handle.enable();
    assert_eq!(counted()?, 2);
    drop(handle);
    assert_eq!(counted()?, 2);
    Ok(())
}

#[test]
fn works_are_seen_by_those_who_ask_for_their_scope() -> Result<()> {
    let (lines, observer) = writer("");
    let _handle = observer.of_scopes(&[Scope::User, Scope::BackwardFunction]).on_this_thread();
    {
        let _epoch = Work::begin("epoch");
        seen::here(1)?;
        let _node = Work::begin_as(Scope::BackwardFunction, "PlusBackward");
    }
    assert_eq!(take(&lines), [">epoch", ">PlusBackward", "<PlusBackward", "<epoch"]);
    Ok(())
}

#[test]
fn a_panic_ends_what_was_nobodys_business() -> Result<()> {
    let (count, observer) = count("seen::here");
    let _handle = observer.on_this_thread();
    let panics = || {
        let _quiet = ObservingGuard::new(false);
        panic!("inside");
    };
    assert!(std::panic::catch_unwind(panics).is_err());
    seen::here(1)?;
    assert_eq!(count.load(Ordering::Relaxed), 1);
    Ok(())
}

#[test]
fn an_observer_that_panics_is_not_the_last_to_see_anything() -> Result<()> {
    let calls = Arc::new(AtomicUsize::new(0));
    let seen_calls = calls.clone();
    let observer = Observer::new(move |event| {
        let is_ours = event.name() == "seen::here";
        assert!(!is_ours || seen_calls.fetch_add(1, Ordering::Relaxed) > 0, "the first call");
    });
    let _handle = observer.on_this_thread();
    assert!(std::panic::catch_unwind(|| seen::here(1)).is_err());
    seen::here(1)?;
    assert_eq!(calls.load(Ordering::Relaxed), 2);
    Ok(())
}
