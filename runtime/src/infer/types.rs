//! The types of arguments and returns for which a schema can be inferred, and their names in schemas.

use num_complex::Complex64;

use super::SchemaText;
use crate::argument::Argument;
use crate::device::Device;
use crate::dtype::DType;
use crate::generator::Generator;
use crate::layout::{Layout, MemoryFormat};
use crate::scalar::Scalar;
use crate::tensor::Tensor;
use crate::value::{FromReturn, FromValue, IntoValue, Value};

/// The type of an inferred argument, with any lifetime.
pub trait InferredArgument {
    /// The type with this lifetime.
    type With<'v>: FromValue<'v> + Argument + 'v;
    /// Whether `None` may be passed.
    const IS_OPTIONAL: bool = false;
    /// Whether it can be returned, as `&mut Tensor` can.
    const IS_RETURNABLE: bool = false;
}

macro_rules! arguments {
    ($($type:ty => $with:ty),* $(,)?) => {$(
        impl InferredArgument for $type {
            type With<'v> = $with;
        }
    )*};
}

arguments! {
    &Tensor => &'v Tensor,
    &[Tensor] => &'v [Tensor],
    &mut [Tensor] => &'v mut [Tensor],
    &[Option<Tensor>] => &'v [Option<Tensor>],
    &str => &'v str,
    &Generator => &'v Generator,
    &[i64] => &'v [i64],
    &[f64] => &'v [f64],
    &[bool] => &'v [bool],
    &[Scalar] => &'v [Scalar],
    &[String] => &'v [String],
    i64 => i64,
    f64 => f64,
    bool => bool,
    Complex64 => Complex64,
    Scalar => Scalar,
    DType => DType,
    Layout => Layout,
    MemoryFormat => MemoryFormat,
    Device => Device,
}

impl InferredArgument for &mut Tensor {
    type With<'v> = &'v mut Tensor;
    const IS_RETURNABLE: bool = true;
}

impl<T: InferredArgument> InferredArgument for Option<T> {
    type With<'v> = Option<T::With<'v>>;
    const IS_OPTIONAL: bool = true;
}

/// The type of an inferred return, with any lifetime.
pub trait InferredReturn {
    /// The type with this lifetime.
    type With<'v>: 'v;
    /// The type in the schema language.
    fn ty(schema: &mut SchemaText) -> String;
    /// The value to leave on the stack.
    fn leave(value: Self::With<'_>) -> Left;
}

/// All returns of a function: none, one, or a tuple.
pub trait InferredReturns {
    /// The types with this lifetime.
    type With<'v>: 'v;
    /// The types in the schema language.
    fn types(schema: &mut SchemaText) -> Vec<String>;
    /// The values to leave on the stack.
    fn leave(values: Self::With<'_>) -> Vec<Left>;
}

/// A return of a kernel.
pub enum Left {
    /// A new value.
    Value(Value<'static>),
    /// The argument at this address. The pointer is only compared, never dereferenced.
    Argument(*const Tensor),
}

macro_rules! returns {
    ($($type:ty),* $(,)?) => {$(
        impl InferredReturn for $type {
            type With<'v> = $type;

            fn ty(_: &mut SchemaText) -> String {
                <$type as FromReturn>::TYPE.to_owned()
            }

            fn leave(value: $type) -> Left {
                Left::Value(value.into_value())
            }
        }

        impl InferredReturn for Option<$type> {
            type With<'v> = Option<$type>;

            fn ty(_: &mut SchemaText) -> String {
                format!("{}?", <$type as FromReturn>::TYPE)
            }

            fn leave(value: Option<$type>) -> Left {
                Left::Value(value.into_value())
            }
        }

        one!($type, Option<$type>);
    )*};
}

/// Makes a single return a list of returns.
macro_rules! one {
    ($($type:ty),*) => {$(
        impl InferredReturns for $type {
            type With<'v> = <$type as InferredReturn>::With<'v>;

            fn types(schema: &mut SchemaText) -> Vec<String> {
                vec![<$type as InferredReturn>::ty(schema)]
            }

            fn leave(values: Self::With<'_>) -> Vec<Left> {
                vec![<$type as InferredReturn>::leave(values)]
            }
        }
    )*};
}

returns!(Tensor, i64, f64, bool, Complex64, Scalar, String, DType, Layout, MemoryFormat, Device, Generator);
returns!(Vec<Tensor>, Vec<Option<Tensor>>, Vec<i64>, Vec<f64>, Vec<bool>, Vec<Scalar>, Vec<String>);

/// The argument that was passed in.
impl InferredReturn for &mut Tensor {
    type With<'v> = &'v mut Tensor;

    fn ty(schema: &mut SchemaText) -> String {
        schema.returned_argument()
    }

    fn leave(value: &mut Tensor) -> Left {
        Left::Argument(value)
    }
}

impl InferredReturns for &mut Tensor {
    type With<'v> = &'v mut Tensor;

    fn types(schema: &mut SchemaText) -> Vec<String> {
        vec![<Self as InferredReturn>::ty(schema)]
    }

    fn leave(value: &mut Tensor) -> Vec<Left> {
        vec![<&mut Tensor as InferredReturn>::leave(value)]
    }
}

macro_rules! tuples {
    ($(($($R:ident $r:ident)*))*) => {$(
        impl<$($R: InferredReturn),*> InferredReturns for ($($R,)*) {
            type With<'v> = ($($R::With<'v>,)*);

            fn types(_schema: &mut SchemaText) -> Vec<String> {
                vec![$($R::ty(_schema)),*]
            }

            fn leave(($($r,)*): Self::With<'_>) -> Vec<Left> {
                vec![$($R::leave($r)),*]
            }
        }
    )*};
}

tuples!(() (A a B b) (A a B b C c) (A a B b C c D d) (A a B b C c D d E e));
