//! Covariances and correlation coefficients.

use torch_library::prelude::*;

use super::in_floats;
use super::linalg::adjoint;
use crate::aten;

#[torch_impl(aten, CompositeImplicitAutograd)]
mod implicit {
    use super::*;

    fn cov(
        this: &Tensor,
        correction: i64,
        fweights: Option<&Tensor>,
        aweights: Option<&Tensor>,
    ) -> Result<Tensor> {
        const OPERATOR: &str = aten::cov::NAME;
        ensure!(
            this.dim() <= 2 && this.dtype() != DType::Bool,
            Argument,
            "{OPERATOR}: {} of sizes {:?}, expected rows of numbers",
            this.dtype(),
            this.sizes()
        );
        let rows = if this.dim() < 2 { aten::reshape(this, &[1, -1])? } else { this.clone() };
        let count = rows.sizes()[1];
        check_weights(OPERATOR, "fweights", fweights, count, |dtype| dtype.is_integer())?;
        check_weights(OPERATOR, "aweights", aweights, count, DType::is_floating_point)?;
        let weight = match (fweights, aweights) {
            (Some(times), Some(share)) => Some(aten::mul_Tensor(times, share)?),
            (one, other) => one.or(other).cloned(),
        };
        let (mean, norm) = match &weight {
            None => (aten::mean_dim::call(&in_floats(&rows)?, Some(&[1]), true, None)?, None),
            Some(weight) => {
                let total = aten::sum(weight)?;
                let weighted =
                    aten::sum_dim_IntList::call(&aten::mul_Tensor(&rows, weight)?, Some(&[1]), true, None)?;
                let norm = match aweights.filter(|_| correction != 0) {
                    Some(shares) => {
                        let squares = aten::sum(&aten::mul_Tensor(weight, shares)?)?;
                        let share =
                            aten::mul_Scalar(&aten::div_Tensor(&squares, &total)?, correction.into())?;
                        aten::sub_Tensor(&total, &share)?
                    }
                    None => aten::sub_Scalar(&total, correction.into())?,
                };
                (aten::div_Tensor(&weighted, &total)?, Some(aten::clamp_min(&norm, 0.into())?))
            }
        };
        let distance = aten::sub_Tensor(&rows, &mean)?;
        let weighted =
            weight.map_or_else(|| Ok(distance.clone()), |weight| aten::mul_Tensor(&distance, &weight))?;
        let product = aten::mm(&distance, &aten::to_dtype(&adjoint(&weighted)?, distance.dtype())?)?;
        let norm = norm.map_or_else(
            || aten::div_Scalar(&product, count.saturating_sub(correction).max(0).into()),
            |norm| aten::div_Tensor(&product, &norm),
        );
        aten::squeeze(&norm?)
    }

    fn corrcoef(this: &Tensor) -> Result<Tensor> {
        let covariance = aten::cov(this)?;
        if covariance.dim() == 0 {
            return aten::div_Tensor(&covariance, &covariance);
        }
        let variance = aten::diagonal(&covariance)?;
        let is_complex = variance.dtype().is_complex();
        let deviation = aten::sqrt(&if is_complex { aten::real(&variance)? } else { variance })?;
        let scaled = aten::div_Tensor(&covariance, &aten::unsqueeze(&deviation, -1)?)?;
        let scaled = aten::div_Tensor(&scaled, &deviation)?;
        let within = |part: &Tensor| aten::clamp::call(part, Some((-1).into()), Some(1.into()));
        match is_complex {
            true => aten::complex(&within(&aten::real(&scaled)?)?, &within(&aten::imag(&scaled)?)?),
            false => within(&scaled),
        }
    }
}

/// # Errors
/// Weights that do not have one element for each column, that are not of the kind of dtype that `is_kind` checks, or
/// that are negative.
fn check_weights(
    operator: &str,
    name: &str,
    weights: Option<&Tensor>,
    count: i64,
    is_kind: impl Fn(DType) -> bool,
) -> Result<()> {
    let Some(weights) = weights else { return Ok(()) };
    ensure!(
        weights.dim() <= 1 && weights.numel() == count && is_kind(weights.dtype()),
        Argument,
        "{operator}: {name} of {} and sizes {:?} for {count} columns; fweights are whole numbers, aweights \
         floating-point ones, and there is one for each column",
        weights.dtype(),
        weights.sizes()
    );
    if count > 0 && weights.device() != Device::META {
        let least: f64 = aten::min(weights)?.item()?.to()?;
        ensure!(
            least >= 0.0 || least.is_nan(),
            Argument,
            "{operator}: {name} has {least}, which is below zero"
        );
    }
    Ok(())
}
