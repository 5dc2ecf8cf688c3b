//! Kernels of distinct elements and distinct slices.

use std::cmp::Ordering;

use torch_library::geometry::{numel, wrap_dim};
use torch_library::prelude::*;
use torch_library::{Element, match_dtype};

use super::sorting::ranks::{Ranked, Sorter};
use super::sorting::{is_unsigned, signed};
use crate::aten;
use crate::composite::collected;
use crate::loops::parts::Parts;
use crate::loops::pointwise::unsupported;
use crate::loops::{self, match_opmath};
use crate::number::Number;

#[torch_impl(aten, CPU)]
mod kernels {
    use super::*;

    fn _unique2(
        this: &Tensor,
        _sorted: bool,
        return_inverse: bool,
        return_counts: bool,
    ) -> Result<(Tensor, Tensor, Tensor)> {
        let _lease = loops::frozen([this])?;
        let flat = aten::reshape(&loops::contiguous(this)?, &[-1])?;
        let found = Distinct::of_elements(aten::_unique2::NAME, &flat, return_inverse)?;
        found.of_all(this, &flat, return_inverse, return_counts)
    }

    fn unique_consecutive(
        this: &Tensor,
        return_inverse: bool,
        return_counts: bool,
        dim: Option<i64>,
    ) -> Result<(Tensor, Tensor, Tensor)> {
        let _lease = loops::frozen([this])?;
        const OPERATOR: &str = aten::unique_consecutive::NAME;
        // Along the dimension of a vector, the slices are the elements.
        if let Some(dim) = dim.filter(|dim| *dim != 0 || this.dim() != 1) {
            return slices(OPERATOR, this, dim, false);
        }
        let flat = aten::reshape(&loops::contiguous(this)?, &[-1])?;
        if return_inverse || return_counts {
            let found = Distinct::of_runs(OPERATOR, &flat, return_inverse)?;
            return found.of_all(this, &flat, return_inverse, return_counts);
        }
        let nothing = || Tensor::empty(&[0], DType::Int64, Device::CPU);
        Ok((heads(OPERATOR, &flat)?, nothing()?, nothing()?))
    }

    fn unique_dim_consecutive(
        this: &Tensor,
        dim: i64,
        _return_inverse: bool,
        _return_counts: bool,
    ) -> Result<(Tensor, Tensor, Tensor)> {
        aten::unique_consecutive::call(this, true, true, Some(dim))
            .map_err(|error| error.context(aten::unique_dim_consecutive::NAME))
    }

    fn unique_dim(
        this: &Tensor,
        dim: i64,
        _sorted: bool,
        _return_inverse: bool,
        _return_counts: bool,
    ) -> Result<(Tensor, Tensor, Tensor)> {
        let _lease = loops::frozen([this])?;
        slices(aten::unique_dim::NAME, this, dim, true)
    }

    fn _unique(this: &Tensor, sorted: bool, return_inverse: bool) -> Result<(Tensor, Tensor)> {
        let found = aten::_unique2::call(this, sorted, return_inverse, false);
        let (values, inverse, _) = found.map_err(|error| error.context(aten::_unique::NAME))?;
        Ok((values, inverse))
    }
}

/// The distinct slices along a dimension. As in PyTorch, all results are computed, whatever is asked for.
fn slices(operator: &str, this: &Tensor, dim: i64, sorted: bool) -> Result<(Tensor, Tensor, Tensor)> {
    ensure!(this.dim() > 0, Shape, "{operator}: a tensor without dimensions has no slices");
    let wrapped = wrap_dim(dim, this.dim()).map_err(|error| error.context(operator))?;
    let is_empty = this.sizes().iter().enumerate().any(|(at, size)| *size == 0 && at != wrapped);
    ensure!(!is_empty, Shape, "{operator}: slices of sizes {:?} along {dim} have no elements", this.sizes());
    if this.sizes()[wrapped] == 0 {
        let nothing = || Tensor::empty(&[0], DType::Int64, Device::CPU);
        return Ok((Tensor::empty(this.sizes(), this.dtype(), Device::CPU)?, nothing()?, nothing()?));
    }
    let first = loops::contiguous(&aten::movedim_int(this, wrapped as i64, 0)?)?;
    let count = first.sizes()[0];
    let width = numel(&first.sizes()[1..]).map_err(|error| error.context(operator))?;
    let rows = aten::reshape(&first, &[count, width])?;
    let (values, inverse, counts) = Distinct::of(operator, &rows, sorted)?.tensors(&rows, true, true)?;
    let sizes: Vec<i64> = [&[values.sizes()[0]], &first.sizes()[1..]].concat();
    Ok((aten::movedim_int(&aten::reshape(&values, &sizes)?, 0, wrapped as i64)?, inverse, counts))
}

/// The first row of each kind of equal rows, the kind of each row, and the number of rows of each kind.
struct Distinct {
    firsts: Vec<i64>,
    kinds: Vec<i64>,
    counts: Vec<i64>,
}

impl Distinct {
    /// The distinct rows in order, if `sorted`; else runs of equal neighbours count as one.
    fn of(operator: &str, rows: &Tensor, sorted: bool) -> Result<Self> {
        let rows = &signed(rows)?;
        let (count, width) = (rows.sizes()[0] as usize, rows.sizes()[1] as usize);
        match_dtype!(rows.dtype(), T: Bool | Integer | Float | Half => {
            let elements = loops::elements::<T>(rows)?;
            let row = |at: usize| &elements[at * width..][..width];
            // There may be any number of rows without elements.
            let mut order = collected(operator, count as i64, |row| row as usize)?;
            if sorted {
                order.sort_by(|a, b| compare_rows(row(*a), row(*b)));
            }
            let kinds = collected(operator, count as i64, |_| 0)?;
            let mut found = Distinct { firsts: Vec::new(), kinds, counts: Vec::new() };
            // NaN is equal to nothing, not even to itself.
            for run in order.chunk_by(|a, b| row(*a) == row(*b)) {
                run.iter().for_each(|at| found.kinds[*at] = found.firsts.len() as i64);
                found.firsts.push(run[0] as i64);
                found.counts.push(run.len() as i64);
            }
            Ok(found)
        }, else => Err(unsupported(operator, rows.dtype())))
    }

    /// The distinct elements in order; `kinds` only if `has_kinds`.
    fn of_elements(operator: &str, line: &Tensor, has_kinds: bool) -> Result<Self> {
        let line = &signed(line)?;
        let count = line.numel() as usize;
        match_opmath!(line.dtype(), T: Bool | Integer | Float => {
            Sorter::<T>::check(operator, count)?;
            let elements = loops::elements::<T>(line)?;
            let numbers = elements.iter().filter(|x| !x.is_unordered()).count();
            let kinds = collected(operator, if has_kinds { count as i64 } else { 0 }, |_| 0)?;
            let mut found = Distinct { firsts: Vec::new(), kinds, counts: Vec::new() };
            let (mut sorter, mut last, mut start) = (Sorter::default(), None, 0);
            for (at, ranked) in sorter.sorted(&elements).iter().enumerate() {
                // NaN is sorted to the end, and is equal to nothing, not even to itself.
                if last != Some(ranked.rank()) || at >= numbers {
                    found.counts.extend((at > 0).then_some((at - start) as i64));
                    found.firsts.push(ranked.index() as i64);
                    (last, start) = (Some(ranked.rank()), at);
                }
                if has_kinds {
                    found.kinds[ranked.index()] = found.firsts.len() as i64 - 1;
                }
            }
            found.counts.extend((count > 0).then_some((count - start) as i64));
            Ok(found)
        }, else => Err(unsupported(operator, line.dtype())))
    }

    /// The runs of equal neighbours among single elements; `kinds` only if `has_kinds`.
    fn of_runs(operator: &str, line: &Tensor, has_kinds: bool) -> Result<Self> {
        let line = &signed(line)?;
        let count = line.numel() as usize;
        if count == 0 {
            return Distinct::of_elements(operator, line, false);
        }
        match_dtype!(line.dtype(), T: Bool | Integer | Float | Half => {
            let elements = Parts::<T>::row_major(line, count)?;
            let elements = elements.get(0);
            let mut firsts = collected(operator, count as i64 + 1, |_| 0)?;
            let mut next = 1; // there is room for one more, so that the loop needs no branch
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
        }, else => Err(unsupported(operator, line.dtype())))
    }

    /// Like [`tensors`](Self::tensors), for all elements of a tensor, which `line` has as a vector.
    fn of_all(
        self,
        this: &Tensor,
        line: &Tensor,
        inverse: bool,
        counts: bool,
    ) -> Result<(Tensor, Tensor, Tensor)> {
        let (values, kinds, counts) = self.tensors(line, inverse, counts)?;
        Ok((values, if inverse { aten::reshape(&kinds, this.sizes())? } else { kinds }, counts))
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

/// The elements of a line that differ from the one before them.
fn heads(operator: &str, line: &Tensor) -> Result<Tensor> {
    let count = line.numel() as usize;
    if count == 0 {
        return aten::clone(line);
    }
    if is_unsigned(line.dtype()) {
        return Ok(Distinct::of_runs(operator, line, false)?.tensors(line, false, false)?.0);
    }
    match_dtype!(line.dtype(), T: Bool | Integer | Float | Half => {
        let elements = Parts::<T>::row_major(line, count)?;
        let elements = elements.get(0);
        let mut heads = collected(operator, count as i64, |_| elements[0])?;
        let mut next = 1; // the next write may be overwritten, so that the loop needs no branch
        for pair in elements.windows(2) {
            heads[next] = pair[1];
            next += usize::from(pair[0] != pair[1]);
        }
        heads.truncate(next);
        Tensor::from_vec(heads, &[next as i64])
    }, else => Err(unsupported(operator, line.dtype())))
}

fn compare_rows<T: Element + PartialOrd>(a: &[T], b: &[T]) -> Ordering {
    let different = a.iter().zip(b).map(|(a, b)| compare(a, b)).find(|order| order.is_ne());
    different.unwrap_or(Ordering::Equal)
}

/// Sorts NaN to the end.
#[expect(clippy::eq_op, reason = "that is how NaN is told")]
fn compare<T: Element + PartialOrd>(a: &T, b: &T) -> Ordering {
    a.partial_cmp(b).unwrap_or_else(|| (a != a).cmp(&(b != b)))
}
