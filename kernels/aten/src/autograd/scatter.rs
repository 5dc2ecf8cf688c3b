//! Derivatives of reductions at positions given by an index.

use torch_library::derivatives;
use torch_library::geometry::wrap_dim;
use torch_library::prelude::*;

use crate::aten;
use crate::prelude::*;

derivatives! {
    in aten;

    #[in_place]
    scatter_reduce.two(
        Tensor self, int dim, Tensor index, Tensor src, str reduce, *, bool include_self=True
    ) -> Tensor as ScatterReduceBackward0 {
        (self, src) =>
            Joined { tensor: self, dim, index: index.clone(), src, reduce, include_self, result }.gradients(grad),
        index => non_differentiable,
    }
    #[in_place]
    index_reduce(
        Tensor self, int dim, Tensor index, Tensor source, str reduce, *, bool include_self=True
    ) -> Tensor as IndexReduceBackward0 {
        (self, source) => {
            let mut sizes = vec![1; source.dim()];
            if let Some(size) = sizes.get_mut(wrap_dim(dim, source.dim())?) {
                *size = index.numel();
            }
            let index = index.reshape(&sizes)?.expand(source.sizes())?;
            Joined { tensor: self, dim, index, src: source, reduce, include_self, result }.gradients(grad)
        },
        index => non_differentiable,
    }
}

/// The operands of such a reduction, and its result.
struct Joined<'a> {
    tensor: &'a Tensor,
    dim: i64,
    index: Tensor,
    src: &'a Tensor,
    reduce: &'a str,
    include_self: bool,
    result: &'a Tensor,
}

impl Joined<'_> {
    /// The gradients of `tensor` and of `src`.
    fn gradients(&self, grad: &Tensor) -> Result<(Tensor, Tensor)> {
        let (of_this, of_src) = match self.reduce {
            "prod" => self.of_product(grad)?,
            "mean" => {
                let own = if self.include_self { aten::ones_like(grad)? } else { aten::zeros_like(grad)? };
                let counts = self.sums(&own, &aten::ones_like(self.src)?)?;
                let share = grad.div(&aten::clamp_min(&counts, 1.into())?)?;
                (share.clone(), self.taken(&share)?)
            }
            "amax" | "amin" => {
                let is_it = |x: &Tensor, result: &Tensor| aten::eq_Tensor(x, result)?.to_dtype(grad.dtype());
                let own = is_it(self.tensor, self.result)?;
                let others = is_it(self.src, &self.taken(self.result)?)?;
                let share = grad.div(&self.sums(&own, &others)?)?;
                (own.mul(&share)?, others.mul(&self.taken(&share)?)?)
            }
            _ => (grad.clone(), self.taken(grad)?),
        };
        if self.include_self {
            return Ok((of_this, of_src));
        }
        Ok((aten::scatter_value(&of_this, self.dim, &self.index, 0.into())?, of_src))
    }

    /// The gradients of a product, without a division by zero: if a factor is the only zero, its gradient has the
    /// product of the others.
    fn of_product(&self, grad: &Tensor) -> Result<(Tensor, Tensor)> {
        let without = |x: &Tensor, mask: &Tensor| aten::masked_fill_Scalar(x, mask, 1.into());
        let is_zero = aten::eq_Scalar(self.tensor, 0.into())?;
        let own = without(self.tensor, &is_zero)?;
        let of_this = grad.mul(&self.joined(&own, self.src)?)?.div(&own)?;

        let is_zero = aten::eq_Scalar(self.src, 0.into())?;
        let zeros = self.sums(&aten::zeros_like(self.tensor)?, &is_zero.to_dtype(self.tensor.dtype())?)?;
        let is_only = aten::logical_and(&is_zero, &aten::eq_Scalar(&self.taken(&zeros)?, 1.into())?)?;
        let others = self.taken(&grad.mul(&self.joined(self.tensor, &without(self.src, &is_only)?)?)?)?;
        let quotient = self.taken(&grad.mul(self.result)?)?.div(&without(self.src, &is_zero)?)?;
        Ok((of_this, aten::where_self(&is_only, &others, &quotient)?))
    }

    fn joined(&self, this: &Tensor, src: &Tensor) -> Result<Tensor> {
        aten::scatter_reduce_two::call(this, self.dim, &self.index, src, self.reduce, self.include_self)
    }

    fn sums(&self, this: &Tensor, src: &Tensor) -> Result<Tensor> {
        aten::scatter_add(this, self.dim, &self.index, src)
    }

    /// The elements at the positions of the index.
    fn taken(&self, x: &Tensor) -> Result<Tensor> {
        x.gather(self.dim, &self.index)
    }
}
