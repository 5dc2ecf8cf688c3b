//! Asks PyTorch's autograd whether a call needs a gradient, and continues a call below autograd.
//!
//! The stable C functions offer neither. Both are C++ functions that take only integers and addresses, so they are
//! looked up by their mangled names. Where one is missing, all calls go through Python, which can do both as well.
#![expect(unsafe_code, reason = "asks PyTorch's tensors by functions of C++")]

use std::ffi::{CStr, c_void};
use std::ptr::NonNull;
use std::sync::OnceLock;

use smallvec::SmallVec;

use crate::cpp::{CppString, Strings};
use crate::shim::{Library, Object, shim};

/// `c10::DispatchKey`, whose values differ between versions.
type Key = u16;

/// `requires_grad` of a `c10::TensorImpl`.
type RequiresGrad = unsafe extern "C-unwind" fn(*const c_void) -> bool;
/// The tangent of an `at::TensorBase` at a level, as an `at::Tensor` that may be undefined.
type Tangent = unsafe extern "C-unwind" fn(*const c_void, u64, Object) -> Object;
type ParseKey = unsafe extern "C-unwind" fn(*mut CppString) -> Key;
type IsExcluded = unsafe extern "C-unwind" fn(Key) -> bool;
type Exclude = unsafe extern "C-unwind" fn(Key, bool);

pub(crate) struct Tracking {
    requires_grad: RequiresGrad,
    tangent: Tangent,
    is_excluded: IsExcluded,
    exclude: Exclude,
    /// The keys that are excluded below autograd.
    keys: [Key; 3],
}

/// What autograd needs to do for the tensors of a call.
#[derive(Clone, Debug, Default)]
pub(crate) struct Wish {
    pub(crate) gradient: bool,
    /// For each tensor, whether it needs a gradient.
    pub(crate) needs: SmallVec<[bool; 8]>,
    /// Whether a tensor has a tangent: forward-mode differentiation is in progress.
    pub(crate) tangent: bool,
}

impl Tracking {
    /// Looks up the functions, once.
    pub(crate) fn get() -> Option<&'static Tracking> {
        static TRACKING: OnceLock<Option<Tracking>> = OnceLock::new();
        TRACKING.get_or_init(|| Tracking::find(&shim().library)).as_ref()
    }

    fn find(library: &Library) -> Option<Tracking> {
        let strings = Strings::find(library)?;
        let requires_grad = library.symbol("_ZNK3c1010TensorImpl13requires_gradEv\0")?;
        let tangent = library.symbol("_ZNK3c1010TensorImpl8_fw_gradEmRKN2at10TensorBaseE\0")?;
        let is_excluded = library.symbol("_ZN3c104impl28tls_is_dispatch_key_excludedENS_11DispatchKeyE\0")?;
        let exclude = library.symbol("_ZN3c104impl29tls_set_dispatch_key_excludedENS_11DispatchKeyEb\0")?;
        let parse = library
            .symbol("_ZN3c1016parseDispatchKeyERKNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEE\0")?;
        // SAFETY: the mangled names contain the types of all arguments, and a method takes its object before them.
        let (parse, found) = unsafe {
            let parse = std::mem::transmute::<NonNull<c_void>, ParseKey>(parse);
            let found = (
                std::mem::transmute::<NonNull<c_void>, RequiresGrad>(requires_grad),
                std::mem::transmute::<NonNull<c_void>, Tangent>(tangent),
                std::mem::transmute::<NonNull<c_void>, IsExcluded>(is_excluded),
                std::mem::transmute::<NonNull<c_void>, Exclude>(exclude),
            );
            (parse, found)
        };
        let key = |name: &CStr| {
            // SAFETY: it only reads the string; it knows these names, which are older than the stable C functions.
            strings.lend(name, |name| unsafe { parse(name) })
        };
        let keys = [c"AutogradOther", c"AutogradFunctionality", c"AutogradNestedTensor"].map(key);
        let (requires_grad, tangent, is_excluded, exclude) = found;
        Some(Tracking { requires_grad, tangent, is_excluded, exclude, keys })
    }

    /// What autograd needs to do for these tensors.
    ///
    /// # Safety
    /// * They are PyTorch tensor handles, which stay alive until this returns.
    pub(crate) unsafe fn wish(&self, tensors: impl Iterator<Item = Object>) -> Wish {
        // SAFETY: it reads a thread-local flag.
        let records = unsafe { (shim().aoti_torch_grad_mode_is_enabled)() };
        let mut wish = Wish::default();
        for handle in tensors {
            // SAFETY: a handle points to an `at::Tensor`, which is a pointer to its `c10::TensorImpl`, never null.
            let tensor = unsafe { handle.cast::<*const c_void>().read() };
            // SAFETY: `tensor` points to a `c10::TensorImpl`, alive while the handle is.
            let is_needed = records && unsafe { (self.requires_grad)(tensor) };
            wish.gradient |= is_needed;
            wish.needs.push(is_needed);
            // SAFETY: `tensor` is alive while the handle is; the handle's `at::Tensor` is an `at::TensorBase`, and levels
            // begin at 0.
            let tangent = unsafe { (self.tangent)(tensor, 0, handle) };
            let mut is_defined = false;
            // SAFETY: the tangent is a reference to an `at::Tensor`, which is what a handle points to.
            let code = unsafe { (shim().aoti_torch_is_defined)(tangent, &raw mut is_defined) };
            wish.tangent |= code == 0 && is_defined;
        }
        wish
    }

    /// Runs a closure below autograd.
    ///
    /// PyTorch: `at::AutoDispatchBelowAutograd`.
    pub(crate) fn below_autograd<R>(&self, f: impl FnOnce() -> R) -> R {
        struct Restore<'t>(&'t Tracking, [bool; 3]);
        impl Drop for Restore<'_> {
            fn drop(&mut self) {
                for (key, was_excluded) in self.0.keys.into_iter().zip(self.1) {
                    // SAFETY: it changes thread-local state.
                    unsafe { (self.0.exclude)(key, was_excluded) };
                }
            }
        }
        // SAFETY: it reads thread-local state.
        let before = self.keys.map(|key| unsafe { (self.is_excluded)(key) });
        let _restore = Restore(self, before);
        for key in self.keys {
            // SAFETY: it changes thread-local state.
            unsafe { (self.exclude)(key, true) };
        }
        f()
    }
}
