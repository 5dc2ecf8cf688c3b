//! The order in which the linker collects the records has no effect.
#![expect(
    unsafe_code,
    dead_code,
    unreachable_pub,
    reason = "what the macros write, which other crates do not see"
)]
#![expect(clippy::allow_attributes, reason = "generated code cannot know which lints it meets")]

use super::*;

mod one {
    crate::torch_library! {
        pub mod build_tests {
            /// Has a kernel in each module, one of which overrides the other.
            overridden(int x) -> int;
            /// Declared a second time, by an extension.
            declared(Tensor x) -> Tensor;
            /// Has a kernel in each module.
            doubled(Tensor x) -> Tensor;
        }
    }

    #[crate::torch_impl(build_tests, CompositeExplicitAutograd, CPU)]
    mod kernels {
        use crate::prelude::*;

        fn overridden(x: i64) -> Result<i64> {
            Ok(x)
        }

        fn doubled(x: &Tensor) -> Result<Tensor> {
            Ok(x.clone())
        }
    }
}

mod other {
    use crate::prelude::*;

    crate::torch_library! {
        pub mod more extends super::one::build_tests {
            /// The second declaration.
            declared(Tensor x, int n) -> Tensor;
        }
    }

    #[crate::torch_impl(super::one::build_tests::overridden, CPU, override)]
    fn overridden(x: i64) -> Result<i64> {
        Ok(2 * x)
    }

    #[crate::torch_impl(super::one::build_tests::doubled, CPU, Meta)]
    fn doubled(x: &Tensor) -> Result<Tensor> {
        Ok(x.clone())
    }

    #[crate::torch_fallback(TESTING_ONLY_GenericMode)]
    fn fallback(_: OperatorHandle, _: DispatchKeySet, _: &mut Stack<'_>) -> Result<()> {
        Ok(())
    }
}

/// Everything that the registry reports after these records were registered.
fn everything(records: &[&'static Record]) -> String {
    let mut state = State::new(Names::leak());
    default_fallbacks(&mut state);
    absorb(&mut state, records);
    let operators = state.operators();
    let tables: Vec<_> = state.entries.iter().map(|entry| state.table_info(entry)).collect();
    let mut tables: Vec<_> = tables.iter().map(|table| format!("{}\n{table}", table.name)).collect();
    tables.sort();
    format!("{operators:?}\n{:?}\n{:?}\n{tables:?}", state.fallbacks(), state.report())
}

#[test]
fn no_order_of_records_shows() {
    let place = |record: &Record| match record {
        Record::Library(library) => library.place,
        Record::Kernels(kernels) => kernels[0].place,
        Record::Fallback(fallback) => fallback.place,
        Record::Backend(backend) => backend.place,
    };
    let ours = collect::records().filter(|record| place(record).file() == file!());
    let mut records: Vec<_> = ours.collect();
    assert_eq!(records.len(), 6);
    let expected = everything(&records);
    assert!(expected.contains("2 conflicts"), "{expected}");

    // Every rotation of every prefix reversed: enough to have each pair in both orders.
    for length in 2..=records.len() {
        records[..length].reverse();
        for _ in 0..records.len() {
            records.rotate_left(1);
            assert_eq!(everything(&records), expected);
        }
    }
}

#[test]
fn an_override_counts_in_any_order() {
    let mut records: Vec<_> = collect::records().collect();
    for _ in 0..2 {
        let mut state = State::new(Names::leak());
        absorb(&mut state, &records);
        let entry = state.entry_named("build_tests::overridden").unwrap();
        let counts =
            state.table_info(entry).row(DispatchKey::CPU).and_then(|row| row.kernel.clone()).unwrap();
        assert!(counts.overrides, "{counts}");
        let on_cpu = entry.kernels().into_iter().filter(|kernel| kernel.key == DispatchKey::CPU);
        let listed: Vec<_> = on_cpu.map(|kernel| (kernel.overrides, kernel.is_active)).collect();
        assert_eq!(listed, [(true, true), (false, false)]);
        records.reverse();
    }
}

#[test]
fn records_are_taken_in_once() {
    let records: Vec<_> = collect::records().collect();
    let doubled: Vec<_> = records.iter().chain(&records).copied().collect();
    let count = |records: &[&'static Record]| {
        let mut state = State::new(Names::leak());
        absorb(&mut state, records);
        let once = state.entries.iter().map(|entry| (entry.definitions.len(), entry.registrations.len()));
        once.collect::<Vec<_>>()
    };
    assert_eq!(count(&doubled), count(&records));
}

#[test]
fn kernels_without_their_library_are_a_conflict() {
    let is_kernel_here =
        |record: &&Record| matches!(record, Record::Kernels(kernels) if kernels[0].place.file() == file!());
    let kernels: Vec<_> = collect::records().filter(is_kernel_here).take(1).collect();
    let mut state = State::new(Names::leak());
    absorb(&mut state, &kernels);
    let report = state.report().unwrap();
    assert!(report.contains("a kernel is registered for `build_tests::"), "{report}");
    assert!(report.contains("help: link the crate that declares it (`use that_crate as _;`)"), "{report}");
}

#[test]
fn a_fallback_of_the_program_replaces_the_default_in_either_order() {
    let own = |state: &mut State| {
        let (implementation, origin) = (Implementation::Fallthrough, Origin::Linked);
        static HERE: SourceModule = SourceModule { file: file!(), path: module_path!() };
        let place = Place { module: &HERE, line: line!(), column: 1 };
        for key in [DispatchKey::AutogradCPU, DispatchKey::ADInplaceOrView] {
            let (function, signature, seat) = ("own".into(), None, None);
            let derivative = None;
            let own = Registration {
                id: 0,
                key,
                implementation,
                derivative,
                origin,
                function,
                place,
                signature,
                seat,
            };
            state.add_fallback(own);
        }
    };
    for own_comes_first in [true, false] {
        let mut state = State::new(Names::leak());
        let steps: [&dyn Fn(&mut State); 2] = [&own, &default_fallbacks];
        let order = if own_comes_first { [0, 1] } else { [1, 0] };
        order.into_iter().for_each(|step| steps[step](&mut state));
        let operator = state.entry_of_name("build_tests::any");
        let fallbacks = state.fallback_table(&state.entries[operator]);
        let function = |key| fallbacks.get(key).kernel.map(|kernel| &*kernel.function);
        assert_eq!(function(DispatchKey::AutogradCPU), Some("own"));
        assert_eq!(function(DispatchKey::ADInplaceOrView), Some("own"));
        assert_eq!(function(DispatchKey::AutogradCUDA), Some("autograd default"));
    }
}
