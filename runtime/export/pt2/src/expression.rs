//! Expressions in Python syntax: sizes as SymPy prints them, `Add(Symbol('s0'), Integer(1))`, and guards,
//! `L['x'].size()[0] % 2 == 0`.

use std::fmt;

use crate::error::{Result, bail, ensure};
use crate::number::{Function, Number};

mod parse;

use parse::{LEVELS, Parser};

/// The maximum length of an expression.
const LONGEST: usize = 1 << 16;

/// A parsed expression, whose functions are not resolved yet.
#[derive(Clone, Debug, PartialEq)]
pub enum Expression {
    /// A number.
    Number(Number),
    /// A quoted string.
    Text(String),
    /// A name.
    Name(String),
    /// A call with positional arguments; keyword arguments are assumptions on symbols, which are ignored.
    Call(Box<Expression>, Vec<Expression>),
    /// `x.size`.
    Attribute(Box<Expression>, String),
    /// `x[0]`.
    Index(Box<Expression>, Box<Expression>),
    /// `x + 1`.
    Apply(Function, Vec<Expression>),
}

impl Expression {
    /// Parses an expression.
    ///
    /// # Errors
    /// The text is not an expression, or is too long or too deeply nested.
    pub fn parse(text: &str) -> Result<Expression> {
        ensure!(
            text.len() <= LONGEST,
            Argument,
            "an expression of {} bytes, at most {LONGEST} are allowed",
            text.len()
        );
        Parser::new(text)
            .parse()
            .map_err(|error| error.context(format_args!("expression {:?}", crate::shortened(text))))
    }
}

/// Prints Python, with `s77` for SymPy's `Symbol('s77')`, and `2` for its `Integer(2)`.
impl fmt::Display for Expression {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Expression::Number(Number::Int(number)) => write!(f, "{number}"),
            Expression::Number(Number::Float(number)) => write!(f, "{number:?}"),
            Expression::Number(Number::Bool(yes)) => f.write_str(if *yes { "True" } else { "False" }),
            Expression::Text(text) => write!(f, "'{text}'"),
            Expression::Name(name) => f.write_str(name),
            Expression::Call(callee, arguments) => match (&**callee, arguments.as_slice()) {
                (Expression::Name(callee), [Expression::Text(name)]) if callee == "Symbol" => {
                    f.write_str(name)
                }
                (Expression::Name(callee), [number]) if callee == "Integer" => write!(f, "{number}"),
                (callee, arguments) => {
                    let arguments: Vec<_> = arguments.iter().map(Expression::to_string).collect();
                    write!(f, "{callee}({})", arguments.join(", "))
                }
            },
            Expression::Attribute(of, name) => write!(f, "{of}.{name}"),
            Expression::Index(of, index) => write!(f, "{of}[{index}]"),
            Expression::Apply(function, arguments) => {
                let arguments: Vec<_> = arguments.iter().map(Expression::within).collect();
                let words = LEVELS.iter().copied().flatten().find(|(_, known)| known == function);
                match (function, words, arguments.as_slice()) {
                    (Function::Choose, _, [condition, yes, no]) => {
                        write!(f, "{yes} if {condition} else {no}")
                    }
                    (Function::Not, _, [of]) => write!(f, "not {of}"),
                    (Function::Neg, _, [of]) => write!(f, "-{of}"),
                    (Function::Pow, _, [base, exponent]) => write!(f, "{base}**{exponent}"),
                    (_, Some((word, _)), arguments) => {
                        f.write_str(&arguments.join(&format!(" {} ", word.trim_end())))
                    }
                    (function, None, arguments) => write!(f, "{function:?}({})", arguments.join(", ")),
                }
            }
        }
    }
}

impl Expression {
    /// The number of expressions in this one, including itself.
    fn nodes(&self) -> usize {
        let all = |of: &[Expression]| of.iter().map(Expression::nodes).sum::<usize>();
        1 + match self {
            Expression::Number(_) | Expression::Text(_) | Expression::Name(_) => 0,
            Expression::Call(of, arguments) => of.nodes() + all(arguments),
            Expression::Attribute(of, _) => of.nodes(),
            Expression::Index(of, index) => of.nodes() + index.nodes(),
            Expression::Apply(_, arguments) => all(arguments),
        }
    }

    /// The text as a part of another expression.
    fn within(&self) -> String {
        if matches!(self, Expression::Apply(..)) { format!("({self})") } else { self.to_string() }
    }
}

/// An expression with resolved names: a number, once the leaves have numbers.
#[derive(Clone, Debug, PartialEq)]
pub enum Formula<L> {
    /// A constant.
    Number(Number),
    /// A number that is known later.
    Leaf(L),
    /// A function of other formulas.
    Apply(Function, Vec<Formula<L>>),
}

impl<L: Copy + PartialEq> Formula<L> {
    /// Resolves names; `leaf` says which expressions are leaves.
    ///
    /// # Errors
    /// An unknown function or name.
    pub fn new(
        expression: &Expression,
        leaf: &mut impl FnMut(&Expression) -> Result<Option<L>>,
    ) -> Result<Formula<L>> {
        if let Some(leaf) = leaf(expression)? {
            return Ok(Formula::Leaf(leaf));
        }
        let (function, arguments) = match expression {
            Expression::Number(number) => return Ok(Formula::Number(*number)),
            // SymPy's floats are strings.
            Expression::Text(text) if text.parse::<f64>().is_ok() => {
                return Ok(Formula::Number(Number::Float(text.parse().unwrap_or_default())));
            }
            Expression::Apply(function, arguments) => (*function, arguments),
            Expression::Call(callee, arguments) => match &**callee {
                Expression::Name(name) if name == "Piecewise" => return Self::piecewise(arguments, leaf),
                Expression::Name(name) | Expression::Attribute(_, name) => {
                    let name = name.strip_prefix("sym_").unwrap_or(name);
                    match Function::named(name) {
                        Some(function) => (function, arguments),
                        None => bail!(NotSupported, "the function {name:?} is not supported"),
                    }
                }
                _ => bail!(NotSupported, "a call of something other than a name is not supported"),
            },
            other => bail!(NotSupported, "`{other}` is not supported"),
        };
        // The precision of a float is ignored.
        let taken = if function == Function::Float { 1 } else { arguments.len() };
        let arguments = arguments.iter().take(taken).map(|argument| Formula::new(argument, leaf));
        let mut arguments = arguments.collect::<Result<Vec<_>>>()?;
        // `Integer(-1)` is a number, not a function of one.
        Ok(match (function, arguments.as_slice()) {
            (Function::Same, [_]) => arguments.remove(0),
            (Function::Neg, [Formula::Number(number)]) => Formula::Number(function.apply(&[*number])?),
            _ => Formula::Apply(function, arguments),
        })
    }

    /// SymPy's `Piecewise(ExprCondPair(x, x > 4), ExprCondPair(4, true))`, as `Choose` of conditions and values in
    /// turn, and of the value that is left.
    fn piecewise(
        pairs: &[Expression],
        leaf: &mut impl FnMut(&Expression) -> Result<Option<L>>,
    ) -> Result<Formula<L>> {
        let mut cases = Vec::new();
        for pair in pairs {
            let Expression::Call(_, pair) = pair else { bail!(NotSupported, "`{pair}` is not supported") };
            let [value, condition] = pair.as_slice() else {
                bail!(NotSupported, "a case of Piecewise without a condition is not supported")
            };
            let value = Formula::new(value, leaf)?;
            if *condition == Expression::Number(Number::Bool(true)) {
                cases.push(value);
                return Ok(if cases.len() == 1 {
                    cases.remove(0)
                } else {
                    Formula::Apply(Function::Choose, cases)
                });
            }
            cases.extend([Formula::new(condition, leaf)?, value]);
        }
        bail!(NotSupported, "Piecewise without a value for all other cases is not supported")
    }

    /// Computes the value.
    ///
    /// # Errors
    /// A leaf without a number; arithmetic without a result.
    pub fn evaluate(&self, leaf: &impl Fn(L) -> Result<Number>) -> Result<Number> {
        match self {
            Formula::Number(number) => Ok(*number),
            Formula::Leaf(of) => leaf(*of),
            Formula::Apply(Function::Choose, cases) => {
                // Only the value that is chosen is computed, as in Python.
                let mut cases = cases.as_slice();
                while let [condition, value, others @ ..] = cases
                    && !others.is_empty()
                {
                    if condition.evaluate(leaf)?.is_true() {
                        return value.evaluate(leaf);
                    }
                    cases = others;
                }
                let [otherwise] = cases else { bail!(Argument, "a choice of {} values", cases.len()) };
                otherwise.evaluate(leaf)
            }
            // The operands up to the one that decides are computed, as in Python: the others may have no value.
            Formula::Apply(function @ (Function::And | Function::Or), operands) if !operands.is_empty() => {
                let decides = *function == Function::Or;
                for operand in operands {
                    if operand.evaluate(leaf)?.is_true() == decides {
                        return Ok(Number::Bool(decides));
                    }
                }
                Ok(Number::Bool(!decides))
            }
            Formula::Apply(function, arguments) => {
                let arguments = arguments.iter().map(|argument| argument.evaluate(leaf));
                function.apply(&arguments.collect::<Result<Vec<_>>>()?)
            }
        }
    }

    /// Visits each leaf.
    pub fn leaves(&self, visit: &mut impl FnMut(L)) {
        match self {
            Formula::Number(_) => {}
            Formula::Leaf(leaf) => visit(*leaf),
            Formula::Apply(_, arguments) => arguments.iter().for_each(|argument| argument.leaves(visit)),
        }
    }

    /// The value of the leaf `of` for which the formula has this value, if the formula is `a * leaf + b`.
    pub fn solve(&self, value: i64, leaf: &impl Fn(L) -> Result<Number>, of: L) -> Option<i64> {
        let at = |number: i64| {
            let instead = |which: L| if which == of { Ok(Number::Int(number)) } else { leaf(which) };
            self.evaluate(&instead).ok()?.int()
        };
        let start = at(0)?;
        let step = at(1)?.checked_sub(start)?;
        let distance = value.checked_sub(start)?;
        let solution = if step == 0 { None } else { distance.checked_div(step) }?;
        (at(solution)? == value).then_some(solution)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::{Error, ErrorKind};

    fn value(text: &str) -> Result<Number> {
        let formula = Formula::new(&Expression::parse(text)?, &mut |expression| {
            Ok(match expression {
                Expression::Call(callee, arguments) if **callee == Expression::Name("Symbol".into()) => {
                    Some(arguments.len())
                }
                Expression::Name(name) if name == "x" => Some(0),
                _ => None,
            })
        })?;
        formula.evaluate(&|_| Ok(Number::Int(5)))
    }

    #[test]
    fn sizes_are_read_as_sympy_writes_them() {
        assert_eq!(value("Symbol('s77', positive=True, integer=True)").unwrap(), Number::Int(5));
        let text = "Add(Mul(Integer(2), Symbol('s77', positive=True, integer=True)), Integer(-1))";
        assert_eq!(value(text).unwrap(), Number::Int(9));
        assert_eq!(value("Float('0.5', precision=53)").unwrap(), Number::Float(0.5));
    }

    #[test]
    fn a_choice_computes_the_chosen_value_only() {
        let s = "Symbol('s77', positive=True, integer=True)";
        let text = format!(
            "Piecewise(ExprCondPair(Integer(1), StrictGreaterThan({s}, Integer(5))), ExprCondPair(Add({s}, \
             Integer(4)), StrictGreaterThan({s}, Integer(4))), ExprCondPair(FloorDiv({s}, Integer(0)), true))"
        );
        assert_eq!(value(&text).unwrap(), Number::Int(9));
        assert_eq!(value("Piecewise(ExprCondPair(Integer(3), true))").unwrap(), Number::Int(3));
        assert_eq!(value("(x if x > 4 else x // 0) >= 5").unwrap(), Number::Bool(true));
        assert_eq!(value("1 if x > 5 else 2 if x > 4 else x // 0").unwrap(), Number::Int(2));
        assert!(
            value("Piecewise(ExprCondPair(Integer(3), StrictGreaterThan(Integer(1), Integer(2))))").is_err()
        );
        for text in ["Piecewise(1)", "Piecewise()", "1 if x", "1 if x else"] {
            assert!(value(text).is_err(), "{text}");
        }
    }

    #[test]
    fn what_is_decided_already_is_not_computed() {
        for (text, is) in [
            ("x == 5 or 1 % (x - 5) == 0", true),
            ("x == 4 or x == 5 or 1 // 0 == 0", true),
            ("x == 4 and 1 // 0 == 0", false),
            ("x == 5 and 4 > 3 < 2 < 1 // 0", false),
            (
                "And(StrictLessThan(Symbol('s0'), Integer(5)), Eq(Mod(Integer(1), Integer(0)), Integer(0)))",
                false,
            ),
            ("not (x == 4 and x // 0) and (x or x // 0)", true),
        ] {
            assert_eq!(value(text).unwrap(), Number::Bool(is), "{text}");
        }
        for text in ["x == 5 and 1 // 0 == 0", "x == 4 or 1 // 0 == 0", "x == 4 | 1 // 0 == 0"] {
            assert!(value(text).is_err(), "{text}");
        }
    }

    #[test]
    fn many_terms_are_not_many_levels() {
        for (term, word) in [("x > 0", "and"), ("x % 7 == 6 - 1 * 2", "or"), ("2 < x + 1 < 7", "and")] {
            let text = vec![term; 2000].join(&format!(" {word} "));
            assert_eq!(value(&text).unwrap(), Number::Bool(word == "and"), "{term}");
        }
        let sums = vec!["x + 1 - 1 + 1 - 1 + 1 == 6"; 300].join(" and ");
        assert_eq!(value(&sums).unwrap(), Number::Bool(true));
        assert_eq!(value(&format!("x{}", " - 1 + 1".repeat(50))).unwrap(), Number::Int(5));
        // Each sum is the first term of the next, so that all of them are one below the other.
        let sums = format!("{}1{}", "(".repeat(40), "+1-1+1)".repeat(40));
        let refusal = Expression::parse(&sums).unwrap_err().to_string();
        assert!(refusal.contains("deeper than 100 levels"), "{refusal}");
    }

    #[test]
    fn what_is_not_supported_is_printed_as_it_is_written() {
        for (text, says) in [
            ("L['y']['a'].size()[0] % 2 == 0", "`L['y']['a'].size()[0]` is not supported"),
            ("foo(x)", "the function \"foo\" is not supported"),
            ("-y**2", "`y` is not supported"),
        ] {
            assert_eq!(value(text).unwrap_err().to_string(), says);
        }
        let printed = |text: &str| Expression::parse(text).unwrap().to_string();
        let text = "Foo(Add(Symbol('s7', integer=True), Integer(-1)), 0.5)";
        assert_eq!(printed(text), "Foo(Add(s7, -1), 0.5)");
        let text = "-x**2 < 3 and not (1 if y else f(2)) | 4";
        assert_eq!(printed(text), "((-(x**2)) < 3) and (not ((1 if y else f(2)) | 4))");
    }

    #[test]
    fn guards_are_read_as_python_writes_them() {
        for guard in [
            "x % 2 == 1",
            "x >= 0 and x <= 5",
            "2 < x < 6",
            "not x < 5",
            "3*x >= 2",
            "(x // 2) != (2*x // 3)",
            "-x**2 == -25",
            "max(x, 7) == 7",
            "math.ceil(x / 2) == 3",
            "x == 4 or x > 4",
            "x & 6 == 4",
            "x | 2 == 7",
            "x ^ 1 == 4",
            "x | 8 ^ 5 & 4 == 13",
            "1 << x >> 1 + 1 == 8",
            "(x > 4) & (x < 6) == True",
            "(x > 5) | (x > 4) and not x & 2",
        ] {
            assert_eq!(value(guard).unwrap(), Number::Bool(true), "{guard}");
        }
        assert_eq!(value("2 < x < 4").unwrap(), Number::Bool(false));
    }

    #[test]
    fn what_is_no_expression_is_an_error() {
        for text in ["", "x +", "(x", "x)", "f(x)", "'", "x[", "1.2.3", "x = 1", "Symbol"] {
            assert!(value(text).is_err(), "{text}");
        }
        for many in [
            "(",
            "-",
            "[",
            "x[",
            "not ",
            "x.",
            "1+",
            "x**",
            "f(",
            "1 or 2 and 3<4|5^6&7<<8+9*(",
            "1 if 2 else ",
            "1 if ",
        ] {
            assert!(Expression::parse(&many.repeat(5000)).is_err(), "{many}");
        }
        assert!(Expression::parse(&format!("1{}", "+1".repeat(5000))).is_err());
        // The middle of a chain is in it twice.
        let nested = |levels: usize| format!("{}1{}", "0<(".repeat(levels), ")<2".repeat(levels));
        assert!(Expression::parse(&nested(4)).is_ok());
        let refusal = Expression::parse(&nested(30)).unwrap_err().to_string();
        assert!(refusal.contains("comparisons that are chained and nested"), "{refusal}");
    }

    #[test]
    fn a_size_is_found_from_what_is_computed_of_it() {
        let parse = |text| {
            Formula::new(&Expression::parse(text).unwrap(), &mut |expression| {
                Ok(matches!(expression, Expression::Name(_)).then_some(0))
            })
            .unwrap()
        };
        let unknown = |_| Err(Error::new(ErrorKind::Argument, "unknown"));
        assert_eq!(parse("2*n + 1").solve(9, &unknown, 0), Some(4));
        assert_eq!(parse("2*n + 1").solve(8, &unknown, 0), None);
        assert_eq!(parse("n // 2").solve(3, &unknown, 0), None);
    }
}
