//! Type promotion: the type of an operation on several types.

use crate::bail;
use crate::dtype::DType;
use crate::error::Result;

/// The smallest type that holds the values of both types, by PyTorch's rules.
///
/// ```
/// use torch_library::{DType, promote_types};
///
/// assert_eq!(promote_types(DType::UInt8, DType::Int8)?, DType::Int16);
/// assert_eq!(promote_types(DType::Float16, DType::BFloat16)?, DType::Float32);
/// assert_eq!(promote_types(DType::Int64, DType::Float16)?, DType::Float16); // category beats width
/// # Ok::<(), torch_library::Error>(())
/// ```
///
/// # Errors
/// `uint16`, `uint32` and `uint64` combine with real floating-point types and with themselves only, and floating-point
/// types of eight bits with nothing but themselves.
///
/// PyTorch: `torch.promote_types`.
pub fn promote_types(a: DType, b: DType) -> Result<DType> {
    if a == b {
        return Ok(a);
    }
    let wide_unsigned = |dtype| matches!(dtype, DType::UInt16 | DType::UInt32 | DType::UInt64);
    match (a, b) {
        _ if a.is_float8() || b.is_float8() => {
            bail!(
                DType,
                "{a} and {b} have no common type: floats of eight bits combine with no other type, convert one"
            )
        }
        (_, float) if wide_unsigned(a) && float.is_floating_point() => Ok(float),
        (float, _) if wide_unsigned(b) && float.is_floating_point() => Ok(float),
        _ if wide_unsigned(a) || wide_unsigned(b) => {
            bail!(
                DType,
                "{a} and {b} have no common type: uint16, uint32 and uint64 combine with real floats only"
            )
        }
        _ if a.is_complex() || b.is_complex() => {
            let part = promote_types(a.to_real(), b.to_real())?;
            Ok(part.to_complex().expect("one of the parts is a float"))
        }
        (DType::Float16, DType::BFloat16) | (DType::BFloat16, DType::Float16) => Ok(DType::Float32),
        (DType::UInt8, DType::Int8) | (DType::Int8, DType::UInt8) => Ok(DType::Int16),
        _ => Ok(if rank(a) > rank(b) { a } else { b }),
    }
}

/// The category first (bool, integer, floating point), then the width.
fn rank(dtype: DType) -> (u8, usize) {
    let kind = if dtype.is_floating_point() { 2 } else { u8::from(dtype.is_integer()) };
    (kind, dtype.size())
}

/// Whether a result computed in `from` may be written to a tensor of type `to`: never to a lower category.
///
/// ```
/// use torch_library::{DType, can_cast};
///
/// assert!(can_cast(DType::Float64, DType::Float16)); // the width may shrink
/// assert!(!can_cast(DType::Float32, DType::Int64)); // the category may not
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

/// What promotion looks at in an operand: its type, and the priority of that type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operand {
    /// A tensor of at least one dimension.
    Dimensioned(DType),
    /// A tensor of no dimensions.
    ZeroDim(DType),
    /// A number of the host language: its category counts, its width does not.
    Number(DType),
}

/// The type in which an operation on these operands computes.
///
/// Tensors with dimensions decide; those without dimensions, and after them plain numbers, count only if they are of a
/// higher category (bool < integer < floating point < complex).
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
/// No operands, types without a common type (see [`promote_types`]), a type that the program is [built
/// without](DType::is_built).
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
        Some(dtype) => dtype.ensure_built().map(|()| dtype),
        None => bail!(Argument, "the result type of no operands is not defined, pass at least one"),
    }
}

/// The type with priority, unless the other is of a higher category.
fn combine(strong: Option<DType>, weak: Option<DType>) -> Result<Option<DType>> {
    let (Some(strong), Some(weak)) = (strong, weak) else { return Ok(strong.or(weak)) };
    let dtype = match (strong, weak) {
        _ if strong.is_complex() => strong,
        _ if strong.is_floating_point() && weak.is_complex() => {
            let Some(complex) = strong.to_complex() else {
                bail!(
                    DType,
                    "{strong} and {weak} have no common type: there are no complex numbers of {strong}"
                )
            };
            complex
        }
        _ if strong.is_floating_point() => strong,
        _ if weak.is_float8() => promote_types(strong, weak)?,
        _ if weak.is_floating_point() || weak.is_complex() => weak,
        (DType::Bool, _) => promote_types(strong, weak)?,
        _ => strong,
    };
    Ok(Some(dtype))
}

#[cfg(test)]
mod tests;
