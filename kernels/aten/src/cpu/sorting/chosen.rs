//! One element of each line, and its index: by rank, the median, the mode.

use torch_library::geometry::wrap_dim;
use torch_library::prelude::*;

use super::check_numbers;
use super::ranks::{LONGEST_LIKE_PYTORCH, Ranked, Sorted, Sorter};
use super::ties;
use crate::aten;
use crate::cpu::scan::lanes::Lanes;
use crate::loops;
use crate::loops::match_opmath;
use crate::loops::pointwise::unsupported;

#[torch_impl(aten, CPU, Meta)]
mod kernels {
    use super::*;

    fn kthvalue(this: &Tensor, k: i64, dim: i64, keepdim: bool) -> Result<(Tensor, Tensor)> {
        let _lease = loops::frozen([this])?;
        const OPERATOR: &str = aten::kthvalue::NAME;
        check_numbers(OPERATOR, this)?;
        let size =
            if this.dim() == 0 { 1 } else { this.size(dim).map_err(|error| error.context(OPERATOR))? };
        ensure!(
            (1..=size).contains(&k),
            Argument,
            "{OPERATOR}: k is {k}, dimension {dim} of sizes {:?} has elements 1 to {size}",
            this.sizes()
        );
        chosen(OPERATOR, this, dim, keepdim, Choice::Rank(k as usize - 1))
    }

    fn median_dim(this: &Tensor, dim: i64, keepdim: bool) -> Result<(Tensor, Tensor)> {
        let _lease = loops::frozen([this])?;
        check_numbers(aten::median_dim::NAME, this)?;
        chosen(aten::median_dim::NAME, this, dim, keepdim, Choice::Middle)
    }

    fn nanmedian_dim(this: &Tensor, dim: i64, keepdim: bool) -> Result<(Tensor, Tensor)> {
        let _lease = loops::frozen([this])?;
        check_numbers(aten::nanmedian_dim::NAME, this)?;
        chosen(aten::nanmedian_dim::NAME, this, dim, keepdim, Choice::MiddleNumber)
    }

    fn mode(this: &Tensor, dim: i64, keepdim: bool) -> Result<(Tensor, Tensor)> {
        let _lease = loops::frozen([this])?;
        chosen(aten::mode::NAME, this, dim, keepdim, Choice::MostFrequent)
    }
}

#[derive(Clone, Copy)]
enum Choice {
    /// The element with this many elements before it in the order.
    Rank(usize),
    /// The median, the smaller of the two in the middle; NaN if there is one.
    Middle,
    /// The median of the elements that are not NaN.
    MiddleNumber,
    /// The most frequent element, the smallest if there are several.
    MostFrequent,
}

fn chosen(
    operator: &str,
    this: &Tensor,
    dim: i64,
    keepdim: bool,
    choice: Choice,
) -> Result<(Tensor, Tensor)> {
    let lanes = Lanes::new(operator, this, dim)?;
    let wrapped = wrap_dim(dim, this.dim()).map_err(|error| error.context(operator))?;
    let mut sizes = this.sizes().to_vec();
    if let Some(size) = sizes.get_mut(wrapped) {
        ensure!(
            *size > 0,
            Shape,
            "{operator}: there is nothing to choose from in dimension {dim} of sizes {:?}",
            this.sizes()
        );
        *size = 1;
    }
    let empty = |dtype| Tensor::empty(&sizes, dtype, this.device());
    let (values, indices) = (empty(this.dtype())?, empty(DType::Int64)?);
    match_opmath!(this.dtype(), T: Bool | Integer | Float => {
        Sorter::<T>::check(operator, lanes.len(this))?;
        lanes.choose::<T, _>(&values, &indices, Sorter::default, |sorter, lane, index| {
            index[0] = choice.index(sorter, lane) as i64;
        })?;
    }, else => return Err(unsupported(operator, this.dtype())));
    if keepdim || this.dim() == 0 {
        return Ok((values, indices));
    }
    sizes.remove(wrapped);
    let reduced = |tensor: &Tensor| aten::reshape(tensor, &sizes);
    Ok((reduced(&values)?, reduced(&indices)?))
}

impl Choice {
    /// The index of the element in a line.
    fn index<T: Sorted>(self, sorter: &mut Sorter<T>, line: &[T]) -> usize {
        let numbers = || line.iter().filter(|x| !x.is_unordered()).count();
        let before = match self {
            Choice::Rank(before) => return sorter.selected(line, before),
            // NaN is sorted to the end.
            Choice::Middle => match numbers() {
                numbers if numbers < line.len() => numbers,
                numbers => (numbers - 1) / 2,
            },
            Choice::MiddleNumber => match numbers() {
                0 => return first_of_equals(line.len()),
                numbers => (numbers - 1) / 2,
            },
            Choice::MostFrequent => return most_frequent(sorter, line),
        };
        sorter.nth(line, before)
    }
}

/// The index that PyTorch reports for a line without numbers: that of the element which `std::nth_element` of libstdc++
/// brings to the front of equal ones. Each of its rounds, while there are more than three elements, swaps the first
/// with the one in the middle, reverses the others, and goes on with the first half.
fn first_of_equals(len: usize) -> usize {
    let rounds = std::iter::successors(Some(len), |len| Some(1 + (len - 1) / 2));
    let rounds: Vec<usize> = rounds.take_while(|len| *len > 3).collect();
    rounds.into_iter().rev().fold(0, |index, len| match index {
        0 => len / 2,
        index if len - index == len / 2 => 0,
        index => len - index,
    })
}

/// The index of the most frequent element, the smallest if there are several: that of its last occurrence in the order
/// in which PyTorch sorts the line; in a long line, of its last occurrence.
fn most_frequent<T: Sorted>(sorter: &mut Sorter<T>, line: &[T]) -> usize {
    let has_numbers_only = !line.iter().any(|x| x.is_unordered());
    if has_numbers_only {
        let sorted = sorter.sorted(line);
        let (most, index) = longest_run(sorted, |a, b| a.rank() == b.rank(), |ranked| ranked.index());
        if most < 2 || line.len() > LONGEST_LIKE_PYTORCH {
            return index;
        }
    }
    // NaN neither precedes nor follows, which leaves other elements out of order, too.
    let mut sorted: Vec<(T, usize)> = line.iter().copied().zip(0..).collect();
    ties::sort(&mut sorted, &|(a, _), (b, _)| a < b);
    longest_run(&sorted, |(a, _), (b, _)| a == b, |(_, index)| index).1
}

/// The length of the first longest run of equal elements, and the index of its last one.
fn longest_run<R: Copy>(
    sorted: &[R],
    are_equal: impl Fn(R, R) -> bool,
    index: impl Fn(R) -> usize,
) -> (usize, usize) {
    let mut longest = (0, 0);
    for run in sorted.chunk_by(|a, b| are_equal(*a, *b)) {
        if run.len() > longest.0 {
            longest = (run.len(), run.last().map_or(0, |last| index(*last)));
        }
    }
    longest
}
