//! Schemas from the types of Rust functions, and boxed kernels from the functions: used to define an operator at run
//! time from a closure, without writing its schema.

use std::fmt::Write;

use torch_library_schema::{Mode, Schema};

use crate::bail;
use crate::error::{Error, ErrorKind, Result};
use crate::key::DispatchKeySet;
use crate::operator::{Operator, OperatorHandle, too_few};
use crate::signature::mistyped;
use crate::value::{FromValue, Stack, Value};

mod types;

use types::Left;
pub(crate) use types::{InferredArgument, InferredReturns};

/// A schema that is being built.
#[derive(Default)]
pub struct SchemaText {
    arguments: String,
    count: usize,
    /// The number of arguments that are written to, which gives the next letter for an alias set.
    written: u8,
    /// The types of the arguments that can be returned.
    returnable: Vec<String>,
    returned: usize,
}

impl SchemaText {
    fn argument<T: InferredArgument>(&mut self) {
        let word = <T::With<'static> as FromValue<'static>>::TYPE;
        let letter = char::from(b'a' + self.written);
        self.written += u8::from(word.contains("(a!)"));
        let word = word.replace("(a!)", &format!("({letter}!)"));
        let optional = if T::IS_OPTIONAL { "?" } else { "" };
        let comma = if self.count == 0 { "" } else { ", " };
        let _ = write!(self.arguments, "{comma}{word}{optional} arg{}", self.count); // a write to a string cannot fail
        self.count += 1;
        self.returnable.extend(T::IS_RETURNABLE.then_some(word));
    }

    /// The type of the next returned argument: arguments that are written to are returned in their order.
    fn returned_argument(&mut self) -> String {
        self.returned += 1;
        self.returnable.get(self.returned - 1).cloned().unwrap_or_default()
    }

    /// The complete schema, with a name.
    fn parse(&self, name: &str, returns: &[String]) -> Result<Schema> {
        if self.returned > self.returnable.len() {
            bail!(
                Schema,
                "no schema can be inferred for {name}: it returns {} `&mut Tensor`, but takes {}; each one that it \
                 returns must be an argument",
                self.returned,
                self.returnable.len()
            );
        }
        let text = format!("{name}({}) -> ({})", self.arguments, returns.join(", "));
        Schema::parse(&text, Mode::Strict)
            .map_err(|error| Error::new(ErrorKind::Schema, error.render(&text).trim_end().to_owned()))
    }
}

/// The schema of an operator with this name (`ns::add.Tensor`) whose kernels have the types of a function. Its
/// arguments are named `arg0`, `arg1`, …, without defaults; a `&mut` argument is written to, and is returned if the
/// function returns a `&mut Tensor`.
///
/// ```
/// use torch_library::prelude::*;
/// use torch_library::infer_schema;
///
/// let schema = infer_schema::<fn(&mut Tensor, i64, Option<f64>) -> Result<&mut Tensor>, _>("ns::op_")?;
/// assert_eq!(schema.to_string(), "ns::op_(Tensor(a!) arg0, int arg1, float? arg2) -> Tensor(a!)");
/// # Ok::<(), torch_library::Error>(())
/// ```
///
/// A type that operators cannot have is a compile error: `i32`, `f32`, `Vec<i64>` as an argument.
///
/// # Errors
/// The name is not valid, or more tensors are returned as `&mut` than there are `&mut` arguments.
///
/// PyTorch: `c10::inferFunctionSchemaFromFunctor`.
pub fn infer_schema<F: Inferred<Types>, Types>(name: &str) -> Result<Schema> {
    let (text, returns) = F::schema_text();
    text.parse(name, &returns)
}

/// A function or closure from whose types a schema can be inferred: it takes the types that operators take, optionally
/// after a [`DispatchKeySet`], and returns a `Result` of the types that they return. The compiler infers `Types`.
///
/// PyTorch: a functor that `CppFunction` can be made from.
#[diagnostic::on_unimplemented(
    message = "no schema can be inferred for `{Self}`",
    label = "not a function of an operator's types",
    note = "it takes up to twelve of `&Tensor`, `&mut Tensor`, `&[Tensor]`, `i64`, `f64`, `bool`, `&str`, `Scalar`, \
            `DType`, `&[i64]` and the like, or `Option`s of them, and returns a `Result` of `()`, `Tensor`, `i64`, \
            `Vec<i64>` and the like, or of a tuple",
    note = "the parameters of a closure need their types: `|x: &Tensor, n: i64| …`"
)]
pub trait Inferred<Types>: Send + Sync + 'static {
    /// The schema under construction with the arguments, and the types of the returns.
    #[doc(hidden)]
    fn schema_text() -> (SchemaText, Vec<String>);

    /// Calls the function with the values on top of the stack, and replaces them by its returns.
    #[doc(hidden)]
    fn call_boxed(&self, operator: OperatorHandle, keys: DispatchKeySet, stack: &mut Stack<'_>)
    -> Result<()>;
}

/// A function of exactly these types, lifetimes included.
pub trait Call<Arguments, R> {
    /// Calls the function.
    fn call(&self, arguments: Arguments) -> Result<R>;
}

macro_rules! calls {
    ($($A:ident $a:ident)*) => {
        impl<F: Fn($($A),*) -> Result<R>, R, $($A),*> Call<($($A,)*), R> for F {
            fn call(&self, ($($a,)*): ($($A,)*)) -> Result<R> {
                self($($a),*)
            }
        }
    };
}

/// Implementations for functions of these types, with or without keys in front.
macro_rules! inferred {
    ($count:literal [$($Keys:ident $keys:ident)?] $($A:ident $a:ident $index:tt)*) => {
        impl<F, R, $($A),*> Inferred<fn($($Keys,)? $($A),*) -> R> for F
        where
            R: InferredReturns,
            $($A: InferredArgument,)*
            // The first bound determines the types, the second requires any lifetime to be accepted.
            F: Fn($($Keys,)? $($A),*) -> Result<R>,
            F: for<'v> Call<($($Keys,)? $($A::With<'v>,)*), R::With<'v>> + Send + Sync + 'static,
        {
            fn schema_text() -> (SchemaText, Vec<String>) {
                let mut schema = SchemaText::default();
                $(schema.argument::<$A>();)*
                let returns = R::types(&mut schema);
                (schema, returns)
            }

            fn call_boxed(&self, operator: OperatorHandle, _keys: DispatchKeySet, stack: &mut Stack<'_>) -> Result<()> {
                $(let $keys = _keys;)?
                let (operator, len) = (operator.operator(), stack.len());
                let Some(values) = stack.last_array_mut::<$count>() else { return Err(too_few(operator, len)) };
                let _found = values.each_ref().map(|value| value.type_name());
                let [$($a),*] = values;
                $(let Some($a) = <$A::With<'_>>::from_value($a) else {
                    return Err(mistyped(operator, $index, <$A::With<'_>>::TYPE, _found[$index]));
                };)*
                let left = R::leave(Call::call(self, ($($keys,)? $($a,)*))?);
                leave(operator, left, &[$($A::IS_RETURNABLE),*], stack)
            }
        }
    };
}

macro_rules! functions {
    ($($count:literal $($A:ident $a:ident $index:tt)*;)*) => {$(
        calls!($($A $a)*);
        inferred!($count [] $($A $a $index)*);
        inferred!($count [DispatchKeySet keys] $($A $a $index)*);
    )*};
}

functions! {
    0;
    1 A a 0;
    2 A a 0 B b 1;
    3 A a 0 B b 1 C c 2;
    4 A a 0 B b 1 C c 2 D d 3;
    5 A a 0 B b 1 C c 2 D d 3 E e 4;
    6 A a 0 B b 1 C c 2 D d 3 E e 4 G g 5;
    7 A a 0 B b 1 C c 2 D d 3 E e 4 G g 5 H h 6;
    8 A a 0 B b 1 C c 2 D d 3 E e 4 G g 5 H h 6 I i 7;
    9 A a 0 B b 1 C c 2 D d 3 E e 4 G g 5 H h 6 I i 7 J j 8;
    10 A a 0 B b 1 C c 2 D d 3 E e 4 G g 5 H h 6 I i 7 J j 8 K k 9;
    11 A a 0 B b 1 C c 2 D d 3 E e 4 G g 5 H h 6 I i 7 J j 8 K k 9 L l 10;
    12 A a 0 B b 1 C c 2 D d 3 E e 4 G g 5 H h 6 I i 7 J j 8 K k 9 L l 10 M m 11;
}
calls!(A a B b C c D d E e G g H h I i J j K k L l M m N n); // up to twelve arguments after the keys

/// Replaces the arguments on the stack by the returns, some of which may be arguments.
fn leave(
    operator: &'static Operator,
    left: Vec<Left>,
    returnable: &[bool],
    stack: &mut Stack<'_>,
) -> Result<()> {
    let mut positions = (0..returnable.len()).filter(|index| returnable[*index]);
    let mut returns = Vec::with_capacity(left.len());
    for left in left {
        returns.push(match left {
            Left::Value(value) => value,
            Left::Argument(returned) => {
                let value = positions.next().map(|index| &mut stack.last_mut(returnable.len())[index]);
                let is_returned = |value: &&mut Value<'_>| {
                    value.as_tensor().is_some_and(|tensor| std::ptr::eq(tensor, returned))
                };
                let Some(value) = value.filter(is_returned) else { return Err(other_argument(operator)) };
                std::mem::replace(value, Value::None)
            }
        });
    }
    stack.drop_last(returnable.len());
    returns.into_iter().for_each(|value| stack.push(value));
    Ok(())
}

#[cold]
fn other_argument(operator: &'static Operator) -> Error {
    let message = format!(
        "a kernel of {operator} must return the arguments that it writes to in order, but returned another tensor"
    );
    Error::new(ErrorKind::Type, format!("{message}\n  schema: {}", operator.spec().schema))
}
