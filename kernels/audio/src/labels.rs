//! Arguments that are labels or lengths, and checks of sizes.

use torch_library::prelude::*;
use torch_library_aten::aten;

/// Labels or lengths.
///
/// # Errors
/// They are no integers.
pub(crate) fn integers(name: &str, tensor: &Tensor) -> Result<Vec<i64>> {
    ensure!(
        matches!(tensor.dtype(), DType::Int32 | DType::Int64),
        DType,
        "`{name}` is of {}, expected int32 or int64",
        tensor.dtype()
    );
    aten::to_dtype(tensor, DType::Int64)?.to_vec()
}

/// Labels, each of which is one of `count`.
///
/// # Errors
/// They are no integers, or out of range.
pub(crate) fn labels(name: &str, tensor: &Tensor, count: usize) -> Result<Vec<usize>> {
    integers(name, tensor)?.into_iter().map(|label| self::label(name, label, count)).collect()
}

/// A label, which is one of `count`.
///
/// # Errors
/// It is out of range.
pub(crate) fn label(name: &str, label: i64, count: usize) -> Result<usize> {
    match usize::try_from(label) {
        Ok(label) if label < count => Ok(label),
        _ => bail!(Argument, "`{name}` has the label {label}, expected one of {count}"),
    }
}

/// Checks the number of dimensions, and returns the sizes.
///
/// # Errors
/// There are more or fewer.
pub(crate) fn sizes<const N: usize>(name: &str, tensor: &Tensor) -> Result<[usize; N]> {
    let found: std::result::Result<[i64; N], _> = tensor.sizes().try_into();
    match found {
        Ok(sizes) => Ok(sizes.map(|size| size.unsigned_abs() as usize)),
        Err(_) => bail!(Shape, "`{name}` has sizes {:?}, expected {N} dimensions", tensor.sizes()),
    }
}
