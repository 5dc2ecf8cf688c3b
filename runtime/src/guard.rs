//! What this thread adds to the keys of every call and takes from them, and guards for that.
//!
//! A call dispatches on `((keys of the arguments | included) - excluded) & mask of the operator`: exclusion
//! wins over inclusion. A fresh thread includes `BackendSelect` and `ADInplaceOrView` and excludes the
//! autocast keys. Nothing is inherited when a thread starts; [`ThreadLocalState`] carries the state across on
//! purpose.
//!
//! Guards undo exactly what they did, so guards of different keys may be dropped in any order. Guards that
//! replace the state as a whole (force, inference mode, grad mode) are to be dropped in reverse order, which
//! scopes do by themselves.
//!
//! PyTorch: `c10/core/impl/LocalDispatchKeySet.h`, `c10/core/InferenceMode.h`, `c10/core/GradMode.h`.
#![expect(clippy::new_without_default, reason = "a guard that is made by default guards nothing")]

mod mode;
mod travelling;

use std::cell::Cell;
use std::marker::PhantomData;

use crate::{DispatchKey, DispatchKeySet};

pub use mode::{
    EnableGradGuard, GradMode, InferenceMode, NoGradGuard, ThreadLocalState, enable_grad, inference_mode,
    no_grad,
};

pub(crate) use mode::{below_autograd, needs_derivative};
pub(crate) use travelling::{set_travelling, travelling};

/// What rides on a thread. Cells of their own, so that a call reads three words and a guard writes one or two.
struct Thread {
    included: Cell<DispatchKeySet>,
    excluded: Cell<DispatchKeySet>,
    /// What calls keep of their keys, which is made from `excluded` whenever that changes: calls are what is frequent.
    kept: Cell<DispatchKeySet>,
    /// Down to which address calls may take the stack, see `crate::recursion`; the highest there is until somebody has
    /// looked.
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

/// `THREAD.with`, compiled into its callers: that of the standard library is only where a later pass looks at them once
/// more.
#[inline(always)]
fn on_thread<R>(f: impl FnOnce(&Thread) -> R) -> R {
    THREAD.try_with(f).expect("what needs no destructor is there as long as the thread")
}

impl Thread {
    #[inline]
    fn set_excluded(&self, keys: DispatchKeySet) {
        self.excluded.set(keys);
        self.kept.set(all_but(keys));
    }
}

/// All keys but those of the set, and every backend: calls keep theirs, whatever a guard says of them.
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

/// Down to which address calls may take this thread's stack.
#[doc(hidden)]
#[inline(always)]
pub fn stack_limit() -> usize {
    on_thread(|thread| thread.stack_limit.get())
}

pub(crate) fn set_stack_limit(address: usize) {
    on_thread(|thread| thread.stack_limit.set(address));
}

/// What a guard did to a set.
#[derive(Clone, Copy, Debug)]
struct Change {
    before: DispatchKeySet,
    after: DispatchKeySet,
}

impl Change {
    /// Keys that are added to a set.
    #[inline]
    fn adding(before: DispatchKeySet, keys: DispatchKeySet) -> Self {
        Change { before, after: before | keys }
    }

    /// The set as it is now, without the change. Where nothing else has changed it, as in scopes, that is the set
    /// before: a branch instead of arithmetic keeps the next guard from waiting for this one's load.
    #[inline]
    fn undo(self, now: DispatchKeySet) -> DispatchKeySet {
        if now == self.after { self.before } else { self.undone(now) }
    }

    /// The bits that the change turned are as before, all others as they are now.
    #[cold]
    fn undone(self, now: DispatchKeySet) -> DispatchKeySet {
        let turned = self.before.raw() ^ self.after.raw();
        DispatchKeySet::from_raw(now.raw() & !turned | self.before.raw() & turned)
    }
}

/// The keys of a call's arguments with what this thread includes and without what it excludes.
#[doc(hidden)]
#[inline(always)]
pub fn apply(keys: DispatchKeySet) -> DispatchKeySet {
    on_thread(|thread| (keys | thread.included.get()) & thread.kept.get())
}

/// The keys that a thread includes in every call and excludes from every call.
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
    /// The keys whose functionality no call gets; their backends stay.
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

    /// Makes these sets this thread's, for good; [`ForceDispatchKeyGuard`] does it for a scope.
    ///
    /// PyTorch: `_force_tls_local_dispatch_key_set`.
    #[inline]
    pub fn force(self) {
        set_included(self.included);
        set_excluded(self.excluded);
    }

    /// Includes a key in this thread's calls or no longer does, for good.
    ///
    /// PyTorch: `tls_set_dispatch_key_included`.
    pub fn set_included(key: DispatchKey, yes: bool) {
        let keys = Self::current().included;
        set_included(if yes { keys.add(key) } else { keys.remove(key) });
    }

    /// Excludes a key from this thread's calls or no longer does, for good.
    ///
    /// PyTorch: `tls_set_dispatch_key_excluded`.
    pub fn set_excluded(key: DispatchKey, yes: bool) {
        let keys = Self::current().excluded;
        set_excluded(if yes { keys.add(key) } else { keys.remove(key) });
    }
}

/// Guards belong to the thread that made them.
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
#[must_use = "a guard acts while it lives"]
#[derive(Debug)]
pub struct IncludeDispatchKeyGuard {
    change: Change,
    not_send: NotSend,
}

impl IncludeDispatchKeyGuard {
    /// Includes a key or a set of keys; those that are included already stay so afterwards.
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
/// drop(ExcludeDispatchKeyGuard::new(DispatchKey::Tracer)); // undoes nothing: it found the key excluded
/// assert!(LocalDispatchKeySet::current().excluded.has(DispatchKey::Tracer));
/// # drop(outer);
/// ```
///
/// PyTorch: `c10::impl::ExcludeDispatchKeyGuard`.
#[must_use = "a guard acts while it lives"]
#[derive(Debug)]
pub struct ExcludeDispatchKeyGuard {
    change: Change,
    not_send: NotSend,
}

impl ExcludeDispatchKeyGuard {
    /// Excludes a key or a set of keys; those that are excluded already stay so afterwards.
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
#[must_use = "a guard acts while it lives"]
#[derive(Debug)]
pub struct ForceDispatchKeyGuard {
    before: LocalDispatchKeySet,
    not_send: NotSend,
}

impl ForceDispatchKeyGuard {
    /// Makes these sets this thread's.
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

/// Writes the guards that exclude a set of their own.
macro_rules! exclude_guards {
    ($($(#[$doc:meta])* $guard:ident excludes $keys:expr;)*) => {$(
        $(#[$doc])*
        #[must_use = "a guard acts while it lives"]
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
    /// Excludes autograd while it lives: what an autograd kernel holds around its call of the kernel below.
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

    /// Excludes autograd and `ADInplaceOrView` while it lives: what an `ADInplaceOrView` kernel holds around
    /// its call of the kernel below.
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

#[cfg(test)]
mod tests;
