//! Kernels of histograms and of counts.

use torch_library::prelude::*;
use torch_library::{Element, match_dtype};

use crate::aten;
use crate::composite::collected;
use crate::inlined::zip;
use crate::loops::parts::Parts;
use crate::loops::{self, match_opmath, on_vectors, parameter};
use crate::number::{Divided, Ordered};

mod bins;

#[torch_impl(aten, CPU, Meta)]
fn histc(this: &Tensor, bins: i64, min: Scalar, max: Scalar) -> Result<Tensor> {
    let _lease = loops::frozen([this])?;
    const OPERATOR: &str = aten::histc::NAME;
    ensure!(bins > 0, Argument, "{OPERATOR}: {bins} bins, at least one is needed");
    ensure!(this.dtype().is_floating_point(), DType, "{OPERATOR} is not implemented for {}", this.dtype());
    let (mut low, mut high): (f64, f64) = (min.to()?, max.to()?);
    let out = Tensor::empty(&[bins], this.dtype(), this.device())?;
    if !loops::has_elements(&out) {
        return Ok(out);
    }
    if low == high && this.numel() > 0 {
        (low, high) = (aten::min(this)?.item()?.to()?, aten::max(this)?.item()?.to()?);
    }
    if low == high {
        (low, high) = (low - 1.0, high + 1.0);
    }
    ensure!(
        low.is_finite() && high.is_finite() && low < high,
        Argument,
        "{OPERATOR}: the range from {low} to {high} cannot be divided into bins"
    );
    let mut counts = collected(aten::histc::NAME, bins + 1, |_| 0u64)?;
    let dtype = this.dtype();
    match_opmath!(dtype, T: Float => {
        let values = Parts::<T>::row_major(this, this.numel() as usize)?;
        let values = if values.count() == 0 { &[][..] } else { values.get(0) };
        let end = |end: f64| parameter::<T>(OPERATOR, end.into(), dtype);
        let ends = [end(low)?, end(high)?];
        match_dtype!(dtype, H: Half => count_halves::<H, T>(values, ends, &mut counts),
            else => count::<T>(values, ends, &mut counts));
    }, else => {});
    counts.pop();
    let counts = Tensor::from_vec(counts.into_iter().map(|count| count as f64).collect(), &[bins])?;
    loops::assign(&out, &counts)?;
    Ok(out)
}

/// Numbers whose position between two others can be computed.
trait Placed: Ordered + Divided {}

impl Placed for f32 {}
impl Placed for f64 {}

on_vectors! {
    /// Counts values in bins; those outside of all bins are counted in the last element.
    fn count<T: Placed>(values: &[T], ends: [T; 2], counts: &mut [u64]) {
        const BLOCK: usize = 64;
        let ([low, high], bins) = (ends, counts.len() as i64 - 1);
        let (width, count) = (high.minus(low), bins.cast::<T>());
        let place = |x: T| {
            // In this order, as in PyTorch: other roundings would lead to other bins. The product may overflow.
            let place = x.minus(low).times(count).over(width).cast::<i64>().clamp(0, bins - 1);
            if (x >= low) & (x <= high) { place } else { bins }
        };
        for values in values.chunks(BLOCK) {
            let mut places = [0; BLOCK]; // computed together, in registers
            places.iter_mut().zip(values).for_each(|(to, x)| *to = place(*x));
            places[..values.len()].iter().for_each(|place| counts[*place as usize] += 1);
        }
    }
}

/// Like [`count`] for 16-bit floats. PyTorch rounds every step to their type, which leads to other bins.
fn count_halves<H: Element, T: Placed>(values: &[T], ends: [T; 2], counts: &mut [u64]) {
    let ([low, high], bins) = (ends, counts.len() - 1);
    let rounded = |x: T| x.cast::<H>().cast::<T>();
    let (width, count) = (rounded(high.minus(low)), rounded((bins as i64).cast()));
    for x in values {
        let place = rounded(rounded(rounded(x.minus(low)).times(count)).over(width)).cast::<i64>();
        let is_within = *x >= low && *x <= high;
        counts[if is_within { place.clamp(0, bins as i64 - 1) as usize } else { bins }] += 1;
    }
}

#[torch_impl(aten, CPU)]
fn bincount(this: &Tensor, weights: Option<&Tensor>, minlength: i64) -> Result<Tensor> {
    let _lease = loops::all_frozen([this].into_iter().chain(weights))?;
    const OPERATOR: &str = aten::bincount::NAME;
    ensure!(minlength >= 0, Argument, "{OPERATOR}: minlength is {minlength}, expected zero or more");
    ensure!(
        this.dim() == 1 && this.dtype().is_integer(),
        Argument,
        "{OPERATOR}: {} of sizes {:?}, expected a vector of whole numbers",
        this.dtype(),
        this.sizes()
    );
    match_dtype!(this.dtype(), T: Integer => counted::<T>(this, weights, minlength),
        else => counted::<i64>(this, weights, minlength))
}

/// How often each number from 0 to the largest one, or to `minlength`, is among the elements, or the sums of their
/// weights.
fn counted<T: Ordered>(this: &Tensor, weights: Option<&Tensor>, minlength: i64) -> Result<Tensor> {
    const OPERATOR: &str = aten::bincount::NAME;
    let numbers = Parts::<T>::row_major(this, this.numel() as usize)?;
    let numbers = if numbers.count() == 0 { &[][..] } else { numbers.get(0) };
    let mut ends = [T::ZERO; 2];
    widen(numbers, &mut ends);
    let [least, largest] = ends.map(|end| end.cast::<i64>());
    ensure!(least == 0, Argument, "{OPERATOR}: {least} is negative, expected zero or more");
    let largest = if numbers.is_empty() { -1 } else { largest };
    let count = largest.saturating_add(1).max(minlength);
    let place = |number: &T| number.cast::<i64>() as usize;
    // Without numbers, the weights determine neither type nor count.
    let Some(weights) = weights.filter(|_| !numbers.is_empty()) else {
        let mut counts = collected(OPERATOR, count, |_| 0i64)?;
        match count as usize {
            ..=FEW if numbers.len() >= count as usize => count_few(numbers, place, &mut counts),
            _ => numbers.iter().for_each(|number| counts[place(number)] += 1),
        }
        return Tensor::from_vec(counts, &[count]);
    };
    ensure!(
        weights.sizes() == this.sizes(),
        Shape,
        "{OPERATOR}: weights of sizes {:?} for {} numbers",
        weights.sizes(),
        this.numel()
    );
    let mut sums = collected(OPERATOR, count, |_| 0.0)?;
    let weight = loops::elements::<f64>(weights)?;
    for (number, weight) in zip(numbers, &weight) {
        sums[place(number)] += weight;
    }
    let sums = Tensor::from_vec(sums, &[count])?;
    if weights.dtype() == DType::Float32 { loops::copy(&sums, DType::Float32) } else { Ok(sums) }
}

on_vectors! {
    /// Widens a range, given by its ends, to that of all numbers.
    fn widen<T: Ordered>(numbers: &[T], ends: &mut [T; 2]) {
        let [mut least, mut largest] = *ends;
        for number in numbers {
            least = if *number < least { *number } else { least };
            largest = if *number > largest { *number } else { largest };
        }
        *ends = [least, largest];
    }
}

/// Up to this many counts fit into the cache several times.
const FEW: usize = 1024;

/// Counts numbers in several tables, which are added in the end: equal numbers often follow each other, and a count
/// can be read only some time after it was written.
fn count_few<T>(numbers: &[T], place: impl Fn(&T) -> usize, counts: &mut [i64]) {
    let (some, rest) = numbers.as_chunks::<4>();
    let mut tables = vec![[0i64; 4]; counts.len()];
    for some in some {
        for (n, number) in some.iter().enumerate() {
            tables[place(number)][n] += 1;
        }
    }
    rest.iter().for_each(|number| tables[place(number)][0] += 1);
    for (count, table) in zip(counts, &tables) {
        *count = table.iter().sum();
    }
}
