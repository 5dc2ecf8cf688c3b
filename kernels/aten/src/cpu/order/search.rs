//! Membership tests, and binary search in sorted rows.

use std::hint::select_unpredictable;

use torch_library::prelude::*;
use torch_library::promote_types;

use super::places::Sorted;
use crate::aten;
use crate::loops::pointwise::{common_device, unsupported};
use crate::loops::{self, match_opmath, numbered};
use crate::number::Number;

#[torch_impl(aten, CPU, Meta)]
fn searchsorted_Tensor(
    sorted_sequence: &Tensor,
    this: &Tensor,
    out_int32: bool,
    right: bool,
    side: Option<&str>,
    sorter: Option<&Tensor>,
) -> Result<Tensor> {
    let _lease = loops::all_frozen([sorted_sequence, this].into_iter().chain(sorter))?;
    const OPERATOR: &str = aten::searchsorted_Tensor::NAME;
    let right = is_right(OPERATOR, right, side)?;
    let dtype =
        promote_types(sorted_sequence.dtype(), this.dtype()).map_err(|error| error.context(OPERATOR))?;
    let (rows, per_row) = rows(OPERATOR, sorted_sequence.sizes(), this)?;
    let sequence = match sorter {
        None => sorted_sequence.clone(),
        Some(sorter) => sorted_by(OPERATOR, sorted_sequence, sorter)?,
    };
    let out =
        Tensor::empty(this.sizes(), if out_int32 { DType::Int32 } else { DType::Int64 }, this.device())?;
    if !loops::has_elements(this) {
        return Ok(out);
    }
    let is_one = sequence.dim() == 1;
    match_opmath!(dtype, T: Integer | Float => {
        let (sequence, values) = (loops::elements::<T>(&sequence)?, loops::elements::<T>(this)?);
        let place = |at: i64| {
            let row = if is_one { 0 } else { at as usize / per_row };
            place(&sequence[row * rows..][..rows], &values[at as usize], right)
        };
        if out_int32 {
            numbered(&out, |at| place(at) as i32)?;
        } else {
            numbered(&out, |at| place(at) as i64)?;
        }
        Ok(out)
    }, else => Err(unsupported(OPERATOR, dtype)))
}

/// The position at which a value goes into a row, by binary search. It makes PyTorch's comparisons, on which the result
/// depends for rows that are not sorted or contain NaN.
fn place<T: PartialOrd>(row: &[T], value: &T, right: bool) -> usize {
    let (mut start, mut end) = (0, row.len());
    // Neither the number of comparisons nor whether they hold is predictable: branches would often be mispredicted.
    for _ in 0..row.len().checked_ilog2().map_or(0, |steps| steps + 1) {
        let is_done = start == end;
        let middle = start + (end - start) / 2;
        // No comparison with NaN holds, so the search continues after it.
        let x = &row[middle.min(row.len() - 1)];
        let is_before = if right { x > value } else { x >= value };
        start = select_unpredictable(is_before | is_done, start, middle + 1);
        end = select_unpredictable(is_before, middle, end);
    }
    start
}

/// Whether equal elements come before the insertion point; `right` and `side` both say so, and must not contradict each
/// other.
fn is_right(operator: &str, right: bool, side: Option<&str>) -> Result<bool> {
    match side {
        None => Ok(right),
        Some("right") => Ok(true),
        Some("left") if !right => Ok(false),
        Some(other) => bail!(
            Argument,
            "{operator}: side is {other:?} and right {right}, expected \"left\" with right=false, or \"right\""
        ),
    }
}

/// The length of a row of the sequence, and the number of values that are searched in each row.
fn rows(operator: &str, sequence: &[i64], values: &Tensor) -> Result<(usize, usize)> {
    let is_one = sequence.len() == 1;
    let fits = values.dim() == sequence.len()
        && values.dim() > 0
        && values.sizes()[..sequence.len() - 1] == sequence[..sequence.len() - 1];
    ensure!(
        is_one || fits,
        Shape,
        "{operator}: values of sizes {:?} in a sequence of sizes {sequence:?}, expected a sequence of one dimension, or \
         sizes that differ in the last dimension alone",
        values.sizes()
    );
    let last = |sizes: &[i64]| *sizes.last().unwrap_or(&1) as usize;
    Ok((last(sequence), if is_one { values.numel() as usize } else { last(values.sizes()) }))
}

/// The sequence in the order that `sorter` gives.
fn sorted_by(operator: &str, sequence: &Tensor, sorter: &Tensor) -> Result<Tensor> {
    ensure!(
        sorter.dtype() == DType::Int64 && sorter.sizes() == sequence.sizes(),
        Argument,
        "{operator}: a sorter of {} and sizes {:?}, expected int64 and {:?}",
        sorter.dtype(),
        sorter.sizes(),
        sequence.sizes()
    );
    aten::gather(sequence, -1, sorter).map_err(|error| error.context(operator))
}

/// Whether each element is one of `test_elements`; NaN equals nothing.
#[torch_impl(aten, CPU)]
fn isin_Tensor_Tensor(
    elements: &Tensor,
    test_elements: &Tensor,
    _assume_unique: bool,
    invert: bool,
) -> Result<Tensor> {
    let _lease = loops::frozen([elements, test_elements])?;
    const OPERATOR: &str = aten::isin_Tensor_Tensor::NAME;
    let dtype =
        promote_types(elements.dtype(), test_elements.dtype()).map_err(|error| error.context(OPERATOR))?;
    let out =
        Tensor::empty(elements.sizes(), DType::Bool, common_device(OPERATOR, &[elements, test_elements])?)?;
    match_opmath!(dtype, T: Integer | Float => {
        let mut tests = loops::elements::<T>(test_elements)?;
        tests.retain(|x| !x.is_unordered());
        let mut tests: Vec<_> = tests.into_iter().map(T::rank).collect();
        tests.sort_unstable();
        tests.dedup();
        let is_in = |x: T| !x.is_unordered() && tests.binary_search(&x.rank()).is_ok();
        loops::map(&out, [elements], |[x]: [T; 1]| is_in(x) != invert)?;
    }, else => return Err(unsupported(OPERATOR, dtype)));
    Ok(out)
}
