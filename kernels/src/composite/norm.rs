//! Softmax and normalisation as users call them, by the parts that compute.

use torch_library::prelude::*;

use crate::aten;
use crate::cpu::norm::channels_of;

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
        if input.numel() == 0 {
            return super::nothing_normalised(input, weight, bias, running_mean, running_var, training);
        }
        let (out, _, _) =
            aten::native_batch_norm(input, weight, bias, running_mean, running_var, training, momentum, eps)?;
        Ok(out)
    }
}

/// The result of `batch_norm` without elements, which still depends on the parameters.
fn nothing_normalised(
    input: &Tensor,
    weight: Option<&Tensor>,
    bias: Option<&Tensor>,
    running_mean: Option<&Tensor>,
    running_var: Option<&Tensor>,
    training: bool,
) -> Result<Tensor> {
    const OPERATOR: &str = "aten::batch_norm";
    channels_of(OPERATOR, input, &[weight, bias, running_mean, running_var])?;
    ensure!(
        training || (running_mean.is_some() && running_var.is_some()),
        Argument,
        "{OPERATOR}: outside of training the running mean and variance are needed"
    );
    let mut out = aten::clone(input)?;
    if let Some(weight) = weight {
        out = aten::mul_Tensor(&out, &aten::select_int(weight, 0, 0)?)?;
    }
    if let Some(bias) = bias {
        out = aten::add_Tensor(&out, &aten::select_int(bias, 0, 0)?)?;
    }
    Ok(out)
}

fn converted(tensor: &Tensor, dtype: Option<DType>) -> Result<Tensor> {
    match dtype {
        Some(dtype) => aten::to_dtype(tensor, dtype),
        None => Ok(tensor.clone()),
    }
}
