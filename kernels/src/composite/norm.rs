//! Softmax and normalisation as users call them, by the parts that compute.

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

    fn layer_norm(
        input: &Tensor,
        normalized_shape: &[i64],
        weight: Option<&Tensor>,
        bias: Option<&Tensor>,
        eps: f64,
        _cudnn_enable: bool,
    ) -> Result<Tensor> {
        let (out, _, _) = aten::native_layer_norm(input, normalized_shape, weight, bias, eps)?;
        Ok(out)
    }

    fn batch_norm(
        input: &Tensor,
        weight: Option<&Tensor>,
        bias: Option<&Tensor>,
        running_mean: Option<&Tensor>,
        running_var: Option<&Tensor>,
        training: bool,
        momentum: f64,
        eps: f64,
        _cudnn_enabled: bool,
    ) -> Result<Tensor> {
        let (out, _, _) =
            aten::native_batch_norm(input, weight, bias, running_mean, running_var, training, momentum, eps)?;
        Ok(out)
    }
}

fn converted(tensor: &Tensor, dtype: Option<DType>) -> Result<Tensor> {
    match dtype {
        Some(dtype) => aten::to_dtype(tensor, dtype),
        None => Ok(tensor.clone()),
    }
}
