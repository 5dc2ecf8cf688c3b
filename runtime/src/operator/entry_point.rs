//! C functions for each operator, for hosts that call a kernel with only a stack, without saying which kernel is meant.
//!
//! PyTorch's stable ABI is such a host: what it registers is a bare function pointer. A closure cannot be passed as
//! one, and generating functions at run time is forbidden on many systems. So the feature `host` gives each operator
//! that a macro declares its own functions, and a place where the host's adapter stores what they should run. There are
//! several functions, so that one operator can be registered at several keys with different behaviour.
#![expect(unsafe_code, reason = "passes a host's stack on to the code that knows its layout")]

use std::fmt;
use std::sync::OnceLock;

use crate::error::{Error, ErrorKind, Result};

/// A function that a host calls, with the words of its stack, the number of inputs and the number of outputs.
pub type EntryFunction = unsafe extern "C-unwind" fn(stack: *mut u64, inputs: u64, outputs: u64);

/// The number of functions of an operator.
const FUNCTIONS: usize = 3;

/// The code that runs when a host calls an operator.
pub trait Receiver: Send + Sync {
    /// Takes the arguments from the stack and leaves the returns there. `which` is the index of the operator's function
    /// that was called. It may unwind into the host.
    ///
    /// # Safety
    /// * `stack` points to as many words as there are inputs or outputs, whichever are more. They belong to the callee
    ///   until it returns, and hold the values that the host says they hold.
    unsafe fn receive(&self, which: usize, stack: *mut u64, inputs: u64, outputs: u64);
}

/// The functions of one operator, with their receiver.
///
/// PyTorch: what `STABLE_TORCH_LIBRARY_IMPL` makes of a kernel with `TORCH_BOX`.
pub struct EntryPoint {
    functions: [EntryFunction; FUNCTIONS],
    receiver: OnceLock<Box<dyn Receiver>>,
}

impl EntryPoint {
    /// An entry point without a receiver. Each function must call [`enter`](Self::enter) of it, with its own index.
    pub const fn new(functions: [EntryFunction; FUNCTIONS]) -> Self {
        EntryPoint { functions, receiver: OnceLock::new() }
    }

    /// The function with this index, for the host; there are three.
    pub fn function(&self, which: usize) -> Option<EntryFunction> {
        self.functions.get(which).copied()
    }

    /// Sets the receiver, once for the whole process.
    ///
    /// # Errors
    /// A receiver has been set before.
    pub fn set_receiver(&self, receiver: Box<dyn Receiver>) -> Result<()> {
        let taken = |_| Error::new(ErrorKind::Conflict, "the operator was handed to a host before");
        self.receiver.set(receiver).map_err(taken)
    }

    /// Calls the receiver. Without one, the stack stays unchanged.
    ///
    /// # Safety
    /// * The requirements of [`Receiver::receive`].
    #[inline]
    pub unsafe fn enter(&self, which: usize, stack: *mut u64, inputs: u64, outputs: u64) {
        if let Some(receiver) = self.receiver.get() {
            // SAFETY: the caller fulfils what the receiver requires.
            unsafe { receiver.receive(which, stack, inputs, outputs) }
        }
    }
}

impl fmt::Debug for EntryPoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("EntryPoint").field("is_taken", &self.receiver.get().is_some()).finish()
    }
}

/// In an operator's module: its entry point.
#[cfg(feature = "host")]
#[doc(hidden)]
#[macro_export]
macro_rules! __entry_point {
    () => {
        fn entry_point() -> &'static $crate::__private::EntryPoint {
            static POINT: $crate::__private::EntryPoint =
                $crate::__private::EntryPoint::new([enter::<0>, enter::<1>, enter::<2>]);
            /// # Safety
            /// - The requirements of `EntryPoint::enter`.
            unsafe extern "C-unwind" fn enter<const WHICH: $crate::__private::usize>(
                stack: *mut $crate::__private::u64,
                inputs: $crate::__private::u64,
                outputs: $crate::__private::u64,
            ) {
                // SAFETY: the caller fulfils what `EntryPoint::enter` requires.
                unsafe { $crate::__private::EntryPoint::enter(&POINT, WHICH, stack, inputs, outputs) }
            }
            &POINT
        }
    };
}

/// How an operator's declaration names its entry point, inside its module.
#[cfg(feature = "host")]
#[doc(hidden)]
#[macro_export]
macro_rules! __entry_point_here {
    () => {
        $crate::__private::Option::Some(entry_point)
    };
}

/// In an operator's module: it has no entry point, since the feature `host` is off.
#[cfg(not(feature = "host"))]
#[doc(hidden)]
#[macro_export]
macro_rules! __entry_point {
    () => {};
}

/// How an operator's declaration names its entry point: it has none.
#[cfg(not(feature = "host"))]
#[doc(hidden)]
#[macro_export]
macro_rules! __entry_point_here {
    () => {
        $crate::__private::Option::None
    };
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU64, Ordering};

    use super::*;

    static POINT: EntryPoint = EntryPoint::new([enter::<0>, enter::<1>, enter::<2>]);

    /// # Safety
    /// * The requirements of [`EntryPoint::enter`].
    unsafe extern "C-unwind" fn enter<const WHICH: usize>(stack: *mut u64, inputs: u64, outputs: u64) {
        // SAFETY: the caller fulfils what `enter` requires.
        unsafe { POINT.enter(WHICH, stack, inputs, outputs) }
    }

    struct Sums(AtomicU64);

    impl Receiver for Sums {
        unsafe fn receive(&self, which: usize, stack: *mut u64, inputs: u64, _: u64) {
            // SAFETY: the caller lends `inputs` words.
            let words = unsafe { std::slice::from_raw_parts_mut(stack, inputs as usize) };
            words[0] = words.iter().sum::<u64>() + which as u64;
            self.0.fetch_add(1, Ordering::Relaxed); // only a counter
        }
    }

    #[test]
    fn a_function_runs_what_was_left_for_it_and_says_which_it_is() {
        let (mut stack, [first, last]) = ([2, 3], [0, 2].map(|which| POINT.function(which).unwrap()));
        // SAFETY: the stack has two words.
        unsafe { first(stack.as_mut_ptr(), 2, 1) };
        assert_eq!(stack, [2, 3], "nobody receives yet");
        POINT.set_receiver(Box::new(Sums(AtomicU64::new(0)))).unwrap();
        // SAFETY: the stack has two words.
        unsafe { first(stack.as_mut_ptr(), 2, 1) };
        assert_eq!(stack, [5, 3]);
        // SAFETY: the stack has two words.
        unsafe { last(stack.as_mut_ptr(), 2, 1) };
        assert_eq!(stack, [10, 3]);
        assert!(POINT.function(FUNCTIONS).is_none());
        let again = POINT.set_receiver(Box::new(Sums(AtomicU64::new(0)))).unwrap_err();
        assert_eq!(again.to_string(), "the operator was handed to a host before");
    }
}
