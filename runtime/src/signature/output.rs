//! Passes an operator's returns between a typed kernel and the stack.
#![expect(unsafe_code, reason = "a returned argument is the caller's own object, found again by its pointer")]

use super::failure::wrong_return;
use crate::error::Result;
use crate::operator::Operator;
use crate::tensor::Tensor;
use crate::value::{FromReturn, IntoValue, Stack, Value};
use crate::{DType, Device, Generator, Layout, MemoryFormat, Scalar, element::Complex64};

/// An argument that was lent to a stack and may have to be returned.
#[derive(Clone, Copy)]
pub(crate) enum Original {
    /// An argument that the operator does not write to.
    Nothing,
    /// A `Tensor(a!)` argument.
    Tensor(*mut Tensor),
    /// A `Tensor(a!)[]` argument.
    Tensors(*mut [Tensor]),
}

/// One return.
pub(crate) trait Single: Sized + 'static {
    /// Whether the return is an argument.
    const IS_ARGUMENT: bool;
    /// The form in which a kernel's return is left on the stack.
    type Left: Left;

    /// Takes the return from the stack; `original` is the argument that it is, if it is one.
    ///
    /// # Safety
    /// * `original` points to an argument of this call, which was lent to the stack, and which nothing else uses any
    ///   more.
    /// * No other return is taken with the same `original`.
    unsafe fn take(
        operator: &'static Operator,
        value: &mut Value<'static>,
        original: Option<Original>,
    ) -> Result<Self>;

    /// Converts a reference into a marker. This is a separate step: the reference may point into the stack, which must
    /// not be touched while the reference is in use.
    fn give_up(self) -> Self::Left;
}

/// The form in which a return is left on the stack.
pub(crate) trait Left: Sized {
    /// The value to leave on the stack, or `None` if it is an argument, which is there already.
    fn leave(self) -> Option<Value<'static>>;

    /// Leaves it on the stack as the only return.
    #[inline]
    fn leave_alone(self, operator: &'static Operator, arguments: usize, stack: &mut Stack<'static>) {
        let value = self.leave().unwrap_or_else(|| take_argument(operator, 0, arguments, stack));
        stack.replace_last(arguments, value);
    }
}

/// A return that is an argument.
pub(crate) struct Argument;

impl Left for Argument {
    #[inline]
    fn leave(self) -> Option<Value<'static>> {
        None
    }
}

/// All returns of an operator: none, one, or a tuple.
pub(crate) trait Output: Sized + 'static {
    /// The number of returns.
    const COUNT: usize;
    /// Whether any of them is an argument.
    const HAS_ARGUMENTS: bool;
    /// The form in which they are left on the stack.
    type Left;

    /// Takes the returns from the stack.
    ///
    /// # Safety
    /// * `originals` point to the arguments of this call, which were lent to the stack, and which nothing else uses any
    ///   more.
    /// * No two returns are the same argument.
    ///
    /// # Errors
    /// A return has a type other than the schema's.
    unsafe fn take(
        operator: &'static Operator,
        values: &mut [Value<'static>],
        originals: &[Original],
    ) -> Result<Self>;

    /// Converts references into markers, see [`Single::give_up`].
    fn give_up(self) -> Self::Left;

    /// Leaves the returns on the stack, and drops the `arguments` values there first.
    fn leave(left: Self::Left, operator: &'static Operator, arguments: usize, stack: &mut Stack<'static>);

    /// Like [`give_up`](Self::give_up), for the result of a kernel.
    #[inline]
    fn given_up(result: Result<Self>) -> Result<Self::Left> {
        result.map(Self::give_up)
    }

    /// Like [`leave`](Self::leave), for the result of a kernel.
    ///
    /// # Errors
    /// That of the kernel.
    #[inline]
    fn leave_or_fail(
        left: Result<Self::Left>,
        operator: &'static Operator,
        arguments: usize,
        stack: &mut Stack<'static>,
    ) -> Result<()> {
        Self::leave(left?, operator, arguments, stack);
        Ok(())
    }
}

/// Implementations for returns that a kernel makes.
macro_rules! owned {
    ($($type:ty),*) => {$(
        impl Single for $type {
            const IS_ARGUMENT: bool = false;
            type Left = Self;

            #[inline]
            unsafe fn take(
                operator: &'static Operator,
                value: &mut Value<'static>,
                _: Option<Original>,
            ) -> Result<Self> {
                <$type as FromReturn>::take(value)
                    .ok_or_else(|| wrong_return(operator, <$type as FromReturn>::TYPE, value.type_name()))
            }

            #[inline]
            fn give_up(self) -> Self {
                self
            }
        }

        impl Left for $type {
            #[inline]
            fn leave(self) -> Option<Value<'static>> {
                Some(self.into_value())
            }

            #[inline]
            fn leave_alone(self, _: &'static Operator, arguments: usize, stack: &mut Stack<'static>) {
                stack.replace_last(arguments, self); // constructed in place
            }
        }

        one!($type);
    )*};
}

/// Implementations for returns that are an argument.
macro_rules! argument {
    ($($type:ty, $original:pat => $reference:expr;)*) => {$(
        impl Single for $type {
            const IS_ARGUMENT: bool = true;
            type Left = Argument;

            #[inline]
            unsafe fn take(
                operator: &'static Operator,
                value: &mut Value<'static>,
                original: Option<Original>,
            ) -> Result<Self> {
                match original {
                    // SAFETY: the caller promises that the pointer is to an argument of the call, made from a unique
                    // reference that lives as long as the result is used, and that neither other code nor another
                    // return uses it.
                    Some($original) => Ok(unsafe { $reference }),
                    _ => Err(wrong_return(operator, "one of its arguments", value.type_name())),
                }
            }

            #[inline]
            fn give_up(self) -> Argument {
                Argument
            }
        }

        one!($type);
    )*};
}

/// Makes a single return a list of returns.
macro_rules! one {
    ($type:ty) => {
        impl Output for $type {
            const COUNT: usize = 1;
            const HAS_ARGUMENTS: bool = <$type as Single>::IS_ARGUMENT;
            type Left = <$type as Single>::Left;

            #[inline]
            unsafe fn take(
                operator: &'static Operator,
                values: &mut [Value<'static>],
                originals: &[Original],
            ) -> Result<Self> {
                // SAFETY: the caller promises for all `originals` what is required of the one here, which is one of
                // them; there is only one return.
                unsafe {
                    <$type as Single>::take(
                        operator,
                        &mut values[0],
                        original::<Self>(operator, 0, originals),
                    )
                }
            }

            #[inline]
            fn give_up(self) -> Self::Left {
                Single::give_up(self)
            }

            #[inline]
            fn leave(
                left: Self::Left,
                operator: &'static Operator,
                arguments: usize,
                stack: &mut Stack<'static>,
            ) {
                left.leave_alone(operator, arguments, stack);
            }
        }
    };
}

/// The argument that a return is, if it is one.
#[inline(always)]
fn original<R: Single>(
    operator: &'static Operator,
    index: usize,
    originals: &[Original],
) -> Option<Original> {
    if R::IS_ARGUMENT { operator.returned_argument(index).map(|source| originals[source]) } else { None }
}

/// Moves the argument that a return is out of its place on the stack.
fn take_argument(
    operator: &'static Operator,
    index: usize,
    arguments: usize,
    stack: &mut Stack<'static>,
) -> Value<'static> {
    let source = operator.returned_argument(index);
    source
        .map_or(Value::None, |source| std::mem::replace(&mut stack.last_mut(arguments)[source], Value::None))
}

owned!(Tensor, i64, f64, bool, Complex64, Scalar, String, DType, Layout, MemoryFormat, Device, Generator);
owned!(Vec<Tensor>, Vec<Option<Tensor>>, Vec<i64>, Vec<f64>, Vec<bool>, Vec<Scalar>, Vec<String>);
owned!(
    Option<Tensor>,
    Option<i64>,
    Option<f64>,
    Option<bool>,
    Option<Complex64>,
    Option<Scalar>,
    Option<String>
);
owned!(Option<DType>, Option<Layout>, Option<MemoryFormat>, Option<Device>, Option<Generator>);
owned!(
    Option<Vec<Tensor>>,
    Option<Vec<Option<Tensor>>>,
    Option<Vec<i64>>,
    Option<Vec<f64>>,
    Option<Vec<bool>>
);
owned!(Option<Vec<Scalar>>, Option<Vec<String>>);

argument! {
    &'static mut Tensor, Original::Tensor(pointer) => &mut *pointer;
    &'static mut [Tensor], Original::Tensors(pointer) => &mut *pointer;
}

impl<T: ?Sized> Single for Option<&'static mut T>
where
    &'static mut T: Single,
{
    const IS_ARGUMENT: bool = true;
    type Left = Argument;

    unsafe fn take(
        operator: &'static Operator,
        value: &mut Value<'static>,
        original: Option<Original>,
    ) -> Result<Self> {
        match original {
            Some(Original::Nothing) => Ok(None),
            // SAFETY: the caller promises the same about `original`: that it is an argument of this call which nothing
            // else uses.
            original => unsafe { <&'static mut T as Single>::take(operator, value, original) }.map(Some),
        }
    }

    fn give_up(self) -> Argument {
        Argument
    }
}

one!(Option<&'static mut Tensor>);
one!(Option<&'static mut [Tensor]>);

impl Output for () {
    const COUNT: usize = 0;
    const HAS_ARGUMENTS: bool = false;
    type Left = ();

    #[inline]
    unsafe fn take(_: &'static Operator, _: &mut [Value<'static>], _: &[Original]) -> Result<()> {
        Ok(())
    }

    #[inline]
    fn give_up(self) {}

    #[inline]
    fn leave((): (), _: &'static Operator, arguments: usize, stack: &mut Stack<'static>) {
        stack.drop_last(arguments);
    }
}

macro_rules! tuple {
    ($count:literal $($R:ident $index:tt)*) => {
        impl<$($R: Single),*> Output for ($($R,)*) {
            const COUNT: usize = $count;
            const HAS_ARGUMENTS: bool = false $(|| $R::IS_ARGUMENT)*;
            type Left = ($($R::Left,)*);

            #[inline]
            unsafe fn take(
                operator: &'static Operator,
                values: &mut [Value<'static>],
                originals: &[Original],
            ) -> Result<Self> {
                Ok(($({
                    // SAFETY: the caller promises for all `originals` what is required of the one here, which is one of
                    // them, and that no two returns are the same argument.
                    unsafe { $R::take(operator, &mut values[$index], original::<$R>(operator, $index, originals)) }?
                },)*))
            }

            #[inline]
            fn give_up(self) -> Self::Left {
                ($(self.$index.give_up(),)*)
            }

            #[inline]
            fn leave(left: Self::Left, operator: &'static Operator, arguments: usize, stack: &mut Stack<'static>) {
                let values: [Value<'static>; $count] = [$(
                    left.$index.leave().unwrap_or_else(|| take_argument(operator, $index, arguments, stack))
                ),*];
                stack.drop_last(arguments);
                values.into_iter().for_each(|value| stack.push(value));
            }
        }
    };
}

tuple!(2 A 0 B 1);
tuple!(3 A 0 B 1 C 2);
tuple!(4 A 0 B 1 C 2 D 3);
tuple!(5 A 0 B 1 C 2 D 3 E 4);
tuple!(6 A 0 B 1 C 2 D 3 E 4 F 5);
tuple!(7 A 0 B 1 C 2 D 3 E 4 F 5 G 6);
tuple!(8 A 0 B 1 C 2 D 3 E 4 F 5 G 6 H 7);
tuple!(9 A 0 B 1 C 2 D 3 E 4 F 5 G 6 H 7 I 8);
tuple!(10 A 0 B 1 C 2 D 3 E 4 F 5 G 6 H 7 I 8 J 9);
