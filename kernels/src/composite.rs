//! Kernels that are written in other operators, or that need no elements: they serve every backend.

mod arrange;
mod binary;
mod compare;
mod copy;
mod create;
mod functional;
mod image;
mod index;
mod lazy;
mod linear;
mod loss;
mod math;
mod matmul;
mod norm;
mod optimizer;
mod order;
mod random;
mod reduce;
mod scatter;
mod special;
mod statistics;
mod view;
mod window;

use torch_library::guard::AutoDispatchBelowADInplaceOrView;

/// Runs what fills a tensor that nobody has seen yet: no layer above has anything to learn from it.
pub(crate) fn unseen<R>(f: impl FnOnce() -> R) -> R {
    let _below = AutoDispatchBelowADInplaceOrView::new();
    f()
}
