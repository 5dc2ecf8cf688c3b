//! Quantiles: sorts the elements, and interpolates between two ranks. For a single quantile, it is enough to select the
//! elements of these ranks.

use torch_library::geometry::wrap_dim;
use torch_library::guard::GradMode;
use torch_library::prelude::*;

use crate::aten;
use crate::composite::is_readable;

#[torch_impl(aten, CompositeImplicitAutograd)]
mod implicit {
    use super::*;

    fn quantile(
        this: &Tensor,
        q: &Tensor,
        dim: Option<i64>,
        keepdim: bool,
        interpolation: &str,
    ) -> Result<Tensor> {
        shares(aten::quantile::NAME, this, q, dim, keepdim, interpolation, false)
    }

    fn quantile_scalar(
        this: &Tensor,
        q: f64,
        dim: Option<i64>,
        keepdim: bool,
        interpolation: &str,
    ) -> Result<Tensor> {
        let q = share(aten::quantile_scalar::NAME, this, q)?;
        shares(aten::quantile_scalar::NAME, this, &q, dim, keepdim, interpolation, false)
    }

    fn nanquantile(
        this: &Tensor,
        q: &Tensor,
        dim: Option<i64>,
        keepdim: bool,
        interpolation: &str,
    ) -> Result<Tensor> {
        shares(aten::nanquantile::NAME, this, q, dim, keepdim, interpolation, true)
    }

    fn nanquantile_scalar(
        this: &Tensor,
        q: f64,
        dim: Option<i64>,
        keepdim: bool,
        interpolation: &str,
    ) -> Result<Tensor> {
        let q = share(aten::nanquantile_scalar::NAME, this, q)?;
        shares(aten::nanquantile_scalar::NAME, this, &q, dim, keepdim, interpolation, true)
    }
}

fn share(operator: &str, this: &Tensor, q: f64) -> Result<Tensor> {
    ensure!((0.0..=1.0).contains(&q), Argument, "{operator}: q is {q}, expected a number between 0 and 1");
    aten::full::with(&[], q.into()).dtype(this.dtype()).device(this.device()).call()
}

fn shares(
    operator: &str,
    this: &Tensor,
    q: &Tensor,
    dim: Option<i64>,
    keepdim: bool,
    interpolation: &str,
    ignores_nan: bool,
) -> Result<Tensor> {
    check(operator, this, q)?;
    let is_known = ["linear", "lower", "higher", "midpoint", "nearest"].contains(&interpolation);
    ensure!(is_known, Argument, "{operator}: unknown interpolation {interpolation:?}");
    // Moves the dimension to the end; `sizes` are those of the result without the quantiles.
    let (last, sizes) = match dim {
        None => (aten::reshape(this, &[-1])?, vec![1; if keepdim { this.dim() } else { 0 }]),
        Some(dim) if this.dim() == 0 => {
            wrap_dim(dim, 0).map_err(|error| error.context(operator))?;
            (aten::reshape(this, &[1])?, Vec::new())
        }
        Some(dim) => {
            let wrapped = wrap_dim(dim, this.dim()).map_err(|error| error.context(operator))?;
            let mut sizes = this.sizes().to_vec();
            match keepdim {
                true => sizes[wrapped] = 1,
                false => _ = sizes.remove(wrapped),
            }
            (aten::movedim_int(this, dim, -1)?, sizes)
        }
    };
    let mut values = match selected(&last, q, interpolation)? {
        Some(value) => aten::reshape(&value, &[&sizes[..], &[1]].concat())?,
        None => sorted(&last, &sizes, q, interpolation, ignores_nan)?,
    };
    if q.dim() > 0 {
        aten::unsqueeze_(&mut values, 0)?;
        aten::transpose_(&mut values, 0, -1)?;
    }
    aten::squeeze__dim(&mut values, -1)?;
    Ok(values)
}

/// Quantiles of rows that are sorted for it, in a dimension behind `sizes`.
fn sorted(
    rows: &Tensor,
    sizes: &[i64],
    q: &Tensor,
    interpolation: &str,
    ignores_nan: bool,
) -> Result<Tensor> {
    let sorted = aten::sort(rows)?.0;
    let count = sorted.size(-1)?;
    let sorted = aten::reshape(&sorted, &[sizes, &[count]].concat())?;
    let numbers =
        aten::sum_dim_IntList::call(&aten::logical_not(&aten::isnan(&sorted)?)?, Some(&[-1]), true, None)?;
    let flat = aten::reshape(q, &[-1])?;
    let ranks = if ignores_nan {
        aten::clamp_min(&aten::mul_Tensor(&flat, &aten::sub_Scalar(&numbers, 1.into())?)?, 0.into())?
    } else {
        // A row with NaN gives NaN, which is sorted to the end.
        let rank = aten::mul_Scalar(&flat, (count - 1).into())?;
        let has_nan = aten::lt_Scalar(&numbers, count.into())?;
        aten::masked_fill_Scalar(
            &aten::expand(&rank, &[&sorted.sizes()[..sorted.dim() - 1], &[flat.numel()]].concat())?,
            &has_nan,
            (count - 1).into(),
        )?
    };
    let ranks = aten::expand(&ranks, &[&sorted.sizes()[..sorted.dim() - 1], &[flat.numel()]].concat())?;
    between(&sorted, &ranks, interpolation)
}

/// A single quantile of rows of numbers, between two elements that are selected, which is faster than to sort the rows.
/// Not where its gradient is needed: of equal elements, the sorted one gets it.
fn selected(rows: &Tensor, q: &Tensor, interpolation: &str) -> Result<Option<Tensor>> {
    let is_differentiated = GradMode::is_enabled() && (rows.requires_grad() || q.requires_grad());
    if !(q.numel() == 1 && is_readable(q) && is_readable(rows)) || is_differentiated {
        return Ok(None);
    }
    if aten::is_nonzero(&aten::any(&aten::isnan(rows)?)?)? {
        return Ok(None);
    }
    let last = rows.size(-1)? - 1;
    let rank: f64 = aten::mul_Scalar(q, last.into())?.item()?.to()?;
    let (below, above, weight) = match interpolation {
        "lower" => (rank.floor(), rank.floor(), None),
        "higher" => (rank.ceil(), rank.ceil(), None),
        "nearest" => (rank.round_ties_even(), rank.round_ties_even(), None),
        "midpoint" => (rank.floor(), rank.ceil(), Some((rank.ceil() - rank.floor()) / 2.0)),
        _ => (rank.floor(), rank.ceil(), Some(rank - rank.floor())),
    };
    if above > last as f64 {
        return Ok(None); // in `float32`, the last of many ranks is rounded up
    }
    let at = |rank: f64| -> Result<Tensor> { Ok(aten::kthvalue(rows, rank as i64 + 1)?.0) };
    let value = at(below)?;
    let Some(weight) = weight else { return Ok(Some(value)) };
    let next = if below == above { value.clone() } else { at(above)? };
    Ok(Some(aten::lerp_Scalar(&value, &next, weight.into())?)) // NaN between equal infinities, as in PyTorch
}

fn check(operator: &str, this: &Tensor, q: &Tensor) -> Result<()> {
    ensure!(this.numel() > 0, Shape, "{operator}: sizes {:?} have no elements to choose from", this.sizes());
    ensure!(q.dim() <= 1, Shape, "{operator}: q of sizes {:?}, expected one number or a vector", q.sizes());
    ensure!(
        matches!(this.dtype(), DType::Float32 | DType::Float64) && q.dtype() == this.dtype(),
        DType,
        "{operator}: {} and q of {}, expected float32 or float64 for both",
        this.dtype(),
        q.dtype()
    );
    if q.device() == Device::CPU {
        let is_inside = aten::logical_and(&aten::ge_Scalar(q, 0.into())?, &aten::le_Scalar(q, 1.into())?)?;
        let are_inside = aten::all(&is_inside)?;
        // Those of a batch cannot be read at once, and fake ones not at all.
        let are_inside = !is_readable(&are_inside) || are_inside.item()?.to()?;
        ensure!(are_inside, Argument, "{operator}: q has an element that is not between 0 and 1");
    }
    Ok(())
}

/// The elements at fractional ranks.
fn between(sorted: &Tensor, ranks: &Tensor, interpolation: &str) -> Result<Tensor> {
    let at = |ranks: &Tensor| aten::gather(sorted, -1, &aten::to_dtype(&aten::detach(ranks)?, DType::Int64)?);
    let below = aten::floor(ranks)?;
    match interpolation {
        "lower" => at(&below),
        "higher" => at(&aten::ceil(ranks)?),
        "nearest" => at(&aten::round(ranks)?),
        _ => {
            let weight = match interpolation {
                "midpoint" => {
                    let is_between = aten::gt_Tensor(ranks, &below)?;
                    aten::mul_Scalar(&aten::to_dtype(&is_between, sorted.dtype())?, 0.5.into())?
                }
                _ => aten::sub_Tensor(ranks, &below)?,
            };
            aten::lerp_Tensor(&at(&below)?, &at(&aten::ceil(ranks)?)?, &weight)
        }
    }
}
