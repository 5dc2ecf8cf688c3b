//! Calls on new tensors, about which no layer needs to know yet.

use torch_library::guard::AutoDispatchBelowADInplaceOrView;

/// Runs a closure that fills a new tensor below autograd and views: those layers have nothing to record for it.
pub fn unseen<R>(f: impl FnOnce() -> R) -> R {
    let _below = AutoDispatchBelowADInplaceOrView::new();
    f()
}
