//! Dynamic sizes: symbols with their ranges, and sizes computed from them.

use std::collections::BTreeMap;
use std::fmt;

use crate::error::Result;
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
        /// The minimum, if there is one.
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
        let names = ranges.keys().cloned().collect();
        Symbols { names, ranges: ranges.values().map(|range| (range.min_val, range.max_val)).collect() }
    }

    fn number(&mut self, name: &str) -> usize {
        let known = self.names.iter().position(|known| known == name);
        known.unwrap_or_else(|| {
            self.names.push(name.to_owned());
            self.ranges.push((None, None));
            self.names.len() - 1
        })
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

    /// Parses a size, to be printed.
    ///
    /// # Errors
    /// The size cannot be parsed.
    pub fn size(&mut self, size: &SymInt) -> Result<Size> {
        Ok(match self.dim(size)? {
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
    match formula {
        Formula::Number(Number::Int(number)) => number.to_string(),
        Formula::Number(number) => number.float().to_string(),
        Formula::Leaf(symbol) => names[*symbol].clone(),
        Formula::Apply(function, arguments) => {
            let arguments: Vec<_> = arguments.iter().map(|argument| shown(argument, names)).collect();
            let sign = match function {
                Function::Add => " + ",
                Function::Sub => " - ",
                Function::Mul => "*",
                Function::FloorDiv => "//",
                Function::TrueDiv => "/",
                Function::Mod => " % ",
                Function::Pow => "**",
                _ => return format!("{function:?}({})", arguments.join(", ")).to_lowercase(),
            };
            format!("({})", arguments.join(sign))
        }
    }
}
