//! The rows of each expert, and the checks that `Meta` and the other kernels share.

use torch_library::prelude::*;
use torch_library_aten::aten;

/// Checks sizes and dtypes, and returns the sizes of the products.
pub(crate) fn check(operator: &str, input: &Tensor, weight: &Tensor, offs: &Tensor) -> Result<[i64; 2]> {
    let (&[rows, inner], &[experts, other, columns]) = (input.sizes(), weight.sizes()) else {
        bail!(
            Shape,
            "{operator}: rows of sizes {:?} and experts of sizes {:?}, expected two and three dimensions",
            input.sizes(),
            weight.sizes()
        )
    };
    ensure!(
        inner == other,
        Shape,
        "{operator}: rows of {inner} elements cannot be multiplied with matrices of sizes [{other}, {columns}]"
    );
    ensure!(
        input.dtype() == weight.dtype(),
        DType,
        "{operator}: rows of {} and experts of {}, expected one type",
        input.dtype(),
        weight.dtype()
    );
    ensure!(
        offs.sizes() == [experts] && matches!(offs.dtype(), DType::Int32 | DType::Int64),
        Argument,
        "{operator}: offsets of sizes {:?} and {}, expected a vector of {experts} of int32 or int64",
        offs.sizes(),
        offs.dtype()
    );
    Ok([rows, columns])
}

/// The experts that have rows, each with the first of its rows and their number.
///
/// # Errors
/// The ends are out of order or exceed the rows.
pub(crate) fn of(operator: &str, offs: &Tensor, rows: i64) -> Result<Vec<(i64, i64, i64)>> {
    let ends = aten::_to_copy::with(offs).device(Device::CPU).dtype(DType::Int64).call()?;
    let (mut groups, mut start) = (Vec::new(), 0);
    for (expert, end) in (0..).zip(ends.to_vec::<i64>()?) {
        ensure!(
            (start..=rows).contains(&end),
            Argument,
            "{operator}: the rows of expert {expert} end at {end}, expected a number from {start} to {rows}"
        );
        if end > start {
            groups.push((expert, start, end - start));
        }
        start = end;
    }
    Ok(groups)
}
