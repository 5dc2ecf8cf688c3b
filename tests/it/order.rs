//! The order of registrations and removals does not affect tables, and a registration that fails leaves no trace.

use torch_library::{
    DispatchKey, Dispatcher, ErrorKind, Library, LibraryKind, OperatorHandle, Result, RuntimeKernel, Stack,
};

/// Pseudo-random numbers, the same in every run.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % end as u64) as usize
    }

    fn shuffled<T>(&mut self, mut list: Vec<T>) -> Vec<T> {
        for end in (1..list.len()).rev() {
            list.swap(end, self.below(end + 1));
        }
        list
    }
}

/// One registration, in a library of its own.
#[derive(Clone, Copy, Debug)]
enum Step {
    Define,
    Implement(DispatchKey, bool),
    Fallback(DispatchKey, bool),
}

fn kernel(label: &str, is_fallthrough: bool) -> RuntimeKernel {
    let kernel = match is_fallthrough {
        true => RuntimeKernel::fallthrough(),
        false => RuntimeKernel::boxed(|_, _, _| Ok(())),
    };
    kernel.named(label)
}

impl Step {
    fn register(self, dispatcher: &'static Dispatcher) -> Result<Library> {
        let namespace = if matches!(self, Step::Fallback(..)) { "_" } else { "ns" };
        let kind =
            if matches!(self, Step::Define) { LibraryKind::Fragment } else { LibraryKind::Implementation };
        let mut library = Library::open(dispatcher, kind, namespace, None)?;
        match self {
            Step::Define => drop(library.define("op(Tensor x) -> Tensor")?),
            Step::Implement(key, is_fallthrough) => {
                library.implement("op", key, kernel(&format!("for {key}"), is_fallthrough))?;
            }
            Step::Fallback(key, is_fallthrough) => {
                library.fallback(key, kernel(&format!("fallback for {key}"), is_fallthrough))?;
            }
        }
        Ok(library)
    }
}

/// The whole visible state.
fn everything(dispatcher: &Dispatcher) -> String {
    let table = dispatcher.table("ns::op").ok();
    format!("{:?}\n{:?}\n{table:?}", dispatcher.operators(), dispatcher.fallbacks())
}

/// A definition, kernels and fallbacks, at most one at each key.
fn program(numbers: &mut Numbers) -> Vec<Step> {
    let keys = numbers.shuffled(DispatchKey::all().collect());
    let kernels = 1 + numbers.below(7);
    let mut steps = vec![Step::Define];
    steps.extend(keys[..kernels].iter().map(|key| Step::Implement(*key, numbers.below(4) == 0)));
    let runtime = keys[kernels..].iter().filter(|key| key.is_runtime() && **key != DispatchKey::Undefined);
    steps.extend(runtime.take(numbers.below(4)).map(|key| Step::Fallback(*key, numbers.below(2) == 0)));
    steps
}

#[test]
fn no_order_of_registration_and_removal_shows() {
    let mut numbers = Numbers(0x9e37_79b9_7f4a_7c15);
    for _ in 0..300 {
        let program = program(&mut numbers);
        let [straight, winding] = [Dispatcher::leak_empty(), Dispatcher::leak_empty()];
        let _kept: Vec<_> = program.iter().map(|step| step.register(straight).unwrap()).collect();

        // In another order, with temporary kernels in between, at keys of the program and others.
        let mut kept = Vec::new();
        let mut passing = Vec::new();
        for step in numbers.shuffled(program.clone()) {
            let key = DispatchKey::all().nth(numbers.below(149)).unwrap();
            passing.push(Step::Implement(key, numbers.below(2) == 0).register(winding).unwrap());
            kept.push(step.register(winding).unwrap());
            if numbers.below(2) == 0 {
                passing.swap_remove(numbers.below(passing.len()));
            }
        }
        numbers.shuffled(passing).into_iter().for_each(drop);
        assert_eq!(everything(winding), everything(straight), "{program:?}");

        // Remove everything and register it again.
        numbers.shuffled(kept).into_iter().for_each(drop);
        assert!(winding.table("ns::op").is_err());
        let _kept: Vec<_> =
            numbers.shuffled(program).into_iter().map(|step| step.register(winding).unwrap()).collect();
        assert_eq!(everything(winding), everything(straight));
    }
}

#[test]
fn of_several_kernels_for_a_key_the_newest_alive_counts() {
    let dispatcher = Dispatcher::leak_empty();
    let _definition = Step::Define.register(dispatcher).unwrap();
    let register = |label: &str| {
        let mut library = Library::open(dispatcher, LibraryKind::Implementation, "ns", None).unwrap();
        library.implement("op", DispatchKey::CPU, kernel(label, false)).unwrap();
        library
    };
    let active = || {
        let row = dispatcher.table("ns::op").unwrap().row(DispatchKey::CPU).cloned().unwrap();
        row.kernel.map_or("none".into(), |kernel| kernel.function)
    };
    let listed = || {
        let kernels = dispatcher.operator("ns::op").unwrap().kernels;
        kernels.into_iter().map(|kernel| (kernel.function, kernel.is_active)).collect::<Vec<_>>()
    };
    let [first, second, third] = ["first", "second", "third"].map(register);
    assert_eq!(active(), "third");
    assert_eq!(listed(), [("third".into(), true), ("second".into(), false), ("first".into(), false)]);
    drop(second);
    assert_eq!(active(), "third");
    drop(third);
    assert_eq!(active(), "first");
    assert_eq!(listed(), [("first".into(), true)]);
    drop(first);
    assert_eq!(active(), "none");
}

#[test]
fn a_registration_that_fails_changes_nothing() {
    let dispatcher = Dispatcher::leak_empty();
    let unary = |library: &mut Library, operator: &str| {
        let signature = "op(Tensor a, Tensor b) -> Tensor";
        library.implement(
            operator,
            DispatchKey::CPU,
            RuntimeKernel::with_signature(signature, |_, _, _| Ok(()))?,
        )
    };
    let mut library = Library::open(dispatcher, LibraryKind::Definition, "ns", None).unwrap();
    library.define("op(Tensor x) -> Tensor").unwrap();
    unary(&mut library, "later").unwrap();
    let _fallback = Step::Fallback(DispatchKey::AutogradCPU, false).register(dispatcher).unwrap();
    let mut implementation =
        Library::open(dispatcher, LibraryKind::Implementation, "ns", Some(DispatchKey::CUDA)).unwrap();
    let mut wildcard = Library::open(dispatcher, LibraryKind::Implementation, "_", None).unwrap();
    let before = everything(dispatcher);

    let boxed = || RuntimeKernel::boxed(|_, _, _| Ok(()));
    let open = |kind, namespace, key| Library::open(dispatcher, kind, namespace, key).map(drop);
    let many = (0..65).map(|index| format!("int a{index}")).collect::<Vec<_>>().join(", ");
    let failures = [
        (library.define("op(Tensor x) -> Tensor").map(drop), ErrorKind::Conflict),
        (library.define("other(Tensor x -> Tensor").map(drop), ErrorKind::Schema),
        (library.define("other::new(Tensor x) -> Tensor").map(drop), ErrorKind::Argument),
        (library.define("new").map(drop), ErrorKind::Schema),
        (library.define(&format!("new({many}) -> ()")).map(drop), ErrorKind::Schema),
        (library.define("later(Tensor x) -> Tensor").map(drop), ErrorKind::Type),
        (unary(&mut library, "op"), ErrorKind::Type),
        (library.implement("op(Tensor x) -> Tensor", DispatchKey::CPU, boxed()), ErrorKind::Argument),
        (library.implement("other::op", DispatchKey::CPU, boxed()), ErrorKind::Argument),
        (library.fallback(DispatchKey::CPU, boxed()), ErrorKind::Argument),
        (implementation.define("new(Tensor x) -> Tensor").map(drop), ErrorKind::Argument),
        (implementation.implement("op", DispatchKey::CPU, boxed()), ErrorKind::Argument),
        (wildcard.implement("ns::op", DispatchKey::CPU, boxed()), ErrorKind::Argument),
        (wildcard.fallback(DispatchKey::AutogradCPU, boxed()), ErrorKind::Conflict),
        (wildcard.fallback(DispatchKey::Autograd, boxed()), ErrorKind::Conflict),
        (wildcard.fallback(DispatchKey::Undefined, boxed()), ErrorKind::Argument),
        (open(LibraryKind::Definition, "ns", None), ErrorKind::Conflict),
        (open(LibraryKind::Definition, "_", None), ErrorKind::Argument),
        (open(LibraryKind::Fragment, "_", None), ErrorKind::Argument),
        (open(LibraryKind::Fragment, "a b", None), ErrorKind::Argument),
        (open(LibraryKind::Fragment, "ns", Some(DispatchKey::CPU)), ErrorKind::Argument),
    ];
    for (index, (outcome, kind)) in failures.into_iter().enumerate() {
        let error = outcome.expect_err(&format!("failure {index}"));
        assert_eq!(error.kind(), kind, "failure {index}: {error}");
    }
    assert_eq!(everything(dispatcher), before);
}

#[test]
fn a_namespace_is_free_again_after_its_library() {
    let dispatcher = Dispatcher::leak_empty();
    let open = || Library::open(dispatcher, LibraryKind::Definition, "ns", None);
    let first = open().unwrap();
    assert_eq!(open().err().map(|error| error.kind()), Some(ErrorKind::Conflict));
    drop(first);
    assert!(open().is_ok());
}

#[test]
fn a_handle_outlives_its_operator_and_finds_it_again() {
    fn one(_: OperatorHandle, _: torch_library::DispatchKeySet, stack: &mut Stack<'_>) -> Result<()> {
        stack.push(1i64);
        Ok(())
    }
    let load = || {
        let mut library = Library::new("it_order_handle").unwrap();
        let handle = library.define("one() -> int").unwrap();
        library.implement("one", DispatchKey::CompositeExplicitAutograd, RuntimeKernel::boxed(one)).unwrap();
        (library, handle)
    };
    let call = |handle: OperatorHandle| handle.call_with([], [])?.pop_as::<i64>();
    let (library, handle) = load();
    assert_eq!(call(handle).unwrap(), 1);
    drop(library);
    let error = call(handle).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::UnknownOperator);
    assert!(error.to_string().contains("it_order_handle::one was removed"), "{error}");
    assert!(handle.schema().is_err());
    assert!(Dispatcher::global().find("it_order_handle::one").is_err());
    let (_library, again) = load();
    assert_eq!(again, handle);
    assert_eq!(call(handle).unwrap(), 1);
}

#[test]
fn an_operator_that_comes_back_otherwise_is_another() {
    let load = |schema: &str, tags: &[&str]| {
        let mut library = Library::new("it_order_otherwise").unwrap();
        let handle = library.define_with_tags(schema, tags).unwrap(); // every definition has the same place
        (library, handle)
    };
    let forms: [(&str, &[&str]); 3] = [
        ("f(int x) -> int", &[]),
        ("f(int x) -> int", &["pointwise"]),
        ("f(int x, int y) -> int", &["pointwise"]),
    ];
    for _ in 0..2 {
        for (schema, tags) in forms {
            let (_library, handle) = load(schema, tags);
            assert_eq!(handle.tags(), tags);
            assert_eq!(handle.schema().unwrap().to_string(), format!("it_order_otherwise::{schema}"));
        }
    }
}

#[test]
fn nothing_of_a_library_is_there_after_it() {
    let mut library = Library::new("it_order_gone").unwrap();
    let handle = library.define("f(int x) -> int").unwrap();
    let answer = |answer: i64| {
        RuntimeKernel::boxed(move |_, _, stack| {
            stack.pop();
            stack.push(answer);
            Ok(())
        })
    };
    library.implement("f", DispatchKey::CompositeExplicitAutograd, answer(1)).unwrap();
    let call = || handle.call_with([1i64.into()], [])?.pop_as::<i64>();
    assert_eq!(call().unwrap(), 1);
    let mut over = Library::implementation("it_order_gone", DispatchKey::CompositeExplicitAutograd).unwrap();
    over.implement("f", DispatchKey::Undefined, answer(2)).unwrap();
    assert_eq!(call().unwrap(), 2);
    drop(over);
    assert_eq!(call().unwrap(), 1);
    let mut fallbacks = Library::implementation("_", DispatchKey::TESTING_ONLY_GenericMode).unwrap();
    fallbacks.fallback(DispatchKey::Undefined, answer(3)).unwrap();
    let through = || torch_library::guard::include(DispatchKey::TESTING_ONLY_GenericMode, call);
    assert_eq!(through().unwrap(), 3);
    drop(fallbacks);
    assert_eq!(through().unwrap_err().kind(), ErrorKind::MissingKernel);
    assert!(
        Library::implementation("_", DispatchKey::TESTING_ONLY_GenericMode)
            .unwrap()
            .fallback(DispatchKey::Undefined, answer(4))
            .is_ok()
    );
    drop(library);
    assert!(Library::new("it_order_gone").is_ok());
}
