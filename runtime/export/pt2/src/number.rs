//! Python's arithmetic on numbers that are known when a program runs: sizes, and values computed from them.

use std::cmp::Ordering;

use crate::error::{Error, ErrorKind, Result, bail, ensure};

/// A Python number.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Number {
    /// An integer.
    Int(i64),
    /// A float.
    Float(f64),
    /// A bool.
    Bool(bool),
}

impl Number {
    /// The number as an integer, if it is an integer or a bool.
    pub fn int(self) -> Option<i64> {
        match self {
            Number::Int(number) => Some(number),
            Number::Bool(yes) => Some(i64::from(yes)),
            Number::Float(_) => None,
        }
    }

    /// The number as a float.
    pub fn float(self) -> f64 {
        match self {
            Number::Int(number) => number as f64,
            Number::Float(number) => number,
            Number::Bool(yes) => f64::from(u8::from(yes)),
        }
    }

    /// Whether the number is true in Python.
    pub fn is_true(self) -> bool {
        self.float() != 0.0
    }
}

/// The functions by which programs and their guards compute numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names are Python's and SymPy's")]
pub enum Function {
    Add,
    Sub,
    Mul,
    FloorDiv,
    CeilDiv,
    TrueDiv,
    Mod,
    Pow,
    ShiftLeft,
    ShiftRight,
    /// Python's `and` and SymPy's `And`: of truths.
    And,
    /// Python's `or` and SymPy's `Or`: of truths.
    Or,
    /// `&`: of the bits of integers, or of two bools.
    BitAnd,
    /// `|`: of the bits of integers, or of two bools.
    BitOr,
    /// `^`: of the bits of integers, or of two bools.
    BitXor,
    Not,
    Neg,
    Same,
    Equal,
    Unequal,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
    Max,
    Min,
    Floor,
    Ceil,
    Trunc,
    Float,
    Sqrt,
    Choose,
}

impl Function {
    /// The function that a node calls, from `_operator`, `math` or `torch`.
    pub fn of_target(target: &str) -> Option<Function> {
        let (module, name) = target.rsplit_once('.')?;
        let name = match module {
            "_operator" | "operator" | "math" => name,
            "torch" | "torch.sym" => name.trim_start_matches('_').strip_prefix("sym_")?,
            _ => return None,
        };
        Self::named(name)
    }

    /// The function with this name in Python, or in SymPy.
    pub fn named(name: &str) -> Option<Function> {
        use Function::*;
        Some(match name {
            "add" | "Add" => Add,
            "sub" => Sub,
            "mul" | "Mul" => Mul,
            "floordiv" | "FloorDiv" | "CleanDiv" => FloorDiv,
            "CeilDiv" => CeilDiv,
            "truediv" | "IntTrueDiv" | "FloatTrueDiv" | "Rational" => TrueDiv,
            "mod" | "Mod" | "PythonMod" => Mod,
            "pow" | "Pow" | "PowByNatural" | "FloatPow" => Pow,
            "lshift" | "LShift" => ShiftLeft,
            "rshift" | "RShift" => ShiftRight,
            "And" => And,
            "Or" => Or,
            "and_" | "BitwiseFn_bitwise_and" => BitAnd,
            "or_" | "BitwiseFn_bitwise_or" => BitOr,
            "xor" | "BitwiseFn_bitwise_xor" => BitXor,
            "not" | "not_" | "Not" => Not,
            "neg" => Neg,
            "pos" | "Integer" | "Identity" => Same,
            "eq" | "Equality" | "Eq" => Equal,
            "ne" | "Unequality" | "Ne" => Unequal,
            "lt" | "StrictLessThan" | "Lt" => Less,
            "le" | "LessThan" | "Le" => LessOrEqual,
            "gt" | "StrictGreaterThan" | "Gt" => Greater,
            "ge" | "GreaterThan" | "Ge" => GreaterOrEqual,
            "max" | "Max" => Max,
            "min" | "Min" => Min,
            "floor" | "FloorToInt" => Floor,
            "ceil" | "CeilToInt" | "ceiling" => Ceil,
            "trunc" | "int" | "TruncToInt" => Trunc,
            "float" | "ToFloat" | "Float" => Float,
            "sqrt" | "OpaqueUnaryFn_sqrt" => Sqrt,
            "ite" | "Where" | "ITE" => Choose,
            _ => return None,
        })
    }

    /// Computes the function.
    ///
    /// # Errors
    /// The number of arguments is wrong; the result does not fit 64 bits; a division by zero.
    pub fn apply(self, arguments: &[Number]) -> Result<Number> {
        use Function::*;
        match (self, arguments) {
            (Add | Mul | Max | Min | And | Or | BitAnd | BitOr | BitXor, [first, rest @ ..]) => {
                rest.iter().try_fold(*first, |left, right| self.join(left, *right))
            }
            (Choose, [condition, yes, no]) => Ok(if condition.is_true() { *yes } else { *no }),
            (_, [left, right]) => self.join(*left, *right),
            (_, [one]) => self.apply_to_one(*one),
            _ => bail!(Argument, "{self:?} cannot be applied to {} numbers", arguments.len()),
        }
    }

    fn apply_to_one(self, number: Number) -> Result<Number> {
        let whole = |rounded: f64| match rounded.abs() < 9.2e18 {
            true => Ok(Number::Int(rounded as i64)),
            false => Err(too_large(self)),
        };
        Ok(match (self, number, number.int()) {
            (Function::Not, number, _) => Number::Bool(!number.is_true()),
            (Function::Neg, _, Some(int)) => Number::Int(int.checked_neg().ok_or_else(|| too_large(self))?),
            (Function::Neg, number, None) => Number::Float(-number.float()),
            (Function::Same, number, _) => number,
            (Function::Floor | Function::Ceil | Function::Trunc, _, Some(int)) => Number::Int(int),
            (Function::Floor, number, None) => whole(number.float().floor())?,
            (Function::Ceil, number, None) => whole(number.float().ceil())?,
            (Function::Trunc, number, None) => whole(number.float().trunc())?,
            (Function::Float, number, _) => Number::Float(number.float()),
            (Function::Sqrt, number, _) => {
                let float = number.float();
                ensure!(float >= 0.0 || float.is_nan(), Argument, "a negative number has no root");
                Number::Float(float.sqrt())
            }
            _ => bail!(Argument, "{self:?} cannot be applied to one number"),
        })
    }

    fn join(self, left: Number, right: Number) -> Result<Number> {
        use Function::*;
        if let Some(truth) = self.compare(left, right) {
            return Ok(Number::Bool(truth));
        }
        if let (Number::Bool(left), Number::Bool(right)) = (left, right)
            && let Some(truth) = self.join_bools(left, right)
        {
            return Ok(Number::Bool(truth));
        }
        Ok(match (self, left.int(), right.int()) {
            (And, ..) => Number::Bool(left.is_true() && right.is_true()),
            (Or, ..) => Number::Bool(left.is_true() || right.is_true()),
            // Of equal numbers the first, and NaN only if it comes first, as in Python.
            (Max, ..) if Greater.compare(right, left) == Some(true) => right,
            (Min, ..) if Less.compare(right, left) == Some(true) => right,
            (Max | Min, ..) => left,
            (TrueDiv, ..) => {
                ensure!(right.is_true(), Argument, "division by zero");
                Number::Float(left.float() / right.float())
            }
            (Pow, Some(base), Some(exponent)) if exponent >= 0 => {
                let power = u32::try_from(exponent).ok().and_then(|exponent| base.checked_pow(exponent));
                Number::Int(power.ok_or_else(|| too_large(self))?)
            }
            (Pow, ..) => Number::Float(power(left.float(), right.float())?),
            (_, Some(left), Some(right)) => self.join_ints(left, right)?,
            (Add, ..) => Number::Float(left.float() + right.float()),
            (Sub, ..) => Number::Float(left.float() - right.float()),
            (Mul, ..) => Number::Float(left.float() * right.float()),
            (FloorDiv, ..) => Number::Float(divided(left.float(), right.float())?.0),
            (Mod, ..) => Number::Float(divided(left.float(), right.float())?.1),
            _ => bail!(Argument, "{self:?} cannot be applied to two numbers"),
        })
    }

    /// The bitwise functions, which make bools of bools.
    fn join_bools(self, left: bool, right: bool) -> Option<bool> {
        match self {
            Function::BitAnd => Some(left & right),
            Function::BitOr => Some(left | right),
            Function::BitXor => Some(left ^ right),
            _ => None,
        }
    }

    fn join_ints(self, left: i64, right: i64) -> Result<Number> {
        use Function::*;
        let divides = matches!(self, FloorDiv | CeilDiv | Mod);
        ensure!(!divides || right != 0, Argument, "division by zero");
        // Python's division rounds down, Rust's towards zero.
        let rounds_down =
            |quotient: i64| quotient - i64::from(left % right != 0 && (left < 0) != (right < 0));
        let shifts = matches!(self, ShiftLeft | ShiftRight);
        ensure!(!shifts || right >= 0, Argument, "a shift by {right} bits, which must not be negative");
        let result = match self {
            Add => left.checked_add(right),
            Sub => left.checked_sub(right),
            Mul => left.checked_mul(right),
            FloorDiv => left.checked_div(right).map(rounds_down),
            CeilDiv => left
                .checked_div(right)
                .map(|quotient| quotient + i64::from(left % right != 0 && (left < 0) == (right < 0))),
            Mod => left.checked_rem(right).map(|rest| match rest != 0 && (rest < 0) != (right < 0) {
                true => rest + right,
                false => rest,
            }),
            ShiftLeft if left == 0 => Some(0),
            ShiftLeft if right < 63 => left.checked_mul(1 << right),
            ShiftLeft => None,
            ShiftRight => Some(left >> right.min(63)),
            BitAnd => Some(left & right),
            BitOr => Some(left | right),
            BitXor => Some(left ^ right),
            _ => bail!(Argument, "{self:?} cannot be applied to two numbers"),
        };
        result.map(Number::Int).ok_or_else(|| too_large(self))
    }

    /// Whether a comparison holds; `None` if this is not a comparison.
    fn compare(self, left: Number, right: Number) -> Option<bool> {
        let order = match (left.int(), right.int()) {
            (Some(left), Some(right)) => Some(left.cmp(&right)),
            (Some(left), None) => order(left, right.float()),
            (None, Some(right)) => order(right, left.float()).map(Ordering::reverse),
            (None, None) => left.float().partial_cmp(&right.float()),
        };
        Some(match self {
            Function::Equal => order == Some(Ordering::Equal),
            Function::Unequal => order != Some(Ordering::Equal),
            Function::Less => order == Some(Ordering::Less),
            Function::LessOrEqual => order.is_some_and(Ordering::is_le),
            Function::Greater => order == Some(Ordering::Greater),
            Function::GreaterOrEqual => order.is_some_and(Ordering::is_ge),
            _ => return None,
        })
    }
}

/// The quotient of floats, rounded down, and the rest, which has the sign of the divisor. The rest is exact, and decides
/// about the quotient: `1.0 // 0.1` is 9, although `1.0 / 0.1` is rounded to 10.
fn divided(left: f64, right: f64) -> Result<(f64, f64)> {
    ensure!(right != 0.0, Argument, "division by zero");
    let mut rest = left % right;
    let mut quotient = (left - rest) / right;
    if rest != 0.0 && (rest < 0.0) != (right < 0.0) {
        (rest, quotient) = (rest + right, quotient - 1.0);
    } else if rest == 0.0 {
        rest = 0f64.copysign(right);
    }
    // It is a whole number but for rounding.
    Ok((if quotient == 0.0 { 0f64.copysign(left / right) } else { quotient.round() }, rest))
}

/// A power of floats; the bases of fractional ones are not negative, where Python's result would be complex.
fn power(base: f64, exponent: f64) -> Result<f64> {
    if base == 0.0 && exponent < 0.0 {
        bail!(Argument, "zero has no power with the exponent {exponent}");
    }
    if base < 0.0 && base.is_finite() && exponent.is_finite() && exponent.fract() != 0.0 {
        bail!(Argument, "a power of {base} with the exponent {exponent} is complex");
    }
    Ok(base.powf(exponent))
}

/// The order of an integer and a float, which is exact although few large integers are floats.
fn order(int: i64, float: f64) -> Option<Ordering> {
    const END: f64 = 9_223_372_036_854_775_808.0; // the first float beyond the integers
    if !(-END..END).contains(&float) {
        return 0f64.partial_cmp(&float);
    }
    // The float's integer part is an i64, and its fraction decides if they are equal.
    Some(int.cmp(&(float.floor() as i64)).then(if float.fract() == 0.0 {
        Ordering::Equal
    } else {
        Ordering::Less
    }))
}

fn too_large(function: Function) -> Error {
    Error::new(ErrorKind::Argument, format!("the result of {function:?} does not fit into 64 bits"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(function: &str, numbers: &[i64]) -> Result<Number> {
        let numbers: Vec<_> = numbers.iter().copied().map(Number::Int).collect();
        Function::named(function).unwrap().apply(&numbers)
    }

    #[test]
    fn divisions_round_as_pythons_do() {
        for (left, right, quotient, rest) in [(7, 2, 3, 1), (-7, 2, -4, 1), (7, -2, -4, -1), (-7, -2, 3, -1)]
        {
            assert_eq!(of("floordiv", &[left, right]).unwrap(), Number::Int(quotient));
            assert_eq!(of("mod", &[left, right]).unwrap(), Number::Int(rest));
        }
        assert_eq!(of("CeilDiv", &[7, 2]).unwrap(), Number::Int(4));
        assert_eq!(of("truediv", &[7, 2]).unwrap(), Number::Float(3.5));
    }

    #[test]
    fn floats_are_divided_and_raised_as_pythons_are() {
        let of = |function: Function, left: f64, right: f64| {
            function.apply(&[left, right].map(Number::Float)).map(Number::float)
        };
        for (left, right, quotient, rest) in [
            (7.5, 2.0, 3.0, 1.5),
            (-7.5, 2.0, -4.0, 0.5),
            (7.5, -2.0, -4.0, -0.5),
            (1.0, 0.1, 9.0, 0.1 - 5.551115123125783e-17),
            (5.0, f64::INFINITY, 0.0, 5.0),
            (-5.0, f64::INFINITY, -1.0, f64::INFINITY),
        ] {
            let found =
                [Function::FloorDiv, Function::Mod].map(|function| of(function, left, right).unwrap());
            assert_eq!(found, [quotient, rest], "{left} and {right}");
        }
        assert_eq!(of(Function::Pow, 4.0, 0.5).unwrap(), 2.0);
        assert_eq!(of(Function::Pow, -2.0, -1.0).unwrap(), -0.5);
        for (function, left, right) in [
            (Function::FloorDiv, 1.0, 0.0),
            (Function::Mod, 1.0, 0.0),
            (Function::Pow, 0.0, -1.0),
            (Function::Pow, -8.0, 0.5),
        ] {
            assert!(of(function, left, right).is_err(), "{function:?} of {left} and {right}");
        }
        assert!(Function::Sqrt.apply(&[Number::Int(-1)]).is_err());
    }

    #[test]
    fn the_larger_of_large_integers_is_exact() {
        let large = 1 << 53; // where floats have steps of two
        assert_eq!(of("max", &[large, large + 1]).unwrap(), Number::Int(large + 1));
        assert_eq!(of("min", &[large + 1, large]).unwrap(), Number::Int(large));
        let [nan, one] = [Number::Float(f64::NAN), Number::Int(1)];
        assert_eq!(Function::Max.apply(&[one, nan]).unwrap(), one);
        assert!(Function::Min.apply(&[nan, one]).unwrap().float().is_nan());
    }

    #[test]
    fn bits_are_joined_as_pythons_are() {
        for (function, left, right, joined) in [
            ("and_", 6, 3, 2),
            ("and_", -2, 7, 6),
            ("or_", 4, 3, 7),
            ("xor", 6, 3, 5),
            ("BitwiseFn_bitwise_and", 12, 10, 8),
            ("BitwiseFn_bitwise_or", 12, 10, 14),
            ("BitwiseFn_bitwise_xor", 12, 10, 6),
            ("lshift", 3, 4, 48),
            ("lshift", 0, 100, 0),
            ("rshift", -3, 1, -2),
            ("rshift", 5, 100, 0),
            ("rshift", -5, 100, -1),
        ] {
            assert_eq!(of(function, &[left, right]).unwrap(), Number::Int(joined), "{function}");
        }
        assert_eq!(of("And", &[6, 1]).unwrap(), Number::Bool(true), "of truths");
        assert_eq!(of("Or", &[0, 4]).unwrap(), Number::Bool(true), "of truths");
        for (function, joined) in [("and_", false), ("or_", true), ("xor", true)] {
            let bools = [Number::Bool(true), Number::Bool(false)];
            assert_eq!(Function::named(function).unwrap().apply(&bools).unwrap(), Number::Bool(joined));
        }
        let mixed = [Number::Bool(true), Number::Int(6)];
        assert_eq!(Function::BitOr.apply(&mixed).unwrap(), Number::Int(7));
        assert!(Function::BitAnd.apply(&[Number::Int(1), Number::Float(1.0)]).is_err());
    }

    #[test]
    fn integers_are_compared_exactly() {
        let (less, more) = (i64::MAX - 1, i64::MAX); // one float
        for numbers in [[less, more], [more, less]] {
            assert_eq!(of("max", &numbers).unwrap(), Number::Int(more));
            assert_eq!(of("min", &numbers).unwrap(), Number::Int(less));
        }
        assert_eq!(Function::Max.apply(&[Number::Float(1.5), Number::Int(1)]).unwrap(), Number::Float(1.5));
        let odd = Number::Int((1 << 53) + 1); // the nearest floats are beside it
        for (float, is_less) in [((1u64 << 53) as f64, false), (((1u64 << 53) + 2) as f64, true)] {
            let float = Number::Float(float);
            assert_eq!(Function::Less.apply(&[odd, float]).unwrap(), Number::Bool(is_less));
            assert_eq!(Function::Less.apply(&[float, odd]).unwrap(), Number::Bool(!is_less));
            assert_eq!(Function::Equal.apply(&[odd, float]).unwrap(), Number::Bool(false));
        }
        for (int, float, is_less) in
            [(-3, -2.5, true), (-2, -2.5, false), (i64::MAX, f64::INFINITY, true), (i64::MIN, -1e300, false)]
        {
            let less = Function::Less.apply(&[Number::Int(int), Number::Float(float)]).unwrap();
            assert_eq!(less, Number::Bool(is_less), "{int} and {float}");
        }
        let none = [Number::Int(1), Number::Float(f64::NAN)];
        assert_eq!(Function::Less.apply(&none).unwrap(), Number::Bool(false));
    }

    #[test]
    fn what_has_no_result_is_an_error() {
        for (function, numbers) in [
            ("add", &[i64::MAX, 1][..]),
            ("mul", &[i64::MAX, 2]),
            ("floordiv", &[1, 0]),
            ("floordiv", &[i64::MIN, -1]),
            ("mod", &[i64::MIN, -1]),
            ("mod", &[1, 0]),
            ("pow", &[10, 1000]),
            ("lshift", &[1, 64]),
            ("lshift", &[1, -1]),
            ("rshift", &[1, -1]),
            ("neg", &[i64::MIN]),
            ("ite", &[1]),
            ("add", &[]),
        ] {
            assert!(of(function, numbers).is_err(), "{function} {numbers:?}");
        }
    }

    #[test]
    fn functions_are_found_by_what_nodes_call() {
        assert_eq!(Function::of_target("_operator.floordiv"), Some(Function::FloorDiv));
        assert_eq!(Function::of_target("torch.sym_max"), Some(Function::Max));
        assert_eq!(Function::of_target("math.trunc"), Some(Function::Trunc));
        assert_eq!(Function::of_target("os.system"), None);
    }
}
