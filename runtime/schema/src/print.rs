//! Prints schemas.

use crate::alias::AliasInfo;
use crate::default::DefaultValue;
use crate::literal::quote;
use crate::parse::word_of;
use crate::schema::{Argument, Return, Schema};
use crate::types::Type;
use std::fmt::{self, Write};

/// The dialect of the text.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Dialect {
    /// This crate's: it can be parsed to the same schema.
    Lossless,
    /// Exactly PyTorch's, including what it loses.
    PyTorch,
}

/// Displays a [`Schema`] as `str(FunctionSchema)` does; see [`Schema::pytorch`].
#[derive(Debug)]
pub struct PyTorchText<'a>(&'a Schema);

impl Schema {
    /// The schema exactly as PyTorch prints it.
    ///
    /// It differs from [`Display`](fmt::Display) only where PyTorch's text cannot be parsed back: `Tensor!`, complex
    /// and device defaults, `-0.`, an annotated optional inside a list, a nested annotated list, a few defaults of
    /// lists.
    ///
    /// ```
    /// use torch_library_schema::{Mode, Schema};
    ///
    /// let schema = Schema::parse("f(Device d='cpu', complex z=1j) -> ()", Mode::Strict)?;
    /// assert_eq!(schema.to_string(), "f(Device d=\"cpu\", complex z=1j) -> ()");
    /// assert_eq!(schema.pytorch().to_string(), "f(Device d=cpu, complex z=0.+1.j) -> ()");
    /// # Ok::<(), torch_library_schema::SchemaError>(())
    /// ```
    pub fn pytorch(&self) -> PyTorchText<'_> {
        PyTorchText(self)
    }
}

impl fmt::Display for PyTorchText<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_schema(f, self.0, Dialect::PyTorch)
    }
}

impl fmt::Display for Schema {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_schema(f, self, Dialect::Lossless)
    }
}

impl fmt::Display for Argument {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_argument(f, self, Dialect::Lossless)
    }
}

impl fmt::Display for Return {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_return(f, self, Dialect::Lossless)
    }
}

/// The annotation with its parentheses.
impl fmt::Display for AliasInfo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "({}{}", self.before, if self.is_write { "!" } else { "" })?;
        if self.before != self.after {
            write!(f, " -> {}", self.after)?;
        }
        f.write_str(")")
    }
}

fn write_schema(f: &mut fmt::Formatter<'_>, schema: &Schema, dialect: Dialect) -> fmt::Result {
    write!(f, "{}(", schema.name)?;
    let mut comma = "";
    let mut seen_star = false;
    for argument in &schema.arguments {
        f.write_str(comma)?;
        if argument.kwarg_only && !seen_star {
            f.write_str("*, ")?;
            seen_star = true;
        }
        write_argument(f, argument, dialect)?;
        comma = ", ";
    }
    if schema.is_vararg {
        write!(f, "{comma}...")?;
    }
    f.write_str(") -> ")?;
    write_returns(f, schema, dialect)
}

fn write_returns(f: &mut fmt::Formatter<'_>, schema: &Schema, dialect: Dialect) -> fmt::Result {
    let is_bare = match (&schema.returns[..], schema.is_varret) {
        ([], true) => true,
        // A type that starts with a parenthesis would be parsed as a list of returns.
        ([only], false) => !starts_with_parenthesis(&only.ty),
        _ => false,
    };
    f.write_str(if is_bare { "" } else { "(" })?;
    let mut comma = "";
    for ret in &schema.returns {
        f.write_str(comma)?;
        write_return(f, ret, dialect)?;
        comma = ", ";
    }
    if schema.is_varret {
        write!(f, "{comma}...")?;
    }
    f.write_str(if is_bare { "" } else { ")" })
}

fn starts_with_parenthesis(ty: &Type) -> bool {
    match ty {
        Type::Tuple(_) => true,
        Type::List(inner) | Type::Optional(inner) => starts_with_parenthesis(inner),
        _ => false,
    }
}

fn write_argument(f: &mut fmt::Formatter<'_>, argument: &Argument, dialect: Dialect) -> fmt::Result {
    write_type(f, &argument.ty, argument.size, argument.alias.as_deref(), dialect)?;
    write!(f, " {}", argument.name)?;
    let Some(default) = &argument.default else { return Ok(()) };
    f.write_str("=")?;
    match (&argument.ty, default) {
        (Type::List(element), DefaultValue::List(values))
            if is_one_for_all(argument.size, element, values, dialect) =>
        {
            write_value(f, &values[0], element, dialect)
        }
        (ty, value) => write_value(f, value, ty, dialect),
    }
}

fn write_return(f: &mut fmt::Formatter<'_>, ret: &Return, dialect: Dialect) -> fmt::Result {
    write_type(f, &ret.ty, ret.size, ret.alias.as_deref(), dialect)?;
    match &ret.name {
        Some(name) => write!(f, " {name}"),
        None => Ok(()),
    }
}

fn write_type(
    f: &mut fmt::Formatter<'_>,
    ty: &Type,
    size: Option<i64>,
    alias: Option<&AliasInfo>,
    dialect: Dialect,
) -> fmt::Result {
    match (ty, dialect) {
        (Type::Optional(inner), _) => {
            write_type(f, inner, size, alias, dialect)?;
            return f.write_str("?");
        }
        (Type::List(element), Dialect::Lossless) => {
            write_type(f, element, None, alias.and_then(|alias| alias.contained.first()), dialect)?;
            write_brackets(f, size)?;
        }
        (Type::List(element), Dialect::PyTorch) => {
            write!(f, "{element}")?;
            if let Some(element) = alias.and_then(|alias| alias.contained.first()) {
                write!(f, "{element}")?;
            }
            write_brackets(f, size)?;
        }
        (ty, _) => write!(f, "{ty}")?,
    }
    match alias.filter(|alias| !alias.before.is_empty()) {
        Some(alias) if dialect == Dialect::Lossless => write_annotation(f, alias),
        Some(alias) => write!(f, "{alias}"),
        None => Ok(()),
    }
}

fn write_brackets(f: &mut fmt::Formatter<'_>, size: Option<i64>) -> fmt::Result {
    match size {
        Some(size) => write!(f, "[{size}]"),
        None => f.write_str("[]"),
    }
}

/// Prints an annotation that can be parsed back: `!` for a fresh set, and the wildcard last, since nothing is read
/// after it.
fn write_annotation(f: &mut fmt::Formatter<'_>, alias: &AliasInfo) -> fmt::Result {
    if alias.is_fresh() {
        return f.write_str("!");
    }
    let set = |set: &crate::AliasSet| {
        let mut names: Vec<&str> = set.names().collect();
        names.sort_by_key(|name| *name == crate::AliasSet::WILDCARD);
        names.join("|")
    };
    write!(f, "({}{}", set(&alias.before), if alias.is_write { "!" } else { "" })?;
    if alias.before != alias.after {
        write!(f, " -> {}", set(&alias.after))?;
    }
    f.write_str(")")
}

/// Whether a list of equal numbers is printed as one number: `int[2] x=1`. PyTorch does so for any list of `int`, even
/// where the text is parsed as another list or not at all.
fn is_one_for_all(size: Option<i64>, element: &Type, values: &[DefaultValue], dialect: Dialect) -> bool {
    let fits = size.is_some_and(|size| usize::try_from(size) == Ok(values.len()));
    *element == Type::Int
        && values.len() > 1
        && values.iter().all(|value| *value == values[0])
        && (fits || dialect == Dialect::PyTorch)
}

fn write_value(f: &mut fmt::Formatter<'_>, value: &DefaultValue, ty: &Type, dialect: Dialect) -> fmt::Result {
    let lossless = dialect == Dialect::Lossless;
    match value {
        DefaultValue::None => f.write_str("None"),
        DefaultValue::Bool(true) => f.write_str("True"),
        DefaultValue::Bool(false) => f.write_str("False"),
        // A `float` or a `complex` holds an integer only from a word that stands for one; its digits would be parsed as
        // another value.
        DefaultValue::Int(value) if lossless && matches!(ty, Type::Float | Type::Complex) => {
            match word_of(*value) {
                Some(word) => f.write_str(word),
                None => write!(f, "{value}"),
            }
        }
        DefaultValue::Int(value) => write!(f, "{value}"),
        DefaultValue::Double(value) if lossless => f.write_str(&double(*value)),
        DefaultValue::Double(value) => f.write_str(&double(*value + 0.0)), // the sum of -0 and 0 is 0
        DefaultValue::Complex { re, im } if lossless && re.to_bits() == 0 => {
            write!(f, "{}j", double(*im).trim_end_matches('.'))
        }
        DefaultValue::Complex { re, im } => {
            let sign = if *im >= 0.0 { '+' } else { '-' };
            write!(f, "{}{sign}{}j", double(*re), double(im.abs()))
        }
        DefaultValue::Str(bytes) if lossless => f.write_str(&quote(bytes)),
        DefaultValue::Str(bytes) if *ty.without_optional() == Type::Str => write_pytorch_string(f, bytes),
        DefaultValue::Str(bytes) => f.write_str(&String::from_utf8_lossy(bytes)),
        DefaultValue::Device(name) if lossless => write!(f, "\"{name}\""),
        DefaultValue::Device(name) => f.write_str(name),
        DefaultValue::List(values) => {
            let element = match ty.without_optional() {
                Type::List(element) => element,
                other => other,
            };
            write_list(f, values, element, dialect)
        }
    }
}

fn write_list(
    f: &mut fmt::Formatter<'_>,
    values: &[DefaultValue],
    element: &Type,
    dialect: Dialect,
) -> fmt::Result {
    f.write_str("[")?;
    let mut comma = "";
    for value in values {
        f.write_str(comma)?;
        write_value(f, value, element, dialect)?;
        comma = ", ";
    }
    f.write_str("]")
}

/// A double as PyTorch prints it: whole numbers that fit an `int` as `1.`, all others with 17 digits, like C's `%.17g`.
fn double(value: f64) -> String {
    const INTS: std::ops::Range<f64> = -9_223_372_036_854_775_808.0..9_223_372_036_854_775_808.0;
    if value.fract() == 0.0 && INTS.contains(&value) {
        return format!("{value:.0}.");
    }
    let scientific = format!("{value:.16e}");
    let (mantissa, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    if (-4..17).contains(&exponent) {
        let digits = usize::try_from(16 - exponent).unwrap_or(0);
        return trim_zeros(&format!("{value:.digits$}")).to_owned();
    }
    let sign = if exponent < 0 { '-' } else { '+' };
    format!("{}e{sign}{:02}", trim_zeros(mantissa), exponent.abs())
}

fn trim_zeros(number: &str) -> &str {
    if number.contains('.') { number.trim_end_matches('0').trim_end_matches('.') } else { number }
}

/// A string as PyTorch quotes it. PyTorch treats a byte as signed, so the octal digits of one above 0x7f are wrong.
fn write_pytorch_string(f: &mut fmt::Formatter<'_>, bytes: &[u8]) -> fmt::Result {
    f.write_char('"')?;
    for &byte in bytes {
        match byte {
            b'\\' | b'\'' | b'"' => write!(f, "\\{}", char::from(byte))?,
            0x07 => f.write_str("\\a")?,
            0x08 => f.write_str("\\b")?,
            0x0c => f.write_str("\\f")?,
            b'\n' => f.write_str("\\n")?,
            b'\r' => f.write_str("\\r")?,
            b'\t' => f.write_str("\\t")?,
            0x0b => f.write_str("\\v")?,
            b' '..=b'~' => f.write_char(char::from(byte))?,
            _ => {
                let signed = byte as i8;
                let digit = |value: i8| char::from(b'0'.wrapping_add_signed(value));
                write!(f, "\\{}{}{}", digit(signed / 64), digit(signed / 8 % 8), digit(signed % 8))?;
            }
        }
    }
    f.write_char('"')
}
