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
#![expect(
    unsafe_code,
    reason = "arguments are lent to a stack under a longer lifetime than they have, and taken back"
)]
#![expect(clippy::too_many_arguments, reason = "as many as an operator has")]

use std::any::TypeId;

use crate::argument::Argument;
use crate::error::Result;
use crate::guard::{below_autograd, needs_derivative};
use crate::key::DispatchKeySet;
use crate::operator::kernel::{ErasedCode, Kernel, TypedBody, TypedSeat};
use crate::operator::{Adapters, Observing, Operator, TYPED, too_few};
use crate::program::Program;
use crate::value::{FromValue, IntoValue, Stack, Value};

mod failure;
mod output;

pub(crate) use failure::mistyped;
use failure::{wrong_return_count, wrong_type};
use output::Original;
pub(crate) use output::Output;

/// An argument of an operator, with `'static` for its lifetime.
pub trait Input: Argument + IntoValue<'static> + FromValue<'static> + 'static {}

impl<T: Argument + IntoValue<'static> + FromValue<'static> + 'static> Input for T {}

/// A calling convention: `fn(&'static Kernel, DispatchKeySet, arguments…) -> Result<returns>`.
///
/// # Safety
/// * The erased code has exactly this type, up to lifetimes.
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
/// * `SEATED` has exactly this type, up to lifetimes, and takes its state to be a `TypedSeat`.
/// * `CALL` has the same type with `&TypedBody` in place of the kernel and the keys.
pub unsafe trait ClosureSignature<F>: Signature {
    /// Calls the closure in the seat of its kernel. The closure must accept any lifetime: the code that uses this
    /// constant ensures it.
    const SEATED: ErasedCode;
    /// Calls the closure.
    const CALL: ErasedCode;
}

/// Lends an argument to the stack; for one that the operator writes to, the pointer is kept to return it.
#[inline(always)] // callers know the type of `value`, so the match is optimised away
fn lend(value: Value<'static>, stack: &mut Stack<'static>) -> Original {
    let (value, original) = match value {
        Value::TensorMut(tensor) => {
            let pointer = std::ptr::from_mut(tensor);
            // SAFETY: the pointer comes from a unique reference. Until `call_boxed` has the kernel's return it is used
            // only through this reference.
            (Value::TensorMut(unsafe { &mut *pointer }), Original::Tensor(pointer))
        }
        Value::TensorsMut(tensors) => {
            let pointer = std::ptr::from_mut(tensors);
            // SAFETY: the pointer comes from a unique reference. Until `call_boxed` has the kernel's return it is used
            // only through this reference.
            (Value::TensorsMut(unsafe { &mut *pointer }), Original::Tensors(pointer))
        }
        other => (other, Original::Nothing),
    };
    stack.push(value);
    original
}

/// Runs a kernel's boxed code and takes the returns.
#[inline]
fn call_boxed<R: Output>(
    kernel: &'static Kernel,
    keys: DispatchKeySet,
    stack: &mut Stack<'static>,
    originals: &[Original],
) -> Result<R> {
    let operator = kernel.operator();
    operator.named(kernel.call_boxed(operator, keys, stack))?;
    let found = stack.len();
    match stack.last_mut(R::COUNT) {
        // SAFETY: `boxing` lent `originals` to this stack. Its kernel has returned and cannot have kept any of the
        // values, whose lifetime it does not know; values left on the stack are dropped without access to what they
        // refer to. No argument is returned twice: `torch_library!` refuses such a schema, and inference from types
        // cannot produce one (`infer`).
        returns if found == R::COUNT => unsafe { R::take(operator, returns, originals) },
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

            type Code<R, $($A),*> = fn(&'static Kernel, DispatchKeySet, $($A),*) -> Result<R>;

            // SAFETY: each of the functions below is coerced to `Code` before it is erased.
            unsafe impl<R: Output, $($A: Input),*> Signature for Code<R, $($A),*> {
                // SAFETY: `Self` is a function pointer type.
                const STUB: ErasedCode = unsafe { ErasedCode::new(stub::<R, $($A),*> as Self) };
                const ADAPTERS: &'static Adapters = &Adapters {
                    // SAFETY: `Self` is a function pointer type.
                    boxing: unsafe { ErasedCode::new(boxing::<R, $($A),*> as Self) },
                    // SAFETY: `Self` is a function pointer type.
                    autograd_default: unsafe { ErasedCode::new(autograd_default::<R, $($A),*> as Self) },
                    unbox: unbox::<R, $($A),*>,
                    convention: Some(TypeId::of::<Self>),
                };
            }

            type Call<R, $($A),*> = fn(&TypedBody, $($A),*) -> Result<R>;

            // SAFETY: the functions are coerced to `Code` and to `Call` before they are erased.
            unsafe impl<F, R: Output, $($A: Input),*> ClosureSignature<F> for Code<R, $($A),*>
            where
                F: Fn($($A),*) -> Result<R> + Sync + 'static,
            {
                // SAFETY: `Code` is a function pointer type.
                const SEATED: ErasedCode = unsafe { ErasedCode::new(seated::<R, $($A),*> as Self) };
                // SAFETY: `Call` is a function pointer type.
                const CALL: ErasedCode = unsafe { ErasedCode::new(call::<F, R, $($A),*> as Call<R, $($A),*>) };
            }

            fn seated<R: Output, $($A: Input),*>(
                kernel: &'static Kernel,
                keys: DispatchKeySet,
                $($a: $A),*
            ) -> Result<R> {
                let operator = kernel.operator();
                // SAFETY: only kernels with a `TypedSeat` have this code, see `TypedClosure::sit`.
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

            fn call<F, R: Output, $($A: Input),*>(body: &TypedBody, $($a: $A),*) -> Result<R>
            where
                F: Fn($($A),*) -> Result<R> + Sync + 'static,
            {
                match body.closure::<F>() {
                    Some(closure) => closure($($a),*),
                    None => unreachable!("a body is made of its closure and the code for it"),
                }
            }

            #[cold]
            fn stub<R: Output, $($A: Input),*>(
                kernel: &'static Kernel,
                keys: DispatchKeySet,
                $($a: $A),*
            ) -> Result<R> {
                if Program::wants_values() {
                    return boxing(kernel, keys | TYPED, $($a),*);
                }
                let entered = kernel.operator().enter_typed(keys, &[$($a.dispatch_keys()),*])?;
                // SAFETY: the operator's tables hold only kernels with its own calling convention, which this function
                // has.
                let code = unsafe { entered.kernel.code::<Code<R, $($A),*>>() };
                code(entered.kernel, entered.keys, $($a),*)
            }

            fn boxing<R: Output, $($A: Input),*>(
                kernel: &'static Kernel,
                keys: DispatchKeySet,
                $($a: $A),*
            ) -> Result<R> {
                let mut stack = Stack::new();
                let originals = [$(lend($a.into_value(), &mut stack)),*];
                call_boxed(kernel, keys, &mut stack, &originals)
            }

            fn autograd_default<R: Output, $($A: Input),*>(
                kernel: &'static Kernel,
                keys: DispatchKeySet,
                $($a: $A),*
            ) -> Result<R> {
                if needs_derivative(false $(|| $a.requires_grad())*) {
                    return boxing(kernel, keys, $($a),*);
                }
                let (kernel, keys) = kernel.operator().select_again(below_autograd(keys));
                // SAFETY: the operator's tables hold only kernels with its own calling convention, which this function
                // has.
                let code = unsafe { kernel.code::<Code<R, $($A),*>>() };
                code(kernel, keys, $($a),*)
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
                $(let Some($a) = $A::from_value($a) else {
                    return Err(wrong_type(operator, $index, $A::TYPE, stack));
                };)*
                let left = code(kernel, keys, $($a),*)?.give_up();
                R::leave(left, operator, $count, stack);
                Ok(())
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
