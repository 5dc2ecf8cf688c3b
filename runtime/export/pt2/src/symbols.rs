//! Dynamic sizes: symbols with their ranges, and sizes computed from them.

use std::collections::{BTreeMap, HashMap};
use std::fmt;

use crate::LONGEST_DESCRIPTION;
use crate::error::{ErrorKind, Result, ensure};
use crate::expression::{Expression, Formula};
use crate::number::{Function, Number};
use crate::wire::{RangeConstraint, SymInt};

/// The symbols of a program with their ranges.
#[derive(Debug, Default)]
pub struct Symbols {
    /// Their names in the archive: `s0`.
    pub names: Vec<String>,
    /// The minimum and the maximum of each.
    pub ranges: Vec<(Option<i64>, Option<i64>)>,
    /// The place of each name.
    places: HashMap<String, usize>,
    /// The length of the sizes that were printed so far.
    printed: usize,
}

/// A size of an input, to be compared with the actual one.
#[derive(Debug)]
pub enum Dim {
    /// A constant.
    Fixed(i64),
    /// A symbol, by its index.
    Symbol(usize),
    /// Computed from symbols; with its text.
    Formula(Formula<usize>, String),
}

/// A size of an input or an output.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Size {
    /// A constant.
    Fixed(i64),
    /// Chosen by the caller, within a range.
    Symbol {
        /// Its name in the archive: `s0`.
        name: String,
        /// The minimum, if there is one. A run checks it only if it exceeds 2, as PyTorch does: the exporter writes 2
        /// for every dynamic size.
        min: Option<i64>,
        /// The maximum, if there is one.
        max: Option<i64>,
    },
    /// Computed from other sizes.
    Computed(String),
}

/// Prints `3` or `s0 (2 to 8)`.
impl fmt::Display for Size {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Size::Fixed(size) => write!(f, "{size}"),
            Size::Symbol { name, min, max } => match (min, max) {
                (None, None) => f.write_str(name),
                (Some(min), None) => write!(f, "{name} ({min} or more)"),
                (None, Some(max)) => write!(f, "{name} (at most {max})"),
                (Some(min), Some(max)) => write!(f, "{name} ({min} to {max})"),
            },
            Size::Computed(expression) => f.write_str(expression),
        }
    }
}

impl Symbols {
    /// The symbols with known ranges.
    pub fn new(ranges: &BTreeMap<String, RangeConstraint>) -> Symbols {
        let mut symbols = Symbols::default();
        for (name, range) in ranges {
            let place = symbols.number(name);
            symbols.ranges[place] = (range.min_val, range.max_val);
        }
        symbols
    }

    fn number(&mut self, name: &str) -> usize {
        if let Some(place) = self.places.get(name) {
            return *place;
        }
        self.places.insert(name.to_owned(), self.names.len());
        self.names.push(name.to_owned());
        self.ranges.push((None, None));
        self.names.len() - 1
    }

    /// Parses a size, to be compared.
    ///
    /// # Errors
    /// The size cannot be parsed.
    pub fn dim(&mut self, size: &SymInt) -> Result<Dim> {
        let text = match size {
            SymInt::AsInt(number) => return Ok(Dim::Fixed(*number)),
            SymInt::AsExpr(expression) => &expression.expr_str,
        };
        let formula = Formula::new(&Expression::parse(text)?, &mut |expression| {
            Ok(symbol(expression).map(|name| self.number(name)))
        })?;
        Ok(match formula {
            Formula::Leaf(symbol) => Dim::Symbol(symbol),
            Formula::Number(Number::Int(number)) => Dim::Fixed(number),
            formula => {
                let text = shown(&formula, &self.names);
                Dim::Formula(formula, text)
            }
        })
    }

    /// Parses a size, to be printed; a function that is unknown here is printed as it is written.
    ///
    /// # Errors
    /// The size cannot be parsed; all sizes together are too long.
    pub fn size(&mut self, size: &SymInt) -> Result<Size> {
        self.printed += match size {
            SymInt::AsInt(_) => size_of::<Size>(),
            SymInt::AsExpr(expression) => size_of::<Size>() + expression.expr_str.len(),
        };
        ensure!(
            self.printed <= LONGEST_DESCRIPTION,
            NotSupported,
            "the sizes of all inputs and outputs take more than {LONGEST_DESCRIPTION} bytes"
        );
        let dim = match (self.dim(size), size) {
            (Err(error), SymInt::AsExpr(expression)) if error.kind() == ErrorKind::NotSupported => {
                return Ok(Size::Computed(Expression::parse(&expression.expr_str)?.to_string()));
            }
            (dim, _) => dim?,
        };
        Ok(match dim {
            Dim::Fixed(number) => Size::Fixed(number),
            Dim::Symbol(symbol) => {
                let (min, max) = self.ranges[symbol];
                Size::Symbol { name: self.names[symbol].clone(), min, max }
            }
            Dim::Formula(_, text) => Size::Computed(text),
        })
    }
}

/// The name in `Symbol('s0', …)`.
fn symbol(expression: &Expression) -> Option<&str> {
    let Expression::Call(callee, arguments) = expression else { return None };
    match (&**callee, arguments.as_slice()) {
        (Expression::Name(callee), [Expression::Text(name)]) if callee == "Symbol" => Some(name),
        _ => None,
    }
}

/// The text of a formula.
fn shown(formula: &Formula<usize>, names: &[String]) -> String {
    shown_within(formula, names, 0)
}

/// The text of a formula, in parentheses where the function around it binds more tightly.
fn shown_within(formula: &Formula<usize>, names: &[String], around: u8) -> String {
    let (function, arguments) = match formula {
        Formula::Number(Number::Int(number)) => return number.to_string(),
        Formula::Number(number) => return number.float().to_string(),
        Formula::Leaf(symbol) => return names[*symbol].clone(),
        Formula::Apply(function, arguments) => (*function, arguments.as_slice()),
    };
    if function == Function::Choose {
        let text = choice(arguments, names);
        return if around == 0 { text } else { format!("({text})") };
    }
    let Some((sign, binds)) = sign(function) else {
        let arguments: Vec<_> = arguments.iter().map(|argument| shown(argument, names)).collect();
        return format!("{function:?}({})", arguments.join(", ")).to_lowercase();
    };
    if let (Function::Mul, [Formula::Number(Number::Int(-1)), of]) = (function, arguments) {
        return format!("-{}", shown_within(of, names, binds));
    }
    let mut text = String::new();
    for (place, argument) in arguments.iter().enumerate() {
        let is_same = matches!(argument, Formula::Apply(within, _) if *within == function);
        let around = match function {
            Function::BitAnd | Function::BitOr | Function::BitXor => TIGHTEST, // few know how these bind
            Function::Add | Function::Mul if is_same => binds,
            Function::Pow => TIGHTEST,
            // `a - (b - c)` keeps its parentheses.
            _ => binds + u8::from(place > 0),
        };
        let argument = shown_within(argument, names, around);
        match argument.strip_prefix('-') {
            Some(less) if function == Function::Add && place > 0 => text.push_str(&format!(" - {less}")),
            _ if place > 0 => text.push_str(&format!("{sign}{argument}")),
            _ => text.push_str(&argument),
        }
    }
    if binds < around { format!("({text})") } else { text }
}

/// `a if b else c if d else e` of `[b, a, d, c, e]`.
fn choice(cases: &[Formula<usize>], names: &[String]) -> String {
    let parts = cases.chunks(2).map(|case| match case {
        [condition, value] => {
            format!("{} if {} else ", shown_within(value, names, 1), shown_within(condition, names, 1))
        }
        rest => rest.iter().map(|otherwise| shown_within(otherwise, names, 1)).collect(),
    });
    parts.collect()
}

/// Binds more tightly than every function that is written between its arguments.
const TIGHTEST: u8 = 9;

/// How a function is written between its arguments, and how tightly it binds.
fn sign(function: Function) -> Option<(&'static str, u8)> {
    Some(match function {
        Function::Equal => (" == ", 1),
        Function::Unequal => (" != ", 1),
        Function::Less => (" < ", 1),
        Function::LessOrEqual => (" <= ", 1),
        Function::Greater => (" > ", 1),
        Function::GreaterOrEqual => (" >= ", 1),
        Function::BitOr => (" | ", 2),
        Function::BitXor => (" ^ ", 3),
        Function::BitAnd => (" & ", 4),
        Function::ShiftLeft => (" << ", 5),
        Function::ShiftRight => (" >> ", 5),
        Function::Add => (" + ", 6),
        Function::Sub => (" - ", 6),
        Function::Mul => ("*", 7),
        Function::FloorDiv => ("//", 7),
        Function::TrueDiv => ("/", 7),
        Function::Mod => (" % ", 7),
        Function::Pow => ("**", 8),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::SymExpr;

    fn size(text: &str) -> String {
        let size = SymInt::AsExpr(SymExpr { expr_str: text.to_owned() });
        Symbols::default().size(&size).unwrap().to_string()
    }

    #[test]
    fn sizes_are_printed_as_people_write_them() {
        let s = "Symbol('s27', positive=True, integer=True)";
        for (text, printed) in [
            (format!("Mul(Integer(2), {s})"), "2*s27"),
            (format!("Add(Mul(Integer(2), {s}), Integer(-1))"), "2*s27 - 1"),
            (format!("Mul(Integer(3), Add({s}, Integer(1)))"), "3*(s27 + 1)"),
            (format!("FloorDiv({s}, FloorDiv({s}, Integer(2)))"), "s27//(s27//2)"),
            (format!("Mul(Integer(2), FloorDiv({s}, Integer(2)))"), "2*(s27//2)"),
            (format!("Max(Integer(5), {s})"), "max(5, s27)"),
            (format!("BitwiseFn_bitwise_and(Add({s}, Integer(1)), Integer(6))"), "(s27 + 1) & 6"),
            (format!("Add(Integer(4), Mul(Integer(-1), {s}))"), "4 - s27"),
            (format!("Pow(Add({s}, Integer(1)), Integer(2))"), "(s27 + 1)**2"),
            (format!("Add(BitwiseFn_bitwise_or({s}, Integer(8)), Integer(2))"), "(s27 | 8) + 2"),
            (
                format!(
                    "Add(Piecewise(ExprCondPair({s}, StrictGreaterThan({s}, Integer(4))), \
                         ExprCondPair(Integer(4), true)), Integer(1))"
                ),
                "(s27 if s27 > 4 else 4) + 1",
            ),
            (format!("ModularIndexing({s}, Integer(2), Integer(3))"), "ModularIndexing(s27, 2, 3)"),
        ] {
            assert_eq!(size(&text), printed);
        }
        assert_eq!(size("Integer(3)"), "3");
        let unknown =
            SymInt::AsExpr(SymExpr { expr_str: "ModularIndexing(Integer(7), Integer(2))".to_owned() });
        let refused = Symbols::default().dim(&unknown).unwrap_err().to_string();
        assert_eq!(refused, "the function \"ModularIndexing\" is not supported");
    }
}
