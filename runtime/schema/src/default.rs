//! The default value of an argument.

use std::hash::{Hash, Hasher};

/// A default value, in the form that the interpreter uses.
///
/// If the type allows several kinds, the kind is that of the literal: `float? x=1` holds an [`Int`](Self::Int), `float
/// x=1` a [`Double`](Self::Double). `int[3] x=7` holds `[7, 7, 7]`.
///
/// PyTorch: the `IValue` of `Argument::default_value`.
#[derive(Clone, Debug)]
pub enum DefaultValue {
    /// `None`
    None,
    /// `True`, `False`
    Bool(bool),
    /// An integer; also the value of the words for `ScalarType`, `Layout` and `MemoryFormat`.
    Int(i64),
    /// A number with a point or an exponent, or any number for a `float`.
    Double(f64),
    /// An imaginary number, `2j`.
    Complex {
        /// The real part, which is 0 in every literal.
        re: f64,
        /// The imaginary part.
        im: f64,
    },
    /// A string, as bytes, since an octal escape can be any byte.
    Str(Vec<u8>),
    /// A device: `cpu`, `cuda:1`.
    Device(String),
    /// A list of literals of the element type.
    List(Vec<DefaultValue>),
}

impl DefaultValue {
    /// PyTorch's name for the kind of value: `None`, `Bool`, `Int`, `Double`, `ComplexDouble`, `String`, `Device`,
    /// `GenericList`.
    pub fn kind(&self) -> &'static str {
        match self {
            DefaultValue::None => "None",
            DefaultValue::Bool(_) => "Bool",
            DefaultValue::Int(_) => "Int",
            DefaultValue::Double(_) => "Double",
            DefaultValue::Complex { .. } => "ComplexDouble",
            DefaultValue::Str(_) => "String",
            DefaultValue::Device(_) => "Device",
            DefaultValue::List(_) => "GenericList",
        }
    }

    /// A description of the kind, in the terms of schemas.
    pub(crate) fn describe(&self) -> &'static str {
        match self {
            DefaultValue::None => "`None`",
            DefaultValue::Bool(_) => "a `bool`",
            DefaultValue::Int(_) => "an `int`",
            DefaultValue::Double(_) => "a `float`",
            DefaultValue::Complex { .. } => "a `complex`",
            DefaultValue::Str(_) => "a `str`",
            DefaultValue::Device(_) => "a `Device`",
            DefaultValue::List(_) => "a list",
        }
    }

    /// Whether PyTorch takes the two for the same default: it compares numbers, for which `-0.` is `0.`.
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Double(a), Self::Double(b)) => a == b,
            (Self::Complex { re, im }, Self::Complex { re: other_re, im: other_im }) => {
                (re, im) == (other_re, other_im)
            }
            (Self::List(a), Self::List(b)) => {
                a.len() == b.len() && a.iter().zip(b).all(|(a, b)| a.is_same(b))
            }
            _ => self == other,
        }
    }

    /// The string, if it is one and is valid UTF-8.
    pub fn as_str(&self) -> Option<&str> {
        match self {
            DefaultValue::Str(bytes) => std::str::from_utf8(bytes).ok(),
            _ => None,
        }
    }
}

/// Floating-point parts are compared by their bits, so that equal values have equal hashes.
impl PartialEq for DefaultValue {
    fn eq(&self, other: &Self) -> bool {
        use DefaultValue::{Bool, Complex, Device, Double, Int, List, None, Str};
        match (self, other) {
            (None, None) => true,
            (Bool(a), Bool(b)) => a == b,
            (Int(a), Int(b)) => a == b,
            (Double(a), Double(b)) => a.to_bits() == b.to_bits(),
            (Complex { re, im }, Complex { re: other_re, im: other_im }) => {
                re.to_bits() == other_re.to_bits() && im.to_bits() == other_im.to_bits()
            }
            (Str(a), Str(b)) => a == b,
            (Device(a), Device(b)) => a == b,
            (List(a), List(b)) => a == b,
            _ => false,
        }
    }
}

impl Eq for DefaultValue {}

impl Hash for DefaultValue {
    fn hash<H: Hasher>(&self, state: &mut H) {
        std::mem::discriminant(self).hash(state);
        match self {
            DefaultValue::None => {}
            DefaultValue::Bool(value) => value.hash(state),
            DefaultValue::Int(value) => value.hash(state),
            DefaultValue::Double(value) => value.to_bits().hash(state),
            DefaultValue::Complex { re, im } => (re.to_bits(), im.to_bits()).hash(state),
            DefaultValue::Str(value) => value.hash(state),
            DefaultValue::Device(value) => value.hash(state),
            DefaultValue::List(values) => values.hash(state),
        }
    }
}
