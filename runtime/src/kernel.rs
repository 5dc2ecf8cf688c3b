//! One kernel with its two faces: typed code for calls that know the operator, boxed code for those that do not.
//!
//! Every operator has one *calling convention*, `fn(&Kernel, DispatchKeySet, arguments…) -> Result<returns>`.
//! A plain function, a closure with state and a boxed kernel all hide behind it, so the call path never asks which it is.
#![expect(unsafe_code, reason = "kernels are stored with their type erased; the operator restores it")]

use crate::error::Result;
use crate::key::DispatchKeySet;
use crate::operator::{Operator, OperatorHandle};
use crate::value::Stack;

/// Typed code of some operator with its type erased.
///
/// Only the operator that erased it may restore it, see [`Kernel::code`].
#[derive(Clone, Copy)]
#[repr(transparent)]
pub struct ErasedCode(unsafe fn());

impl PartialEq for ErasedCode {
    /// The same address. One function may have several; then equal kernels are kept twice, which does no harm.
    fn eq(&self, other: &Self) -> bool {
        self.0 as usize == other.0 as usize
    }
}

impl ErasedCode {
    /// Erases the type of a function pointer of an operator's calling convention.
    ///
    /// # Safety
    /// `code` is a function pointer type with the size of `unsafe fn()`.
    #[inline(always)]
    pub const unsafe fn new<Code: Copy>(code: Code) -> Self {
        const { assert!(size_of::<Code>() == size_of::<unsafe fn()>()) };
        // SAFETY: both are function pointers, which have one size and no invalid non-null value; nobody calls this one.
        ErasedCode(unsafe { std::mem::transmute_copy::<Code, unsafe fn()>(&code) })
    }
}

impl ErasedCode {
    /// For operators that have no typed callers.
    pub const fn never_called() -> Self {
        fn never_called() {}
        // SAFETY: a function pointer.
        unsafe { ErasedCode::new(never_called as fn()) }
    }
}

/// The boxed face: pops the arguments from the stack and pushes the returns.
pub(crate) type BoxedCode =
    fn(&'static Kernel, &'static Operator, DispatchKeySet, &mut Stack<'_>) -> Result<()>;

/// A boxed kernel as users write it: one function for any operator.
///
/// It takes the operator that is called, the dispatch keys of the call (the highest is the one whose kernel runs now),
/// and the stack, from which it takes the arguments and on which it leaves the returns.
///
/// PyTorch: `void (const OperatorHandle&, DispatchKeySet, Stack*)`.
pub type BoxedFn = fn(OperatorHandle, DispatchKeySet, &mut Stack<'_>) -> Result<()>;

/// What a row of a dispatch table points to.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct Kernel {
    /// Typed code of the operator's calling convention.
    code: ErasedCode,
    /// What the code works on: a closure, a boxed kernel, or nothing.
    state: *const (),
    boxed: BoxedCode,
    /// The operator whose row this is, for code that serves many operators; other kernels have none.
    operator: *const Operator,
}

// SAFETY: `state` points to something that is `Sync` and lives as long as the process; each constructor asks for that.
unsafe impl Sync for Kernel {}
// SAFETY: as above; a `Kernel` is two code pointers and a shared reference.
unsafe impl Send for Kernel {}

impl PartialEq for Kernel {
    /// The same code on the same state.
    fn eq(&self, other: &Self) -> bool {
        self.code == other.code
            && self.state == other.state
            && self.boxed as usize == other.boxed as usize
            && std::ptr::eq(self.operator, other.operator)
    }
}

impl Kernel {
    /// A kernel from its two faces, with no state.
    pub const fn new(code: ErasedCode, boxed: BoxedCode) -> Self {
        Kernel { code, state: std::ptr::null(), boxed, operator: std::ptr::null() }
    }

    /// A kernel of an operator whose code works on a closure, which is to be kept before anybody can call the kernel.
    pub(crate) const fn of_closure(
        code: ErasedCode,
        boxed: BoxedCode,
        closure: &Closure,
        operator: &'static Operator,
    ) -> Self {
        Kernel { code, state: closure.state, boxed, operator }
    }

    /// The typed code, as the function pointer type it was made from.
    ///
    /// # Safety
    /// `Code` is the calling convention of the operator in whose table this kernel is.
    #[inline(always)]
    pub const unsafe fn code<Code: Copy>(&self) -> Code {
        const { assert!(size_of::<Code>() == size_of::<unsafe fn()>()) };
        // SAFETY: by contract the erased pointer was made from a `Code`.
        unsafe { std::mem::transmute_copy::<unsafe fn(), Code>(&self.code.0) }
    }

    /// The state.
    ///
    /// # Safety
    /// The kernel was made from a closure of type `S`.
    #[inline(always)]
    pub const unsafe fn state<S: Sync>(&self) -> &'static S {
        // SAFETY: by contract it points to an `S` that is never freed.
        unsafe { &*self.state.cast::<S>() }
    }

    /// The same kernel for code that asks for its operator.
    ///
    /// # Safety
    /// `operator` points to an operator that lives as long as the process.
    pub const unsafe fn of_operator(self, operator: *const Operator) -> Self {
        Kernel { operator, ..self }
    }

    /// The operator whose row this is.
    #[inline(always)]
    pub(crate) fn operator(&self) -> &'static Operator {
        debug_assert!(
            !self.operator.is_null(),
            "code that serves many operators was made into a kernel without one"
        );
        // SAFETY: only such code asks (see `crate::signature`), and every kernel of it is made with an operator.
        unsafe { &*self.operator }
    }

    /// Runs the boxed face.
    #[inline]
    pub(crate) fn call_boxed(
        &'static self,
        operator: &'static Operator,
        keys: DispatchKeySet,
        stack: &mut Stack<'_>,
    ) -> Result<()> {
        (self.boxed)(self, operator, keys, stack)
    }
}

/// A kernel with a boxed face only: one function for any operator, and the state it works on.
///
/// Functions and closures that capture nothing take no memory, and are equal each time they are wrapped. The state of
/// other closures lives as long as the process, since a call on another thread may still be in it.
#[derive(Clone, Copy)]
pub(crate) struct BoxedKernel {
    state: *const (),
    code: BoxedCode,
}

// SAFETY: `state` points to something that is `Sync` and lives as long as the process; each constructor asks for that.
unsafe impl Sync for BoxedKernel {}
// SAFETY: as above.
unsafe impl Send for BoxedKernel {}

impl BoxedKernel {
    /// A kernel of this library's own, without state.
    pub(crate) const fn new(code: BoxedCode) -> Self {
        BoxedKernel { state: std::ptr::null(), code }
    }

    /// A user's function; it is its own state.
    pub(crate) fn from_function(function: BoxedFn) -> Self {
        fn call(
            kernel: &'static Kernel,
            operator: &'static Operator,
            keys: DispatchKeySet,
            stack: &mut Stack<'_>,
        ) -> Result<()> {
            // SAFETY: the state was cast from a `BoxedFn` below.
            let function = unsafe { std::mem::transmute::<*const (), BoxedFn>(kernel.state) };
            function(operator.handle(), keys, stack)
        }
        BoxedKernel { state: function as *const (), code: call }
    }

    /// A user's closure, which is to be kept before anybody can call the kernel.
    pub(crate) fn from_closure<F: BoxedClosure>(closure: F) -> (Self, Closure) {
        fn call<F: BoxedClosure>(
            kernel: &'static Kernel,
            operator: &'static Operator,
            keys: DispatchKeySet,
            stack: &mut Stack<'_>,
        ) -> Result<()> {
            // SAFETY: the state is an `F`, see below.
            let closure = unsafe { kernel.state::<F>() };
            closure(operator.handle(), keys, stack)
        }
        let closure = Closure::new(closure);
        (BoxedKernel { state: closure.state, code: call::<F> }, closure)
    }

    /// The kernel as a row of an operator's table has it; `boxing` is typed code of that operator that calls the boxed
    /// face.
    pub(crate) fn in_table_of(self, operator: &'static Operator, boxing: ErasedCode) -> Kernel {
        Kernel { code: boxing, state: self.state, boxed: self.code, operator }
    }
}

/// The state of a kernel that nobody can call yet. Dropping it frees the state: a kernel that could not be registered
/// leaves nothing behind.
pub(crate) struct Closure {
    state: *const (),
    free: unsafe fn(*const ()),
}

// SAFETY: made from a closure that is `Send` and `Sync`.
unsafe impl Send for Closure {}
// SAFETY: as above.
unsafe impl Sync for Closure {}

impl Closure {
    pub(crate) fn new<F: Send + Sync + 'static>(closure: F) -> Self {
        /// # Safety
        /// `state` came from a box of an `F`, and nobody uses it any more.
        unsafe fn free<F>(state: *const ()) {
            // SAFETY: by contract.
            drop(unsafe { Box::from_raw(state.cast::<F>().cast_mut()) });
        }
        Closure { state: Box::into_raw(Box::new(closure)).cast_const().cast(), free: free::<F> }
    }

    /// Lets the state live as long as the process.
    pub(crate) fn keep(self) {
        std::mem::forget(self);
    }
}

impl Drop for Closure {
    fn drop(&mut self) {
        // SAFETY: the state came from `new` and was not kept, so no kernel with it was ever registered.
        unsafe { (self.free)(self.state) }
    }
}

/// A closure that is a boxed kernel.
pub(crate) trait BoxedClosure:
    Fn(OperatorHandle, DispatchKeySet, &mut Stack<'_>) -> Result<()> + Send + Sync + 'static
{
}

impl<F> BoxedClosure for F where
    F: Fn(OperatorHandle, DispatchKeySet, &mut Stack<'_>) -> Result<()> + Send + Sync + 'static
{
}
