//! Default values.

use super::{Parser, Result};
use crate::default::DefaultValue;
use crate::error::visible;
use crate::literal;
use crate::schema::Mode;
use crate::token::lexer::Lexeme;
use crate::token::{Span, TokenKind};
use crate::types::Type;

/// The maximum number of times that a value is repeated, in `int[N] x=0`.
const MAX_REPEAT: usize = 1 << 16;

/// The words that are numbers for an argument of any type: a dtype, a layout, a reduction, a memory format.
const WORDS: [(&str, i64); 6] =
    [("float", 6), ("complex", 9), ("long", 4), ("strided", 0), ("Mean", 1), ("contiguous_format", 0)];

impl Parser<'_> {
    /// Parses the default after `=`, for an argument of type `ty`.
    pub(super) fn default_value(&mut self, ty: &Type, size: Option<i64>) -> Result<DefaultValue> {
        match ty {
            Type::Tensor | Type::Generator | Type::Quantizer if self.word() != Some("None") => {
                Err(self.unexpected(&format!("`None`, the only default of type `{ty}`")))
            }
            Type::List(element) => self.list_default(element, size),
            Type::Device => self.device(),
            Type::Tensor | Type::Generator | Type::Quantizer | Type::Optional(_) => self.constant(ty),
            Type::Int | Type::SymInt | Type::Float | Type::Complex | Type::Scalar => self.constant(ty),
            Type::ScalarType | Type::Layout | Type::MemoryFormat | Type::Bool | Type::Str => {
                self.constant(ty)
            }
            _ => {
                let message = format!("an argument of type `{ty}` cannot have a default");
                Err(self.fail(self.here(), message, format!("make it `{ty}?`, whose default may be `None`")))
            }
        }
    }

    /// Parses `[1, 2]`, or for `T[N]` one value that is repeated.
    fn list_default(&mut self, element: &Type, size: Option<i64>) -> Result<DefaultValue> {
        let start = self.here();
        if !matches!(element.fake(), Type::Int | Type::Float | Type::Bool | Type::Complex) {
            let message = format!("an argument of type `{element}[]` cannot have a default");
            let help = "lists of int, SymInt, float, complex and bool can";
            return Err(self.fail(self.here(), message, help));
        }
        let values = match size {
            Some(size) if self.is_repeated() => self.repeated(element, size)?,
            _ => self.constant_list(element)?,
        };
        if let Some(value) = values.iter().find(|value| !is_element(element, value)) {
            let message = format!("{} in a default of type `{element}[]`", value.describe());
            return Err(self.fail(self.since(start), message, example(element)));
        }
        Ok(DefaultValue::List(values))
    }

    /// Whether one value follows. As in PyTorch, the words of a dtype or a layout are only allowed in brackets, and
    /// `None` for all of no elements is an empty list.
    fn is_repeated(&mut self) -> bool {
        match self.word() {
            None => self.peek() != TokenKind::OpenBracket,
            Some("None") => self.mode == Mode::PyTorch,
            Some(word) => matches!(word, "True" | "False"),
        }
    }

    fn repeated(&mut self, element: &Type, size: i64) -> Result<Vec<DefaultValue>> {
        let start = self.here();
        let value = self.constant(element)?;
        match usize::try_from(size) {
            Ok(size) if size <= MAX_REPEAT => Ok(vec![value; size]),
            _ => {
                let help = format!("at most {MAX_REPEAT} values can be written as one");
                Err(self.fail(self.since(start), format!("cannot repeat a default {size} times"), help))
            }
        }
    }

    fn constant_list(&mut self, element: &Type) -> Result<Vec<DefaultValue>> {
        if !self.eat(TokenKind::OpenBracket) {
            let help = "one value for all elements needs a length, as in `int[2] x=0`";
            return Err(self.unexpected_with_help(&format!("`[` and a default of type `{element}[]`"), help));
        }
        let mut values = Vec::new();
        if !self.eat(TokenKind::CloseBracket) {
            values.push(self.constant(element)?);
            while self.eat(TokenKind::Comma) {
                values.push(self.constant(element)?);
            }
            self.expect(TokenKind::CloseBracket)?;
        }
        Ok(values)
    }

    /// Parses a literal. Its value depends on the type in two cases: a number for a `float` or a `complex`.
    fn constant(&mut self, ty: &Type) -> Result<DefaultValue> {
        let text = self.next.text;
        match self.peek() {
            TokenKind::String => self.string().map(DefaultValue::Str),
            TokenKind::Number | TokenKind::Minus => self.number(ty),
            TokenKind::Ident => match word_value(text, ty) {
                Some(value) => {
                    self.advance();
                    Ok(value)
                }
                None => {
                    let message = format!("`{text}` is no value of type `{ty}`");
                    Err(self.fail(self.here(), message, example(ty)))
                }
            },
            _ => Err(self.unexpected_with_help(&format!("a default of type `{ty}`"), example(ty))),
        }
    }

    fn number(&mut self, ty: &Type) -> Result<DefaultValue> {
        let start = self.here();
        let negative = self.eat(TokenKind::Minus);
        let text = self.next.text;
        if !self.eat(TokenKind::Number) {
            return Err(self.unexpected("a number after `-`"));
        }
        let value = match (self.mode, is_plain(text, ty)) {
            (Mode::Strict, false) => None,
            _ if negative => number_value(&format!("-{text}"), ty),
            _ => number_value(text, ty),
        };
        value.ok_or_else(|| {
            let message = format!("`{text}` cannot be read as `{ty}`");
            self.fail(self.since(start), message, number_help(text, ty))
        })
    }

    fn string(&mut self) -> Result<Vec<u8>> {
        let Lexeme { text, span, .. } = self.next;
        if self.mode == Mode::Strict && text.contains('\0') {
            return Err(self.fail(span, "a string contains a zero byte", "write it as `\\000`"));
        }
        self.advance();
        literal::unquote(text).map_err(|offset| {
            let escape: String = text[offset..].chars().take(2).collect();
            let span = Span { start: span.start + offset, end: span.start + offset + escape.len() };
            let help = "the escapes are \\\\ \\' \\\" \\a \\b \\f \\n \\t \\v and three octal digits";
            self.fail(span, format!("`{}` is no escape", visible(&escape)), help)
        })
    }

    /// Parses a string that names a device.
    fn device(&mut self) -> Result<DefaultValue> {
        let span = self.here();
        if self.peek() != TokenKind::String {
            return Err(self.unexpected_with_help("a device in quotes", "write `\"cpu\"` or `\"cuda:0\"`"));
        }
        let name = String::from_utf8_lossy(&self.string()?).into_owned();
        if is_device(&name) {
            return Ok(DefaultValue::Device(name));
        }
        let help = "write `\"cpu\"`, `\"cuda\"`, `\"cuda:1\"`, `\"meta\"`, …";
        Err(self.fail(span, format!("`{}` is no device", visible(&name)), help))
    }
}

/// The first word with this number for an argument of any type.
pub(crate) fn word_of(number: i64) -> Option<&'static str> {
    WORDS.iter().find(|(_, known)| *known == number).map(|(word, _)| *word)
}

fn word_value(word: &str, ty: &Type) -> Option<DefaultValue> {
    match word {
        "True" => return Some(DefaultValue::Bool(true)),
        "False" => return Some(DefaultValue::Bool(false)),
        "None" => return Some(DefaultValue::None),
        _ => {}
    }
    let everywhere = WORDS.iter().find(|(known, _)| *known == word).map(|&(_, number)| number);
    let number = match ty.without_optional() {
        Type::ScalarType => everywhere.or_else(|| dtype_number(word)),
        _ => everywhere,
    };
    number.map(DefaultValue::Int)
}

/// Whether a number is written so that no reader, PyTorch included, takes it for another one.
fn is_plain(text: &str, ty: &Type) -> bool {
    let text = text.as_bytes();
    let is_imaginary = text.ends_with(b"j");
    // PyTorch looks for a lower-case `e`: except for a `float`, it reads `1E5` as 1.
    let reads_capital_exponent = *ty == Type::Float || is_imaginary || text.contains(&b'.');
    !text.iter().any(|byte| matches!(byte, b'x' | b'X'))
        && (reads_capital_exponent || !text.contains(&b'E'))
        && (*ty != Type::Complex || is_imaginary)
}

fn number_value(text: &str, ty: &Type) -> Option<DefaultValue> {
    if *ty == Type::Complex || text.contains('j') {
        return Some(DefaultValue::Complex { re: 0.0, im: literal::to_f64(&text[..text.len() - 1])? });
    }
    if *ty == Type::Float || text.contains(['.', 'e']) {
        return literal::to_f64(text).map(DefaultValue::Double);
    }
    literal::to_i64(text).map(DefaultValue::Int)
}

#[cold]
fn number_help(text: &str, ty: &Type) -> String {
    match text {
        _ if *ty == Type::Complex => {
            format!("an imaginary number ends in `j`, as in `{}j`", text.trim_end_matches('j'))
        }
        _ if text.contains(['x', 'X']) => "write a decimal number".to_owned(),
        _ if text.contains('E') => "write the exponent with a small `e`".to_owned(),
        _ => "the number must fit: 64 bits for an int, a normal double for a float".to_owned(),
    }
}

fn is_element(element: &Type, value: &DefaultValue) -> bool {
    match element.fake() {
        Type::Int => matches!(value, DefaultValue::Int(_)),
        Type::Float => matches!(value, DefaultValue::Double(_)),
        Type::Bool => matches!(value, DefaultValue::Bool(_)),
        _ => matches!(value, DefaultValue::Complex { .. }),
    }
}

/// An example of a default for this type.
#[cold]
pub(super) fn example(ty: &Type) -> String {
    let literal = match ty {
        Type::Int | Type::SymInt => "`1` or `-1`",
        Type::Float => "`1`, `1.5` or `1e-05`",
        Type::Complex => "`2j`",
        Type::Bool | Type::SymBool => "`True` or `False`",
        Type::Str => "`\"text\"`",
        Type::Scalar => "`1`, `1.5`, `2j` or `True`",
        Type::ScalarType => "a dtype such as `float32`",
        Type::Layout => "`strided`",
        Type::MemoryFormat => "`contiguous_format`",
        Type::Device => "`\"cpu\"`",
        Type::Optional(inner) => return format!("{}, or `None`", example(inner)),
        _ => return "leave the default out".to_owned(),
    };
    format!("write {literal}")
}

/// PyTorch's number of the dtype with this name.
fn dtype_number(name: &str) -> Option<i64> {
    let alias = match name {
        "short" => "int16",
        "int" => "int32",
        "long" => "int64",
        "half" => "float16",
        "float" => "float32",
        "double" => "float64",
        "chalf" => "complex32",
        "cfloat" => "complex64",
        "cdouble" => "complex128",
        name => name,
    };
    DTYPES.iter().position(|&dtype| dtype == alias).and_then(|number| i64::try_from(number).ok())
}

/// The dtypes by number.
pub(super) const DTYPES: [&str; 46] = [
    "uint8",
    "int8",
    "int16",
    "int32",
    "int64",
    "float16",
    "float32",
    "float64",
    "complex32",
    "complex64",
    "complex128",
    "bool",
    "qint8",
    "quint8",
    "qint32",
    "bfloat16",
    "quint4x2",
    "quint2x4",
    "bits1x8",
    "bits2x4",
    "bits4x2",
    "bits8",
    "bits16",
    "float8_e5m2",
    "float8_e4m3fn",
    "float8_e5m2fnuz",
    "float8_e4m3fnuz",
    "uint16",
    "uint32",
    "uint64",
    "uint1",
    "uint2",
    "uint3",
    "uint4",
    "uint5",
    "uint6",
    "uint7",
    "int1",
    "int2",
    "int3",
    "int4",
    "int5",
    "int6",
    "int7",
    "float8_e8m0fnu",
    "float4_e2m1fn_x2",
];

/// Whether the text is `type` or `type:index`, with a device type that PyTorch knows.
fn is_device(text: &str) -> bool {
    const TYPES: [&str; 20] = [
        "cpu",
        "cuda",
        "ipu",
        "xpu",
        "mkldnn",
        "opengl",
        "opencl",
        "ideep",
        "hip",
        "ve",
        "fpga",
        "maia",
        "xla",
        "lazy",
        "vulkan",
        "mps",
        "meta",
        "hpu",
        "mtia",
        "privateuseone",
    ];
    let (device, index) = text.split_once(':').unwrap_or((text, "0"));
    TYPES.contains(&device)
        && index.parse::<i8>().is_ok_and(|number| number.to_string() == index && number >= 0)
}
