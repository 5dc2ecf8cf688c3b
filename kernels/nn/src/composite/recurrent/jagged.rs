//! Sequences of different lengths, one after the other or side by side.

use torch_library::prelude::*;

use crate::aten;

#[torch_impl(aten, CompositeImplicitAutograd)]
mod kernels {
    use super::*;

    fn _jagged_to_padded_dense_forward(
        values: &Tensor,
        offsets: &[Tensor],
        max_lengths: &[i64],
        padding_value: f64,
    ) -> Result<Tensor> {
        const OPERATOR: &str = aten::_jagged_to_padded_dense_forward::NAME;
        let [steps] = max_lengths else {
            bail!(Argument, "{OPERATOR}: {} maximum lengths, expected one", max_lengths.len())
        };
        ensure!(
            values.dim() > 0 && *steps >= 0,
            Shape,
            "{OPERATOR}: values without dimensions, or a negative length"
        );
        let [starts, ends] = bounds(OPERATOR, offsets)?;
        let places = aten::add_Tensor(&aten::unsqueeze(&starts, 1)?, &counted(&starts, *steps)?)?;
        let is_there = aten::lt_Tensor(&places, &aten::unsqueeze(&ends, 1)?)?;
        let rest = &values.sizes()[1..];
        let sizes = [places.sizes(), rest].concat();
        let Some(last) = values.sizes()[0].checked_sub(1).filter(|last| *last >= 0) else {
            return aten::new_full(values, &sizes, padding_value.into());
        };
        // Places behind the last value are not read.
        let places = aten::reshape(&aten::clamp_max(&places, last.into())?, &[-1])?;
        let padded = aten::reshape(&aten::index_select(values, 0, &places)?, &sizes)?;
        let is_padding = aten::logical_not(&aten::reshape(&is_there, &with_ones(is_there.sizes(), rest))?)?;
        aten::masked_fill_Scalar(&padded, &is_padding, padding_value.into())
    }

    fn _padded_dense_to_jagged_forward(
        dense: &Tensor,
        offsets: &[Tensor],
        total_L: Option<i64>,
    ) -> Result<Tensor> {
        const OPERATOR: &str = aten::_padded_dense_to_jagged_forward::NAME;
        let &[count, steps, ref rest @ ..] = dense.sizes() else {
            bail!(Shape, "{OPERATOR}: sizes {:?}, expected sequences of steps", dense.sizes())
        };
        let [starts, ends] = bounds(OPERATOR, offsets)?;
        ensure!(
            starts.numel() == count,
            Shape,
            "{OPERATOR}: offsets of {} sequences, there are {count}",
            starts.numel()
        );
        let total = match total_L {
            Some(total) => total,
            None if count == 0 => 0,
            None => aten::select_int(&ends, 0, -1)?.item()?.to()?,
        };
        if !ends.is_wrapper() && ends.device() == Device::CPU && count > 0 {
            check(OPERATOR, &ends, &starts, steps, total)?;
        }
        let places = counted(&starts, total)?;
        let of_each = aten::searchsorted_Tensor::with(&ends, &places).right(true).call()?;
        let within = aten::sub_Tensor(&places, &aten::index_select(&starts, 0, &of_each)?)?;
        let rows = aten::add_Tensor(&aten::mul_Scalar(&of_each, steps.into())?, &within)?;
        let flat = aten::reshape(dense, &[&[count.saturating_mul(steps)], rest].concat())?;
        aten::index_select(&flat, 0, &rows)
    }
}

/// # Errors
/// A sequence that is longer than the padded ones; another total length.
fn check(operator: &str, ends: &Tensor, starts: &Tensor, steps: i64, total: i64) -> Result<()> {
    let last: i64 = aten::select_int(ends, 0, -1)?.item()?.to()?;
    ensure!(last == total, Argument, "{operator}: the last offset is {last}, total_L is {total}");
    let longest: i64 = aten::max(&aten::sub_Tensor(ends, starts)?)?.item()?.to()?;
    ensure!(
        longest <= steps,
        Shape,
        "{operator}: a sequence has {longest} steps, the padded ones have {steps}"
    );
    Ok(())
}

/// Where each sequence begins and ends.
fn bounds(operator: &str, offsets: &[Tensor]) -> Result<[Tensor; 2]> {
    let [offsets] = offsets else {
        bail!(Argument, "{operator}: {} lists of offsets, expected one", offsets.len())
    };
    let &[count] = offsets.sizes() else {
        bail!(Shape, "{operator}: offsets of sizes {:?}, expected a vector", offsets.sizes())
    };
    ensure!(
        count > 0 && offsets.dtype().is_integer(),
        Argument,
        "{operator}: {count} offsets of {}, expected integers, one more than there are sequences",
        offsets.dtype()
    );
    let offsets = aten::to_dtype(offsets, DType::Int64)?;
    Ok([aten::narrow(&offsets, 0, 0, count - 1)?, aten::narrow(&offsets, 0, 1, count - 1)?])
}

/// Sizes with a one for each of the others.
fn with_ones(sizes: &[i64], others: &[i64]) -> Vec<i64> {
    sizes.iter().copied().chain(others.iter().map(|_| 1)).collect()
}

/// The numbers from 0 up to `count`, on the device of `like`.
fn counted(like: &Tensor, count: i64) -> Result<Tensor> {
    aten::arange::with(count.into()).dtype(DType::Int64).device(like.device()).call()
}
