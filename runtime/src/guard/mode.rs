//! Modes of a thread: grad mode, inference mode, and the whole state as a value that can be carried to other threads.

use std::fmt;
use std::marker::PhantomData;

use super::carried::{Carried, Layered};
use super::{LocalDispatchKeySet, NotSend, on_thread};
use crate::key::{DispatchKey, DispatchKeySet};
use crate::program::Program;
use crate::turn;

/// Whether operations on this thread are recorded for the backward pass.
///
/// ```
/// use torch_library::guard::{GradMode, no_grad};
///
/// assert!(GradMode::is_enabled());
/// assert!(!no_grad(GradMode::is_enabled));
/// ```
///
/// PyTorch: `c10::GradMode`.
#[derive(Debug)]
pub enum GradMode {}

impl GradMode {
    /// Whether it is on, as on a new thread.
    #[inline]
    pub fn is_enabled() -> bool {
        on_thread(|thread| thread.grad_mode.get())
    }

    /// Turns it on or off permanently.
    #[inline]
    pub fn set_enabled(yes: bool) {
        on_thread(|thread| thread.grad_mode.set(yes));
    }
}

/// The keys below the autograd layer.
#[inline(always)]
pub(crate) fn below_autograd(keys: DispatchKeySet) -> DispatchKeySet {
    const BELOW: DispatchKeySet = DispatchKeySet::full_after(DispatchKey::AutogradOther);
    keys & BELOW
}

/// Whether a call would lose a gradient without a derivative, so that the default must record it.
#[inline(always)]
pub(crate) fn needs_derivative(requires_grad: bool) -> bool {
    requires_grad && GradMode::is_enabled()
}

/// Defines the guards that set the grad mode.
macro_rules! grad_guards {
    ($($(#[$doc:meta])* $guard:ident sets $mode:literal;)*) => {$(
        $(#[$doc])*
        #[must_use = "a guard acts while it lives: bind it to a name, `let _guard = …`; `let _ = …` drops it at once"]
        #[derive(Debug)]
        pub struct $guard {
            before: bool,
            not_send: NotSend,
        }

        impl $guard {
            /// Sets the grad mode.
            #[inline]
            pub fn new() -> Self {
                let before = GradMode::is_enabled();
                GradMode::set_enabled($mode);
                $guard { before, not_send: PhantomData }
            }
        }

        impl Drop for $guard {
            #[inline]
            fn drop(&mut self) {
                GradMode::set_enabled(self.before);
            }
        }
    )*};
}

grad_guards! {
    /// Turns grad mode off while it lives.
    ///
    /// ```
    /// use torch_library::guard::{GradMode, NoGradGuard};
    ///
    /// let _guard = NoGradGuard::new();
    /// assert!(!GradMode::is_enabled());
    /// ```
    ///
    /// PyTorch: `c10::NoGradGuard`, `torch.no_grad()`.
    NoGradGuard sets false;

    /// Turns grad mode on while it lives.
    ///
    /// ```
    /// use torch_library::guard::{EnableGradGuard, GradMode, NoGradGuard};
    ///
    /// let _off = NoGradGuard::new();
    /// let _on = EnableGradGuard::new();
    /// assert!(GradMode::is_enabled());
    /// ```
    ///
    /// PyTorch: `torch.enable_grad()`.
    EnableGradGuard sets true;
}

/// Inference mode, on or off while it lives. While it is on, this thread skips autograd and the tracking of versions
/// and views, grad mode is off, and new tensors are inference tensors. Turning it off within a region that has it on
/// restores all of that.
///
/// ```
/// use torch_library::DispatchKey;
/// use torch_library::guard::{InferenceMode, LocalDispatchKeySet};
///
/// let _on = InferenceMode::new(true);
/// assert!(!LocalDispatchKeySet::current().included.has(DispatchKey::ADInplaceOrView));
/// let _off = InferenceMode::new(false);
/// assert!(LocalDispatchKeySet::current().included.has(DispatchKey::ADInplaceOrView));
/// ```
///
/// PyTorch: `c10::InferenceMode`.
#[must_use = "a guard acts while it lives: bind it to a name, `let _guard = …`; `let _ = …` drops it at once"]
#[derive(Debug)]
pub struct InferenceMode {
    before: Modes,
    not_send: NotSend,
}

impl InferenceMode {
    /// Turns inference mode on or off; grad mode becomes the opposite.
    #[inline]
    pub fn new(enabled: bool) -> Self {
        let before = Modes::capture();
        let LocalDispatchKeySet { included, excluded } = before.keys;
        let keys = if enabled {
            LocalDispatchKeySet {
                included: included.remove(DispatchKey::ADInplaceOrView),
                excluded: excluded | DispatchKeySet::AUTOGRAD,
            }
        } else {
            LocalDispatchKeySet {
                included: included.add(DispatchKey::ADInplaceOrView),
                excluded: excluded - DispatchKeySet::AUTOGRAD,
            }
        };
        Modes { keys, grad_mode: !enabled, inference_mode: enabled }.force();
        InferenceMode { before, not_send: PhantomData }
    }

    /// Whether this thread is in inference mode.
    #[inline]
    pub fn is_enabled() -> bool {
        on_thread(|thread| thread.inference_mode.get())
    }
}

impl Drop for InferenceMode {
    #[inline]
    fn drop(&mut self) {
        self.before.force();
    }
}

/// Runs a closure with grad mode off.
///
/// ```
/// use torch_library::Tensor;
/// use torch_library::guard::no_grad;
///
/// let weight = Tensor::from([1.0]);
/// weight.set_requires_grad(true)?;
/// let mut weight_now = weight.clone();
/// no_grad(|| weight_now.fill(0.5))?; // an update, which is no part of the graph
/// assert_eq!(weight.to_vec::<f64>()?, [0.5]);
/// # Ok::<(), torch_library::Error>(())
/// ```
///
/// PyTorch: `torch.no_grad()`.
pub fn no_grad<R>(f: impl FnOnce() -> R) -> R {
    let _guard = NoGradGuard::new();
    f()
}

/// Runs a closure with grad mode on.
///
/// ```
/// use torch_library::guard::{GradMode, enable_grad, no_grad};
///
/// assert!(no_grad(|| enable_grad(GradMode::is_enabled)));
/// ```
///
/// PyTorch: `torch.enable_grad()`.
pub fn enable_grad<R>(f: impl FnOnce() -> R) -> R {
    let _guard = EnableGradGuard::new();
    f()
}

/// Runs a closure in inference mode.
///
/// ```
/// use torch_library::Tensor;
/// use torch_library::guard::inference_mode;
///
/// let x = inference_mode(|| Tensor::from([1.0]));
/// assert!(x.is_inference());
/// ```
///
/// PyTorch: `torch.inference_mode()`.
pub fn inference_mode<R>(f: impl FnOnce() -> R) -> R {
    let _guard = InferenceMode::new(true);
    f()
}

/// The modes that the guards of this module set.
#[derive(Clone, Copy, Debug)]
struct Modes {
    keys: LocalDispatchKeySet,
    grad_mode: bool,
    inference_mode: bool,
}

impl Modes {
    #[inline]
    fn capture() -> Self {
        Modes {
            keys: LocalDispatchKeySet::current(),
            grad_mode: GradMode::is_enabled(),
            inference_mode: InferenceMode::is_enabled(),
        }
    }

    #[inline]
    fn force(self) {
        self.keys.force();
        on_thread(|thread| {
            thread.grad_mode.set(self.grad_mode);
            thread.inference_mode.set(self.inference_mode);
        });
    }
}

/// The state of a thread as a value: included and excluded keys, grad mode, inference mode, observers, the precision
/// and the cached casts of autocast, the levels of vmap. A new thread starts with the default state; work that is
/// handed to it takes this state along.
///
/// ```
/// use torch_library::guard::{GradMode, ThreadLocalState, no_grad};
///
/// let state = no_grad(ThreadLocalState::capture);
/// let enabled = std::thread::spawn(move || state.run(GradMode::is_enabled)).join();
/// assert_eq!(enabled.ok(), Some(false));
/// ```
///
/// The workers of a thread pool have no meaningful state of their own, since they work for everyone. Give them the
/// state as well:
///
/// ```
/// use rayon::prelude::*;
/// use torch_library::guard::{GradMode, ThreadLocalState, no_grad};
///
/// no_grad(|| {
///     let state = ThreadLocalState::capture();
///     assert!((0..1000).into_par_iter().all(|_| state.run(|| !GradMode::is_enabled())));
/// });
/// ```
///
/// PyTorch: `at::ThreadLocalState`, `at::ThreadLocalStateGuard`.
#[derive(Clone)]
pub struct ThreadLocalState {
    modes: Modes,
    carried: Carried,
    layers: <Program as Layered>::State,
    /// The number of [turns](crate::turn) that the captured thread has, and keeps while it waits for threads that work
    /// for it.
    turns: usize,
}

impl ThreadLocalState {
    /// Captures this thread's state.
    pub fn capture() -> Self {
        ThreadLocalState {
            modes: Modes::capture(),
            carried: Carried::capture(),
            layers: Program::capture(),
            turns: turn::taken(),
        }
    }

    /// Runs a closure with this state; afterwards, even after a panic, the thread has its own state again.
    pub fn run<R>(&self, f: impl FnOnce() -> R) -> R {
        struct Restore {
            modes: Modes,
            /// `Some` until the drop.
            others: Option<(Carried, <Program as Layered>::State)>,
            turns: usize,
        }
        impl Drop for Restore {
            fn drop(&mut self) {
                turn::set_taken(self.turns);
                self.modes.force();
                if let Some((carried, layers)) = self.others.take() {
                    drop((carried.replace(), Program::replace(layers)));
                }
            }
        }
        let turns = turn::set_taken(turn::taken() + self.turns);
        let others = (self.carried.clone().replace(), Program::replace(self.layers.clone()));
        let _restore = Restore { modes: Modes::capture(), others: Some(others), turns };
        self.modes.force();
        f()
    }
}

impl fmt::Debug for ThreadLocalState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.modes.fmt(f)
    }
}
