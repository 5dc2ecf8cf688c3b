//! Guards nest, move and end in any order.

use super::*;

const FRESH: LocalDispatchKeySet = LocalDispatchKeySet {
    included: DispatchKeySet::DEFAULT_INCLUDED,
    excluded: DispatchKeySet::DEFAULT_EXCLUDED,
};

fn now() -> LocalDispatchKeySet {
    LocalDispatchKeySet::current()
}

fn applied(keys: DispatchKeySet) -> String {
    apply(keys).to_string()
}

#[test]
fn a_fresh_thread_adds_and_takes_the_defaults() {
    let cpu = DispatchKeySet::of_tensor(DispatchKey::CPU);
    assert_eq!(applied(cpu), "DispatchKeySet(CPU, BackendSelect, ADInplaceOrView, AutogradCPU)");
    assert_eq!((now(), GradMode::is_enabled(), InferenceMode::is_enabled()), (FRESH, true, false));
}

#[test]
fn exclusion_wins_and_takes_a_functionality_from_every_backend() {
    let _include = IncludeDispatchKeyGuard::new(DispatchKey::Tracer);
    let _exclude = ExcludeDispatchKeyGuard::new(DispatchKeySet::from_keys(&[
        DispatchKey::Tracer,
        DispatchKey::AutogradCPU,
    ]));
    let cuda = DispatchKeySet::of_tensor(DispatchKey::CUDA);
    assert_eq!(applied(cuda), "DispatchKeySet(CUDA, BackendSelect, ADInplaceOrView)");
    assert!(
        apply(DispatchKey::CPU.into()).has_backend(crate::BackendComponent::CPU),
        "a backend is never excluded"
    );
}

#[test]
fn guards_undo_what_they_did() {
    let outer = IncludeDispatchKeyGuard::new(DispatchKey::AutogradCPU);
    let with_cpu = now();
    drop(IncludeDispatchKeyGuard::new(DispatchKey::AutogradCPU));
    assert_eq!(now(), with_cpu);
    let inner = IncludeDispatchKeyGuard::new(DispatchKey::AutogradCUDA);
    drop(outer);
    assert!(now().included.has_backend(crate::BackendComponent::CUDA));
    drop(inner);
    assert_eq!(now(), FRESH);

    let outer = IncludeDispatchKeyGuard::new(DispatchKey::Tracer);
    let both = [DispatchKey::Tracer, DispatchKey::Python];
    let middle = IncludeDispatchKeyGuard::new(DispatchKeySet::from_keys(&both));
    let inner = IncludeDispatchKeyGuard::new(DispatchKey::Fake);
    drop(middle);
    assert_eq!(
        now().included - FRESH.included,
        [DispatchKey::Tracer, DispatchKey::Fake].into_iter().collect()
    );
    drop((inner, outer));
    assert_eq!(now(), FRESH);

    let outer = ExcludeDispatchKeyGuard::new(DispatchKey::CPU);
    drop(ExcludeDispatchKeyGuard::new(DispatchKey::CPU));
    assert_eq!(now().excluded.raw(), 562_400_197_672_961);
    let inner = AutoDispatchBelowADInplaceOrView::new();
    assert_eq!(applied(DispatchKeySet::of_tensor(DispatchKey::CPU)), "DispatchKeySet(BackendSelect)");
    drop(outer);
    assert_eq!(now().excluded.raw(), 562_657_895_645_184);
    drop(inner);
    assert_eq!(now(), FRESH);
}

#[test]
fn guards_undo_on_panic() {
    let caught =
        std::panic::catch_unwind(|| exclude(DispatchKey::CPU, || no_grad(|| panic!("a kernel's panic"))));
    assert!(caught.is_err());
    assert_eq!((now(), GradMode::is_enabled()), (FRESH, true));
}

#[test]
fn force_replaces_both_sets() {
    let forced = LocalDispatchKeySet {
        included: DispatchKeySet::from(DispatchKey::Python),
        excluded: DispatchKeySet::from(DispatchKey::CPU),
    };
    let guard = ForceDispatchKeyGuard::new(forced);
    assert_eq!(now(), forced);
    assert_eq!(
        applied(DispatchKeySet::of_tensor(DispatchKey::CPU)),
        "DispatchKeySet(Python, ADInplaceOrView, AutogradCPU, AutocastCPU)"
    );
    drop(guard);
    assert_eq!(now(), FRESH);
}

#[test]
fn setters_last() {
    LocalDispatchKeySet::set_excluded(DispatchKey::AutocastCPU, false);
    LocalDispatchKeySet::set_included(DispatchKey::Tracer, true);
    let keys = apply(DispatchKeySet::of_tensor(DispatchKey::CPU));
    assert!(keys.has(DispatchKey::AutocastCPU) && keys.has(DispatchKey::Tracer));
    LocalDispatchKeySet::set_excluded(DispatchKey::AutocastCPU, true);
    LocalDispatchKeySet::set_included(DispatchKey::Tracer, false);
    assert_eq!(now(), FRESH);
}

#[test]
fn inference_mode_skips_autograd_and_comes_back() {
    let cpu = DispatchKeySet::of_tensor(DispatchKey::CPU);
    inference_mode(|| {
        assert_eq!((now().included.raw(), now().excluded.raw()), (67_108_864, 562_640_715_776_000));
        assert_eq!((InferenceMode::is_enabled(), GradMode::is_enabled()), (true, false));
        assert_eq!(
            applied(cpu),
            "DispatchKeySet(CPU, BackendSelect, ADInplaceOrView)",
            "the tensor brings it"
        );
        let _off = InferenceMode::new(false);
        assert_eq!((now(), InferenceMode::is_enabled(), GradMode::is_enabled()), (FRESH, false, true));
    });
    assert_eq!((now(), InferenceMode::is_enabled(), GradMode::is_enabled()), (FRESH, false, true));
}

#[test]
fn grad_mode_nests() {
    no_grad(|| {
        assert!(enable_grad(GradMode::is_enabled));
        assert!(!GradMode::is_enabled());
    });
    assert_eq!((GradMode::is_enabled(), now()), (true, FRESH));
}

#[test]
fn state_crosses_threads_only_on_purpose() {
    let state = inference_mode(|| include(DispatchKey::Tracer, ThreadLocalState::capture));
    let seen = std::thread::spawn(move || {
        let before = now();
        let inside = state.run(|| (now().included.has(DispatchKey::Tracer), InferenceMode::is_enabled()));
        (before, inside, now())
    });
    assert_eq!(seen.join().expect("no panic"), (FRESH, (true, true), FRESH));
}

/// Makes some guard.
type Hold<'a> = &'a dyn Fn() -> Box<dyn std::any::Any>;

#[test]
fn whichever_guard_is_held_a_panic_ends_it() {
    let nothing = LocalDispatchKeySet { included: DispatchKeySet::EMPTY, excluded: DispatchKeySet::EMPTY };
    let holds: [(&str, Hold<'_>); 6] = [
        ("include", &|| Box::new(IncludeDispatchKeyGuard::new(DispatchKey::Tracer))),
        ("exclude", &|| Box::new(ExcludeDispatchKeyGuard::new(DispatchKey::CPU))),
        ("force", &move || Box::new(ForceDispatchKeyGuard::new(nothing))),
        ("no grad", &|| Box::new(NoGradGuard::new())),
        ("inference", &|| Box::new(InferenceMode::new(true))),
        ("below autograd", &|| Box::new(AutoDispatchBelowAutograd::new())),
    ];
    for (name, hold) in holds {
        let caught = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            let _guard = hold();
            panic!("while it is held");
        }));
        assert!(caught.is_err());
        assert_eq!(
            (now(), GradMode::is_enabled(), InferenceMode::is_enabled()),
            (FRESH, true, false),
            "{name}"
        );
    }
    no_grad(|| {
        let caught = std::panic::catch_unwind(|| enable_grad(|| panic!("inside")));
        assert!(caught.is_err() && !GradMode::is_enabled());
    });
}
