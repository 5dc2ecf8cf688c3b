//! The keys that this thread adds to every call and removes from it, and guards that change them.
//!
//! A call dispatches on `((keys of the arguments | included) - excluded) & mask of the operator`: exclusion wins over
//! inclusion. A new thread includes `BackendSelect` and `ADInplaceOrView` and excludes the autocast keys, whatever the
//! thread that started it does: [`ThreadLocalState`] carries the state over explicitly.
//!
//! Guards undo exactly what they did, so guards for different keys may be dropped in any order. Guards that replace the
//! state as a whole (force, inference mode, grad mode) must be dropped in reverse order, as scopes do automatically.
//!
//! PyTorch: `c10/core/impl/LocalDispatchKeySet.h`, `c10/core/InferenceMode.h`, `c10/core/GradMode.h`.
#![expect(clippy::new_without_default, reason = "a guard that is made by default guards nothing")]

mod carried;
mod mode;

use std::cell::Cell;
use std::marker::PhantomData;

use crate::{DispatchKey, DispatchKeySet};

pub use mode::{
    EnableGradGuard, GradMode, InferenceMode, NoGradGuard, ThreadLocalState, enable_grad, inference_mode,
    no_grad,
};

pub(crate) use carried::{Layered, carried, set_carried};
pub(crate) use mode::{below_autograd, needs_derivative};

/// The dispatch state of a thread, in separate cells, so that a call reads three words and a guard writes one or two.
struct Thread {
    included: Cell<DispatchKeySet>,
    excluded: Cell<DispatchKeySet>,
    /// The mask that calls apply to their keys. It is computed whenever `excluded` changes, since calls are more
    /// frequent.
    kept: Cell<DispatchKeySet>,
    /// The lowest address to which calls may use the stack, see `crate::recursion`; until it is determined, the highest
    /// address.
    stack_limit: Cell<usize>,
    grad_mode: Cell<bool>,
    inference_mode: Cell<bool>,
}

thread_local! {
    static THREAD: Thread = const {
        Thread {
            included: Cell::new(DispatchKeySet::DEFAULT_INCLUDED),
            excluded: Cell::new(DispatchKeySet::DEFAULT_EXCLUDED),
            kept: Cell::new(all_but(DispatchKeySet::DEFAULT_EXCLUDED)),
            stack_limit: Cell::new(usize::MAX),
            grad_mode: Cell::new(true),
            inference_mode: Cell::new(false),
        }
    };
}

/// `THREAD.with`, but always inlined: the standard library's version is inlined too late to be optimised with its
/// callers.
#[inline(always)]
fn on_thread<R>(f: impl FnOnce(&Thread) -> R) -> R {
    THREAD.try_with(f).expect("a thread-local without a destructor exists as long as its thread")
}

impl Thread {
    #[inline]
    fn set_excluded(&self, keys: DispatchKeySet) {
        self.excluded.set(keys);
        self.kept.set(all_but(keys));
    }
}

/// All keys but those of the set, and every backend: excluding a key never removes backends from a call.
#[inline]
const fn all_but(keys: DispatchKeySet) -> DispatchKeySet {
    DispatchKeySet::from_raw(!keys.raw() | DispatchKeySet::ALL_BACKENDS.raw())
}

#[inline]
fn set_included(keys: DispatchKeySet) {
    on_thread(|thread| thread.included.set(keys));
}

#[inline]
fn set_excluded(keys: DispatchKeySet) {
    on_thread(|thread| thread.set_excluded(keys));
}

/// The lowest address to which calls may use this thread's stack.
#[doc(hidden)]
#[inline(always)]
pub fn stack_limit() -> usize {
    on_thread(|thread| thread.stack_limit.get())
}

pub(crate) fn set_stack_limit(address: usize) {
    on_thread(|thread| thread.stack_limit.set(address));
}

/// A change that a guard made to a set.
#[derive(Clone, Copy, Debug)]
struct Change {
    before: DispatchKeySet,
    after: DispatchKeySet,
}

impl Change {
    /// The change that adds keys to a set.
    #[inline]
    fn adding(before: DispatchKeySet, keys: DispatchKeySet) -> Self {
        Change { before, after: before | keys }
    }

    /// The present set without the change. If nothing else has changed the set, as with nested scopes, that is the old
    /// set: with a branch instead of arithmetic, the next guard need not wait for the load of this one.
    #[inline]
    fn undo(self, now: DispatchKeySet) -> DispatchKeySet {
        if now == self.after { self.before } else { self.undone(now) }
    }

    /// Restores the bits that the change flipped; all other bits stay as they are now.
    #[cold]
    fn undone(self, now: DispatchKeySet) -> DispatchKeySet {
        let turned = self.before.raw() ^ self.after.raw();
        DispatchKeySet::from_raw(now.raw() & !turned | self.before.raw() & turned)
    }
}

/// The keys of a call's arguments, with the keys that this thread includes and without those that it excludes.
#[doc(hidden)]
#[inline(always)]
pub fn apply(keys: DispatchKeySet) -> DispatchKeySet {
    on_thread(|thread| (keys | thread.included.get()) & thread.kept.get())
}

/// The keys that a thread adds to every call, and those that it removes from every call.
///
/// ```
/// use torch_library::DispatchKeySet;
/// use torch_library::guard::LocalDispatchKeySet;
///
/// let fresh = LocalDispatchKeySet::current();
/// assert_eq!(fresh.included, DispatchKeySet::DEFAULT_INCLUDED);
/// assert_eq!(fresh.excluded, DispatchKeySet::DEFAULT_EXCLUDED);
/// ```
///
/// PyTorch: `c10::impl::LocalDispatchKeySet`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LocalDispatchKeySet {
    /// The keys that every call gets.
    pub included: DispatchKeySet,
    /// The keys whose functionality is removed from every call; their backends stay.
    pub excluded: DispatchKeySet,
}

impl LocalDispatchKeySet {
    /// This thread's sets.
    ///
    /// PyTorch: `tls_local_dispatch_key_set`.
    #[inline]
    pub fn current() -> Self {
        on_thread(|thread| LocalDispatchKeySet {
            included: thread.included.get(),
            excluded: thread.excluded.get(),
        })
    }

    /// Makes these the sets of this thread permanently; [`ForceDispatchKeyGuard`] does so for a scope.
    ///
    /// PyTorch: `_force_tls_local_dispatch_key_set`.
    #[inline]
    pub fn force(self) {
        set_included(self.included);
        set_excluded(self.excluded);
    }

    /// Includes a key in this thread's calls permanently, or no longer includes it.
    ///
    /// PyTorch: `tls_set_dispatch_key_included`.
    pub fn set_included(key: DispatchKey, yes: bool) {
        let keys = Self::current().included;
        set_included(if yes { keys.add(key) } else { keys.remove(key) });
    }

    /// Excludes a key from this thread's calls permanently, or no longer excludes it.
    ///
    /// PyTorch: `tls_set_dispatch_key_excluded`.
    pub fn set_excluded(key: DispatchKey, yes: bool) {
        let keys = Self::current().excluded;
        set_excluded(if yes { keys.add(key) } else { keys.remove(key) });
    }
}

/// Makes guards `!Send`: they belong to the thread that made them.
type NotSend = PhantomData<*const ()>;

/// Includes keys in this thread's calls while it lives.
///
/// ```
/// use torch_library::DispatchKey;
/// use torch_library::guard::{IncludeDispatchKeyGuard, LocalDispatchKeySet};
///
/// let guard = IncludeDispatchKeyGuard::new(DispatchKey::Tracer);
/// assert!(LocalDispatchKeySet::current().included.has(DispatchKey::Tracer));
/// drop(guard);
/// assert!(!LocalDispatchKeySet::current().included.has(DispatchKey::Tracer));
/// ```
///
/// PyTorch: `c10::impl::IncludeDispatchKeyGuard`.
#[must_use = "a guard acts while it lives: bind it to a name, `let _guard = …`; `let _ = …` drops it at once"]
#[derive(Debug)]
pub struct IncludeDispatchKeyGuard {
    change: Change,
    not_send: NotSend,
}

impl IncludeDispatchKeyGuard {
    /// Includes a key or a set of keys; a key that was included already stays included afterwards.
    #[inline]
    pub fn new(keys: impl Into<DispatchKeySet>) -> Self {
        on_thread(|thread| {
            let change = Change::adding(thread.included.get(), keys.into());
            thread.included.set(change.after);
            IncludeDispatchKeyGuard { change, not_send: PhantomData }
        })
    }
}

impl Drop for IncludeDispatchKeyGuard {
    #[inline]
    fn drop(&mut self) {
        on_thread(|thread| thread.included.set(self.change.undo(thread.included.get())));
    }
}

/// Excludes keys from this thread's calls while it lives, on every backend.
///
/// ```
/// use torch_library::DispatchKey;
/// use torch_library::guard::{ExcludeDispatchKeyGuard, LocalDispatchKeySet};
///
/// let outer = ExcludeDispatchKeyGuard::new(DispatchKey::Tracer);
/// drop(ExcludeDispatchKeyGuard::new(DispatchKey::Tracer)); // undoes nothing: the key was excluded before
/// assert!(LocalDispatchKeySet::current().excluded.has(DispatchKey::Tracer));
/// # drop(outer);
/// ```
///
/// PyTorch: `c10::impl::ExcludeDispatchKeyGuard`.
#[must_use = "a guard acts while it lives: bind it to a name, `let _guard = …`; `let _ = …` drops it at once"]
#[derive(Debug)]
pub struct ExcludeDispatchKeyGuard {
    change: Change,
    not_send: NotSend,
}

impl ExcludeDispatchKeyGuard {
    /// Excludes a key or a set of keys; a key that was excluded already stays excluded afterwards.
    #[inline]
    pub fn new(keys: impl Into<DispatchKeySet>) -> Self {
        on_thread(|thread| {
            let change = Change::adding(thread.excluded.get(), keys.into());
            thread.set_excluded(change.after);
            ExcludeDispatchKeyGuard { change, not_send: PhantomData }
        })
    }
}

impl Drop for ExcludeDispatchKeyGuard {
    #[inline]
    fn drop(&mut self) {
        on_thread(|thread| thread.set_excluded(self.change.undo(thread.excluded.get())));
    }
}

/// Replaces what this thread includes and excludes while it lives.
///
/// ```
/// use torch_library::DispatchKeySet;
/// use torch_library::guard::{ForceDispatchKeyGuard, LocalDispatchKeySet};
///
/// let nothing = LocalDispatchKeySet { included: DispatchKeySet::EMPTY, excluded: DispatchKeySet::EMPTY };
/// let guard = ForceDispatchKeyGuard::new(nothing);
/// assert_eq!(LocalDispatchKeySet::current(), nothing);
/// # drop(guard);
/// ```
///
/// PyTorch: `c10::impl::ForceDispatchKeyGuard`.
#[must_use = "a guard acts while it lives: bind it to a name, `let _guard = …`; `let _ = …` drops it at once"]
#[derive(Debug)]
pub struct ForceDispatchKeyGuard {
    before: LocalDispatchKeySet,
    not_send: NotSend,
}

impl ForceDispatchKeyGuard {
    /// Makes these the sets of this thread.
    #[inline]
    pub fn new(keys: LocalDispatchKeySet) -> Self {
        let before = LocalDispatchKeySet::current();
        keys.force();
        ForceDispatchKeyGuard { before, not_send: PhantomData }
    }
}

impl Drop for ForceDispatchKeyGuard {
    #[inline]
    fn drop(&mut self) {
        self.before.force();
    }
}

/// Defines the guards that exclude a fixed set.
macro_rules! exclude_guards {
    ($($(#[$doc:meta])* $guard:ident excludes $keys:expr;)*) => {$(
        $(#[$doc])*
        #[must_use = "a guard acts while it lives: bind it to a name, `let _guard = …`; `let _ = …` drops it at once"]
        #[derive(Debug)]
        pub struct $guard(#[expect(dead_code, reason = "dropped, never read")] ExcludeDispatchKeyGuard);

        impl $guard {
            /// Excludes the keys.
            #[inline]
            pub fn new() -> Self {
                $guard(ExcludeDispatchKeyGuard::new($keys))
            }
        }
    )*};
}

exclude_guards! {
    /// Excludes autograd while it lives: an autograd kernel holds it around its call of the kernel below.
    ///
    /// ```
    /// use torch_library::DispatchKeySet;
    /// use torch_library::guard::{AutoDispatchBelowAutograd, LocalDispatchKeySet};
    ///
    /// let _guard = AutoDispatchBelowAutograd::new();
    /// assert!(LocalDispatchKeySet::current().excluded.has_all(DispatchKeySet::AUTOGRAD));
    /// ```
    ///
    /// PyTorch: `at::AutoDispatchBelowAutograd`.
    AutoDispatchBelowAutograd excludes DispatchKeySet::AUTOGRAD;

    /// Excludes autograd and `ADInplaceOrView` while it lives: an `ADInplaceOrView` kernel holds it around its call of
    /// the kernel below.
    ///
    /// ```
    /// use torch_library::DispatchKey;
    /// use torch_library::guard::{AutoDispatchBelowADInplaceOrView, LocalDispatchKeySet};
    ///
    /// let _guard = AutoDispatchBelowADInplaceOrView::new();
    /// assert!(LocalDispatchKeySet::current().excluded.has(DispatchKey::ADInplaceOrView));
    /// ```
    ///
    /// PyTorch: `at::AutoDispatchBelowADInplaceOrView`.
    AutoDispatchBelowADInplaceOrView excludes DispatchKeySet::AUTOGRAD_AND_AD_INPLACE_OR_VIEW;

    /// Excludes `Functionalize` while it lives.
    ///
    /// ```
    /// use torch_library::DispatchKey;
    /// use torch_library::guard::{AutoDispatchSkipFunctionalize, LocalDispatchKeySet};
    ///
    /// let _guard = AutoDispatchSkipFunctionalize::new();
    /// assert!(LocalDispatchKeySet::current().excluded.has(DispatchKey::Functionalize));
    /// ```
    ///
    /// PyTorch: `at::AutoDispatchSkipFunctionalize`.
    AutoDispatchSkipFunctionalize excludes DispatchKey::Functionalize;
}

/// Runs a closure with keys included.
///
/// ```
/// use torch_library::DispatchKey;
/// use torch_library::guard::{LocalDispatchKeySet, include};
///
/// let inside = include(DispatchKey::Tracer, LocalDispatchKeySet::current);
/// assert!(inside.included.has(DispatchKey::Tracer));
/// ```
pub fn include<R>(keys: impl Into<DispatchKeySet>, f: impl FnOnce() -> R) -> R {
    let _guard = IncludeDispatchKeyGuard::new(keys);
    f()
}

/// Runs a closure with keys excluded.
///
/// ```
/// use torch_library::DispatchKey;
/// use torch_library::guard::{LocalDispatchKeySet, exclude};
///
/// let inside = exclude(DispatchKey::Tracer, LocalDispatchKeySet::current);
/// assert!(inside.excluded.has(DispatchKey::Tracer));
/// ```
pub fn exclude<R>(keys: impl Into<DispatchKeySet>, f: impl FnOnce() -> R) -> R {
    let _guard = ExcludeDispatchKeyGuard::new(keys);
    f()
}

/// Whether a write now is the program's own: inside of an operator, its layers account for what the kernel writes.
pub(crate) fn is_above_bookkeeping() -> bool {
    on_thread(|thread| !thread.excluded.get().has(DispatchKey::ADInplaceOrView))
}

/// Whether autograd would record an operator that is called now.
pub(crate) fn is_recording() -> bool {
    on_thread(|thread| thread.grad_mode.get() && !thread.excluded.get().has_any(DispatchKeySet::AUTOGRAD))
}

#[cfg(test)]
mod tests;
