//! The parser of expressions: operators by precedence, with Python's chained comparisons.

use super::{Expression, LONGEST};
use crate::error::{Error, ErrorKind, Result, ensure};
use crate::number::{Function, Number};

/// The maximum nesting depth of an expression.
const DEPTH: usize = 100;

/// Reads an expression from a text.
pub(super) struct Parser<'t> {
    text: &'t str,
    at: usize,
    /// The nesting at this place of the text.
    depth: usize,
    /// The height of the tree that was parsed last: a leaf has 0. Trees are traversed recursively, too.
    height: usize,
    /// The number of nodes that chained comparisons have copied.
    copied: usize,
}

/// Binary operators by rising precedence; of two that begin alike, the longer comes first.
pub(super) const LEVELS: [&[(&str, Function)]; 9] = [
    &[("or ", Function::Or)],
    &[("and ", Function::And)],
    &[
        ("==", Function::Equal),
        ("!=", Function::Unequal),
        ("<=", Function::LessOrEqual),
        (">=", Function::GreaterOrEqual),
        ("<", Function::Less),
        (">", Function::Greater),
    ],
    &[("|", Function::BitOr)],
    &[("^", Function::BitXor)],
    &[("&", Function::BitAnd)],
    &[("<<", Function::ShiftLeft), (">>", Function::ShiftRight)],
    &[("+", Function::Add), ("-", Function::Sub)],
    &[("//", Function::FloorDiv), ("*", Function::Mul), ("/", Function::TrueDiv), ("%", Function::Mod)],
];
/// The level of comparisons, which Python chains.
const COMPARISONS: usize = 2;

fn check(levels: usize) -> Result<()> {
    ensure!(levels <= DEPTH, Argument, "an expression is nested deeper than {DEPTH} levels");
    Ok(())
}

impl<'t> Parser<'t> {
    pub(super) fn new(text: &'t str) -> Self {
        Parser { text, at: 0, depth: 0, height: 0, copied: 0 }
    }

    /// Parses the whole text.
    pub(super) fn parse(mut self) -> Result<Expression> {
        let expression = self.expression()?;
        match self.peek() {
            None => Ok(expression),
            Some(_) => Err(self.error("an operator")),
        }
    }

    fn error(&self, wanted: &str) -> Error {
        Error::new(ErrorKind::Argument, format!("{wanted} is expected at byte {}", self.at))
    }

    fn peek(&mut self) -> Option<char> {
        let rest = &self.text[self.at..];
        self.at += rest.len() - rest.trim_start().len();
        self.text[self.at..].chars().next()
    }

    fn takes(&mut self, word: &str) -> bool {
        self.peek();
        let is_there = self.text[self.at..].starts_with(word);
        if is_there {
            self.at += word.len();
        }
        is_there
    }

    fn needs(&mut self, word: &str) -> Result<()> {
        if self.takes(word) { Ok(()) } else { Err(self.error(&format!("{word:?}"))) }
    }

    fn expression(&mut self) -> Result<Expression> {
        self.descend()?;
        let mut expression = self.level(0)?;
        if self.takes("if ") {
            let height = self.height;
            let condition = self.level(0)?;
            let height = height.max(self.height);
            self.needs("else ")?;
            expression = Expression::Apply(Function::Choose, vec![condition, expression, self.expression()?]);
            self.grow(height)?;
        }
        self.depth -= 1;
        Ok(expression)
    }

    /// Parses an expression of operators with at least this precedence.
    fn level(&mut self, least: usize) -> Result<Expression> {
        let mut left = if least <= COMPARISONS && self.takes("not ") {
            let operand = self.deeper(|parser| parser.level(COMPARISONS))?;
            self.grow(0)?;
            Expression::Apply(Function::Not, vec![operand])
        } else {
            self.unary()?
        };
        while let Some((level, function)) = self.operator(least) {
            left = match level {
                COMPARISONS => self.comparisons(left, function)?,
                _ => self.joined(left, function, level)?,
            };
        }
        Ok(left)
    }

    /// Parses the right side of an operator.
    fn right(&mut self, level: usize) -> Result<Expression> {
        self.deeper(|parser| parser.level(level + 1))
    }

    /// Parses the right side of an operator that is not a comparison.
    fn joined(&mut self, mut left: Expression, function: Function, level: usize) -> Result<Expression> {
        let height = self.height;
        let right = self.right(level)?;
        // A guard may have any number of terms.
        if let Expression::Apply(of, terms) = &mut left
            && *of == function
            && matches!(function, Function::And | Function::Or)
        {
            terms.push(right);
            self.grow(height - 1)?;
            return Ok(left);
        }
        self.grow(height)?;
        Ok(Expression::Apply(function, vec![left, right]))
    }

    /// Parses the rest of `a < b < c`, which is `a < b and b < c`.
    fn comparisons(&mut self, mut left: Expression, function: Function) -> Result<Expression> {
        let (mut chain, mut function, mut height) = (Vec::new(), function, self.height);
        loop {
            let right = self.right(COMPARISONS)?;
            height = height.max(self.height);
            let Some((_, next)) = self.operator(COMPARISONS) else {
                let last = Expression::Apply(function, vec![left, right]);
                self.grow(height)?;
                if chain.is_empty() {
                    return Ok(last);
                }
                chain.push(last);
                self.grow(0)?;
                return Ok(Expression::Apply(Function::And, chain));
            };
            // A chain within a chain is copied again: the copies of nested ones double with each level.
            self.copied = self.copied.saturating_add(right.nodes());
            ensure!(
                self.copied <= LONGEST,
                Argument,
                "comparisons that are chained and nested, expected `a < b and b < c`"
            );
            chain.push(Expression::Apply(function, vec![left, right.clone()]));
            (left, function) = (right, next);
        }
    }

    /// Takes an operator of at least this precedence, and says which precedence it has.
    fn operator(&mut self, least: usize) -> Option<(usize, Function)> {
        self.peek();
        // `**` is not a product, and has the highest precedence.
        if self.text[self.at..].starts_with("**") {
            return None;
        }
        // `<<` is tried before `<`.
        (least..LEVELS.len()).rev().find_map(|level| {
            let found = LEVELS[level].iter().find(|(word, _)| self.takes(word));
            found.map(|(_, function)| (level, *function))
        })
    }

    fn descend(&mut self) -> Result<()> {
        self.depth += 1;
        check(self.depth)
    }

    /// Puts a node above the tree that was parsed last, and above others of at most this height.
    fn grow(&mut self, others: usize) -> Result<()> {
        self.height = self.height.max(others) + 1;
        check(self.height)
    }

    fn deeper(&mut self, parse: impl FnOnce(&mut Self) -> Result<Expression>) -> Result<Expression> {
        self.descend()?;
        let parsed = parse(self);
        self.depth -= 1;
        parsed
    }

    fn unary(&mut self) -> Result<Expression> {
        if self.takes("-") {
            let operand = self.deeper(Self::unary)?;
            self.grow(0)?;
            return Ok(Expression::Apply(Function::Neg, vec![operand]));
        }
        let base = self.postfix()?;
        if self.takes("**") {
            let height = self.height;
            let exponent = self.deeper(Self::unary)?;
            self.grow(height)?;
            return Ok(Expression::Apply(Function::Pow, vec![base, exponent]));
        }
        Ok(base)
    }

    /// Parses a number, a name or a string, with the indices, attributes and arguments that follow it.
    fn postfix(&mut self) -> Result<Expression> {
        let mut expression = self.atom()?;
        loop {
            let height = self.height;
            expression = if self.takes("[") {
                let index = self.expression()?;
                self.needs("]")?;
                Expression::Index(Box::new(expression), Box::new(index))
            } else if self.takes(".") {
                Expression::Attribute(Box::new(expression), self.name()?)
            } else if self.takes("(") {
                Expression::Call(Box::new(expression), self.arguments()?)
            } else {
                return Ok(expression);
            };
            self.grow(height)?;
        }
    }

    /// Parses the arguments up to the closing parenthesis. The height is that of the highest.
    fn arguments(&mut self) -> Result<Vec<Expression>> {
        let (mut arguments, mut height) = (Vec::new(), 0);
        while !self.takes(")") {
            let argument = self.expression()?;
            height = height.max(self.height);
            let is_named = !self.text[self.at..].starts_with("==") && self.takes("=");
            if is_named {
                self.expression()?;
            } else {
                arguments.push(argument);
            }
            if !self.takes(",") {
                self.needs(")")?;
                break;
            }
        }
        self.height = height;
        Ok(arguments)
    }

    fn atom(&mut self) -> Result<Expression> {
        self.height = 0;
        match self.peek() {
            Some('(') => {
                self.at += 1;
                let inner = self.expression()?;
                self.needs(")")?;
                Ok(inner)
            }
            Some(quote @ ('\'' | '"')) => {
                let rest = &self.text[self.at + 1..];
                let Some(len) = rest.find(quote) else { return Err(self.error("a closing quote")) };
                self.at += len + 2;
                Ok(Expression::Text(rest[..len].to_owned()))
            }
            Some(digit) if digit.is_ascii_digit() => self.number(),
            _ => Ok(match self.name()? {
                // Python's, and SymPy's.
                name if name == "True" || name == "true" => Expression::Number(Number::Bool(true)),
                name if name == "False" || name == "false" => Expression::Number(Number::Bool(false)),
                name => Expression::Name(name),
            }),
        }
    }

    fn number(&mut self) -> Result<Expression> {
        let rest = &self.text[self.at..];
        let mut before = ' ';
        let len = rest.find(|c: char| {
            let belongs = c.is_ascii_digit()
                || matches!(c, '.' | 'e' | 'E')
                || (matches!(c, '+' | '-') && matches!(before, 'e' | 'E'));
            before = c;
            !belongs
        });
        let word = &rest[..len.unwrap_or(rest.len())];
        let number = word.parse().map(Number::Int).or_else(|_| word.parse().map(Number::Float));
        let number = number.map_err(|_| self.error("a number"))?;
        self.at += word.len();
        Ok(Expression::Number(number))
    }

    fn name(&mut self) -> Result<String> {
        self.peek();
        let rest = &self.text[self.at..];
        let len = rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len());
        if len == 0 || rest.starts_with(|c: char| c.is_ascii_digit()) {
            return Err(self.error("a name or a number"));
        }
        self.at += len;
        Ok(rest[..len].to_owned())
    }
}
