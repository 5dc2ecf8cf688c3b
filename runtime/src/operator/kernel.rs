//! One kernel with its two faces: typed code for calls that know the operator, boxed code for those that do not.
//!
//! Every operator has one *calling convention*, `fn(&Kernel, DispatchKeySet, arguments…) -> Result<returns>`.
//! A plain function, a closure with state and a boxed kernel all hide behind it, so the call path never asks which it
//! is.
#![expect(unsafe_code, reason = "kernels are stored with their type erased; the operator restores it")]

use std::ptr::NonNull;

use crate::error::Result;
use crate::key::DispatchKeySet;
use crate::operator::{Operator, OperatorHandle};
use crate::value::Stack;

mod seat;

pub(crate) use seat::{BoxedBody, BoxedSeat, TypedBody, TypedSeat};

/// Typed code of some operator with its type erased.
///
/// Only code of the operator that erased it may restore it, see [`Kernel::code`].
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
        // SAFETY: the caller says that `code` is a function pointer, and those have one size. Nobody calls the erased
        // one: it is called as what it was, see `Kernel::code`.
        ErasedCode(unsafe { std::mem::transmute_copy::<Code, unsafe fn()>(&code) })
    }

    /// The code as what it was.
    ///
    /// # Safety
    /// * It was erased from a `Code`, up to lifetimes.
    #[inline(always)]
    const unsafe fn restore<Code: Copy>(self) -> Code {
        const { assert!(size_of::<Code>() == size_of::<unsafe fn()>()) };
        // SAFETY: the caller says that this was a `Code`, so the bytes are those of one.
        unsafe { std::mem::transmute_copy::<unsafe fn(), Code>(&self.0) }
    }
}

impl ErasedCode {
    /// For operators that have no typed callers.
    pub const fn never_called() -> Self {
        fn never_called() {}
        // SAFETY: `fn()` is a function pointer type.
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
    /// The operator whose row this is, or whose declaration has the same calling convention.
    operator: NonNull<Operator>,
}

// SAFETY: `state` is from a `&'static` of a `Seat`, which is `Sync`, or of a closure without captures, or the address
// of a function; `operator` points to an `Operator`, which is `Sync`; the other two are code.
unsafe impl Sync for Kernel {}
// SAFETY: a kernel owns nothing, so sending it shares what it points to, which is `Sync` as said above.
unsafe impl Send for Kernel {}

impl PartialEq for Kernel {
    /// The same code on the same state. One function may have several addresses; then equal kernels are kept twice,
    /// which does no harm.
    fn eq(&self, other: &Self) -> bool {
        self.addresses() == other.addresses()
    }
}

impl Kernel {
    /// A kernel of an operator, from typed code that works on nothing.
    ///
    /// # Safety
    /// * `code` was erased from the operator's calling convention.
    pub(crate) unsafe fn of_code(code: ErasedCode, operator: &'static Operator) -> Self {
        let boxed = operator.spec().adapters.unbox;
        Kernel { code, state: std::ptr::null(), boxed, operator: NonNull::from(operator) }
    }

    /// The cold half of an operator's calls, as a kernel of it.
    ///
    /// # Safety
    /// * `operator` is not null.
    /// * It points to an operator that is made before anybody calls the kernel, and lives as long as the process.
    pub(crate) const unsafe fn stub(code: ErasedCode, boxed: BoxedCode, operator: *const Operator) -> Self {
        // SAFETY: the caller says that it is not null.
        let operator = unsafe { NonNull::new_unchecked(operator.cast_mut()) };
        Kernel { code, state: std::ptr::null(), boxed, operator }
    }

    /// A kernel of an operator that runs the closure in a seat: whichever is there when it is called.
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

    /// The typed code, as the function pointer type it was made from.
    ///
    /// # Safety
    /// * `Code` is the calling convention of the operator in whose table this kernel is, or that it was made for.
    #[inline(always)]
    pub const unsafe fn code<Code: Copy>(&self) -> Code {
        // SAFETY: the caller says that `Code` is the operator's convention, and whoever put the kernel into a table or
        // made it for an operator erased code of just that convention.
        unsafe { self.code.restore() }
    }

    /// What the code works on.
    ///
    /// # Safety
    /// * The kernel was made from a `&'static S`.
    #[inline(always)]
    pub(crate) const unsafe fn state<S: Sync>(&self) -> &'static S {
        // SAFETY: the caller says that this was a `&'static S`.
        unsafe { &*self.state.cast::<S>() }
    }

    /// What is compared of two kernels.
    pub(crate) fn addresses(&self) -> [usize; 4] {
        [self.code.0 as usize, self.state.addr(), self.boxed as usize, self.operator.addr().get()]
    }

    /// The operator whose row this is.
    #[inline(always)]
    pub(crate) fn operator(&self) -> &'static Operator {
        // SAFETY: every constructor has it from a `&'static Operator`, or from a caller who says as much, see `stub`.
        unsafe { self.operator.as_ref() }
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
/// Functions and closures that capture nothing take no memory, and are equal each time they are wrapped. Other closures
/// are in a seat.
#[derive(Clone, Copy)]
pub(crate) struct BoxedKernel {
    state: *const (),
    code: BoxedCode,
}

// SAFETY: the state is null, the address of a function, or from a `&'static` of something `Sync`: `from_lasting` and
// `of_seat`.
unsafe impl Sync for BoxedKernel {}
// SAFETY: it owns nothing, so sending it shares what it points to, which is `Sync` as said above.
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
            // SAFETY: this code is used in the kernel below alone, whose state was cast from a `BoxedFn`.
            let function = unsafe { std::mem::transmute::<*const (), BoxedFn>(kernel.state) };
            function(operator.handle(), keys, stack)
        }
        BoxedKernel { state: function as *const (), code: call }
    }

    /// A user's closure, which stays as long as the process: one that captures nothing takes no memory.
    pub(crate) fn from_lasting<F: BoxedClosure>(closure: F) -> Self {
        fn call<F: BoxedClosure>(
            kernel: &'static Kernel,
            operator: &'static Operator,
            keys: DispatchKeySet,
            stack: &mut Stack<'_>,
        ) -> Result<()> {
            // SAFETY: this code is used in the kernel below alone, whose state is a `&'static F`.
            let closure = unsafe { kernel.state::<F>() };
            closure(operator.handle(), keys, stack)
        }
        let closure: &'static F = Box::leak(Box::new(closure));
        BoxedKernel { state: std::ptr::from_ref(closure).cast(), code: call::<F> }
    }

    /// Runs the closure in a seat: whichever is there when it is called.
    pub(crate) fn of_seat(seat: &'static BoxedSeat) -> Self {
        fn call(
            kernel: &'static Kernel,
            operator: &'static Operator,
            keys: DispatchKeySet,
            stack: &mut Stack<'_>,
        ) -> Result<()> {
            // SAFETY: this code is used in the kernel below alone, whose state is a `&'static BoxedSeat`.
            let seat = unsafe { kernel.state::<BoxedSeat>() };
            match &*seat.borrow() {
                Some(closure) => closure(operator.handle(), keys, stack),
                None => call_anew(operator, keys, stack),
            }
        }
        BoxedKernel { state: std::ptr::from_ref(seat).cast(), code: call }
    }

    /// The kernel as a row of an operator's table has it.
    pub(crate) fn in_table_of(self, operator: &'static Operator) -> Kernel {
        // SAFETY: whoever declared the operator says that its adapters have its calling convention, see
        // `Declaration::new`.
        unsafe { self.behind(operator.spec().adapters.boxing, operator) }
    }

    /// The same for an autograd row, where typed calls pass it by that have no gradient to lose.
    pub(crate) fn at_autograd_of(self, operator: &'static Operator) -> Kernel {
        // SAFETY: whoever declared the operator says that its adapters have its calling convention, see
        // `Declaration::new`.
        unsafe { self.behind(operator.spec().adapters.autograd_default, operator) }
    }

    /// A kernel of the operator for typed calls that run this code, which leads to the boxed face.
    ///
    /// # Safety
    /// * `code` was erased from the calling convention of those who call the kernel: in a table, that of the operator.
    pub(crate) unsafe fn behind(self, code: ErasedCode, operator: &'static Operator) -> Kernel {
        Kernel { code, state: self.state, boxed: self.code, operator: NonNull::from(operator) }
    }
}

/// A call that came too late for its kernel looks for the one that there is now.
#[cold]
fn call_anew(operator: &'static Operator, keys: DispatchKeySet, stack: &mut Stack<'_>) -> Result<()> {
    let (kernel, keys) = operator.select_anew(keys)?;
    kernel.call_boxed(operator, keys, stack)
}

impl TypedBody {
    /// The code that calls the closure, as the function pointer type it was made from.
    ///
    /// # Safety
    /// * `Call` is `fn(&TypedBody, arguments…) -> Result<returns>` of the operator that the body was made for.
    #[inline(always)]
    pub(crate) unsafe fn code<Call: Copy>(&self) -> Call {
        // SAFETY: whoever made the body erased it from that type, see `TypedClosure::new`, and the caller names the
        // same.
        unsafe { self.call.restore() }
    }
}

/// A closure of an operator's types that is not registered yet.
pub(crate) struct TypedClosure {
    pub(crate) operator: &'static Operator,
    pub(crate) body: TypedBody,
    seated: ErasedCode,
}

impl TypedClosure {
    /// A closure, with the code that calls it and the code of a kernel that finds it in its seat.
    ///
    /// # Safety
    /// * `seated` was erased from the operator's calling convention, and reads its state as a `TypedSeat`.
    /// * `call` was erased from the same with `&TypedBody` in place of the kernel and the keys.
    pub(crate) unsafe fn new<F: Send + Sync + 'static>(
        operator: &'static Operator,
        [seated, call]: [ErasedCode; 2],
        closure: F,
    ) -> Self {
        TypedClosure { operator, body: TypedBody::new(call, closure), seated }
    }

    /// Takes a seat, which is of its operator, and returns the kernel that runs what is there.
    pub(crate) fn sit(self, seat: &'static TypedSeat) -> Kernel {
        let TypedClosure { operator, body, seated } = self;
        seat.fill(body);
        // SAFETY: whoever made the closure says that the code is of the operator's convention and reads a `TypedSeat`.
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
