//! Calls on tensors that nobody has seen yet.

use torch_library::guard::AutoDispatchBelowADInplaceOrView;

/// Runs what fills a tensor that nobody has seen yet: no layer above has anything to learn from it.
pub fn unseen<R>(f: impl FnOnce() -> R) -> R {
    let _below = AutoDispatchBelowADInplaceOrView::new();
    f()
}
