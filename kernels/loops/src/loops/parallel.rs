//! Sharing elements among threads.

use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};

use torch_library::guard::ThreadLocalState;

use lend::lend;

mod door;
mod lend;

/// How many elements are worth a thread.
///
/// PyTorch: `at::internal::GRAIN_SIZE`.
pub const GRAIN: usize = 32_768;

/// How many parts there are for each thread, so that one that is late, or slowed down by others, has fewer of them.
const PARTS: usize = 4;

/// Runs a closure over all of `0..count`, in ranges on several threads where that pays.
///
/// The threads have this thread's dispatch state, so a closure may call operators.
pub fn ranges(count: usize, f: impl Fn(Range<usize>) + Sync) {
    shares(count, GRAIN, f);
}

/// As [`ranges`], for items that are worth a thread in a number of `grain`.
///
/// This thread does its part, so nothing waits for a sleeping one to wake up: a few parts for each thread lie
/// ready, and who is there takes the next. Who comes when all are taken has come for nothing.
#[inline]
pub fn shares(count: usize, grain: usize, f: impl Fn(Range<usize>) + Sync) {
    let threads = if count < 2 * grain { 1 } else { rayon::current_num_threads().min(count / grain) };
    if threads < 2 {
        return f(0..count);
    }
    shared(count, (threads * PARTS).min(count / grain), threads, &f);
}

/// Runs a closure over the parts of `0..count`, on several threads. What it calls is compiled once for all closures.
fn shared(count: usize, parts: usize, threads: usize, f: &(dyn Fn(Range<usize>) + Sync)) {
    let state = ThreadLocalState::capture();
    let next = AtomicUsize::new(0);
    let work = || {
        loop {
            let part = next.fetch_add(1, Ordering::Relaxed); // each number is given out once
            if part >= parts {
                return;
            }
            f(part * count / parts..(part + 1) * count / parts);
        }
    };
    lend(threads - 1, &|| state.run(work), work);
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
