//! Element types: their numbers, names and kinds.

mod built;
pub mod element;
mod float8;
mod promote;

use std::fmt;
use std::str::FromStr;

use crate::error::{Error, ErrorKind, Result};

pub use element::Element;
pub use promote::{Operand, can_cast, promote_types, result_type};

/// The type of a tensor's elements.
///
/// The discriminants are PyTorch's, so that files and foreign schemas agree.
///
/// ```
/// use torch_library::DType;
///
/// assert_eq!(DType::BFloat16.to_string(), "bfloat16");
/// assert_eq!("torch.float64".parse::<DType>()?, DType::Float64);
/// assert_eq!(DType::Complex128.size(), 16); // bytes
/// # Ok::<(), torch_library::Error>(())
/// ```
///
/// PyTorch: `c10::ScalarType`, `torch.dtype`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u8)]
pub enum DType {
    /// `u8`.
    UInt8 = 0,
    /// `i8`.
    Int8 = 1,
    /// `i16`.
    Int16 = 2,
    /// `i32`.
    Int32 = 3,
    /// `i64`.
    Int64 = 4,
    /// `half::f16`.
    Float16 = 5,
    /// `f32`.
    Float32 = 6,
    /// `f64`.
    Float64 = 7,
    /// `Complex<f16>`.
    Complex32 = 8,
    /// `Complex<f32>`.
    Complex64 = 9,
    /// `Complex<f64>`.
    Complex128 = 10,
    /// `bool`, one byte each.
    Bool = 11,
    /// `half::bf16`.
    BFloat16 = 15,
    /// [`Float8E5M2`](element::Float8E5M2).
    Float8E5M2 = 23,
    /// [`Float8E4M3Fn`](element::Float8E4M3Fn).
    Float8E4M3Fn = 24,
    /// [`Float8E5M2Fnuz`](element::Float8E5M2Fnuz).
    Float8E5M2Fnuz = 25,
    /// [`Float8E4M3Fnuz`](element::Float8E4M3Fnuz).
    Float8E4M3Fnuz = 26,
    /// `u16`.
    UInt16 = 27,
    /// `u32`.
    UInt32 = 28,
    /// `u64`.
    UInt64 = 29,
    /// [`Float8E8M0Fnu`](element::Float8E8M0Fnu).
    Float8E8M0Fnu = 44,
    /// `Complex<bf16>`.
    BComplex32 = 46,
}

/// The names of every type: PyTorch's own first, then the aliases that it accepts.
const NAMES: [(DType, &[&str]); 22] = [
    (DType::Bool, &["bool"]),
    (DType::UInt8, &["uint8"]),
    (DType::Int8, &["int8"]),
    (DType::Int16, &["int16", "short"]),
    (DType::Int32, &["int32", "int"]),
    (DType::Int64, &["int64", "long"]),
    (DType::UInt16, &["uint16"]),
    (DType::UInt32, &["uint32"]),
    (DType::UInt64, &["uint64"]),
    (DType::Float8E5M2, &["float8_e5m2"]),
    (DType::Float8E4M3Fn, &["float8_e4m3fn"]),
    (DType::Float8E5M2Fnuz, &["float8_e5m2fnuz"]),
    (DType::Float8E4M3Fnuz, &["float8_e4m3fnuz"]),
    (DType::Float8E8M0Fnu, &["float8_e8m0fnu"]),
    (DType::Float16, &["float16", "half"]),
    (DType::BFloat16, &["bfloat16"]),
    (DType::Float32, &["float32", "float"]),
    (DType::Float64, &["float64", "double"]),
    (DType::Complex32, &["complex32", "chalf"]),
    (DType::BComplex32, &["bcomplex32"]),
    (DType::Complex64, &["complex64", "cfloat"]),
    (DType::Complex128, &["complex128", "cdouble"]),
];

impl DType {
    /// The type of floating-point results and literals when nothing else decides.
    ///
    /// PyTorch: `torch.get_default_dtype()`, which is not settable here.
    pub const DEFAULT: DType = DType::Float32;

    /// Every type, from `bool` to the widest complex.
    pub fn all() -> impl ExactSizeIterator<Item = DType> + Clone {
        NAMES.iter().map(|(dtype, _)| *dtype)
    }

    /// The type with this PyTorch number, if this version supports it.
    pub const fn from_number(number: u8) -> Option<DType> {
        let mut index = 0;
        while index < NAMES.len() {
            let dtype = NAMES[index].0;
            if dtype.number() == number {
                return Some(dtype);
            }
            index += 1;
        }
        None
    }

    /// The number that PyTorch gives this type: `6` for `float32`.
    pub const fn number(self) -> u8 {
        self as u8
    }

    /// PyTorch's name for this type, without `torch.`.
    pub fn name(self) -> &'static str {
        let (_, names) = NAMES.iter().find(|(dtype, _)| *dtype == self).expect("NAMES has every type");
        names[0]
    }

    /// Bytes per element.
    ///
    /// PyTorch: `torch.dtype.itemsize`.
    #[inline]
    pub const fn size(self) -> usize {
        match self {
            DType::Bool | DType::UInt8 | DType::Int8 => 1,
            DType::Float8E5M2
            | DType::Float8E4M3Fn
            | DType::Float8E5M2Fnuz
            | DType::Float8E4M3Fnuz
            | DType::Float8E8M0Fnu => 1,
            DType::Int16 | DType::UInt16 | DType::Float16 | DType::BFloat16 => 2,
            DType::Int32 | DType::UInt32 | DType::Float32 | DType::Complex32 | DType::BComplex32 => 4,
            DType::Int64 | DType::UInt64 | DType::Float64 | DType::Complex64 => 8,
            DType::Complex128 => 16,
        }
    }

    /// The alignment of an element's address, in bytes.
    #[inline]
    pub const fn align(self) -> usize {
        self.to_real().size()
    }

    /// Whether this is a real floating-point type.
    ///
    /// PyTorch: `torch.dtype.is_floating_point`.
    #[inline]
    pub const fn is_floating_point(self) -> bool {
        matches!(self, DType::Float16 | DType::BFloat16 | DType::Float32 | DType::Float64) || self.is_float8()
    }

    /// Whether this is one of the floating-point types of eight bits, in which few operators compute.
    ///
    /// PyTorch: `c10::isFloat8Type`.
    #[inline]
    pub const fn is_float8(self) -> bool {
        matches!(
            self,
            DType::Float8E5M2
                | DType::Float8E4M3Fn
                | DType::Float8E5M2Fnuz
                | DType::Float8E4M3Fnuz
                | DType::Float8E8M0Fnu
        )
    }

    /// Whether this is a complex type.
    ///
    /// PyTorch: `torch.dtype.is_complex`.
    #[inline]
    pub const fn is_complex(self) -> bool {
        matches!(self, DType::Complex32 | DType::BComplex32 | DType::Complex64 | DType::Complex128)
    }

    /// Whether this is an integer type; `bool` is not, as in PyTorch's `isIntegralType(t, false)`.
    #[inline]
    pub const fn is_integer(self) -> bool {
        !self.is_floating_point() && !self.is_complex() && !matches!(self, DType::Bool)
    }

    /// Whether the type has negative values.
    ///
    /// PyTorch: `torch.dtype.is_signed`.
    #[inline]
    pub const fn is_signed(self) -> bool {
        !matches!(
            self,
            DType::Bool | DType::UInt8 | DType::UInt16 | DType::UInt32 | DType::UInt64 | DType::Float8E8M0Fnu
        )
    }

    /// Whether a gradient can flow through values of this type.
    ///
    /// PyTorch: `torch::autograd::isDifferentiableType`.
    #[inline]
    pub const fn is_differentiable(self) -> bool {
        self.is_floating_point() || self.is_complex()
    }

    /// The complex type with components of this type, or itself if it is complex; `None` for integers, `bool` and
    /// floats of eight bits.
    ///
    /// PyTorch: `torch.dtype.to_complex`.
    pub const fn to_complex(self) -> Option<DType> {
        match self.to_real() {
            DType::Float16 => Some(DType::Complex32),
            DType::BFloat16 => Some(DType::BComplex32),
            DType::Float32 => Some(DType::Complex64),
            DType::Float64 => Some(DType::Complex128),
            _ => None,
        }
    }

    /// The type of the real part; a type that is not complex is returned unchanged.
    ///
    /// PyTorch: `torch.dtype.to_real`.
    #[inline]
    pub const fn to_real(self) -> DType {
        match self {
            DType::Complex32 => DType::Float16,
            DType::BComplex32 => DType::BFloat16,
            DType::Complex64 => DType::Float32,
            DType::Complex128 => DType::Float64,
            other => other,
        }
    }
}

/// PyTorch's name without `torch.`, as schemas and messages have it.
impl fmt::Display for DType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// Parses `float32`, `torch.float32` and the short names (`float`, `half`, `long`, …).
impl FromStr for DType {
    type Err = Error;

    fn from_str(text: &str) -> Result<DType> {
        let name = text.strip_prefix("torch.").unwrap_or(text);
        match NAMES.iter().find(|(_, names)| names.contains(&name)) {
            Some((dtype, _)) => Ok(*dtype),
            None => {
                let known: Vec<&str> = DType::all().map(DType::name).collect();
                Err(Error::new(
                    ErrorKind::DType,
                    format!("unknown dtype {text:?}, expected one of {}", known.join(", ")),
                ))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_numbers_lead_back_to_the_type() {
        for dtype in DType::all() {
            assert_eq!(dtype.name().parse::<DType>().unwrap(), dtype);
            assert_eq!(format!("torch.{dtype}").parse::<DType>().unwrap(), dtype);
            assert_eq!(DType::from_number(dtype.number()), Some(dtype));
        }
        assert_eq!("half".parse::<DType>().unwrap(), DType::Float16);
        assert_eq!(DType::from_number(12), None, "qint8 is not supported");
    }

    #[test]
    fn an_unknown_name_lists_the_known_ones() {
        let error = "float7".parse::<DType>().unwrap_err();
        assert!(error.to_string().starts_with("unknown dtype \"float7\", expected one of bool, uint8, int8"));
    }

    #[test]
    fn kinds_partition_the_types() {
        for dtype in DType::all() {
            let kinds =
                [dtype.is_floating_point(), dtype.is_complex(), dtype.is_integer(), dtype == DType::Bool];
            assert_eq!(kinds.iter().filter(|kind| **kind).count(), 1, "{dtype}");
        }
    }
}
