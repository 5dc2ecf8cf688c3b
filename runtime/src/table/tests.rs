//! Tests the rules one by one, and compares the table with two slower ways to compute it.

use super::*;
use crate::BackendComponent;
use crate::key::tests::Random;

type Kernels<'a> = &'a [(DispatchKey, &'static str)];

/// The backend fallbacks of PyTorch 2.15; `true` marks a fallthrough.
#[rustfmt::skip]
const STOCK: [(DispatchKey, bool); 38] = [
    (DispatchKey::Meta, false), (DispatchKey::BackendSelect, true), (DispatchKey::Python, false),
    (DispatchKey::FuncTorchDynamicLayerBackMode, false), (DispatchKey::Functionalize, false),
    (DispatchKey::Conjugate, false), (DispatchKey::Negative, false), (DispatchKey::ZeroTensor, false),
    (DispatchKey::ADInplaceOrView, true), (DispatchKey::AutogradOther, false),
    (DispatchKey::AutogradCPU, false), (DispatchKey::AutogradCUDA, false), (DispatchKey::AutogradXLA, false),
    (DispatchKey::AutogradMPS, false), (DispatchKey::AutogradXPU, false), (DispatchKey::AutogradHPU, false),
    (DispatchKey::AutogradLazy, false), (DispatchKey::AutogradMTIA, false),
    (DispatchKey::AutogradMAIA, false), (DispatchKey::AutogradPrivateUse1, false),
    (DispatchKey::AutogradMeta, false), (DispatchKey::Tracer, false), (DispatchKey::AutocastCPU, true),
    (DispatchKey::AutocastMTIA, true), (DispatchKey::AutocastMAIA, true), (DispatchKey::AutocastXPU, true),
    (DispatchKey::AutocastMPS, true), (DispatchKey::AutocastCUDA, true),
    (DispatchKey::FuncTorchBatched, false), (DispatchKey::BatchedNestedTensor, false),
    (DispatchKey::FuncTorchVmapMode, true), (DispatchKey::Batched, false), (DispatchKey::VmapMode, true),
    (DispatchKey::FuncTorchGradWrapper, false), (DispatchKey::PythonTLSSnapshot, false),
    (DispatchKey::FuncTorchDynamicLayerFrontMode, false), (DispatchKey::PreDispatch, false),
    (DispatchKey::PythonDispatcher, false),
];

fn stock() -> Fallbacks<&'static str> {
    let mut fallbacks = Fallbacks::new();
    for (key, is_fallthrough) in STOCK {
        fallbacks.set(key, Some(("stock", is_fallthrough))).expect("a runtime key");
    }
    fallbacks
}

/// Kernels whose name starts with `fall` are fallthroughs.
fn registrations(kernels: Kernels) -> Vec<Registration<&'static str>> {
    let one = |&(key, kernel): &(_, &'static str)| Registration {
        key,
        kernel,
        is_fallthrough: kernel.starts_with("fall"),
    };
    kernels.iter().map(one).collect()
}

fn table(kernels: Kernels) -> Table<&'static str> {
    Table::compute(&registrations(kernels), &stock())
}

/// The entries of some keys, one word each: the kernel, or the reason why there is none.
#[track_caller]
fn check(kernels: Kernels, want: &[(&str, &str)]) {
    let table = table(kernels);
    for (keys, want) in want {
        for key in keys.split(' ') {
            let entry = table.get(key.parse().expect("a key"));
            assert_eq!(
                entry.kernel.map_or(entry.source.to_string(), str::to_owned),
                *want,
                "{key} of {kernels:?}"
            );
        }
    }
}

const NON_FUNCTIONAL: (DispatchKey, &str) =
    (DispatchKey::CompositeExplicitAutogradNonFunctional, "non-functional");
const EXPLICIT: (DispatchKey, &str) = (DispatchKey::CompositeExplicitAutograd, "explicit");
const NESTED: (DispatchKey, &str) = (DispatchKey::CompositeImplicitAutogradNestedTensor, "nested");
const IMPLICIT: (DispatchKey, &str) = (DispatchKey::CompositeImplicitAutograd, "implicit");
const AUTOGRAD: (DispatchKey, &str) = (DispatchKey::Autograd, "autograd");
const BATCHED: (DispatchKey, &str) = (DispatchKey::FuncTorchBatchedDecomposition, "batched");
const CPU: (DispatchKey, &str) = (DispatchKey::CPU, "cpu");

#[test]
fn without_kernels_there_are_fallbacks() {
    check(
        &[],
        &[
            ("Meta AutogradCPU Tracer", "stock"),
            ("Undefined CPU AutogradHIP AutogradNestedTensor Fake", "missing"),
        ],
    );
}

#[test]
fn aliases_cover_their_keys() {
    check(
        &[IMPLICIT],
        &[
            (
                "Undefined CPU Meta SparseXLA NestedTensorCPU FPGA AutogradCPU AutogradNestedTensor",
                "implicit",
            ),
            ("FuncTorchBatched Functionalize", "stock"),
        ],
    );
    check(
        &[EXPLICIT],
        &[("Undefined CPU SparseXLA MkldnnCPU", "explicit"), ("NestedTensorCPU AutogradHIP", "missing")],
    );
    check(
        &[NON_FUNCTIONAL],
        &[("Undefined CPU SparseCsrCUDA", "non-functional"), ("SparseCPU XLA QuantizedLazy", "missing")],
    );
    check(
        &[NESTED],
        &[
            ("NestedTensorCPU AutogradNestedTensor", "nested"),
            ("Undefined CPU", "missing"),
            ("AutogradCPU", "stock"),
        ],
    );
    check(
        &[AUTOGRAD],
        &[
            ("AutogradCPU AutogradHIP AutogradOther AutogradNestedTensor", "autograd"),
            ("Undefined CPU", "missing"),
        ],
    );
    check(&[BATCHED], &[("FuncTorchBatched", "batched"), ("Batched", "stock"), ("Undefined", "missing")]);
    check(&[(DispatchKey::Undefined, "catch-all")], &[("Undefined CPU AutogradCPU", "catch-all")]);
}

#[test]
fn the_first_rule_that_applies_decides() {
    let all = [BATCHED, AUTOGRAD, IMPLICIT, NESTED, EXPLICIT, NON_FUNCTIONAL];
    check(
        &all,
        &[
            ("Undefined CUDA", "non-functional"),
            ("SparseCUDA XLA", "explicit"),
            ("NestedTensorCPU", "nested"),
        ],
    );
    check(
        &all,
        &[
            ("AutogradCPU AutogradOther", "autograd"),
            ("AutogradNestedTensor", "nested"),
            ("FuncTorchBatched", "batched"),
        ],
    );
    check(
        &[IMPLICIT, NESTED],
        &[("NestedTensorCPU AutogradNestedTensor", "nested"), ("CPU Undefined", "implicit")],
    );
    check(&[IMPLICIT, AUTOGRAD], &[("AutogradCPU AutogradOther", "implicit")]);
    check(&[BATCHED, (DispatchKey::FuncTorchBatched, "own")], &[("FuncTorchBatched", "own")]);
    check(&[CPU, IMPLICIT, EXPLICIT, NON_FUNCTIONAL], &[("CPU", "cpu")]);
    check(
        &[(DispatchKey::AutogradCPU, "own"), AUTOGRAD, IMPLICIT],
        &[("AutogradCPU", "own"), ("AutogradCUDA", "implicit")],
    );
}

#[test]
fn an_implicit_composite_yields_to_kernels_of_the_backend() {
    check(
        &[CPU, IMPLICIT],
        &[("AutogradCPU", "stock"), ("AutogradCUDA NestedTensorCPU SparseCPU", "implicit")],
    );
    check(&[CPU, IMPLICIT, AUTOGRAD], &[("AutogradCPU", "autograd"), ("AutogradCUDA", "implicit")]);
    check(&[(DispatchKey::CPU, "fall"), IMPLICIT], &[("AutogradCPU", "stock")]);
    // This holds for every key, even where the explicit kernel does not apply; the non-functional one changes nothing.
    check(&[EXPLICIT, IMPLICIT], &[("NestedTensorCPU AutogradHIP", "missing"), ("AutogradCPU", "stock")]);
    check(&[NON_FUNCTIONAL, IMPLICIT], &[("AutogradCPU NestedTensorCPU SparseCPU", "implicit")]);
    check(
        &[(DispatchKey::NestedTensorCPU, "own"), IMPLICIT],
        &[("AutogradNestedTensor", "missing"), ("AutogradCPU", "implicit")],
    );
    check(&[(DispatchKey::SparseCPU, "own"), IMPLICIT], &[("AutogradCPU", "implicit")]);
    // A building block counts as a kernel of every backend.
    check(
        &[(DispatchKey::Dense, "own"), IMPLICIT],
        &[("AutogradCPU", "stock"), ("CPU AutogradOther AutogradHIP", "implicit")],
    );
    // HIP and VE have no autograd key of their own, and MTIA's belongs to no backend.
    for backend in [BackendComponent::HIP, BackendComponent::VE, BackendComponent::MTIA] {
        let table = table(&[(DispatchKey::Dense.on(backend), "own"), IMPLICIT]);
        assert_eq!(
            table.get(DispatchKey::AutogradFunctionality.on(backend)).kernel,
            Some("implicit"),
            "{backend}"
        );
    }
}

#[test]
fn autograd_other_is_ambiguous_between_composite_and_backend() {
    let below = [
        DispatchKey::SparseCPU,
        DispatchKey::FPGA,
        DispatchKey::MkldnnCPU,
        DispatchKey::QuantizedMeta,
        DispatchKey::SparseCsr,
    ];
    for key in below {
        check(
            &[(key, "own"), IMPLICIT],
            &[("AutogradOther", "ambiguous autogradother"), ("AutogradCPU", "implicit")],
        );
        check(&[(key, "own"), IMPLICIT, EXPLICIT, AUTOGRAD], &[("AutogradOther", "ambiguous autogradother")]);
        check(
            &[(key, "own"), IMPLICIT, (DispatchKey::AutogradOther, "other")],
            &[("AutogradOther", "other")],
        );
        check(&[(key, "own"), EXPLICIT, AUTOGRAD], &[("AutogradOther", "autograd")]);
    }
    check(&[CPU, (DispatchKey::NestedTensorCPU, "own"), IMPLICIT], &[("AutogradOther", "implicit")]);
}

#[test]
fn the_last_registration_at_a_key_counts() {
    check(
        &[CPU, IMPLICIT, (DispatchKey::CPU, "new"), (DispatchKey::Undefined, "later")],
        &[("CPU", "new"), ("CUDA", "later")],
    );
}

#[test]
fn fallbacks_are_for_runtime_keys() {
    let mut fallbacks = stock();
    let error = fallbacks.set(DispatchKey::Autograd, Some(("no", false))).expect_err("an alias");
    assert_eq!(error.to_string(), "no fallback can be registered at Autograd: calls never dispatch on it");
    fallbacks.set(DispatchKey::ADInplaceOrView, None).expect("a runtime key");
    let table = Table::compute(&[], &fallbacks);
    assert_eq!(table.get(DispatchKey::ADInplaceOrView), Entry::MISSING);
    assert!(table.mask().shared().has(DispatchKey::ADInplaceOrView));
    assert_eq!(
        (fallbacks.get(DispatchKey::Meta).kernel, fallbacks.get(DispatchKey::Dense)),
        (Some("stock"), Entry::MISSING)
    );
}

#[test]
fn fallthrough_is_masked_per_backend() {
    const STOCK_MASK: u64 = 4_600_207_649_542_242_303;
    let stock = table(&[]);
    assert_eq!(
        (stock.mask().shared().raw(), stock.mask().requires_bitset_per_backend()),
        (STOCK_MASK, false)
    );

    let hip = table(&[(DispatchKey::HIP, "fall")]);
    assert_eq!(hip.mask().shared().raw(), STOCK_MASK);
    assert!(hip.mask().requires_bitset_per_backend());
    for backend in BackendComponent::ALL {
        let dense = DispatchKeySet::from_key(DispatchKey::Dense);
        assert_eq!(
            hip.mask().for_backend(backend).has_all(dense),
            backend != BackendComponent::HIP,
            "{backend}"
        );
    }
    let keys = DispatchKeySet::from_keys(&[DispatchKey::CPU, DispatchKey::HIP, DispatchKey::ADInplaceOrView]);
    assert_eq!(hip.mask().apply(keys).iter().count(), 0);
    assert_eq!(hip.mask().apply(keys.add(DispatchKey::Meta)).highest_priority(), DispatchKey::Meta);

    // A kernel replaces a fallthrough, and a fallthrough replaces any fallback.
    let kernel = table(&[(DispatchKey::ADInplaceOrView, "own"), (DispatchKey::Tracer, "fall")]);
    assert!(
        kernel.mask().shared().has(DispatchKey::ADInplaceOrView)
            && !kernel.mask().shared().has(DispatchKey::Tracer)
    );
    let aliased = table(&[(DispatchKey::Autograd, "fall"), (DispatchKey::AutogradMeta, "own")]);
    assert!(
        aliased.mask().requires_bitset_per_backend()
            && aliased.mask().shared().has(DispatchKey::AutogradMeta)
    );
    assert!(!aliased.mask().for_backend(BackendComponent::CPU).has(DispatchKey::AutogradCPU));
    assert!(!table(&[(DispatchKey::Autograd, "fall")]).mask().requires_bitset_per_backend());
}

/// The rules written down directly, for one key, with nothing precomputed.
fn entry_in_words(
    registrations: &[Registration<usize>],
    fallbacks: &Fallbacks<usize>,
    key: DispatchKey,
) -> Entry<usize> {
    let at = |wanted: DispatchKey| {
        let counts_for =
            |key| if key == DispatchKey::Undefined { DispatchKey::CompositeImplicitAutograd } else { key };
        registrations.iter().rev().find(|registration| counts_for(registration.key) == wanted)
    };
    let kernel = |found: &Registration<usize>, source| Entry {
        source,
        kernel: Some(found.kernel),
        is_fallthrough: found.is_fallthrough,
    };
    if let Some(found) = at(key) {
        return kernel(found, Source::Kernel);
    }
    let no_keys = key == DispatchKey::Undefined;
    for alias in [NON_FUNCTIONAL.0, EXPLICIT.0, NESTED.0, IMPLICIT.0, AUTOGRAD.0, BATCHED.0] {
        let takes_no_keys = [NON_FUNCTIONAL.0, EXPLICIT.0, IMPLICIT.0].contains(&alias);
        let covers =
            if no_keys { takes_no_keys } else { alias.expansion().iter().any(|covered| covered == key) };
        let Some(found) = at(alias).filter(|_| covers) else { continue };
        if alias == IMPLICIT.0 {
            let backends = key.backends_below_autograd();
            let direct =
                |key: DispatchKey| key != DispatchKey::Undefined && !key.is_alias() && backends.has(key);
            let has_backend_kernel = registrations.iter().any(|registration| direct(registration.key));
            if key == DispatchKey::AutogradOther && has_backend_kernel {
                return Entry { source: Source::AmbiguousAutogradOther, kernel: None, is_fallthrough: false };
            }
            if has_backend_kernel || at(EXPLICIT.0).is_some() {
                continue;
            }
        }
        return kernel(found, Source::Alias(alias));
    }
    fallbacks.get(key)
}

fn mask_in_words(table: &Table<usize>, backend: BackendComponent) -> u64 {
    let falls = |key: &DispatchKey| table.get(key.on(backend)).is_fallthrough;
    let functionalities =
        DispatchKey::all().filter(|key| key.functionality() == *key && *key != DispatchKey::Undefined);
    DispatchKeySet::FULL.raw()
        & !functionalities.filter(falls).fold(0, |bits, key| bits | 1 << (15 + key.value()))
}

#[test]
fn three_ways_to_compute_a_table_agree() {
    let mut random = Random(7);
    let keys: Vec<DispatchKey> = DispatchKey::all().collect();
    for _ in 0..1_000 {
        let mut fallbacks = Fallbacks::new();
        for key in DispatchKey::runtime_keys() {
            if random.below(3) == 0 {
                fallbacks.set(*key, Some((1_000, random.below(2) == 0))).expect("a runtime key");
            }
        }
        let mut registrations = Vec::new();
        for kernel in 0..random.below(9) {
            let likely = [
                DispatchKey::CPU,
                DispatchKey::SparseCPU,
                DispatchKey::NestedTensorCPU,
                DispatchKey::Undefined,
            ];
            let key = match random.below(8) {
                0..=3 => ALIASES[random.below(ALIASES.len())],
                4 => likely[random.below(likely.len())],
                _ => keys[random.below(keys.len())],
            };
            registrations.push(Registration { key, kernel, is_fallthrough: random.below(4) == 0 });
        }
        let table = Table::compute(&registrations, &fallbacks);
        for key in &keys {
            let wanted = if key.is_runtime() {
                entry_in_words(&registrations, &fallbacks, *key)
            } else {
                Entry::MISSING
            };
            assert_eq!(table.get(*key), wanted, "{key} of {registrations:?}");
            if random.below(8) == 0 {
                let explained = explain(&registrations, &fallbacks, *key);
                assert_eq!(explained.source, wanted.source, "{explained} of {registrations:?}");
                let falls = Verdict::Taken { is_fallthrough: true };
                assert_eq!(
                    explained.steps.last().is_some_and(|(_, verdict)| *verdict == falls),
                    wanted.is_fallthrough
                );
            }
        }
        let masks = BackendComponent::ALL.map(|backend| table.mask().for_backend(backend).raw());
        assert_eq!(masks, BackendComponent::ALL.map(|backend| mask_in_words(&table, backend)));
        assert_eq!(table.mask().shared().raw(), masks[15]);
        assert_eq!(table.mask().requires_bitset_per_backend(), masks.iter().any(|mask| *mask != masks[0]));
    }
}

#[test]
fn every_verdict_explains_itself() {
    let why = |kernels: Kernels, key| explain(&registrations(kernels), &stock(), key).to_string();
    let other = why(&[IMPLICIT, EXPLICIT, (DispatchKey::FPGA, "own")], DispatchKey::AutogradOther);
    assert_eq!(
        other,
        "AutogradOther: ambiguous autogradother\n  \
           kernel at AutogradOther: none\n  \
           CompositeExplicitAutogradNonFunctional: none\n  \
           CompositeExplicitAutograd: does not cover this key\n  \
           CompositeImplicitAutogradNestedTensor: none\n  \
           CompositeImplicitAutograd: ambiguous, FPGA has a kernel of its own; register one at AutogradOther\n"
    );
    let cpu = why(&[IMPLICIT, EXPLICIT], DispatchKey::AutogradCPU);
    assert!(
        cpu.contains("CompositeImplicitAutograd: does not apply, CompositeExplicitAutograd has a kernel\n"),
        "{cpu}"
    );
    assert!(cpu.ends_with("backend fallback: taken\n"), "{cpu}");
    let select = why(&[], DispatchKey::BackendSelect);
    assert!(select.ends_with("backend fallback: taken: a fallthrough, calls skip this key\n"), "{select}");
    assert_eq!(why(&[IMPLICIT], DispatchKey::Autograd), "Autograd: missing\n");
}
