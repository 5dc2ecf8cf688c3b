//! Operators that call themselves more deeply than any stack allows.
#![forbid(unsafe_code)]

use std::thread;

use torch_library::observe::Observer;
use torch_library::prelude::*;

use crate::harness::{allowed, count};

torch_library! {
    /// Operators for these programs.
    pub mod recursion {
        /// Calls itself this many times.
        down(int times) -> int;
    }
}

#[torch_impl(recursion::down, CompositeExplicitAutograd)]
fn down(times: i64) -> Result<i64> {
    if times == 0 { Ok(0) } else { Ok(recursion::down(times - 1)? + 1) }
}

fn down_boxed(times: i64) -> Result<i64> {
    let mut stack = Stack::from_iter([Value::Int(times)]);
    recursion::down::handle().call_boxed(&mut stack)?;
    stack.pop_as()
}

const DEEP: i64 = count(100_000, 20) as i64;

fn assert_right(times: i64, found: Result<i64>) {
    assert_eq!(allowed(found).unwrap_or(times), times);
    assert_eq!(recursion::down(10).map_err(|error| error.to_string()), Ok(10));
}

/// An operator calls itself a hundred thousand times.
pub(crate) fn calls_itself() -> Result<()> {
    assert_right(DEEP, recursion::down(DEEP));
    Ok(())
}

/// An operator calls itself ten thousand times on a thread with two megabytes of stack.
pub(crate) fn calls_itself_on_a_small_stack() -> Result<()> {
    let times = count(10_000, 20) as i64;
    let thread = thread::Builder::new().stack_size(2 << 20);
    let ended = thread.spawn(move || assert_right(times, recursion::down(times)))?.join();
    assert!(ended.is_ok());
    Ok(())
}

/// An operator calls itself boxed.
pub(crate) fn calls_itself_boxed() -> Result<()> {
    assert_right(DEEP, down_boxed(DEEP));
    Ok(())
}

/// An observer calls the operator that it observes.
pub(crate) fn observer_calls_itself() -> Result<()> {
    let handle = Observer::new(|_| assert_right(1, recursion::down(1))).with_inputs().on_all_threads();
    assert_right(100, recursion::down(100));
    assert_right(100, down_boxed(100));
    drop(handle);
    Ok(())
}
