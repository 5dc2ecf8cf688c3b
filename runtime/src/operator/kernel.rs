//! A kernel in its two forms: typed code for calls that know the operator's types, boxed code for those that do not.
//!
//! Every operator has one *calling convention*, `fn(&Kernel, DispatchKeySet, arguments…) -> Result<returns>`. Plain
//! functions, closures with state and boxed kernels all have it, so the call path never asks which of these a kernel
//! is.
#![expect(unsafe_code, reason = "kernels are stored with their type erased; the operator restores it")]

use std::ptr::NonNull;

use crate::error::Result;
use crate::key::DispatchKeySet;
use crate::operator::{Operator, OperatorHandle};
use crate::value::Stack;

mod seat;

pub(crate) use seat::{BoxedBody, BoxedSeat, TypedBody, TypedSeat};

/// Typed code of some operator, with its type erased.
///
/// Only code of the operator that erased the type may restore it, see [`Kernel::code`].
#[derive(Clone, Copy)]
#[repr(transparent)]
pub struct ErasedCode(unsafe fn());

impl ErasedCode {
    /// Erases the type of a function pointer of an operator's calling convention.
    ///
    /// # Safety
    /// * `Code` is a function pointer type.
    #[inline(always)]
    pub const unsafe fn new<Code: Copy>(code: Code) -> Self {
        const { assert!(size_of::<Code>() == size_of::<unsafe fn()>()) };
        // SAFETY: the caller promises that `code` is a function pointer, and all function pointers have one size. The
        // erased pointer is never called: its type is restored first, see `Kernel::code`.
        ErasedCode(unsafe { std::mem::transmute_copy::<Code, unsafe fn()>(&code) })
    }

    /// The code with its original type.
    ///
    /// # Safety
    /// * The code was erased from a `Code`, up to lifetimes.
    #[inline(always)]
    pub(super) const unsafe fn restore<Code: Copy>(self) -> Code {
        const { assert!(size_of::<Code>() == size_of::<unsafe fn()>()) };
        // SAFETY: the caller promises that this was a `Code`, so the bytes are those of one.
        unsafe { std::mem::transmute_copy::<unsafe fn(), Code>(&self.0) }
    }
}

impl ErasedCode {
    /// For operators without typed callers.
    pub const fn never_called() -> Self {
        fn never_called() {}
        // SAFETY: `fn()` is a function pointer type.
        unsafe { ErasedCode::new(never_called as fn()) }
    }
}

/// The boxed form: pops the arguments from the stack and pushes the returns.
pub(crate) type BoxedCode =
    fn(&'static Kernel, &'static Operator, DispatchKeySet, &mut Stack<'_>) -> Result<()>;

/// A boxed kernel as users write it: one function for any operator.
///
/// It takes the operator that is called, the dispatch keys of the call (the highest is that of the running kernel), and
/// the stack, from which it takes the arguments and on which it leaves the returns.
///
/// PyTorch: `void (const OperatorHandle&, DispatchKeySet, Stack*)`.
pub type BoxedFn = fn(OperatorHandle, DispatchKeySet, &mut Stack<'_>) -> Result<()>;

/// A kernel, as rows of a dispatch table point to it.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct Kernel {
    /// Typed code with the operator's calling convention.
    code: ErasedCode,
    /// The state of the code: a closure's seat, a boxed kernel, or null.
    state: *const (),
    boxed: BoxedCode,
    /// The operator whose row this is, or one whose declaration has the same calling convention.
    operator: NonNull<Operator>,
}

// SAFETY: `state` is null, a `&'static` of a `Seat`, which is `Sync`, or of a closure without captures, or the address
// of a function; `operator` points to an `Operator`, which is `Sync`; the other two fields are code.
unsafe impl Sync for Kernel {}
// SAFETY: a kernel owns nothing, so sending it only shares what it points to, which is `Sync` as argued above.
unsafe impl Send for Kernel {}

impl PartialEq for Kernel {
    /// Whether both are the same code on the same state. A function may have several addresses; then equal kernels are
    /// kept twice, which is harmless.
    fn eq(&self, other: &Self) -> bool {
        self.addresses() == other.addresses()
    }
}

impl Kernel {
    /// A kernel of an operator, from typed code without state.
    ///
    /// # Safety
    /// * `code` was erased from the operator's calling convention.
    pub(crate) unsafe fn of_code(code: ErasedCode, operator: &'static Operator) -> Self {
        let boxed = operator.spec().adapters.unbox;
        Kernel { code, state: std::ptr::null(), boxed, operator: NonNull::from(operator) }
    }

    /// The cold half of an operator's calls, as a kernel.
    ///
    /// # Safety
    /// * `operator` is not null.
    /// * `operator` points to an operator that is made before the kernel is called, and lives as long as the process.
    pub(crate) const unsafe fn stub(code: ErasedCode, boxed: BoxedCode, operator: *const Operator) -> Self {
        // SAFETY: the caller promises that it is not null.
        let operator = unsafe { NonNull::new_unchecked(operator.cast_mut()) };
        Kernel { code, state: std::ptr::null(), boxed, operator }
    }

    /// A kernel of an operator that runs the closure that is in the seat at the time of the call.
    ///
    /// # Safety
    /// * `code` was erased from the operator's calling convention, and reads its state as a `TypedSeat`.
    pub(crate) unsafe fn of_seat(
        code: ErasedCode,
        seat: &'static TypedSeat,
        operator: &'static Operator,
    ) -> Self {
        let boxed = operator.spec().adapters.unbox;
        Kernel { code, state: std::ptr::from_ref(seat).cast(), boxed, operator: NonNull::from(operator) }
    }

    /// The typed code, with its original function pointer type.
    ///
    /// # Safety
    /// * `Code` is the calling convention of the operator in whose table this kernel is, or for which it was made.
    #[inline(always)]
    pub const unsafe fn code<Code: Copy>(&self) -> Code {
        // SAFETY: the caller promises that `Code` is the operator's convention, and the code that put the kernel into a
        // table or made it for an operator erased its type from exactly that convention.
        unsafe { self.code.restore() }
    }

    /// The typed code.
    #[inline(always)]
    pub(super) fn erased(&self) -> ErasedCode {
        self.code
    }

    /// The state of the code.
    ///
    /// # Safety
    /// * The kernel was made from a `&'static S`.
    #[inline(always)]
    pub(crate) const unsafe fn state<S: Sync>(&self) -> &'static S {
        // SAFETY: the caller promises that this was a `&'static S`.
        unsafe { &*self.state.cast::<S>() }
    }

    /// The parts by which kernels are compared.
    pub(crate) fn addresses(&self) -> [usize; 4] {
        [self.code.0 as usize, self.state.addr(), self.boxed as usize, self.operator.addr().get()]
    }

    /// The operator whose row this is.
    #[inline(always)]
    pub(crate) fn operator(&self) -> &'static Operator {
        // SAFETY: every constructor has it from a `&'static Operator`, or from a caller who promises as much, see
        // `stub`.
        unsafe { self.operator.as_ref() }
    }

    /// Runs the boxed code.
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

/// A kernel with only a boxed form: one function for any operator, with its state.
///
/// Functions, and closures that capture nothing, take no memory, and are equal each time they are wrapped. Other
/// closures are in a seat.
#[derive(Clone, Copy)]
pub(crate) struct BoxedKernel {
    state: *const (),
    code: BoxedCode,
}

// SAFETY: the state is null, the address of a function, or from a `&'static` of a `Sync` type: `from_lasting` and
// `of_seat`.
unsafe impl Sync for BoxedKernel {}
// SAFETY: it owns nothing, so sending it only shares what it points to, which is `Sync` as argued above.
unsafe impl Send for BoxedKernel {}

impl BoxedKernel {
    /// A kernel of this library, without state.
    pub(crate) const fn new(code: BoxedCode) -> Self {
        BoxedKernel { state: std::ptr::null(), code }
    }

    /// A user's function, which is stored as the state.
    pub(crate) fn from_function(function: BoxedFn) -> Self {
        fn call(
            kernel: &'static Kernel,
            operator: &'static Operator,
            keys: DispatchKeySet,
            stack: &mut Stack<'_>,
        ) -> Result<()> {
            // SAFETY: this code is used only in the kernel below, whose state was cast from a `BoxedFn`.
            let function = unsafe { std::mem::transmute::<*const (), BoxedFn>(kernel.state) };
            function(operator.handle(), keys, stack)
        }
        BoxedKernel { state: function as *const (), code: call }
    }

    /// A user's closure, which is leaked; one that captures nothing takes no memory.
    pub(crate) fn from_lasting<F: BoxedClosure>(closure: F) -> Self {
        fn call<F: BoxedClosure>(
            kernel: &'static Kernel,
            operator: &'static Operator,
            keys: DispatchKeySet,
            stack: &mut Stack<'_>,
        ) -> Result<()> {
            // SAFETY: this code is used only in the kernel below, whose state is a `&'static F`.
            let closure = unsafe { kernel.state::<F>() };
            closure(operator.handle(), keys, stack)
        }
        let closure: &'static F = Box::leak(Box::new(closure));
        BoxedKernel { state: std::ptr::from_ref(closure).cast(), code: call::<F> }
    }

    /// A kernel that runs the closure that is in the seat at the time of the call.
    pub(crate) fn of_seat(seat: &'static BoxedSeat) -> Self {
        fn call(
            kernel: &'static Kernel,
            operator: &'static Operator,
            keys: DispatchKeySet,
            stack: &mut Stack<'_>,
        ) -> Result<()> {
            // SAFETY: this code is used only in the kernel below, whose state is a `&'static BoxedSeat`.
            let seat = unsafe { kernel.state::<BoxedSeat>() };
            match &*seat.borrow() {
                Some(closure) => closure(operator.handle(), keys, stack),
                None => call_anew(operator, keys, stack),
            }
        }
        BoxedKernel { state: std::ptr::from_ref(seat).cast(), code: call }
    }

    /// The kernel for a row of an operator's table.
    pub(crate) fn in_table_of(self, operator: &'static Operator) -> Kernel {
        // SAFETY: the code that declared the operator promised that its adapters have its calling convention, see
        // `Declaration::new`.
        unsafe { self.with_typed_code(operator.spec().adapters.boxing, operator) }
    }

    /// The kernel for an autograd row, which typed calls bypass if they have no gradient to lose.
    pub(crate) fn at_autograd_of(self, operator: &'static Operator) -> Kernel {
        // SAFETY: the code that declared the operator promised that its adapters have its calling convention, see
        // `Declaration::new`.
        unsafe { self.with_typed_code(operator.spec().adapters.autograd_default, operator) }
    }

    /// A kernel of the operator, whose typed calls run this code, which leads to the boxed code.
    ///
    /// # Safety
    /// * `code` was erased from the calling convention with which the kernel is called: in a table, that of the
    ///   operator.
    pub(crate) unsafe fn with_typed_code(self, code: ErasedCode, operator: &'static Operator) -> Kernel {
        Kernel { code, state: self.state, boxed: self.code, operator: NonNull::from(operator) }
    }
}

/// Makes a call whose kernel was removed in the meantime with the kernel that is registered now.
#[cold]
fn call_anew(operator: &'static Operator, keys: DispatchKeySet, stack: &mut Stack<'_>) -> Result<()> {
    let (kernel, keys) = operator.select_anew(keys)?;
    kernel.call_boxed(operator, keys, stack)
}

impl TypedBody {
    /// The code that calls the closure, with its original function pointer type.
    ///
    /// # Safety
    /// * `Call` is `fn(&TypedBody, arguments…) -> Result<returns>` of the operator that the body was made for.
    #[inline(always)]
    pub(crate) unsafe fn code<Call: Copy>(&self) -> Call {
        // SAFETY: the code that made the body erased it from that type, see `TypedClosure::new`, and the caller names
        // the same type.
        unsafe { self.call.restore() }
    }
}

/// A closure with an operator's types that is not registered yet.
pub(crate) struct TypedClosure {
    pub(crate) operator: &'static Operator,
    pub(crate) body: TypedBody,
    seated: ErasedCode,
}

impl TypedClosure {
    /// A closure, with code that calls it and code for a kernel that finds it in its seat.
    ///
    /// # Safety
    /// * `seated` was erased from the operator's calling convention, and reads its state as a `TypedSeat`.
    /// * `call` was erased from the same convention, with `&TypedBody` in place of the kernel and the keys.
    pub(crate) unsafe fn new<F: Send + Sync + 'static>(
        operator: &'static Operator,
        [seated, call]: [ErasedCode; 2],
        closure: F,
    ) -> Self {
        TypedClosure { operator, body: TypedBody::new(call, closure), seated }
    }

    /// Puts the closure into a seat of its operator, and returns a kernel that runs what is in the seat.
    pub(crate) fn put_in(self, seat: &'static TypedSeat) -> Kernel {
        let TypedClosure { operator, body, seated } = self;
        seat.fill(body);
        // SAFETY: the code that made the closure promised that `seated` has the operator's convention and reads a
        // `TypedSeat`.
        unsafe { Kernel::of_seat(seated, seat, operator) }
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
