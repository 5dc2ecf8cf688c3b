//! Softmax under the names that users call, made of the operators that compute it.

use torch_library::prelude::*;

use crate::aten;

#[torch_impl(aten, CompositeImplicitAutograd)]
mod kernels {
    use super::*;

    fn softmax_int(this: &Tensor, dim: i64, dtype: Option<DType>) -> Result<Tensor> {
        aten::_softmax(&converted(this, dtype)?, dim, false)
    }

    fn log_softmax_int(this: &Tensor, dim: i64, dtype: Option<DType>) -> Result<Tensor> {
        aten::_log_softmax(&converted(this, dtype)?, dim, false)
    }
}

/// It has a derivative of its own.
#[torch_impl(aten, CompositeExplicitAutograd, FuncTorchBatchedDecomposition)]
fn _safe_softmax(this: &Tensor, dim: i64, dtype: Option<DType>) -> Result<Tensor> {
    let out = aten::softmax_int::call(this, dim, dtype)?;
    let is_masked = aten::eq_Scalar(this, f64::NEG_INFINITY.into())?;
    if this.dim() == 0 {
        return aten::where_ScalarSelf(&is_masked, 0.into(), &out);
    }
    let is_masked = aten::all_dim::with(&is_masked, dim).keepdim(true).call()?;
    aten::where_ScalarSelf(&is_masked, 0.into(), &out)
}

fn converted(tensor: &Tensor, dtype: Option<DType>) -> Result<Tensor> {
    match dtype {
        Some(dtype) => aten::to_dtype(tensor, dtype),
        None => Ok(tensor.clone()),
    }
}
