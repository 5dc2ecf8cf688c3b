//! The adapters of a calling convention, generated once for each number of arguments instead of once for each operator.
//!
//! Many operators share a signature, so the code that boxes a call, unboxes one, resolves an operator or stands in for
//! a missing derivative is generic over the signature, and finds the operator at run time, in the kernel that it is
//! called for. A crate with a thousand operators of one signature compiles these functions once.
//!
//! # Lifetimes
//!
//! A trait cannot be implemented for `for<'a> fn(&'a Tensor)` with any type of argument, only for `fn(&'static
//! Tensor)`. So generated code names its signature with `'static` in place of every lifetime, and the function pointers
//! made here are called with the true type: the two differ only in lifetimes, which do not affect the calling
//! convention. In return, **the adapters must not let a `'static` reference escape**: they pass arguments only to code
//! that accepts any lifetime (a kernel's typed code, or boxed code through `&mut Stack<'_>`).
//!
//! # Arguments that are not dropped
//!
//! An argument is a number or a reference, and is not dropped. Generic code does not know that: wherever a call may
//! unwind, rustc would generate code that drops each argument, for each of hundreds of signatures. So the adapters take
//! and pass each argument as a `ManuallyDrop`, which is transparent and therefore does not affect the calling
//! convention either.
#![expect(
    unsafe_code,
    reason = "arguments are lent to a stack under a longer lifetime than they have, and taken back"
)]
#![expect(clippy::too_many_arguments, reason = "as many as an operator has")]
#![expect(non_snake_case, reason = "the place of an argument has the name of its type")]
#![expect(unused_mut, reason = "an operator may have no arguments to read")]

use std::any::TypeId;
use std::mem::{ManuallyDrop, MaybeUninit};

use smallvec::SmallVec;

use crate::argument::Argument;
use crate::error::Result;
use crate::key::DispatchKeySet;
use crate::operator::kernel::{ErasedCode, Kernel, TypedBody, TypedSeat};
use crate::operator::{Adapters, Operator, too_few};
use crate::value::{FromValue, IntoValue, Stack, Value};

mod failure;
mod output;

pub(crate) use failure::mistyped;
use failure::{wrong_return_count, wrong_type};
use output::Original;
pub(crate) use output::Output;

/// An argument of an operator, with `'static` for its lifetime. What the adapters do with an argument is here, since
/// methods of a type parameter are not inlined before each type is known: they are compiled once for each type.
pub trait Input: Argument + IntoValue<'static> + FromValue<'static> + 'static {
    /// Lends the argument to the stack.
    #[inline]
    fn lend(argument: ManuallyDrop<Self>, stack: &mut Stack<'static>) {
        stack.push(ManuallyDrop::into_inner(argument));
    }

    /// Reads the argument from its value into its place. Returns whether the value has the right type; nothing is
    /// written if not.
    #[inline]
    fn read(value: &'static mut Value<'static>, place: &mut MaybeUninit<ManuallyDrop<Self>>) -> bool {
        match Self::from_value(value) {
            Some(argument) => {
                place.write(ManuallyDrop::new(argument));
                true
            }
            None => false,
        }
    }
}

impl<T: Argument + IntoValue<'static> + FromValue<'static> + 'static> Input for T {}

/// A calling convention: `fn(&'static Kernel, DispatchKeySet, arguments…) -> Result<returns>`.
///
/// # Safety
/// * The erased code has exactly this type, up to lifetimes and `ManuallyDrop` around arguments.
pub unsafe trait Signature: Copy {
    /// The code that operators run before they are resolved, and while they are observed.
    const STUB: ErasedCode;
    /// Code for typed calls of a boxed kernel, and for boxed calls of a typed one; and for an autograd key without a
    /// kernel, which goes on to the next layer, or to the boxed default if there is a gradient to lose.
    const ADAPTERS: &'static Adapters;
}

/// A calling convention, for a closure that takes its arguments.
///
/// # Safety
/// * `SEATED` has exactly this type, up to lifetimes and `ManuallyDrop` around arguments, and takes its state to be a
///   `TypedSeat`.
/// * `CALL` has the same type with `&TypedBody` in place of the kernel and the keys.
pub unsafe trait ClosureSignature<F>: Signature {
    /// Calls the closure in the seat of its kernel. The closure must accept any lifetime: the code that uses this
    /// constant ensures it.
    const SEATED: ErasedCode;
    /// Calls the closure.
    const CALL: ErasedCode;
}

/// The arguments on the stack that may have to be returned: pointers to those that the operator writes to.
fn originals(stack: &mut Stack<'static>) -> SmallVec<[Original; 8]> {
    let values = stack.last_mut(stack.len()).iter_mut();
    let originals = values.map(|value| match value {
        Value::TensorMut(tensor) => {
            let pointer = std::ptr::from_mut(*tensor);
            // SAFETY: the pointer comes from a unique reference, which is replaced here. Until `call_boxed` has the
            // kernel's return it is used only through the new reference.
            *tensor = unsafe { &mut *pointer };
            Original::Tensor(pointer)
        }
        Value::TensorsMut(tensors) => {
            let pointer = std::ptr::from_mut(*tensors);
            // SAFETY: the pointer comes from a unique reference, which is replaced here. Until `call_boxed` has the
            // kernel's return it is used only through the new reference.
            *tensors = unsafe { &mut *pointer };
            Original::Tensors(pointer)
        }
        _ => Original::Nothing,
    });
    originals.collect()
}

/// Runs a kernel's boxed code on a stack with the arguments of a call alone, and takes the returns.
#[inline]
fn call_boxed<R: Output>(
    kernel: &'static Kernel,
    keys: DispatchKeySet,
    stack: &mut Stack<'static>,
) -> Result<R> {
    let operator = kernel.operator();
    let originals = if R::HAS_ARGUMENTS { originals(stack) } else { SmallVec::new() };
    operator.named(kernel.call_boxed(operator, keys, stack))?;
    let found = stack.len();
    match stack.last_mut(R::COUNT) {
        // SAFETY: `boxing` lent the arguments that `originals` are to this stack. Its kernel has returned and cannot
        // have kept any of the values, whose lifetime it does not know; values left on the stack are dropped without
        // access to what they refer to. No argument is returned twice: the code that declared the operator promised
        // that, and inference from types cannot produce such a schema (`infer`).
        returns if found == R::COUNT => unsafe { R::take(operator, returns, &originals) },
        _ => Err(wrong_return_count(operator, found)),
    }
}

/// Extends the lifetime of a stack, for kernels that were compiled for `'static` arguments.
fn forget_lifetime<'s>(stack: &'s mut Stack<'_>) -> &'s mut Stack<'static> {
    // SAFETY: the two types differ only in a lifetime. Only `unbox` takes values from the stack with this type, and it
    // passes them to a typed kernel that accepts any lifetime; only `Output::leave` puts values there, and these values
    // borrow nothing.
    unsafe { std::mem::transmute(stack) }
}

macro_rules! signatures {
    ($module:ident $count:literal $($A:ident $a:ident $index:tt)*) => {
        mod $module {
            use super::*;

            type Code<R, $($A),*> = fn(&'static Kernel, DispatchKeySet, $(ManuallyDrop<$A>),*) -> Result<R>;

            // SAFETY: each of the functions below is coerced to `Code` before it is erased. That is `Self` with each
            // argument in a `ManuallyDrop`, which does not affect the calling convention.
            unsafe impl<R: Output, $($A: Input),*> Signature
                for fn(&'static Kernel, DispatchKeySet, $($A),*) -> Result<R>
            {
                // SAFETY: `Code` is a function pointer type.
                const STUB: ErasedCode = unsafe { ErasedCode::new(stub::<R, $($A),*> as Code<R, $($A),*>) };
                const ADAPTERS: &'static Adapters = &Adapters {
                    // SAFETY: `Code` is a function pointer type.
                    boxing: unsafe { ErasedCode::new(boxing::<R, $($A),*> as Code<R, $($A),*>) },
                    // SAFETY: `Code` is a function pointer type.
                    autograd_default: unsafe { ErasedCode::new(autograd_default::<R, $($A),*> as Code<R, $($A),*>) },
                    unbox: unbox::<R, $($A),*>,
                    convention: Some(TypeId::of::<Self>),
                };
            }

            type Call<R, $($A),*> = fn(&TypedBody, $(ManuallyDrop<$A>),*) -> Result<R>;

            // SAFETY: the functions are coerced to `Code` and to `Call` before they are erased. `ManuallyDrop` does not
            // affect the calling convention.
            unsafe impl<F, R: Output, $($A: Input),*> ClosureSignature<F>
                for fn(&'static Kernel, DispatchKeySet, $($A),*) -> Result<R>
            where
                F: Fn($($A),*) -> Result<R> + Sync + 'static,
            {
                // SAFETY: `Code` is a function pointer type.
                const SEATED: ErasedCode = unsafe { ErasedCode::new(seated::<R, $($A),*> as Code<R, $($A),*>) };
                // SAFETY: `Call` is a function pointer type.
                const CALL: ErasedCode = unsafe { ErasedCode::new(call::<F, R, $($A),*> as Call<R, $($A),*>) };
            }

            fn seated<R: Output, $($A: Input),*>(
                kernel: &'static Kernel,
                keys: DispatchKeySet,
                $($a: ManuallyDrop<$A>),*
            ) -> Result<R> {
                let operator = kernel.operator();
                // SAFETY: only kernels with a `TypedSeat` have this code, see `TypedClosure::put_in`.
                let seat = unsafe { kernel.state::<TypedSeat>() };
                if let Some(body) = &*seat.borrow() {
                    // SAFETY: the seat belongs to this operator, whose arguments and returns these are, up to
                    // lifetimes.
                    let call = unsafe { body.code::<Call<R, $($A),*>>() };
                    return operator.named(call(body, $($a),*));
                }
                // The closure was removed after this call had found its kernel.
                let (kernel, keys) = operator.select_anew(keys)?;
                // SAFETY: the operator's tables hold only kernels with its own calling convention, which this function
                // has.
                let code = unsafe { kernel.code::<Code<R, $($A),*>>() };
                code(kernel, keys, $($a),*)
            }

            fn call<F, R: Output, $($A: Input),*>(body: &TypedBody, $($a: ManuallyDrop<$A>),*) -> Result<R>
            where
                F: Fn($($A),*) -> Result<R> + Sync + 'static,
            {
                match body.closure::<F>() {
                    Some(closure) => closure($(ManuallyDrop::into_inner($a)),*),
                    None => unreachable!("a body is made of its closure and the code for it"),
                }
            }

            #[cold]
            fn stub<R: Output, $($A: Input),*>(
                kernel: &'static Kernel,
                keys: DispatchKeySet,
                $($a: ManuallyDrop<$A>),*
            ) -> Result<R> {
                match kernel.enter_typed(keys, &[$($a.dispatch_keys()),*]) {
                    Ok(entered) => {
                        // SAFETY: the code is of this operator, in whose calling convention this function is called.
                        let code = unsafe { entered.next.code::<Code<R, $($A),*>>() };
                        code(entered.next.kernel, entered.next.keys, $($a),*)
                    }
                    Err(error) => Err(error),
                }
            }

            fn boxing<R: Output, $($A: Input),*>(
                kernel: &'static Kernel,
                keys: DispatchKeySet,
                $($a: ManuallyDrop<$A>),*
            ) -> Result<R> {
                let mut stack = Stack::new();
                $($A::lend($a, &mut stack);)*
                call_boxed(kernel, keys, &mut stack)
            }

            fn autograd_default<R: Output, $($A: Input),*>(
                kernel: &'static Kernel,
                keys: DispatchKeySet,
                $($a: ManuallyDrop<$A>),*
            ) -> Result<R> {
                let next = kernel.autograd_default(keys, false $(| $a.requires_grad())*);
                // SAFETY: the code is of this operator, in whose calling convention this function is called.
                let code = unsafe { next.code::<Code<R, $($A),*>>() };
                code(next.kernel, next.keys, $($a),*)
            }

            fn unbox<R: Output, $($A: Input),*>(
                kernel: &'static Kernel,
                operator: &'static Operator,
                keys: DispatchKeySet,
                stack: &mut Stack<'_>,
            ) -> Result<()> {
                let stack = forget_lifetime(stack);
                // SAFETY: this is the boxed form of kernels whose typed code has exactly this convention.
                let code = unsafe { kernel.code::<Code<R, $($A),*>>() };
                let Some(values) = stack.last_array_mut::<$count>() else { return Err(too_few(operator, stack.len())) };
                // SAFETY: the array is part of `stack`, which outlives this function. `stack` is used again, by `leave`
                // and by `wrong_type`, only when the arguments made from the array here are no longer in use: the
                // kernel has returned and given up its returns, or is not called.
                let [$($a),*] = unsafe { &mut *std::ptr::from_mut(values) };
                $(let mut $A = MaybeUninit::uninit();)*
                let mut last = 0;
                if false $(|| { last = $index; !$A::read($a, &mut $A) })* {
                    return Err(wrong_type(operator, last, &[$($A::TYPE),*], stack));
                }
                let left = R::given_up(code(kernel, keys, $({
                    // SAFETY: `read` has returned `true`, so it has written the argument to its place: `Input` has only
                    // the implementation above.
                    unsafe { $A.assume_init() }
                }),*));
                R::leave_or_fail(left, operator, $count, stack)
            }
        }
    };
}

/// Adds one argument at a time, up to the maximum of an operator.
macro_rules! signatures_up_to {
    ([$($done:tt)*] [$module:ident $count:literal $A:ident $a:ident $index:tt] $($rest:tt)*) => {
        signatures!($module $count $($done)* $A $a $index);
        signatures_up_to!([$($done)* $A $a $index] $($rest)*);
    };
    ([$($done:tt)*]) => {};
}

signatures!(of_0 0);
signatures_up_to!([]
    [of_1 1 A0 a0 0]    [of_2 2 A1 a1 1]    [of_3 3 A2 a2 2]
    [of_4 4 A3 a3 3]    [of_5 5 A4 a4 4]    [of_6 6 A5 a5 5]
    [of_7 7 A6 a6 6]    [of_8 8 A7 a7 7]    [of_9 9 A8 a8 8]
    [of_10 10 A9 a9 9]    [of_11 11 A10 a10 10]    [of_12 12 A11 a11 11]
    [of_13 13 A12 a12 12]    [of_14 14 A13 a13 13]    [of_15 15 A14 a14 14]
    [of_16 16 A15 a15 15]    [of_17 17 A16 a16 16]    [of_18 18 A17 a17 17]
    [of_19 19 A18 a18 18]    [of_20 20 A19 a19 19]    [of_21 21 A20 a20 20]
    [of_22 22 A21 a21 21]    [of_23 23 A22 a22 22]    [of_24 24 A23 a23 23]
    [of_25 25 A24 a24 24]    [of_26 26 A25 a25 25]    [of_27 27 A26 a26 26]
    [of_28 28 A27 a27 27]    [of_29 29 A28 a28 28]    [of_30 30 A29 a29 29]
    [of_31 31 A30 a30 30]    [of_32 32 A31 a31 31]
);
