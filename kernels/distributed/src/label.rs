//! Labels for collectives, which errors show.

use std::cell::RefCell;

thread_local! {
    static LABEL: RefCell<String> = const { RefCell::new(String::new()) };
}

/// Runs a function with a label for its collectives, which the errors of all ranks show.
///
/// ```
/// use torch_library::prelude::*;
/// use torch_library_distributed::{c10d, labelled, threads};
///
/// let ranks = threads::run(2, |group| {
///     let mut x = [Tensor::zeros(&[2 + group.rank() as i64], DType::Float32, Device::CPU)?];
///     labelled("parameter `out.bias`", || {
///         c10d::allreduce_::with(&mut x, "world", "sum", None).async_op(false).call().map(drop)
///     })
/// });
/// for rank in ranks {
///     let error = rank.unwrap_err().to_string();
///     assert!(error.contains("rank 1 called c10d::allreduce_ (collective 0) of float32 [3], sum"));
///     assert!(error.contains("parameter `out.bias`"));
/// }
/// ```
pub fn labelled<T>(label: &str, body: impl FnOnce() -> T) -> T {
    /// Restores the previous label, also if the function panics.
    struct Before(String);
    impl Drop for Before {
        fn drop(&mut self) {
            LABEL.with_borrow_mut(|label| std::mem::swap(label, &mut self.0));
        }
    }
    let _before = Before(LABEL.replace(label.to_owned()));
    body()
}

/// The label of this thread's collectives.
pub(crate) fn current() -> String {
    LABEL.with_borrow(String::clone)
}
