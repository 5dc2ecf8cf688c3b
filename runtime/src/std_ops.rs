//! Rust's arithmetic on tensors, such as `&x + &y`, with the operators of `aten`, which an operator library declares.

use std::ops::{Add, Div, Mul, Neg, Sub};

use crate::error::Result;
use crate::registry::call_for;
use crate::scalar::Scalar;
use crate::tensor::Tensor;
use crate::value::Value;

fn call<'v>(name: &str, arguments: impl IntoIterator<Item = Value<'v>>) -> Result<Tensor> {
    call_for("an arithmetic expression of tensors", name, arguments)
}

/// One of Rust's operators, for tensors by value or by reference, with tensors and with numbers.
macro_rules! binary {
    ($Trait:ident::$method:ident, $by_tensor:literal, $by_number:literal) => {
        binary!(@each $Trait $method $by_tensor TensorRef: &Tensor, Tensor);
        // One type of each kind: with more, literals would be ambiguous.
        binary!(@each $Trait $method $by_number from_number: i64, f64, Scalar);
    };
    (@each $Trait:ident $method:ident $name:literal $kind:ident: $($other:ty),+) => { $(
        binary!(@one $Trait $method $name $kind, Tensor, $other);
        binary!(@one $Trait $method $name $kind, &Tensor, $other);
    )+ };
    (@one $Trait:ident $method:ident $name:literal $kind:ident, $this:ty, $other:ty) => {
        impl $Trait<$other> for $this {
            type Output = Result<Tensor>;

            fn $method(self, other: $other) -> Result<Tensor> {
                call($name, [Value::TensorRef(&self), binary!(@value $kind other)])
            }
        }
    };
    (@value TensorRef $other:ident) => { Value::TensorRef(&$other) };
    (@value from_number $other:ident) => { Scalar::from($other).into() };
}

binary!(Add::add, "aten::add.Tensor", "aten::add.Scalar");
binary!(Sub::sub, "aten::sub.Tensor", "aten::sub.Scalar");
binary!(Mul::mul, "aten::mul.Tensor", "aten::mul.Scalar");
binary!(Div::div, "aten::div.Tensor", "aten::div.Scalar");

impl Neg for Tensor {
    type Output = Result<Tensor>;

    fn neg(self) -> Result<Tensor> {
        -&self
    }
}

impl Neg for &Tensor {
    type Output = Result<Tensor>;

    fn neg(self) -> Result<Tensor> {
        call("aten::neg", [Value::TensorRef(self)])
    }
}
