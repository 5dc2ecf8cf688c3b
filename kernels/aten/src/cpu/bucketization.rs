//! Binary search in sorted rows.

use std::array::from_ref;
use std::hint::select_unpredictable;

use torch_library::prelude::*;
use torch_library::result_type;

use crate::aten;
use crate::loops::parts::Parts;
use crate::loops::pointwise::{rounded, unsupported};
use crate::loops::{self, in_runs, match_opmath, on_vectors};

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
    let dtype = match this.numel() {
        0 => this.dtype(), // nothing is compared, so the types need not have a common one
        _ => result_type([sorted_sequence.promotion_operand(), this.promotion_operand()])
            .map_err(|error| error.context(OPERATOR))?,
    };
    let (sorted_sequence, this) = (&rounded(sorted_sequence, dtype)?, &rounded(this, dtype)?);
    let (rows, per_row) = rows(OPERATOR, sorted_sequence.sizes(), this)?;
    let sequence = match sorter {
        None => sorted_sequence.clone(),
        Some(sorter) => sorted_by(OPERATOR, sorted_sequence, sorter)?,
    };
    let out = Tensor::empty(this.sizes(), DType::Int64, this.device())?;
    if loops::has_elements(this) {
        match_opmath!(dtype, T: Integer | Float => {
            let sequence = Parts::<T>::row_major(&sequence, sequence.numel() as usize)?;
            let values = Parts::<T>::row_major(this, this.numel() as usize)?;
            let sequence = if sequence.count() == 0 { &[][..] } else { sequence.get(0) };
            let values = values.get(0);
            let is_one = sequence.len() == rows;
            in_runs(&out, |start, run| {
                let mut at = start;
                while at < start + run.len() {
                    let row = if is_one { 0 } else { at / per_row };
                    let end = (start + run.len()).min(if is_one { values.len() } else { (row + 1) * per_row });
                    let row = &sequence[row * rows..][..rows];
                    search(row, &values[at..end], right, &mut run[at - start..end - start]);
                    at = end;
                }
            })?;
        }, else => return Err(unsupported(OPERATOR, dtype)));
    }
    if out_int32 { loops::copy(&out, DType::Int32) } else { Ok(out) }
}

/// How many values are searched together, step by step: the next value's comparison does not wait for this one's, and
/// vectors gather the elements that the values are compared with.
const LANES: usize = 32;

/// Writes the position at which each value goes into a row.
fn search<T: PartialOrd>(row: &[T], values: &[T], right: bool, to: &mut [i64]) {
    let (blocks, rest) = values.as_chunks::<LANES>();
    let (to_blocks, to_rest) = to.as_chunks_mut::<LANES>();
    for (values, to) in blocks.iter().zip(to_blocks) {
        search_block(row, values, right, to);
    }
    for (value, to) in rest.iter().zip(to_rest) {
        [*to] = places(row, from_ref(value), right);
    }
}

on_vectors! {
    fn search_block<T: PartialOrd>(row: &[T], values: &[T; LANES], right: bool, to: &mut [i64; LANES]) {
        *to = places(row, values, right);
    }
}

/// Binary search with PyTorch's comparisons, on which the result depends for rows that are not sorted or contain NaN. A
/// comparison with NaN is false, so that the search goes on behind it.
#[inline(always)]
fn places<T: PartialOrd, const N: usize>(row: &[T], values: &[T; N], right: bool) -> [i64; N] {
    let (mut starts, mut ends) = ([0; N], [row.len(); N]);
    for _ in 0..row.len().checked_ilog2().map_or(0, |steps| steps + 1) {
        for lane in 0..N {
            let (start, end, value) = (starts[lane], ends[lane], &values[lane]);
            let is_done = start == end;
            let middle = start + (end - start) / 2;
            let x = &row[middle.min(row.len() - 1)];
            let is_before = if right { x > value } else { x >= value };
            // Not branches, which would often be mispredicted.
            starts[lane] = select_unpredictable(is_before | is_done, start, middle + 1);
            ends[lane] = select_unpredictable(is_before, middle, end);
        }
    }
    starts.map(|start| start as i64)
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
