//! Matrix products: the calls that kernels support, and the summand of `addmm` and its kin.

use torch_library::prelude::*;

use crate::arguments::{Arguments, on_meta};
use crate::backend::{GpuBackend, Tensors, index_of};

/// A tensor that a product is added to: broadcast to its sizes, times `beta`, and the product times `alpha`.
#[derive(Clone, Copy, Debug)]
pub struct Summand<'a> {
    /// The tensor. If `beta` is 0 it is not read, since it may hold NaN.
    pub this: &'a Tensor,
    /// The factor of the tensor.
    pub beta: f64,
    /// The factor of the product.
    pub alpha: f64,
}

/// Products of matrices, or of batches of them, with any strides.
pub trait Products: GpuBackend {
    /// Whether kernels multiply matrices of a type.
    fn multiplies(dtype: DType) -> bool;

    /// Writes the product of two matrices, plus the summand, to a contiguous tensor.
    ///
    /// # Errors
    /// Those of the device.
    fn multiply(left: &Tensor, right: &Tensor, summand: Option<Summand<'_>>, result: &Tensor) -> Result<()>;
}

pub fn product<B: Products>(operator: OperatorHandle, values: &[Value<'_>]) -> Result<Option<Tensor>> {
    let arguments = Arguments::new(operator, values);
    multiply::<B>(operator, values, [arguments.tensor(0)?, arguments.tensor(1)?], None)
}

/// `beta * self + alpha * left @ right`
pub fn sum_with_product<B: Products>(
    operator: OperatorHandle,
    values: &[Value<'_>],
) -> Result<Option<Tensor>> {
    let arguments = Arguments::new(operator, values);
    let (Ok(beta), Ok(alpha)) = (arguments.float(3), arguments.float(4)) else { return Ok(None) };
    let (this, factors) = (arguments.tensor(0)?, [arguments.tensor(1)?, arguments.tensor(2)?]);
    multiply::<B>(operator, values, factors, Some(Summand { this, beta, alpha }))
}

fn multiply<B: Products>(
    operator: OperatorHandle,
    values: &[Value<'_>],
    [left, right]: [&Tensor; 2],
    summand: Option<Summand<'_>>,
) -> Result<Option<Tensor>> {
    let dtype = left.dtype();
    let is_ours = |tensor: &Tensor| B::is_here(tensor) && tensor.dtype() == dtype && B::multiplies(dtype);
    let all = [Some(left), Some(right), summand.map(|summand| summand.this)];
    if !all.into_iter().flatten().all(is_ours) || left.device() != right.device() {
        return Ok(None);
    }
    let meta = on_meta(operator, values)?;
    let is_plain = meta.dtype() == dtype && meta.is_contiguous(MemoryFormat::Contiguous) && B::reaches(&meta);
    if !is_plain || left.numel() == 0 || right.numel() == 0 {
        return Ok(None);
    }
    // The factors of integers have to be integers.
    let is_whole = |summand: Summand<'_>| summand.alpha.fract() == 0.0 && summand.beta.fract() == 0.0;
    if !dtype.is_floating_point() && !summand.is_none_or(is_whole) {
        return Ok(None);
    }
    let result = B::unwritten(&meta, index_of(left))?;
    B::multiply(left, right, summand, &result)?;
    Ok(Some(result))
}
