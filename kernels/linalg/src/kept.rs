//! Calls of `faer`, which keeps memory for each thread, wherever the thread is: at its end that memory is gone.

use faer::linalg::matmul::matmul;
use faer::{Accum, Mat, Par};
use torch_library_aten::cpu::kept::{Workspace, beside};

thread_local! {
    static WORKSPACE: Workspace = Workspace::after(|| {
        gemm_common::gemm::L2_SLAB.with(|_| ());
        // A product that is too large for registers alone, the smallest with a block.
        let (a, mut product) = (Mat::<f64>::zeros(40, 40), Mat::zeros(40, 40));
        matmul(product.as_mut(), Accum::Replace, a.as_ref(), a.as_ref(), 1.0, Par::Seq);
    });
}

/// Runs what calls `faer`: here, or on another thread where this one is at its end.
#[inline]
pub(crate) fn with_workspace<R: Send>(f: impl FnOnce() -> R + Send) -> R {
    beside(&WORKSPACE, f)
}
