//! Expressions of operators for which CUDA C has functions and WGSL does not.

use torch_library::prelude::*;
use torch_library_gpu::{Expression, Over};

/// The expressions, in the form of [`Expression`]'s table.
const MORE: [(&str, &str, Over); 31] = [
    ("expm1", "expm1(a)", Over::Floats),
    ("log1p", "log1p(a)", Over::Floats),
    ("log2", "log2(a)", Over::Floats),
    ("log10", "log10(a)", Over::Floats),
    ("exp2", "exp2(a)", Over::Floats),
    ("tan", "tan(a)", Over::Floats),
    ("asin", "asin(a)", Over::Floats),
    ("acos", "acos(a)", Over::Floats),
    ("atan", "atan(a)", Over::Floats),
    ("sinh", "sinh(a)", Over::Floats),
    ("cosh", "cosh(a)", Over::Floats),
    ("asinh", "asinh(a)", Over::Floats),
    ("acosh", "acosh(a)", Over::Floats),
    ("atanh", "atanh(a)", Over::Floats),
    ("erfc", "erfc(a)", Over::Floats),
    ("frac", "a - trunc(a)", Over::Floats),
    ("round", "rint(a)", Over::Floats),
    ("atan2", "atan2(a, b)", Over::Floats),
    ("pow.Tensor_Tensor", "pow(a, b)", Over::Floats),
    ("pow.Tensor_Scalar", "power(a, s0)", Over::Floats),
    ("bitwise_xor.Tensor", "a ^ b", Over::Whole),
    ("softplus", "select(log1p(exp(a * s0)) / s0, a, a * s0 > s1)", Over::Floats),
    ("elu", "select(a * s1, expm1(a * s2) * s0 * s1, a < T(0))", Over::Floats),
    ("mish", "a * tanh(log1p(exp(a)))", Over::Floats),
    ("mish_backward", "a * mish_slope(b)", Over::Floats),
    ("maximum", "larger(b, a)", Over::Numbers),
    ("minimum", "smaller(b, a)", Over::Numbers),
    ("hardtanh", "select(within(a, s0, s1), a, is_nan(a))", Over::Floats),
    ("hardswish", "a * select(within(a + 3.0, 0.0, 6.0), a, is_nan(a)) / 6.0", Over::Floats),
    ("hardsigmoid", "select(within(a + 3.0, 0.0, 6.0), a, is_nan(a)) / 6.0", Over::Floats),
    ("addcmul", "a + s0 * b * c", Over::Numbers),
];

/// The expression of a call, if it is in this table.
pub(super) fn of_call(name: &str, arguments: &[Value<'_>]) -> Option<Expression> {
    let expression = |text, over| Expression {
        text,
        wide: None,
        over,
        conditions: 0,
        is_predicate: false,
        promotes_scalar: None,
    };
    match name {
        "logical_xor" => {
            return Some(Expression { conditions: 2, is_predicate: true, ..expression("a != b", Over::All) });
        }
        // A power of ½ stays a power for float16, and is the square root for other types, as on the CPU: the two differ
        // for negative infinity and for the sign of zero.
        "pow.Tensor_Scalar" if arguments.iter().filter_map(Value::as_tensor).any(is_half) => {
            return Some(expression("pow(a, s0)", Over::Floats));
        }
        // All bits of an integer are inverted; a bool has only one.
        "bitwise_not" => return Some(expression("turned_over(a)", Over::Whole)),
        // The mask is the second tensor of the call.
        "masked_fill.Scalar" => return Some(expression("select(a, s0, (bool)b)", Over::All)),
        _ => {}
    }
    let (_, text, over) = MORE.iter().find(|(known, ..)| *known == name)?;
    Some(expression(text, *over))
}

fn is_half(tensor: &Tensor) -> bool {
    tensor.dtype() == DType::Float16
}
