//! Tests that hold the registry's lock.

use super::{Conflict, Dispatcher, Library, LibraryKind, RuntimeKernel, build};
use crate::collect::{self, Record};
use crate::error::Result;
use crate::key::DispatchKey;
use crate::operator::OperatorHandle;
use crate::value::Stack;

/// The key of a call without tensors in a dispatcher without fallbacks.
const KEY: DispatchKey = DispatchKey::ADInplaceOrView;

fn answer<const N: i64>() -> RuntimeKernel {
    RuntimeKernel::boxed(|_, _, stack| {
        stack.push(N);
        Ok(())
    })
}

fn call(operator: OperatorHandle) -> Result<i64> {
    let mut stack = Stack::new();
    operator.call_boxed(&mut stack)?;
    stack.pop_as()
}

#[test]
fn calls_do_not_wait_for_who_registers() {
    let dispatcher = Dispatcher::leak_empty();
    let open = |kind| Library::open(dispatcher, kind, "own", None).unwrap();
    let mut library = open(LibraryKind::Definition);
    let operator = library.define("f() -> int").unwrap();
    library.implement("f", KEY, answer::<1>()).unwrap();
    assert_eq!(call(operator).unwrap(), 1);
    let mut other = open(LibraryKind::Fragment);
    let stale = other.define("g() -> int").unwrap();
    other.implement("f", KEY, answer::<2>()).unwrap();
    let while_locked = |expected: i64, is_there: bool| {
        let _locked = dispatcher.lock();
        let outcome = std::thread::scope(|scope| {
            let calls =
                || (call(operator), dispatcher.find("own::f").is_ok(), is_there || call(stale).is_err());
            scope.spawn(calls).join().unwrap()
        });
        assert_eq!((outcome.0.unwrap(), outcome.1, outcome.2), (expected, true, true));
    };
    while_locked(2, true);
    drop(other);
    while_locked(1, false);
    let mut wildcard = Library::open(dispatcher, LibraryKind::Implementation, "_", None).unwrap();
    wildcard.fallback(DispatchKey::Tracer, RuntimeKernel::fallthrough()).unwrap();
    while_locked(1, false);
}

#[test]
fn what_is_declared_elsewhere_is_said_to_be_there() {
    let dispatcher = Dispatcher::leak_empty();
    let module: &'static crate::SourceModule =
        Box::leak(Box::new(crate::SourceModule { file: "mine.cpp", path: "" }));
    let open = |line| {
        let place = crate::Place { module, line, column: 1 };
        Library::open_at(dispatcher, LibraryKind::Definition, "elsewhere", None, place)
    };
    let mut library = open(7).unwrap();
    let operator = library.define("f() -> int").unwrap();
    library.implement("f", KEY, answer::<1>()).unwrap();
    assert_eq!(operator.place().to_string(), "mine.cpp:7");
    let info = dispatcher.operators().into_iter().find(|info| info.operator == operator).unwrap();
    assert_eq!(info.kernels[0].place.to_string(), "mine.cpp:7");
    let text = open(9).map(drop).unwrap_err().to_string();
    assert!(text.contains("at mine.cpp:7\n  and again at mine.cpp:9"), "{text}");
}

#[test]
fn operators_with_kernels_for_the_same_keys_share_their_rows() {
    let dispatcher = Dispatcher::leak_empty();
    let mut library = Library::open(dispatcher, LibraryKind::Definition, "alike", None).unwrap();
    for name in ["a", "b", "c"] {
        let operator = library.define(&format!("{name}() -> int")).unwrap();
        library.implement(name, KEY, answer::<1>()).unwrap();
        call(operator).unwrap();
    }
    assert_eq!(dispatcher.lock().rows.len(), 1);
    library.implement("c", DispatchKey::CPU, answer::<2>()).unwrap();
    assert_eq!(dispatcher.lock().rows.len(), 2);
}

mod declared {
    #![expect(
        unsafe_code,
        dead_code,
        unreachable_pub,
        reason = "what the macros write, which other crates do not see"
    )]
    #![expect(clippy::allow_attributes, reason = "generated code cannot know which lints it meets")]

    crate::torch_library! {
        pub mod registry_tests {
            /// Does nothing.
            f(int x) -> int;
        }
    }
}

#[test]
fn a_library_that_goes_takes_its_conflicts_along() {
    let dispatcher = Dispatcher::leak_empty();
    let library = Library::open(dispatcher, LibraryKind::Definition, "registry_tests", None).unwrap();
    let is_ours =
        |record: &&Record| matches!(record, Record::Library(library) if library.place.file() == file!());
    let records: Vec<_> = collect::records().filter(is_ours).collect();
    build::absorb(&mut dispatcher.change(), &records);
    let conflicts = dispatcher.conflicts();
    let is_it = |namespace: &str| namespace == "registry_tests";
    assert!(
        matches!(&conflicts[..], [Conflict::Namespace { namespace, .. }] if is_it(namespace)),
        "{conflicts:?}"
    );
    drop(library);
    assert_eq!(dispatcher.conflicts(), []);
}
