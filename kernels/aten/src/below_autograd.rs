//! Calls on new tensors, which autograd and the tracking of views need not see.

use torch_library::guard::AutoDispatchBelowADInplaceOrView;

/// Runs a closure below autograd and the tracking of views: on a new tensor they have nothing to record.
pub fn below_autograd<R>(f: impl FnOnce() -> R) -> R {
    let _below = AutoDispatchBelowADInplaceOrView::new();
    f()
}
