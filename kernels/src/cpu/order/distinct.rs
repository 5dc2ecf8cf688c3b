//! Distinct elements and slices, and where elements go into sorted rows.
#![expect(unsafe_code, reason = "lends elements as slices")]

use std::cmp::Ordering;

use torch_library::geometry::wrap_dim;
use torch_library::prelude::*;
use torch_library::{Element, match_dtype, promote_types};

use super::places::Sorter;
use crate::aten;
use crate::cpu::loops;
use crate::cpu::loops::parts::Parts;
use crate::pointwise::unsupported;

#[torch_impl(aten, CPU)]
mod kernels {
    use super::*;

    fn _unique2(
        this: &Tensor,
        _sorted: bool,
        return_inverse: bool,
        return_counts: bool,
    ) -> Result<(Tensor, Tensor, Tensor)> {
        let flat = aten::reshape(&loops::contiguous(this)?, &[-1, 1])?;
        let found = Distinct::of("aten::_unique2", &flat, true)?;
        let (values, inverse, counts) = found.tensors(&flat, return_inverse, return_counts)?;
        let inverse = if return_inverse { aten::reshape(&inverse, this.sizes())? } else { inverse };
        Ok((aten::reshape(&values, &[-1])?, inverse, counts))
    }

    fn unique_consecutive(
        this: &Tensor,
        return_inverse: bool,
        return_counts: bool,
        dim: Option<i64>,
    ) -> Result<(Tensor, Tensor, Tensor)> {
        const OPERATOR: &str = "aten::unique_consecutive";
        if let Some(dim) = dim {
            return slices(OPERATOR, this, dim, false);
        }
        let flat = aten::reshape(&loops::contiguous(this)?, &[-1, 1])?;
        let found = Distinct::of_runs(OPERATOR, &flat, return_inverse)?;
        let (values, inverse, counts) = found.tensors(&flat, return_inverse, return_counts)?;
        let inverse = if return_inverse { aten::reshape(&inverse, this.sizes())? } else { inverse };
        Ok((aten::reshape(&values, &[-1])?, inverse, counts))
    }

    fn unique_dim(
        this: &Tensor,
        dim: i64,
        _sorted: bool,
        _return_inverse: bool,
        _return_counts: bool,
    ) -> Result<(Tensor, Tensor, Tensor)> {
        slices("aten::unique_dim", this, dim, true)
    }
}

#[torch_impl(aten, CPU, Meta)]
fn searchsorted_Tensor(
    sorted_sequence: &Tensor,
    this: &Tensor,
    out_int32: bool,
    right: bool,
    side: Option<&str>,
    sorter: Option<&Tensor>,
) -> Result<Tensor> {
    const OPERATOR: &str = "aten::searchsorted.Tensor";
    let right = match side {
        None => right,
        Some("right") => true,
        Some("left") if !right => false,
        Some(other) => bail!(
            Argument,
            "{OPERATOR}: side is {other:?} and right {right}, expected \"left\" with right=false, or \"right\""
        ),
    };
    let dtype =
        promote_types(sorted_sequence.dtype(), this.dtype()).map_err(|error| error.context(OPERATOR))?;
    let rows = sorted_sequence.sizes();
    let is_one = rows.len() == 1;
    let fits = this.dim() == rows.len()
        && this.dim() > 0
        && this.sizes()[..rows.len() - 1] == rows[..rows.len() - 1];
    ensure!(
        is_one || fits,
        Shape,
        "{OPERATOR}: values of sizes {:?} in a sequence of sizes {rows:?}, expected a sequence of one dimension, or \
         sizes that differ in the last dimension alone",
        this.sizes()
    );
    let sequence = match sorter {
        None => sorted_sequence.clone(),
        Some(sorter) => aten::gather(sorted_sequence, -1, sorter)?,
    };
    let out =
        Tensor::empty(this.sizes(), if out_int32 { DType::Int32 } else { DType::Int64 }, this.device())?;
    if !loops::has_elements(&out) {
        return Ok(out);
    }
    let length = *rows.last().unwrap_or(&1) as usize;
    let per_row = if is_one { this.numel() as usize } else { *this.sizes().last().unwrap_or(&1) as usize };
    match_dtype!(dtype, T: Bool | Integer | Float => {
        let (sequence, values) = (loops::elements::<T>(&sequence)?, loops::elements::<T>(this)?);
        let place = |(at, value): (usize, &T)| {
            let row = if is_one { &sequence[..] } else { &sequence[at / per_row * length..][..length] };
            // NaN counts as larger than all numbers.
            row.partition_point(|x| match compare(x, value) {
                Ordering::Less => true,
                Ordering::Equal => right,
                Ordering::Greater => false,
            }) as i64
        };
        let places: Vec<i64> = values.iter().enumerate().map(place).collect();
        let places = Tensor::from_vec(places, this.sizes())?;
        match_dtype!(out.dtype(), R => loops::map(&out, [&places], |[x]: [R; 1]| x)?);
    }, else => return Err(unsupported(OPERATOR, dtype)));
    Ok(out)
}

/// Distinct slices of a dimension. As PyTorch, with all results, whatever is asked for.
fn slices(operator: &str, this: &Tensor, dim: i64, sorted: bool) -> Result<(Tensor, Tensor, Tensor)> {
    ensure!(this.dim() > 0, Shape, "{operator}: a tensor without dimensions has no slices");
    let wrapped = wrap_dim(dim, this.dim()).map_err(|error| error.context(operator))?;
    let first = loops::contiguous(&aten::movedim_int(this, wrapped as i64, 0)?)?;
    let count = first.sizes()[0];
    let width = first.sizes()[1..].iter().product::<i64>();
    let rows = aten::reshape(&first, &[count, width])?;
    let (values, inverse, counts) = Distinct::of(operator, &rows, sorted)?.tensors(&rows, true, true)?;
    let sizes: Vec<i64> = [&[values.sizes()[0]], &first.sizes()[1..]].concat();
    Ok((aten::movedim_int(&aten::reshape(&values, &sizes)?, 0, wrapped as i64)?, inverse, counts))
}

/// Which rows are the first of their kind, which kind each row is, and how many there are of each.
struct Distinct {
    firsts: Vec<i64>,
    kinds: Vec<i64>,
    counts: Vec<i64>,
}

impl Distinct {
    /// Of rows in order, or of neighbours alone.
    fn of(operator: &str, rows: &Tensor, sorted: bool) -> Result<Self> {
        let (count, width) = (rows.sizes()[0] as usize, rows.sizes()[1] as usize);
        match_dtype!(rows.dtype(), T: Bool | Integer | Float => {
            let elements = loops::elements::<T>(rows)?;
            let row = |at: usize| &elements[at * width..][..width];
            let mut order: Vec<usize> = (0..count).collect();
            if sorted && width == 1 {
                Sorter::<T>::check(operator, count)?;
                order = Sorter::new().first(&elements, count, false).collect();
            } else if sorted {
                order.sort_by(|a, b| compare_rows(row(*a), row(*b)));
            }
            let mut found = Distinct { firsts: Vec::new(), kinds: vec![0; count], counts: Vec::new() };
            // NaN is equal to nothing, not even to itself.
            for run in order.chunk_by(|a, b| row(*a) == row(*b)) {
                run.iter().for_each(|at| found.kinds[*at] = found.firsts.len() as i64);
                found.firsts.push(run[0] as i64);
                found.counts.push(run.len() as i64);
            }
            Ok(found)
        }, else => Err(unsupported(operator, rows.dtype())))
    }

    /// Of single elements among their neighbours; kinds only if they are wanted.
    fn of_runs(operator: &str, column: &Tensor, has_kinds: bool) -> Result<Self> {
        let count = column.numel() as usize;
        if count == 0 {
            return Distinct::of(operator, column, false);
        }
        match_dtype!(column.dtype(), T: Bool | Integer | Float => {
            let elements = Parts::<T>::row_major(column, count)?;
            // SAFETY: nobody writes to the elements while they are read.
            let elements = unsafe { elements.get(0) };
            let (mut firsts, mut next) = (vec![0; count + 1], 1); // what is behind the last gives no branch
            for (at, pair) in (1..).zip(elements.windows(2)) {
                firsts[next] = at;
                next += usize::from(pair[0] != pair[1]);
            }
            firsts[next] = count as i64;
            firsts.truncate(next + 1);
            let counts: Vec<i64> = firsts.windows(2).map(|pair| pair[1] - pair[0]).collect();
            firsts.pop();
            let repeated = |(kind, count): (i64, &i64)| std::iter::repeat_n(kind, *count as usize);
            let kinds = if has_kinds { (0..).zip(&counts).flat_map(repeated).collect() } else { Vec::new() };
            Ok(Distinct { firsts, kinds, counts })
        }, else => Err(unsupported(operator, column.dtype())))
    }

    fn tensors(self, rows: &Tensor, inverse: bool, counts: bool) -> Result<(Tensor, Tensor, Tensor)> {
        let vector = |values: Vec<i64>, is_wanted: bool| {
            let values = if is_wanted { values } else { Vec::new() };
            let count = values.len() as i64;
            Tensor::from_vec(values, &[count])
        };
        let values = aten::index_select(rows, 0, &vector(self.firsts, true)?)?;
        Ok((values, vector(self.kinds, inverse)?, vector(self.counts, counts)?))
    }
}

fn compare_rows<T: Element + PartialOrd>(a: &[T], b: &[T]) -> Ordering {
    let different = a.iter().zip(b).map(|(a, b)| compare(a, b)).find(|order| order.is_ne());
    different.unwrap_or(Ordering::Equal)
}

/// NaN comes last.
#[expect(clippy::eq_op, reason = "that is how NaN is told")]
fn compare<T: Element + PartialOrd>(a: &T, b: &T) -> Ordering {
    a.partial_cmp(b).unwrap_or_else(|| (a != a).cmp(&(b != b)))
}
