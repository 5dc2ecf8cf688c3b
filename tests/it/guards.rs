//! A thread's included and excluded keys decide where its calls go, and do not affect other threads.

use std::collections::BTreeSet;
use std::panic::AssertUnwindSafe;

use rayon::prelude::*;
use torch_library::guard::{self, GradMode, LocalDispatchKeySet, ThreadLocalState};
use torch_library::prelude::*;

torch_library! {
    pub mod it_guards {
        /// Names the layer that the call reached.
        layer(Tensor x) -> str;
    }
}

macro_rules! layers {
    ($($function:ident $key:ident;)*) => {$(
        #[torch_impl(it_guards::layer, $key)]
        fn $function(_: &Tensor) -> Result<String> {
            Ok(stringify!($key).to_owned())
        }
    )*};
}

layers! {
    cpu CPU;
    backend_select BackendSelect;
    in_place ADInplaceOrView;
    autograd AutogradCPU;
    tracer Tracer;
    autocast AutocastCPU;
    batched FuncTorchBatched;
    snapshot PythonTLSSnapshot;
    pre_dispatch PreDispatch;
}

fn layer() -> String {
    it_guards::layer(&Tensor::from([1.0])).unwrap()
}

#[test]
fn layers_run_from_the_highest_priority_down() {
    let order = [
        DispatchKey::PreDispatch,
        DispatchKey::PythonTLSSnapshot,
        DispatchKey::FuncTorchBatched,
        DispatchKey::AutocastCPU,
        DispatchKey::Tracer,
        DispatchKey::AutogradCPU,
        DispatchKey::ADInplaceOrView,
        DispatchKey::BackendSelect,
        DispatchKey::CPU,
    ];
    for (index, key) in order.into_iter().enumerate() {
        let keys: DispatchKeySet = order[index..].iter().copied().collect();
        // The order in which a set was built does not matter.
        let reversed: DispatchKeySet = order[index..].iter().rev().copied().collect();
        let nothing =
            LocalDispatchKeySet { included: DispatchKeySet::EMPTY, excluded: DispatchKeySet::EMPTY };
        let _guard = guard::ForceDispatchKeyGuard::new(nothing);
        for keys in [keys, reversed] {
            let x = Tensor::from([1.0]).with_key_set(keys);
            assert_eq!(it_guards::layer(&x).unwrap(), key.to_string());
        }
    }
}

#[test]
fn a_fresh_thread_skips_autocast() {
    assert_eq!(layer(), "AutogradCPU");
    let not_excluded =
        LocalDispatchKeySet { excluded: DispatchKeySet::EMPTY, ..LocalDispatchKeySet::current() };
    let _guard = guard::ForceDispatchKeyGuard::new(not_excluded);
    assert_eq!(layer(), "AutocastCPU");
    assert_eq!(std::thread::spawn(layer).join().unwrap(), "AutogradCPU", "guards stay on their thread");
}

#[test]
fn exclusion_wins_over_inclusion_and_ends_with_its_guard() {
    guard::include(DispatchKey::Tracer, || {
        assert_eq!(layer(), "Tracer");
        guard::exclude(DispatchKey::Tracer, || assert_eq!(layer(), "AutogradCPU"));
        assert_eq!(layer(), "Tracer");
    });
    assert_eq!(layer(), "AutogradCPU");
}

#[test]
fn excluding_one_backends_autograd_excludes_all() {
    guard::exclude(DispatchKey::AutogradCUDA, || assert_eq!(layer(), "ADInplaceOrView"));
    guard::exclude(DispatchKeySet::AUTOGRAD_AND_AD_INPLACE_OR_VIEW, || assert_eq!(layer(), "BackendSelect"));
}

#[test]
fn inference_mode_skips_autograd_and_inference_tensors_skip_bookkeeping_too() {
    let normal = Tensor::from([1.0]);
    guard::inference_mode(|| {
        assert_eq!(it_guards::layer(&normal).unwrap(), "ADInplaceOrView");
        assert_eq!(layer(), "BackendSelect");
    });
    let inference = guard::inference_mode(|| Tensor::from([1.0]));
    assert_eq!(it_guards::layer(&inference).unwrap(), "ADInplaceOrView", "which a thread includes");
}

#[test]
fn a_panic_in_a_kernel_leaves_the_thread_as_it_was() {
    let before = LocalDispatchKeySet::current();
    let panicked = std::panic::catch_unwind(|| guard::exclude(DispatchKey::CPU, || panic!("on purpose")));
    assert!(panicked.is_err());
    assert_eq!(LocalDispatchKeySet::current(), before);
}

#[test]
fn the_state_of_a_thread_can_be_carried_to_another() {
    guard::include(DispatchKey::Tracer, || {
        let state = ThreadLocalState::capture();
        let there = std::thread::spawn(move || state.run(layer)).join().unwrap();
        assert_eq!(there, "Tracer");
    });
}

#[test]
fn a_panic_in_a_carried_state_leaves_the_thread_its_own() {
    let state = guard::include(DispatchKey::Tracer, || guard::no_grad(ThreadLocalState::capture));
    let before = LocalDispatchKeySet::current();
    let panicked = std::panic::catch_unwind(AssertUnwindSafe(|| {
        state.run(|| {
            assert_eq!((layer().as_str(), GradMode::is_enabled()), ("Tracer", false));
            std::panic::resume_unwind(Box::new("on purpose"))
        })
    }));
    assert_eq!(panicked.unwrap_err().downcast_ref(), Some(&"on purpose"));
    assert_eq!((layer().as_str(), GradMode::is_enabled()), ("AutogradCPU", true));
    assert_eq!(LocalDispatchKeySet::current(), before);
}

#[test]
fn the_state_of_a_thread_reaches_the_workers_of_a_pool_and_leaves_them() {
    let layers = |state: &ThreadLocalState| -> BTreeSet<String> {
        (0..2000).into_par_iter().map(|_| state.run(layer)).collect()
    };
    let only = |name: &str| BTreeSet::from([name.to_owned()]);
    let outside = ThreadLocalState::capture();
    guard::include(DispatchKey::Tracer, || {
        assert_eq!(layers(&ThreadLocalState::capture()), only("Tracer"));
        assert_eq!(layers(&outside), only("AutogradCPU"));
    });
    let bare: BTreeSet<_> = (0..2000).into_par_iter().map(|_| layer()).collect();
    assert_eq!(bare, only("AutogradCPU"));
}
