//! Sharing elements among threads.

use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};

use smallvec::SmallVec;
use torch_library::guard::ThreadLocalState;

pub use batch::batch;
use lend::lend;

mod batch;
mod door;
mod lend;

/// The grain size: the number of elements for which it pays to wake another thread.
///
/// PyTorch: `at::internal::GRAIN_SIZE`.
pub const GRAIN: usize = 32_768;

/// The number of parts for each thread, so that a thread that starts late or is slow takes fewer of them.
const PARTS: usize = 4;

/// Runs a closure over the ranges that make up `0..count`, on several threads where that pays.
///
/// The threads inherit the calling thread's dispatch state, so the closure may call operators.
///
/// ```
/// use std::sync::atomic::{AtomicUsize, Ordering};
///
/// use torch_library_loops::ranges;
///
/// let sum = AtomicUsize::new(0);
/// ranges(100_000, |range| {
///     sum.fetch_add(range.sum(), Ordering::Relaxed); // one addition for each range
/// });
/// assert_eq!(sum.into_inner(), 100_000 * 99_999 / 2);
/// ```
///
/// PyTorch: `at::parallel_for`.
pub fn ranges(count: usize, f: impl Fn(Range<usize>) + Sync) {
    shares(count, GRAIN, f);
}

/// Like [`ranges`], with a grain size of `grain` items.
///
/// The calling thread works too, so nothing waits for a sleeping thread to wake up: there are a few parts for each
/// thread, and each thread takes its own, which lie side by side, and then those that other threads have not begun. A
/// thread that wakes after that does nothing. Since each thread always begins at the same place, it finds in its cache
/// what it wrote, or read, in the call before.
#[inline]
pub fn shares(count: usize, grain: usize, f: impl Fn(Range<usize>) + Sync) {
    let threads = if count < 2 * grain { 1 } else { rayon::current_num_threads().min(count / grain) };
    if threads < 2 {
        return f(0..count);
    }
    shared(count, (threads * PARTS).min(count / grain), threads, &f);
}

/// Runs a closure over the parts of `0..count`, on several threads. It is not generic, so that it is compiled only
/// once.
fn shared(count: usize, parts: usize, threads: usize, f: &(dyn Fn(Range<usize>) + Sync)) {
    let state = ThreadLocalState::capture();
    let first_of = |home: usize| home * parts / threads;
    // For each thread, the next of its parts.
    let next: SmallVec<[AtomicUsize; 16]> =
        (0..threads).map(|home| AtomicUsize::new(first_of(home))).collect();
    let work = |own: usize| {
        for home in (own..threads).chain(0..own) {
            loop {
                let part = next[home].fetch_add(1, Ordering::Relaxed); // each part is taken once
                if part >= first_of(home + 1) {
                    break;
                }
                f(part * count / parts..(part + 1) * count / parts);
            }
        }
    };
    let other = || 1 + rayon::current_thread_index().unwrap_or(0) % (threads - 1);
    lend(threads - 1, &|| state.run(|| work(other())), || work(0));
}

#[cfg(test)]
mod tests {
    use torch_library::guard::{GradMode, no_grad};

    use super::*;

    #[test]
    fn every_share_is_done_once_in_the_state_of_the_caller() {
        let done = AtomicUsize::new(0);
        let count = 64 * GRAIN + 1;
        no_grad(|| {
            ranges(count, |range| {
                assert!(!GradMode::is_enabled());
                done.fetch_add(range.len(), Ordering::Relaxed);
            });
        });
        assert_eq!(done.into_inner(), count);
    }
}
