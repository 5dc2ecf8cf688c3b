//! Endless recursion on the main thread, whose stack the system grows: without a harness, which tests on other threads.
#![forbid(unsafe_code)]

use torch_library::ErrorKind;
use torch_library::prelude::*;

torch_library! {
    /// An operator that calls itself.
    pub mod deep_on_main {
        /// Calls itself `n` times.
        typed(Tensor self, int n) -> Tensor;
    }
}

#[torch_impl(deep_on_main, CPU)]
fn typed(this: &Tensor, n: i64) -> Result<Tensor> {
    if n == 0 { Ok(this.clone()) } else { deep_on_main::typed(this, n - 1) }
}

fn main() {
    let x = Tensor::from([1.0]);
    assert_eq!(deep_on_main::typed(&x, 1000).unwrap().sizes(), [1]);
    let error = deep_on_main::typed(&x, 10_000_000).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Recursion, "{error}");
    println!("an operator that calls itself without end on the main thread: {error}");
}
