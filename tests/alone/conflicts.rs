//! Conflicting registrations in one program, of every kind: a single report lists each with both places, and operators
//! that are not involved keep working. A process of its own, because conflicts cannot be undone.

use expect_test::expect;
use torch_library::prelude::*;
use torch_library::{Conflict, Dispatcher, Library};

mod first {
    use torch_library::prelude::*;

    torch_library! {
        pub mod ops {
            /// Has no conflict.
            fine(int x) -> int;
            /// Another module declares it in the namespace again.
            declared(Tensor x) -> Tensor;
            /// Has two kernels for one key.
            doubled(Tensor x) -> Tensor;
            /// Has two kernels for one key, one of which is an `override`.
            overridden(int x) -> int;
            /// Also has an `override`; a run-time library replaces it again.
            replaced(int x) -> int;
            /// Has a single kernel, an `override` that replaces nothing.
            idle(int x) -> int;
        }
    }

    #[torch_impl(ops, CompositeExplicitAutograd)]
    mod kernels {
        use torch_library::prelude::*;

        fn fine(x: i64) -> Result<i64> {
            Ok(x)
        }

        fn overridden(_: i64) -> Result<i64> {
            Ok(1)
        }

        fn replaced(_: i64) -> Result<i64> {
            Ok(1)
        }
    }

    #[torch_impl(ops, CPU)]
    fn doubled(x: &Tensor) -> Result<Tensor> {
        Ok(x.clone())
    }

    #[torch_fallback(Tracer)]
    fn trace(_: OperatorHandle, _: DispatchKeySet, _: &mut Stack<'_>) -> Result<()> {
        Ok(())
    }
}

mod second {
    use torch_library::prelude::*;

    torch_library! {
        pub mod more extends super::first::ops {
            /// The other declaration has no number.
            declared(Tensor x, int n) -> Tensor;
        }
    }

    #[torch_impl(super::first::ops::doubled, CPU)]
    fn doubled(x: &Tensor) -> Result<Tensor> {
        Ok(x.clone())
    }

    #[torch_impl(super::first::ops, CompositeExplicitAutograd, override)]
    mod kernels {
        use torch_library::prelude::*;

        fn overridden(_: i64) -> Result<i64> {
            Ok(2)
        }

        fn replaced(_: i64) -> Result<i64> {
            Ok(2)
        }

        fn idle(_: i64) -> Result<i64> {
            Ok(2)
        }
    }

    #[torch_fallback(Tracer)]
    fn trace(_: OperatorHandle, _: DispatchKeySet, _: &mut Stack<'_>) -> Result<()> {
        Ok(())
    }
}

mod third {
    torch_library::torch_library! {
        pub mod twice {
            /// In the first of two libraries that declare the namespace.
            a(int x) -> int;
        }
    }
}

mod fourth {
    torch_library::torch_library! {
        pub mod twice {
            /// In the second library.
            b(int x) -> int;
        }
    }
}

/// The text with line and column numbers of this file removed.
fn without_lines(text: &str) -> String {
    let mut parts = text.split("conflicts.rs:");
    let first = parts.next().unwrap_or_default().to_owned();
    let without_line = |part: &str| part.trim_start_matches(|c: char| c.is_ascii_digit()).to_owned();
    parts.fold(first, |text, part| text + "conflicts.rs" + &without_line(part))
}

#[test]
fn one_report_has_every_conflict_with_both_places() {
    let error = torch_library::init().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Conflict);
    expect![[r#"
        the registrations of this program contradict each other: 4 conflicts
          1. namespace `twice` is declared 2 times
             at tests/alone/conflicts.rs (crate conflicts)
             at tests/alone/conflicts.rs (crate conflicts)
             help: let one declare it, and write `extends` in the others
          2. operator `ops::declared` is declared 2 times
             at tests/alone/conflicts.rs (crate conflicts): declared(Tensor x) -> Tensor
             at tests/alone/conflicts.rs (crate conflicts): declared(Tensor x, int n) -> Tensor
             help: keep one, or give the other a name or an overload of its own
          3. operator `ops::doubled` has 2 kernels for CPU
             `doubled` at tests/alone/conflicts.rs (crate conflicts)
             `doubled` at tests/alone/conflicts.rs (crate conflicts)
             help: keep one, or write `override` on the one that is to replace the other
          4. there are 2 fallbacks for Tracer
             `trace` at tests/alone/conflicts.rs (crate conflicts)
             `trace` at tests/alone/conflicts.rs (crate conflicts)
             help: keep one: a key has one fallback, which serves all operators"#]]
    .assert_eq(&without_lines(&error.to_string()));
    assert_eq!(Dispatcher::global().conflicts().len(), 4);
}

#[test]
fn places_are_in_the_order_of_the_source() {
    for conflict in Dispatcher::global().conflicts() {
        let places: Vec<_> = match conflict {
            Conflict::Kernel { places, .. } | Conflict::Fallback { places, .. } => {
                places.into_iter().map(|(place, _)| place).collect()
            }
            Conflict::Operator { places, .. } => places.into_iter().map(|(place, _)| place).collect(),
            Conflict::Namespace { places, .. } => places,
            _ => continue,
        };
        assert!(places.len() == 2 && places[0].line < places[1].line, "{places:?}");
    }
}

#[test]
fn operators_in_conflict_refuse_calls_and_others_work() {
    let x = Tensor::from([1.0]);
    let refusals = [
        first::ops::declared(&x).map(drop),
        second::more::declared(&x, 1).map(drop),
        first::ops::doubled(&x).map(drop),
        third::twice::a(1).map(drop),
        fourth::twice::b(1).map(drop),
    ];
    for refusal in refusals {
        let error = refusal.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Conflict);
        assert!(error.to_string().contains("contradict each other: 4 conflicts"), "{error}");
    }
    assert_eq!(first::ops::fine(7).unwrap(), 7);
    assert_eq!(first::ops::overridden(7).unwrap(), 2);
}

#[test]
fn two_fallbacks_for_a_key_refuse_the_calls_that_reach_them() {
    torch_library::guard::include(DispatchKey::Tracer, || {
        assert_eq!(first::ops::fine(7).unwrap_err().kind(), ErrorKind::Conflict);
    });
    assert_eq!(first::ops::fine(7).unwrap(), 7);
}

#[test]
fn an_override_is_listed_before_what_it_replaces() {
    let info = Dispatcher::global().operator("ops::overridden").unwrap();
    let kernels: Vec<_> = info.kernels.iter().map(|kernel| (kernel.overrides, kernel.is_active)).collect();
    assert_eq!(kernels, [(true, true), (false, false)]);
}

#[test]
fn an_override_of_nothing_is_found() {
    let idle = Dispatcher::global().idle_overrides();
    assert_eq!(idle.iter().map(|kernel| &*kernel.name).collect::<Vec<_>>(), ["ops::idle"]);
    assert_eq!(first::ops::idle(7).unwrap(), 2);
}

#[test]
fn a_library_of_the_run_time_counts_more_than_an_override() {
    let call = || first::ops::replaced(7).unwrap();
    assert_eq!(call(), 2);
    let mut library = Library::implementation("ops", DispatchKey::CompositeExplicitAutograd).unwrap();
    library.implement("replaced", DispatchKey::Undefined, first::ops::replaced::kernel(|_| Ok(3))).unwrap();
    assert_eq!(call(), 3);
    drop(library);
    assert_eq!(call(), 2);
}
