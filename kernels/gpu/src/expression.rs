//! The expressions of element-wise operators, as text: `a`, `b` and `c` are its tensors, `s0` and `s1` its numbers, `T`
//! their type.
//!
//! The text uses what WGSL and C++ have in common: operators, literals such as `1.0`, conversions such as `T(0)`, and
//! calls. Each language has to declare functions that it lacks, whether they have names of WGSL's (`select`, `inverseSqrt`)
//! or of our own (`divided`, `within`).

use torch_library::prelude::*;

/// The types that an expression is valid for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Over {
    /// Floats only.
    Floats,
    /// Floats and integers.
    Numbers,
    /// All types but floats: integers and bools.
    Whole,
    /// All types: floats, integers and bools.
    All,
}

/// The expression that an operator computes for each element.
#[derive(Clone, Debug)]
pub struct Expression {
    /// The text of the expression.
    pub text: &'static str,
    /// The expression for int64 in a language without that type, on pairs of 32-bit words, with functions of its own;
    /// `None` if int64 is not supported then.
    pub wide: Option<&'static str>,
    /// The types that it is valid for.
    pub over: Over,
    /// The number of leading tensors that are conditions, of type bool.
    pub conditions: usize,
    /// Whether the result is a bool, whatever the types of the operands.
    pub is_predicate: bool,
    /// A number of the call that takes part in type promotion.
    pub promotes_scalar: Option<Scalar>,
}

/// Operators with one expression for all arguments.
const PLAIN: [(&str, &str, Over); 37] = [
    ("abs", "abs(a)", Over::Numbers),
    ("neg", "-a", Over::Numbers),
    ("relu", "select(select(a, T(0), a < T(0)), a, is_nan(a))", Over::Numbers),
    ("exp", "exp(a)", Over::Floats),
    ("log", "log(a)", Over::Floats),
    ("sqrt", "sqrt(a)", Over::Floats),
    ("rsqrt", "inverseSqrt(a)", Over::Floats),
    ("sin", "sin(a)", Over::Floats),
    ("cos", "cos(a)", Over::Floats),
    ("tanh", "bounded_tanh(a)", Over::Floats),
    ("sigmoid", "1.0 / (1.0 + exp(-a))", Over::Floats),
    ("floor", "floor(a)", Over::Floats),
    ("ceil", "ceil(a)", Over::Floats),
    ("trunc", "trunc(a)", Over::Floats),
    ("reciprocal", "divided(1.0, a)", Over::Floats),
    ("silu", "a / (1.0 + exp(-a))", Over::Floats),
    ("add.Tensor", "a + b * s0", Over::Numbers),
    ("sub.Tensor", "a - b * s0", Over::Numbers),
    ("mul.Tensor", "a * b", Over::Numbers),
    ("div.Tensor", "divided(a, b)", Over::Floats),
    ("threshold_backward", "select(a, T(0), b <= s0)", Over::Floats),
    ("sigmoid_backward", "a * (1.0 - b) * b", Over::Floats),
    ("tanh_backward", "a * (1.0 - b * b)", Over::Floats),
    ("addcmul", "a + s0 * b * c", Over::Floats),
    ("addcdiv", "a + s0 * (b / c)", Over::Floats),
    ("leaky_relu", "select(a * s0, a, a > 0.0)", Over::Floats),
    ("leaky_relu_backward", "select(a * s0, a, b > 0.0)", Over::Floats),
    ("erf", "erf(a)", Over::Floats),
    ("bitwise_and.Tensor", "a & b", Over::Whole),
    ("bitwise_or.Tensor", "a | b", Over::Whole),
    ("hardtanh", "within(a, s0, s1)", Over::Floats),
    ("hardtanh_backward", "select(a, 0.0, b <= s0 || b >= s1)", Over::Floats),
    ("hardswish", "a * within(a + 3.0, 0.0, 6.0) / 6.0", Over::Floats),
    ("hardswish_backward", "select(select(a * (b / 3.0 + 0.5), a, b >= 3.0), 0.0, b <= -3.0)", Over::Floats),
    ("hardsigmoid", "within(a + 3.0, 0.0, 6.0) / 6.0", Over::Floats),
    ("hardsigmoid_backward", "select(0.0, a / 6.0, b > -3.0 && b < 3.0)", Over::Floats),
    ("silu_backward", "a * logistic(b) * (1.0 + b * (1.0 - logistic(b)))", Over::Floats),
];

const GELU: &str = "0.5 * a * (1.0 + erf(a * 0.7071067811865476))";
const GELU_BACKWARD: &str =
    "a * (0.5 * (1.0 + erf(b * 0.7071067811865476)) + b * exp(-0.5 * b * b) * 0.3989422804014327)";
const GELU_TANH: &str = "0.5 * a * (1.0 + bounded_tanh(0.7978845608028654 * (a + 0.044715 * a * a * a)))";
const GELU_TANH_BACKWARD: &str = "a * gelu_tanh_slope(b)";

/// Operators whose result is a bool.
const PREDICATES: [(&str, &str); 15] = [
    ("eq.Tensor", "a == b"),
    ("ne.Tensor", "a != b"),
    ("lt.Tensor", "a < b"),
    ("le.Tensor", "a <= b"),
    ("gt.Tensor", "a > b"),
    ("ge.Tensor", "a >= b"),
    ("eq.Scalar", "a == s0"),
    ("ne.Scalar", "a != s0"),
    ("lt.Scalar", "a < s0"),
    ("le.Scalar", "a <= s0"),
    ("gt.Scalar", "a > s0"),
    ("ge.Scalar", "a >= s0"),
    ("logical_not", "!a"),
    ("logical_and", "a && b"),
    ("logical_or", "a || b"),
];

/// The expressions for int64 as pairs of words: sums and products wrap around, as on the CPU.
const WIDE: [(&str, &str); 22] = [
    ("add.Tensor", "sum64(a, product64(b, s0))"),
    ("sub.Tensor", "sum64(a, negative64(product64(b, s0)))"),
    ("mul.Tensor", "product64(a, b)"),
    ("neg", "negative64(a)"),
    ("abs", "select(a, negative64(a), is_below64(a, vec2(0u, 0u)))"),
    ("maximum", "select(a, b, is_below64(a, b))"),
    ("minimum", "select(b, a, is_below64(a, b))"),
    ("where.self", "select(c, b, a)"),
    ("bitwise_and.Tensor", "a & b"),
    ("bitwise_or.Tensor", "a | b"),
    ("eq.Tensor", "all(a == b)"),
    ("ne.Tensor", "any(a != b)"),
    ("lt.Tensor", "is_below64(a, b)"),
    ("le.Tensor", "!is_below64(b, a)"),
    ("gt.Tensor", "is_below64(b, a)"),
    ("ge.Tensor", "!is_below64(a, b)"),
    ("eq.Scalar", "all(a == s0)"),
    ("ne.Scalar", "any(a != s0)"),
    ("lt.Scalar", "is_below64(a, s0)"),
    ("le.Scalar", "!is_below64(s0, a)"),
    ("gt.Scalar", "is_below64(s0, a)"),
    ("ge.Scalar", "!is_below64(a, s0)"),
];

fn wide(name: &str) -> Option<&'static str> {
    WIDE.iter().find(|(known, _)| *known == name).map(|(_, text)| *text)
}

/// The identity, for conversions.
pub const SAME: Expression = Expression {
    text: "a",
    wide: Some("a"),
    over: Over::All,
    conditions: 0,
    is_predicate: false,
    promotes_scalar: None,
};

impl Expression {
    /// The expression of an operator of `aten`, such as `add.Tensor`, if it has the same one for all arguments.
    pub fn named(name: &str) -> Option<Expression> {
        let (_, text, over) = PLAIN.iter().find(|(known, ..)| *known == name)?;
        Some(Expression::plain(name, text, *over))
    }

    fn plain(name: &str, text: &'static str, over: Over) -> Expression {
        let wide = wide(name);
        Expression { text, wide, over, conditions: 0, is_predicate: false, promotes_scalar: None }
    }

    /// The expression of a call, if there is one.
    pub fn of(operator: OperatorHandle, arguments: &[Value<'_>]) -> Option<Expression> {
        Expression::of_call(operator.to_string().strip_prefix("aten::")?, arguments)
    }

    /// As [`of`](Self::of), for an operator of `aten` by its name.
    pub fn of_call(name: &str, arguments: &[Value<'_>]) -> Option<Expression> {
        let plain = |text, over| Expression::plain(name, text, over);
        if let Some(expression) = Expression::named(name) {
            return Some(expression);
        }
        if let Some((_, text)) = PREDICATES.iter().find(|(known, _)| *known == name) {
            return Some(predicate(name, text, arguments));
        }
        if name == "where.self" {
            return Some(Expression { conditions: 1, ..plain("select(c, b, a)", Over::Numbers) });
        }
        let (text, over) = match name {
            "maximum" | "minimum" => extreme(name, arguments),
            "elu_backward" => (elu_backward(arguments), Over::Floats),
            "gelu" | "gelu_backward" => (gelu(name, arguments), Over::Floats),
            "clamp" => (clamp(arguments)?, Over::Numbers),
            // For negative infinity the power is infinite, but the square root, which the CPU uses for float32, is NaN.
            "pow.Tensor_Scalar" if scalar(arguments, 1)? == 0.5 && !has_only_float32(arguments) => {
                return None;
            }
            "pow.Tensor_Scalar" => (power(scalar(arguments, 1)?)?, Over::Floats),
            // Computed from the nearer end, which is then exact.
            "lerp.Scalar" if scalar(arguments, 2)?.abs() < 0.5 => ("a + s0 * (b - a)", Over::Floats),
            "lerp.Scalar" => ("b - (b - a) * (1.0 - s0)", Over::Floats),
            _ => return None,
        };
        Some(plain(text, over))
    }
}

/// The number at a position of the arguments.
fn scalar(arguments: &[Value<'_>], at: usize) -> Option<f64> {
    match arguments.get(at) {
        Some(Value::Int(x)) => Some(*x as f64),
        Some(Value::Float(x)) => Some(*x),
        _ => None,
    }
}

fn has_only_float32(arguments: &[Value<'_>]) -> bool {
    arguments.iter().filter_map(Value::as_tensor).all(|x| x.dtype() == DType::Float32)
}

fn extreme(name: &str, arguments: &[Value<'_>]) -> (&'static str, Over) {
    let is_float = arguments.iter().filter_map(Value::as_tensor).any(|x| x.dtype().is_floating_point());
    match (name, is_float) {
        ("maximum", true) => ("select(select(b, a, a > b || is_nan(a)), b, is_nan(b))", Over::Floats),
        ("minimum", true) => ("select(select(b, a, a < b || is_nan(a)), b, is_nan(b))", Over::Floats),
        ("maximum", false) => ("max(a, b)", Over::Numbers),
        _ => ("min(a, b)", Over::Numbers),
    }
}

/// The gradient of an exponential linear unit, from its input or from its result.
fn elu_backward(arguments: &[Value<'_>]) -> &'static str {
    match arguments.iter().any(|value| matches!(value, Value::Bool(true))) {
        true => "select(a * s1, a * s2 * (b + s0 * s1), b <= 0.0)",
        false => "select(a * s1, a * s2 * s0 * s1 * exp(b * s2), b <= 0.0)",
    }
}

fn gelu(name: &str, arguments: &[Value<'_>]) -> &'static str {
    let is_tanh = arguments.iter().any(|value| matches!(value, Value::Str(text) if text == "tanh"));
    match (name, is_tanh) {
        ("gelu", false) => GELU,
        ("gelu", true) => GELU_TANH,
        (_, false) => GELU_BACKWARD,
        (_, true) => GELU_TANH_BACKWARD,
    }
}

/// NaN has to stay NaN. Shader compilers turn a comparison with a selection into `min` or `max`, which drop NaN, so it is
/// selected explicitly.
fn clamp(arguments: &[Value<'_>]) -> Option<&'static str> {
    let limits = [scalar(arguments, 1), scalar(arguments, 2)];
    let has_bool = arguments.iter().any(|value| matches!(value, Value::Bool(_)));
    if has_bool || limits.into_iter().flatten().any(f64::is_nan) {
        return None;
    }
    match limits {
        [Some(_), Some(_)] => {
            Some("select(select(select(a, s0, a < s0), s1, select(a, s0, a < s0) > s1), a, is_nan(a))")
        }
        [Some(_), None] => Some("select(select(a, s0, a < s0), a, is_nan(a))"),
        [None, Some(_)] => Some("select(select(a, s0, a > s0), a, is_nan(a))"),
        [None, None] => None,
    }
}

fn power(exponent: f64) -> Option<&'static str> {
    match exponent {
        1.0 => Some("a"),
        2.0 => Some("a * a"),
        3.0 => Some("a * a * a"),
        0.5 => Some("sqrt(a)"),
        -1.0 => Some("1.0 / a"),
        _ => None,
    }
}

fn predicate(name: &str, text: &'static str, arguments: &[Value<'_>]) -> Expression {
    let is_logical = name.starts_with("logical");
    let number = match arguments.get(1) {
        Some(Value::Int(x)) => Some(Scalar::Int(*x)),
        Some(Value::Float(x)) => Some(Scalar::Float(*x)),
        Some(Value::Bool(x)) => Some(Scalar::Bool(*x)),
        _ => None,
    };
    Expression {
        text,
        wide: wide(name),
        over: if is_logical { Over::All } else { Over::Numbers },
        conditions: if is_logical { 2 } else { 0 },
        is_predicate: true,
        promotes_scalar: number,
    }
}
