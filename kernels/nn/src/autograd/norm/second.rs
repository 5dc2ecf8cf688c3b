//! Second derivatives of normalisations: the derivatives of their gradients.
//!
//! All elements of a group share a mean and a standard deviation, and `x̂ = (x - mean) · rstd`. The gradient of the
//! input is `P(g)`, where `g = grad_out · weight` and `P(v) = rstd · (v - mean(v) - x̂ · mean(v · x̂))`; that of the
//! weight is the sum of `grad_out · x̂`, and that of the bias the sum of `grad_out`.

use torch_library::prelude::*;

use crate::aten;
use crate::prelude::*;

/// A normalised input.
struct Normal {
    x_hat: Tensor,
    rstd: Tensor,
    /// The dimensions over which a group extends; `None` where the mean and the standard deviation are constants, not
    /// those of the input.
    dims: Option<Vec<i64>>,
}

/// The gradients of `grad_out`, `input` and `weight`.
pub(super) type Three = (Option<Tensor>, Option<Tensor>, Option<Tensor>);

pub(super) fn layer_norm(
    grads: &[Option<Tensor>],
    grad_out: &Tensor,
    input: &Tensor,
    weight: Option<&Tensor>,
    rstd: &Tensor,
    normalized_shape: &[i64],
) -> Result<Three> {
    let dims = (1..=normalized_shape.len() as i64).map(|dim| -dim).collect();
    let grads = [grads[0].clone(), grads[1].clone(), grads[2].clone()];
    Normal::of(input, rstd, dims)?.gradients(grads, grad_out, weight) // the autograd engine sums over the groups
}

pub(super) fn batch_norm(
    grads: &[Option<Tensor>],
    grad_out: &Tensor,
    input: &Tensor,
    weight: Option<&Tensor>,
    [mean, variance, rstd]: [Option<&Tensor>; 3],
    eps: f64,
) -> Result<Three> {
    let mut sizes = vec![1; input.dim()];
    sizes[1] = input.size(1)?;
    let per_channel = |tensor: &Tensor| tensor.reshape(&sizes);
    let dims: Vec<i64> = (0..input.dim() as i64).filter(|dim| *dim != 1).collect();
    let normal = match (mean, variance, rstd) {
        (_, _, Some(rstd)) => Normal::of(input, &per_channel(rstd)?, dims.clone())?,
        (Some(mean), Some(variance), None) => {
            let rstd = aten::rsqrt(&per_channel(variance)?.add(eps)?)?;
            Normal { x_hat: input.sub(&per_channel(mean)?)?.mul(&rstd)?, rstd, dims: None }
        }
        _ => bail!(Autograd, "a batch that was normalised without statistics has no second derivative"),
    };
    let of_parameter = |grad: &Option<Tensor>| grad.as_ref().map(per_channel).transpose();
    let grads = [grads[0].clone(), of_parameter(&grads[1])?, of_parameter(&grads[2])?];
    let weight = weight.map(per_channel).transpose()?;
    let (of_grad_out, of_input, of_weight) = normal.gradients(grads, grad_out, weight.as_ref())?;
    Ok((of_grad_out, of_input, of_weight.map(|grad| grad.sum_dim(&dims, false)).transpose()?))
}

impl Normal {
    /// Computes the statistics again, as functions of the input, so that they have derivatives too.
    fn of(input: &Tensor, rstd: &Tensor, dims: Vec<i64>) -> Result<Self> {
        let centred = input.sub(&input.mean_dim(&dims, true)?)?;
        let variance = centred.mul(&centred)?.mean_dim(&dims, true)?;
        let eps = aten::reciprocal(&rstd.mul(rstd)?)?.sub(&variance)?.detach()?; // the `eps` that had been added
        let rstd = aten::rsqrt(&variance.add(&eps)?)?;
        Ok(Normal { x_hat: centred.mul(&rstd)?, rstd, dims: Some(dims) })
    }

    fn mean(&self, tensor: &Tensor) -> Result<Tensor> {
        self.dims.as_ref().map_or_else(|| Ok(tensor.clone()), |dims| tensor.mean_dim(dims, true))
    }

    /// `P(v)`.
    fn projected(&self, v: &Tensor) -> Result<Tensor> {
        if self.dims.is_none() {
            return v.mul(&self.rstd);
        }
        let along = self.x_hat.mul(&self.mean(&v.mul(&self.x_hat)?)?)?;
        v.sub(&self.mean(v)?)?.sub(&along)?.mul(&self.rstd)
    }

    /// The gradients of `grad_out`, `input` and `weight`, from those of the gradients of input, weight and bias, each
    /// of which may be missing.
    fn gradients(
        &self,
        [of_input, of_weight, of_bias]: [Option<Tensor>; 3],
        grad_out: &Tensor,
        weight: Option<&Tensor>,
    ) -> Result<Three> {
        let weighted =
            |tensor: &Tensor| weight.map_or_else(|| Ok(tensor.clone()), |weight| tensor.mul(weight));
        let projected = of_input.as_ref().map(|v| self.projected(v)).transpose()?;
        let through_input = projected.as_ref().map(weighted).transpose()?;
        let through_weight = of_weight.as_ref().map(|v| v.mul(&self.x_hat)).transpose()?;
        let for_weight = projected.map(|projected| grad_out.mul(&projected)).transpose()?;
        let bias = of_bias.map(|v| v.expand(grad_out.sizes())).transpose()?;
        let for_grad_out = total([through_input, through_weight, bias])?;

        let of_x_hat = of_weight.map(|v| v.mul(grad_out)).transpose()?;
        let (direct, of_x_hat) = match of_input.filter(|_| self.dims.is_some()) {
            None => (None, of_x_hat),
            Some(v) => {
                let (direct, through) = self.of_statistics(&v, &weighted(grad_out)?)?;
                (Some(direct), total([of_x_hat, Some(through)])?)
            }
        };
        let of_x_hat = of_x_hat.map(|grad| self.projected(&grad)).transpose()?;
        Ok((for_grad_out, total([of_x_hat, direct])?, for_weight))
    }

    /// The gradients of the sum of `v · P(g)`: with respect to the input, through `rstd`, and with respect to `x̂`.
    fn of_statistics(&self, v: &Tensor, g: &Tensor) -> Result<(Tensor, Tensor)> {
        let (along_v, along_g) = (self.mean(&v.mul(&self.x_hat)?)?, self.mean(&g.mul(&self.x_hat)?)?);
        let product = self.mean(&v.mul(g)?)?.sub(&self.mean(v)?.mul(&self.mean(g)?)?)?;
        let of_rstd = product.sub(&along_v.mul(&along_g)?)?;
        let direct = self.x_hat.mul(&of_rstd.mul(&self.rstd)?.mul(&self.rstd)?)?.neg()?;
        let through = v.mul(&along_g)?.add(&g.mul(&along_v)?)?.mul(&self.rstd)?.neg()?;
        Ok((direct, through))
    }
}

fn total<const N: usize>(parts: [Option<Tensor>; N]) -> Result<Option<Tensor>> {
    parts.into_iter().flatten().map(Ok).reduce(|sum, part| sum?.add(&part?)).transpose()
}
