//! What kernels check before they compute, and results that several threads compute in parts.

use std::sync::{Mutex, PoisonError};

use torch_library::prelude::*;
use torch_library_kernels::loops;

/// Whether a kernel computes in `f64`.
///
/// # Errors
/// An operand that is not floating-point, or has another type than the first.
pub(crate) fn is_double(operands: &[(&str, &Tensor)]) -> Result<bool> {
    let dtype = operands[0].1.dtype();
    ensure!(
        dtype.is_floating_point(),
        DType,
        "`{}` is of {dtype}, expected a floating-point type",
        operands[0].0
    );
    for (name, tensor) in operands {
        ensure!(
            tensor.dtype() == dtype,
            DType,
            "`{name}` is of {}, and `{}` of {dtype}, expected one type",
            tensor.dtype(),
            operands[0].0
        );
    }
    Ok(dtype == DType::Float64)
}

/// A vector of zeros for all elements of these sizes.
///
/// # Errors
/// There is not enough memory.
pub(crate) fn zeros<T: Clone>(zero: T, sizes: &[usize]) -> Result<Vec<T>> {
    let count = sizes.iter().try_fold(1usize, |count, size| count.checked_mul(*size));
    let mut elements = Vec::new();
    match count {
        Some(count) if elements.try_reserve_exact(count).is_ok() => elements.resize(count, zero),
        _ => bail!(OutOfMemory, "cannot allocate a result of sizes {sizes:?}"),
    }
    Ok(elements)
}

/// Fills parts of equal length on several threads. Returns the first error.
pub(crate) fn fill<T: Send>(
    elements: &mut [T],
    part: usize,
    each: impl Fn(usize, &mut [T]) -> Result<()> + Sync,
) -> Result<()> {
    let parts: Vec<_> = elements.chunks_mut(part.max(1)).map(Mutex::new).collect();
    let failure = Mutex::new(None);
    loops::ranges(parts.len(), |range| {
        for place in range {
            let mut part = parts[place].lock().unwrap_or_else(PoisonError::into_inner);
            if let Err(error) = each(place, &mut part) {
                failure.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
                return;
            }
        }
    });
    failure.into_inner().unwrap_or_else(PoisonError::into_inner).map_or(Ok(()), Err)
}

/// Checks a size that is given as an argument.
pub(crate) fn size(name: &str, size: i64) -> Result<usize> {
    let Ok(size) = usize::try_from(size) else { bail!(Argument, "{name} is {size}, it cannot be negative") };
    Ok(size)
}
