//! Listeners are told when operators are added and removed, and threads can wait for operators to be registered.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use torch_library::prelude::*;
use torch_library::{Dispatcher, Library, LibraryKind, RegistrationEvent, RuntimeKernel};

/// The events that a listener received, as `+ns::op` and `-ns::op`.
#[derive(Clone, Default)]
struct Heard(Arc<Mutex<Vec<String>>>);

impl Heard {
    fn note(&self, event: RegistrationEvent) {
        let (sign, operator) = match event {
            RegistrationEvent::Registered(operator) => ('+', operator),
            RegistrationEvent::Deregistered(operator) => ('-', operator),
        };
        self.0.lock().unwrap().push(format!("{sign}{operator}"));
    }

    fn take(&self) -> Vec<String> {
        std::mem::take(&mut self.0.lock().unwrap())
    }
}

fn open(dispatcher: &'static Dispatcher) -> Library {
    Library::open(dispatcher, LibraryKind::Fragment, "ns", None).unwrap()
}

fn boxed() -> RuntimeKernel {
    RuntimeKernel::boxed(|_, _, _| Ok(()))
}

#[test]
fn definitions_are_heard_and_kernels_are_not() {
    let dispatcher = Dispatcher::leak_empty();
    let heard = Heard::default();
    let mut early = open(dispatcher);
    early.define("b(Tensor x) -> Tensor").unwrap();
    early.define("a(Tensor x) -> Tensor").unwrap();
    early.implement("later", DispatchKey::CPU, boxed()).unwrap();
    let log = heard.clone();
    let handle = dispatcher.listen(move |event| log.note(event));
    assert_eq!(heard.take(), ["+ns::a", "+ns::b"], "those that were there before");

    let mut library = open(dispatcher);
    library.implement("a", DispatchKey::CPU, boxed()).unwrap();
    library.define("later(Tensor x) -> Tensor").unwrap();
    library.define("later(Tensor x) -> Tensor").unwrap_err();
    assert_eq!(heard.take(), ["+ns::later"]);
    drop(library);
    assert_eq!(heard.take(), ["-ns::later"]);
    drop(handle);
    drop(early);
    assert_eq!(heard.take(), [""; 0]);
}

#[test]
fn a_listener_may_register_and_call() {
    let dispatcher = Dispatcher::leak_empty();
    let heard = Heard::default();
    let (log, shadows) = (heard.clone(), Mutex::new(open(dispatcher)));
    let handle = dispatcher.listen(move |event| {
        log.note(event);
        if let RegistrationEvent::Registered(operator) = event
            && !operator.name().ends_with("_shadow")
        {
            assert_eq!(dispatcher.find(&operator.to_string()).unwrap(), operator);
            let schema = operator.schema_text().replace('(', "_shadow(");
            shadows.lock().unwrap().define(&schema).unwrap();
        }
    });
    let library = {
        let mut library = open(dispatcher);
        library.define("a(Tensor x) -> Tensor").unwrap();
        library
    };
    assert_eq!(heard.take(), ["+ns::a", "+ns::a_shadow"]);
    drop(library);
    assert_eq!(heard.take(), ["-ns::a"]);
    drop(handle);
}

#[test]
fn a_listener_that_panics_harms_nobody() {
    let dispatcher = Dispatcher::leak_empty();
    let heard = Heard::default();
    let log = heard.clone();
    let _first =
        dispatcher.listen(|event| assert!(matches!(event, RegistrationEvent::Deregistered(_)), "a panic"));
    let _second = dispatcher.listen(move |event| log.note(event));
    let mut library = open(dispatcher);
    let define = std::panic::AssertUnwindSafe(|| drop(library.define("a(Tensor x) -> Tensor")));
    std::panic::catch_unwind(define).unwrap_err();
    assert!(dispatcher.find("ns::a").is_ok());
    drop(library);
    assert!(dispatcher.find("ns::a").is_err(), "what was defined is undone");
    assert_eq!(heard.take(), ["+ns::a", "-ns::a"], "in order, if late");
}

#[test]
fn all_listeners_hear_the_same_in_one_order() {
    let dispatcher = Dispatcher::leak_empty();
    let heard = [Heard::default(), Heard::default()];
    let handles = heard.clone().map(|log| dispatcher.listen(move |event| log.note(event)));
    std::thread::scope(|scope| {
        for thread in 0..4 {
            scope.spawn(move || {
                for _ in 0..50 {
                    open(dispatcher).define(&format!("op{thread}(Tensor x) -> Tensor")).unwrap();
                }
            });
        }
    });
    // A thread may leave its events to another one that is notifying already; that one has finished by now.
    let [one, other] = heard.map(|heard| heard.take());
    assert_eq!((one.len(), &one), (400, &other));
    for thread in 0..4 {
        let own: Vec<_> = one.iter().filter(|event| event.ends_with(&format!("op{thread}"))).collect();
        assert!(own.chunks(2).all(|pair| pair[0].starts_with('+') && pair[1].starts_with('-')));
    }
    drop(handles);
}

#[test]
fn threads_wait_for_what_is_to_come() {
    let dispatcher = Dispatcher::leak_empty();
    const LONG: Duration = Duration::from_secs(60);
    std::thread::scope(|scope| {
        let operator = scope.spawn(|| dispatcher.wait_for_operator("ns::a", LONG));
        let kernel = scope.spawn(|| dispatcher.wait_for_kernel("ns::a", DispatchKey::CPU, LONG));
        let mut library = open(dispatcher);
        library.implement("a", DispatchKey::CPU, boxed().named("the one")).unwrap();
        assert_eq!(kernel.join().unwrap().unwrap().function, "the one");
        library.define("a(Tensor x) -> Tensor").unwrap();
        assert_eq!(operator.join().unwrap().unwrap().to_string(), "ns::a");
        assert!(dispatcher.wait_for_operator("ns::a", Duration::ZERO).is_ok(), "there already");
    });
}
