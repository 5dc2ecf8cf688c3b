//! Default values.

use super::{Parser, Result};
use crate::default::DefaultValue;
use crate::error::SchemaError;
use crate::literal;
use crate::schema::Mode;
use crate::token::{Token, TokenKind};
use crate::types::Type;

/// The most values that one number may be repeated to, in `int[N] x=0`.
const MAX_REPEAT: i64 = 1 << 16;

/// The words that are numbers for an argument of any type: a dtype, a layout, a reduction, a memory format.
const WORDS: [(&str, i64); 6] =
    [("float", 6), ("complex", 9), ("long", 4), ("strided", 0), ("Mean", 1), ("contiguous_format", 0)];

impl Parser<'_, '_> {
    /// What follows `=`, for an argument of type `ty`.
    pub(super) fn default_value(&mut self, ty: &Type, size: Option<i64>) -> Result<DefaultValue> {
        match ty {
            Type::Tensor | Type::Generator | Type::Quantizer => match self.peek() {
                TokenKind::Ident if self.tokens[self.at].text == "None" => self.constant(ty),
                _ => Err(self.unexpected(&format!("`None`, the only default of a `{ty}`"))),
            },
            Type::List(element) => self.list_default(element, size),
            Type::Device => self.device(),
            Type::Optional(_)
            | Type::Str
            | Type::Scalar
            | Type::Int
            | Type::SymInt
            | Type::ScalarType
            | Type::Layout
            | Type::MemoryFormat
            | Type::Bool
            | Type::Float
            | Type::Complex => self.constant(ty),
            _ => {
                let error = SchemaError::new(format!("a `{ty}` cannot have a default"), self.span());
                Err(error.with_help(format!("make it `{ty}?`, whose default may be `None`")))
            }
        }
    }

    /// `[1, 2]`, or for `T[N]` one value that is repeated.
    fn list_default(&mut self, element: &Type, size: Option<i64>) -> Result<DefaultValue> {
        let start = self.at;
        if !matches!(element.fake(), Type::Int | Type::Float | Type::Bool | Type::Complex) {
            let error = SchemaError::new(format!("a `{element}[]` cannot have a default"), self.span());
            return Err(error.with_help("lists of int, SymInt, float, complex and bool can"));
        }
        let values = match size {
            Some(size) if self.peek() != TokenKind::Punct(b'[') => {
                let value = self.constant(element)?;
                if !(0..=MAX_REPEAT).contains(&size) {
                    let error =
                        SchemaError::new(format!("cannot repeat a default {size} times"), self.since(start));
                    return Err(error.with_help(format!("at most {MAX_REPEAT} values can be written as one")));
                }
                vec![value; size as usize]
            }
            _ => self.constant_list(element)?,
        };
        match values.iter().find(|value| !is_element(element, value)) {
            None => Ok(DefaultValue::List(values)),
            Some(value) => {
                let message = format!("a value of kind {} in the default of a `{element}[]`", value.kind());
                Err(SchemaError::new(message, self.since(start)).with_help(example(element)))
            }
        }
    }

    fn constant_list(&mut self, element: &Type) -> Result<Vec<DefaultValue>> {
        if !self.eat(b'[') {
            let error = self.unexpected(&format!("`[` and the default of a `{element}[]`"));
            return Err(error.with_help("one value for all elements needs a length, as in `int[2] x=0`"));
        }
        let mut values = Vec::new();
        if !self.eat(b']') {
            values.push(self.constant(element)?);
            while self.eat(b',') {
                values.push(self.constant(element)?);
            }
            self.expect(b']')?;
        }
        Ok(values)
    }

    /// One literal. What it means depends on the type in two cases: a number for a `float` or a `complex`.
    fn constant(&mut self, ty: &Type) -> Result<DefaultValue> {
        let span = self.span();
        let Some(token) = self.tokens.get(self.at) else { return Err(self.unexpected("a default value")) };
        match token.kind {
            TokenKind::String => self.string().map(DefaultValue::Str),
            TokenKind::Ident => {
                let value = word(&token.text, ty).ok_or_else(|| {
                    let error = SchemaError::new(format!("`{}` is no default of a `{ty}`", token.text), span);
                    error.with_help(example(ty))
                })?;
                self.at += 1;
                Ok(value)
            }
            TokenKind::Number | TokenKind::Punct(b'-') => self.number(ty),
            _ => Err(self.unexpected(&format!("the default of a `{ty}`")).with_help(example(ty))),
        }
    }

    fn number(&mut self, ty: &Type) -> Result<DefaultValue> {
        let start = self.at;
        let negative = self.eat(b'-');
        let Some(token) = self.tokens.get(self.at).filter(|token| token.kind == TokenKind::Number) else {
            return Err(self.unexpected("a number after `-`"));
        };
        self.at += 1;
        let value = match (self.mode, is_plain(token, ty)) {
            (Mode::Strict, false) => None,
            _ if negative => number_value(&format!("-{}", token.text), ty),
            _ => number_value(&token.text, ty),
        };
        value.ok_or_else(|| {
            let message = format!("`{}` cannot be read as a `{ty}`", token.text);
            SchemaError::new(message, self.since(start)).with_help(number_help(&token.text, ty))
        })
    }

    fn string(&mut self) -> Result<Vec<u8>> {
        let token = &self.tokens[self.at];
        if self.mode == Mode::Strict && token.text.contains('\0') {
            let error = SchemaError::new("a string contains a zero byte", self.span());
            return Err(error.with_help("write it as `\\000`"));
        }
        self.at += 1;
        literal::unquote(&token.text).map_err(|offset| {
            let escape: String = token.text[offset..].chars().take(2).collect();
            let message = format!("`{}` is no escape", escape.escape_debug());
            let place = token.span.start + offset..token.span.start + offset + escape.len();
            let span =
                if token.span.end - token.span.start == token.text.len() { place } else { token.span.into() };
            SchemaError::new(message, span)
                .with_help("the escapes are \\\\ \\' \\\" \\a \\b \\f \\n \\t \\v and three octal digits")
        })
    }

    /// A string that names a device.
    fn device(&mut self) -> Result<DefaultValue> {
        let span = self.span();
        if self.peek() != TokenKind::String {
            return Err(self.unexpected("a device in quotes").with_help("write `\"cpu\"` or `\"cuda:0\"`"));
        }
        let name = String::from_utf8(self.string()?).unwrap_or_default();
        if is_device(&name) {
            return Ok(DefaultValue::Device(name));
        }
        let error = SchemaError::new(format!("`{}` is no device", name.escape_debug()), span);
        Err(error.with_help("write `\"cpu\"`, `\"cuda\"`, `\"cuda:1\"`, `\"meta\"`, …"))
    }
}

fn word(word: &str, ty: &Type) -> Option<DefaultValue> {
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

/// Whether a number is written so that nobody, PyTorch included, can read it as another one.
fn is_plain(token: &Token<'_>, ty: &Type) -> bool {
    let text = token.text.as_bytes();
    let is_imaginary = text.ends_with(b"j");
    // PyTorch looks for a small `e`: for everything but a `float`, `1E5` is 1 to it.
    let reads_capital_exponent = *ty == Type::Float || is_imaginary || text.contains(&b'.');
    literal::scan_number(text) == text.len()
        && !text.iter().any(|byte| matches!(byte, b'x' | b'X'))
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
        _ if text.contains(['x', 'X', 'b', 'o', '_']) => {
            "write a decimal number without underscores".to_owned()
        }
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

/// How a default of this type is written.
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

/// `type` or `type:index`, of a device type PyTorch knows.
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
