//! Calls of `faer` from exiting threads: `faer` keeps memory in a thread-local, which is gone while the thread exits.

use faer::linalg::matmul::matmul;
use faer::{Accum, Mat, Par};
use torch_library_aten::cpu::kept::{Workspace, beside};

thread_local! {
    static WORKSPACE: Workspace = Workspace::after(|| {
        gemm_common::gemm::L2_SLAB.with(|_| ());
        // The smallest product that is too large for registers alone, and so uses a block of memory.
        let (a, mut product) = (Mat::<f64>::zeros(40, 40), Mat::zeros(40, 40));
        matmul(product.as_mut(), Accum::Replace, a.as_ref(), a.as_ref(), 1.0, Par::Seq);
    });
}

/// Runs a closure that calls `faer`: on this thread, or on another one if this one is exiting.
#[inline]
pub(crate) fn with_workspace<R: Send>(f: impl FnOnce() -> R + Send) -> R {
    beside(&WORKSPACE, f)
}
