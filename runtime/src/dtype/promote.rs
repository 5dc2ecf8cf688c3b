//! Type promotion: which type an operation on several types has.

use crate::{DType, Error, ErrorKind, Result, bail};

/// The smallest type that holds values of both types, by PyTorch's rules.
///
/// ```
/// use torch_library::{DType, promote_types};
///
/// assert_eq!(promote_types(DType::UInt8, DType::Int8)?, DType::Int16);
/// assert_eq!(promote_types(DType::Float16, DType::BFloat16)?, DType::Float32);
/// assert_eq!(promote_types(DType::Int64, DType::Float16)?, DType::Float16); // kind beats width
/// # Ok::<(), torch_library::Error>(())
/// ```
///
/// # Errors
/// `uint16`, `uint32` and `uint64` combine with real floating-point types and with themselves only.
///
/// PyTorch: `torch.promote_types`.
pub fn promote_types(a: DType, b: DType) -> Result<DType> {
    if a == b {
        return Ok(a);
    }
    let wide_unsigned = |dtype| matches!(dtype, DType::UInt16 | DType::UInt32 | DType::UInt64);
    match (a, b) {
        (_, float) if wide_unsigned(a) && float.is_floating_point() => Ok(float),
        (float, _) if wide_unsigned(b) && float.is_floating_point() => Ok(float),
        _ if wide_unsigned(a) || wide_unsigned(b) => Err(Error::new(
            ErrorKind::DType,
            format!(
                "{a} and {b} have no common type: uint16, uint32 and uint64 combine with real floats only"
            ),
        )),
        _ if a.is_complex() || b.is_complex() => {
            let double = [a, b].iter().any(|dtype| matches!(dtype, DType::Float64 | DType::Complex128));
            Ok(if double { DType::Complex128 } else { DType::Complex64 })
        }
        (DType::Float16, DType::BFloat16) | (DType::BFloat16, DType::Float16) => Ok(DType::Float32),
        (DType::UInt8, DType::Int8) | (DType::Int8, DType::UInt8) => Ok(DType::Int16),
        _ => Ok(if rank(a) > rank(b) { a } else { b }),
    }
}

/// Kind first (bool, integer, floating point), then width.
fn rank(dtype: DType) -> (u8, usize) {
    let kind = if dtype.is_floating_point() { 2 } else { u8::from(dtype.is_integer()) };
    (kind, dtype.size())
}

/// Whether a result computed in `from` may be written into a tensor of `to`: never to a lower kind.
///
/// ```
/// use torch_library::{DType, can_cast};
///
/// assert!(can_cast(DType::Float64, DType::Float16)); // width may shrink
/// assert!(!can_cast(DType::Float32, DType::Int64)); // kind may not
/// ```
///
/// PyTorch: `torch.can_cast`.
pub fn can_cast(from: DType, to: DType) -> bool {
    let kind = |dtype: DType| match dtype {
        DType::Bool => 0,
        _ if dtype.is_integer() => 1,
        _ if dtype.is_floating_point() => 2,
        _ => 3,
    };
    kind(from) <= kind(to)
}

/// What promotion looks at in one operand: its type, and how much weight that type has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operand {
    /// A tensor of at least one dimension.
    Dimensioned(DType),
    /// A tensor of no dimensions.
    ZeroDim(DType),
    /// A number of the host language: its kind counts, its width does not.
    Number(DType),
}

/// The type in which an operation on these operands computes.
///
/// Tensors with dimensions decide; those without, and after them plain numbers, count only if they are of a
/// higher kind (bool < integer < floating point < complex).
///
/// ```
/// use torch_library::{DType, Operand::*, result_type};
///
/// assert_eq!(result_type([Dimensioned(DType::Int8), ZeroDim(DType::Int64)])?, DType::Int8);
/// assert_eq!(result_type([Dimensioned(DType::Int8), Number(DType::Float64)])?, DType::Float32);
/// # Ok::<(), torch_library::Error>(())
/// ```
///
/// # Errors
/// Types with no common type (see [`promote_types`]), and half-precision tensors with complex numbers: the
/// 32-bit complex types are not carried.
///
/// PyTorch: `torch.result_type`, `at::native::result_type`.
pub fn result_type(operands: impl IntoIterator<Item = Operand>) -> Result<DType> {
    let (mut dimensioned, mut zero_dim, mut number) = (None, None, None);
    for operand in operands {
        let (category, dtype) = match operand {
            Operand::Dimensioned(dtype) => (&mut dimensioned, dtype),
            Operand::ZeroDim(dtype) => (&mut zero_dim, dtype),
            Operand::Number(dtype) if dtype.is_complex() => (&mut number, DType::Complex64),
            Operand::Number(dtype) if dtype.is_floating_point() => (&mut number, DType::DEFAULT),
            Operand::Number(dtype) => (&mut number, dtype),
        };
        *category = Some(category.map_or(Ok(dtype), |seen| promote_types(seen, dtype))?);
    }
    match combine(dimensioned, combine(zero_dim, number)?)? {
        Some(dtype) => Ok(dtype),
        None => bail!(Argument, "the result type of no operands is not defined, pass at least one"),
    }
}

/// The stronger category's type unless the weaker one is of a higher kind.
fn combine(strong: Option<DType>, weak: Option<DType>) -> Result<Option<DType>> {
    let (Some(strong), Some(weak)) = (strong, weak) else { return Ok(strong.or(weak)) };
    let dtype = if strong.is_complex() {
        strong
    } else if strong.is_floating_point() {
        match weak.is_complex() {
            true => strong.to_complex().ok_or_else(|| no_complex(strong, weak))?,
            false => strong,
        }
    } else if strong == DType::Bool || weak.is_floating_point() || weak.is_complex() {
        promote_types(strong, weak)?
    } else {
        strong
    };
    Ok(Some(dtype))
}

#[cold]
fn no_complex(strong: DType, weak: DType) -> Error {
    let message =
        format!("{strong} with a {weak} number needs complex elements of {strong}, which are not carried");
    Error::new(ErrorKind::DType, format!("{message}; convert to float32 or complex64 first"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use DType::*;

    #[test]
    fn promotion_is_commutative_and_idempotent() {
        for a in DType::all() {
            assert_eq!(promote_types(a, a).unwrap(), a);
            for b in DType::all() {
                assert_eq!(promote_types(a, b).ok(), promote_types(b, a).ok(), "{a} {b}");
            }
        }
    }

    #[test]
    fn promotion_follows_pytorch() {
        let cases = [
            (Bool, UInt8, UInt8),
            (UInt8, Int16, Int16),
            (Int64, BFloat16, BFloat16),
            (UInt64, Float16, Float16),
            (Float64, Complex64, Complex128),
            (Float16, Complex64, Complex64),
            (Int64, Complex64, Complex64),
        ];
        for (a, b, want) in cases {
            assert_eq!(promote_types(a, b).unwrap(), want, "{a} {b}");
        }
        for (a, b) in [(UInt16, Int64), (UInt16, UInt32), (UInt64, Complex64), (Bool, UInt16)] {
            assert_eq!(promote_types(a, b).unwrap_err().kind(), ErrorKind::DType);
        }
    }

    #[test]
    fn weaker_operands_count_only_by_kind() {
        use Operand::*;
        let cases = [
            (Dimensioned(Int8), ZeroDim(Int64), Int8),
            (Dimensioned(Int64), ZeroDim(Float16), Float16),
            (Dimensioned(UInt16), ZeroDim(Bool), UInt16),
            (Dimensioned(Float32), ZeroDim(Complex128), Complex64),
            (ZeroDim(UInt8), Number(Int64), UInt8),
            (ZeroDim(Int64), Number(Float64), Float32),
            (Dimensioned(Float64), Number(Complex128), Complex128),
        ];
        for (a, b, want) in cases {
            assert_eq!(result_type([a, b]).unwrap(), want, "{a:?} {b:?}");
            assert_eq!(result_type([b, a]).unwrap(), want, "{b:?} {a:?}");
        }
        assert!(result_type([Dimensioned(Float16), Number(Complex128)]).is_err());
        assert!(result_type([Dimensioned(Bool), ZeroDim(UInt16)]).is_err());
        assert!(result_type([]).is_err());
    }
}
