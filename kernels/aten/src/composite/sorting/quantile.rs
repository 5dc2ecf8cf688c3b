//! Quantiles: sorts the elements, and interpolates between two ranks.

use torch_library::geometry::wrap_dim;
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
    let sorted = aten::sort(&last)?.0;
    let count = sorted.size(-1)?;
    let sorted = aten::reshape(&sorted, &[&sizes[..], &[count]].concat())?;
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
    let mut values = between(&sorted, &ranks, interpolation)?;
    if q.dim() > 0 {
        aten::unsqueeze_(&mut values, 0)?;
        aten::transpose_(&mut values, 0, -1)?;
    }
    aten::squeeze__dim(&mut values, -1)?;
    Ok(values)
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
