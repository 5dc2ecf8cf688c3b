//! The sizes of functional collectives' results, which `Meta` kernels need without a group.

use torch_library::prelude::*;

/// The sizes with dimension 0 gathered over all ranks.
pub(crate) fn gathered(input: &Tensor, group_size: i64) -> Result<Vec<i64>> {
    let mut sizes = with_rows(input, group_size)?;
    let rows = sizes[0].checked_mul(group_size);
    let Some(rows) = rows else { bail!(Shape, "{} rows of {group_size} ranks are too many", sizes[0]) };
    sizes[0] = rows;
    Ok(sizes)
}

/// The sizes with dimension 0 scattered over all ranks.
pub(crate) fn scattered(input: &Tensor, group_size: i64) -> Result<Vec<i64>> {
    let mut sizes = with_rows(input, group_size)?;
    ensure!(
        sizes[0] % group_size == 0,
        Shape,
        "{} rows of sizes {:?} are not divisible by {group_size} ranks",
        sizes[0],
        input.sizes()
    );
    sizes[0] /= group_size;
    Ok(sizes)
}

/// The sizes with as many rows as are received.
pub(crate) fn exchanged(input: &Tensor, from: &[i64], to: &[i64]) -> Result<Vec<i64>> {
    let mut sizes = with_rows(input, 1)?;
    let rows = |splits: &[i64]| -> Result<Option<i64>> {
        ensure!(splits.iter().all(|rows| *rows >= 0), Argument, "splits {splits:?} are negative");
        let sum = splits.iter().try_fold(0i64, |sum, rows| sum.checked_add(*rows));
        ensure!(sum.is_some(), Argument, "splits {splits:?} are too many rows");
        Ok(sum.filter(|_| !splits.is_empty()))
    };
    if let Some(sent) = rows(to)? {
        ensure!(sent == sizes[0], Shape, "splits {to:?} are {sent} rows, and the input has {}", sizes[0]);
    }
    sizes[0] = rows(from)?.unwrap_or(sizes[0]);
    Ok(sizes)
}

/// Checks that a tensor of the caller has the sizes of the result.
pub(crate) fn check_out(out: &Tensor, sizes: &[i64]) -> Result<()> {
    ensure!(out.sizes() == sizes, Shape, "out has sizes {:?}, expected {sizes:?}", out.sizes());
    Ok(())
}

fn with_rows(input: &Tensor, group_size: i64) -> Result<Vec<i64>> {
    ensure!(group_size > 0, Argument, "group_size is {group_size}, a group has at least one rank");
    ensure!(
        input.dim() > 0,
        Shape,
        "a tensor without dimensions has no rows\n  help: `x.reshape(&[1])` has one"
    );
    Ok(input.sizes().to_vec())
}
