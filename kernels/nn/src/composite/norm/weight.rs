//! Weight normalisation: a weight as directions and lengths.

use torch_library::geometry::wrap_dim;
use torch_library::prelude::*;

use crate::aten;
use crate::loops;
use crate::prelude::*;

#[torch_impl(aten, CompositeImplicitAutograd)]
mod kernels {
    use super::*;

    fn norm_except_dim(v: &Tensor, pow: i64, dim: i64) -> Result<Tensor> {
        let kept = match dim {
            -1 => None,
            dim => Some(wrap_dim(dim, v.dim()).map_err(|error| error.context(aten::norm_except_dim::NAME))?),
        };
        let norms = norms(v, pow, kept)?;
        match kept {
            // In the layout of PyTorch, which moves the dimension to the front and back.
            Some(dim) if dim + 1 < v.dim() => {
                let mut sizes = vec![1; v.dim()];
                sizes[0] = v.sizes()[dim];
                aten::transpose_int(&aten::reshape(&norms, &sizes)?, 0, dim as i64)
            }
            _ => Ok(norms),
        }
    }

    fn _weight_norm(v: &Tensor, g: &Tensor, dim: i64) -> Result<Tensor> {
        let (v, g) = (aten::contiguous(v)?, aten::contiguous(g)?);
        if dim == 0 || dim == v.dim() as i64 - 1 {
            return Ok(aten::_weight_norm_interface::call(&v, &g, dim)?.0);
        }
        let scale = aten::div_Tensor(&g, &aten::norm_except_dim::call(&v, 2, dim)?)?;
        aten::mul_Tensor(&v, &scale).map_err(|error| error.context(aten::_weight_norm::NAME))
    }

    fn _weight_norm_differentiable_backward(
        grad_w: &Tensor,
        saved_v: &Tensor,
        saved_g: &Tensor,
        saved_norms: &Tensor,
        dim: i64,
    ) -> Result<(Tensor, Tensor)> {
        const OPERATOR: &str = aten::_weight_norm_differentiable_backward::NAME;
        let last = saved_v.dim().saturating_sub(1);
        let kept = wrap_dim(dim, saved_v.dim()).map_err(|error| error.context(OPERATOR))?;
        ensure!(
            kept == 0 || kept == last,
            Argument,
            "{OPERATOR}: dimension {dim} of sizes {:?} is neither the first nor the last",
            saved_v.sizes()
        );
        let others: Vec<i64> = (0..=last).filter(|other| *other != kept).map(|other| other as i64).collect();
        let products = grad_w.mul(saved_v)?;
        let along = match others.is_empty() {
            true => products,
            false => aten::sum_dim_IntList::call(&products, Some(&others), true, None)?,
        };
        let beside = saved_v.mul(&along.div(&saved_norms.mul(saved_norms)?)?)?;
        let grad_v = saved_g.div(saved_norms)?.mul(&grad_w.sub(&beside)?)?;
        Ok((grad_v, along.div(saved_norms)?))
    }
}

/// Operators with derivatives of their own.
#[torch_impl(aten, CompositeExplicitAutograd, FuncTorchBatchedDecomposition)]
mod derived {
    use super::*;

    fn _weight_norm_interface(v: &Tensor, g: &Tensor, dim: i64) -> Result<(Tensor, Tensor)> {
        let weight = Weight::new(aten::_weight_norm_interface::NAME, v, g, dim)?;
        let wide = weight.wide(v)?;
        let norms = norms(&wide, 2, Some(weight.dim))?;
        let scale = aten::div_Tensor(&weight.lengths(g)?, &norms)?;
        let out = aten::to_dtype(&aten::mul_Tensor(&wide, &scale)?, v.dtype())?;
        Ok((aten::contiguous(&out)?, aten::reshape(&norms, g.sizes())?))
    }

    fn _weight_norm_interface_backward(
        grad_w: &Tensor,
        saved_v: &Tensor,
        saved_g: &Tensor,
        saved_norms: &Tensor,
        dim: i64,
    ) -> Result<(Tensor, Tensor)> {
        gradients(grad_w, saved_v, saved_g, Some(saved_norms), dim)
    }
}

/// The gradients of directions and lengths, from the norms of the directions or, without these, as functions of the
/// directions alone.
pub(crate) fn gradients(
    grad: &Tensor,
    v: &Tensor,
    g: &Tensor,
    saved_norms: Option<&Tensor>,
    dim: i64,
) -> Result<(Tensor, Tensor)> {
    let weight = Weight::new(aten::_weight_norm_interface_backward::NAME, v, g, dim)?;
    let (grad, wide, lengths) = (weight.wide(grad)?, weight.wide(v)?, weight.lengths(g)?);
    let norms = match saved_norms {
        Some(norms) => weight.lengths(norms)?,
        None => norms(&wide, 2, Some(weight.dim))?,
    };
    // The part of the gradient along the direction is that of the length; the rest turns the direction.
    let along = aten::div_Tensor(&weight.sums(&aten::mul_Tensor(&grad, &wide)?)?, &norms)?;
    let turning = aten::sub_Tensor(&grad, &aten::mul_Tensor(&wide, &aten::div_Tensor(&along, &norms)?)?)?;
    let grad_v = aten::mul_Tensor(&turning, &aten::div_Tensor(&lengths, &norms)?)?;
    let grad_g = aten::reshape(&along, g.sizes())?;
    Ok((aten::to_dtype(&grad_v, v.dtype())?, aten::to_dtype(&grad_g, g.dtype())?))
}

/// The norms over all dimensions but one, or over all.
fn norms(v: &Tensor, pow: i64, kept: Option<usize>) -> Result<Tensor> {
    let dims: Vec<i64> = (0..v.dim()).filter(|dim| Some(*dim) != kept).map(|dim| dim as i64).collect();
    match kept {
        // No dimension to reduce: an empty list would stand for all of them.
        Some(_) if dims.is_empty() => aten::abs(v),
        _ => aten::linalg_vector_norm::call(v, pow.into(), Some(&dims), kept.is_some(), None),
    }
}

/// A weight that is normalised along its first or last dimension.
struct Weight<'a> {
    operator: &'static str,
    v: &'a Tensor,
    dim: usize,
}

impl<'a> Weight<'a> {
    fn new(operator: &'static str, v: &'a Tensor, g: &Tensor, dim: i64) -> Result<Self> {
        let last = v.dim() as i64 - 1;
        ensure!(
            last >= 0 && (dim == 0 || dim == last),
            Argument,
            "{operator}: dim is {dim} for sizes {:?}, expected the first or the last dimension",
            v.sizes()
        );
        ensure!(
            v.dtype().is_floating_point() && v.dtype() == g.dtype(),
            DType,
            "{operator}: directions of {} and lengths of {}, expected one floating-point type",
            v.dtype(),
            g.dtype()
        );
        Ok(Weight { operator, v, dim: dim as usize })
    }

    /// A tensor of the weight's sizes, in the type that is computed in.
    fn wide(&self, tensor: &Tensor) -> Result<Tensor> {
        ensure!(
            tensor.sizes() == self.v.sizes(),
            Shape,
            "{}: a gradient of sizes {:?} for a weight of sizes {:?}",
            self.operator,
            tensor.sizes(),
            self.v.sizes()
        );
        aten::to_dtype(tensor, loops::opmath_type(tensor.dtype()))
    }

    /// One number for each slice, in sizes that broadcast to those of the weight.
    fn lengths(&self, tensor: &Tensor) -> Result<Tensor> {
        let mut sizes = vec![1; self.v.dim()];
        sizes[self.dim] = self.v.sizes()[self.dim];
        ensure!(
            tensor.numel() == sizes[self.dim],
            Shape,
            "{}: lengths of sizes {:?}, expected one for each of {} slices",
            self.operator,
            tensor.sizes(),
            sizes[self.dim]
        );
        aten::reshape(&aten::to_dtype(tensor, loops::opmath_type(tensor.dtype()))?, &sizes)
    }

    /// The sums over all dimensions but one.
    fn sums(&self, tensor: &Tensor) -> Result<Tensor> {
        let dims: Vec<i64> = (0..tensor.dim()).filter(|dim| *dim != self.dim).map(|dim| dim as i64).collect();
        if dims.is_empty() {
            return Ok(tensor.clone());
        }
        aten::sum_dim_IntList::call(tensor, Some(&dims), true, None)
    }
}
