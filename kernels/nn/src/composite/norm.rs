//! Normalisation under the names that users call, made of the operators that compute it.

use torch_library::geometry::numel;
use torch_library::prelude::*;

use crate::arguments::channels_of;
use crate::aten;
use crate::below_autograd::below_autograd;
use crate::loops;

mod dropout;
mod statistics;
pub(crate) mod weight;

#[torch_impl(aten, CompositeImplicitAutograd)]
mod kernels {
    use super::*;

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

    fn group_norm(
        input: &Tensor,
        num_groups: i64,
        weight: Option<&Tensor>,
        bias: Option<&Tensor>,
        eps: f64,
        _cudnn_enabled: bool,
    ) -> Result<Tensor> {
        const OPERATOR: &str = aten::group_norm::NAME;
        let &[batch, channels, ..] = input.sizes() else {
            bail!(Shape, "{OPERATOR}: sizes {:?} have no channels", input.sizes())
        };
        ensure!(
            num_groups > 0 && channels % num_groups == 0,
            Argument,
            "{OPERATOR}: {channels} channels cannot be divided into {num_groups} groups"
        );
        channels_of(OPERATOR, input, &[weight, bias])?;
        ensure!(
            input.sizes()[1..].iter().all(|size| *size > 0),
            Shape,
            "{OPERATOR}: sizes {:?} have no elements to normalise in a group",
            input.sizes()
        );
        let dtype = input.dtype();
        for parameter in [weight, bias].into_iter().flatten() {
            ensure!(
                parameter.dtype() == dtype || is_half(dtype) && parameter.dtype() == DType::Float32,
                DType,
                "{OPERATOR}: {dtype} with a weight or bias of {}, expected the same type, or float32 for halves",
                parameter.dtype()
            );
        }
        let pixels = numel(&input.sizes()[2..]).map_err(|error| error.context(OPERATOR))?;
        let (out, _, _) =
            aten::native_group_norm(input, weight, bias, batch, channels, pixels, num_groups, eps)?;
        Ok(out)
    }

    fn rms_norm(
        input: &Tensor,
        normalized_shape: &[i64],
        weight: Option<&Tensor>,
        eps: Option<f64>,
    ) -> Result<Tensor> {
        ensure!(
            !normalized_shape.is_empty() && input.sizes().ends_with(normalized_shape),
            Shape,
            "{}: sizes {:?} do not end in the normalized_shape {normalized_shape:?}",
            aten::rms_norm::NAME,
            input.sizes()
        );
        ensure!(
            weight.is_none_or(|weight| weight.sizes() == normalized_shape),
            Shape,
            "{}: a weight of sizes {:?}, expected the normalized_shape {normalized_shape:?}",
            aten::rms_norm::NAME,
            weight.map_or(&[][..], Tensor::sizes)
        );
        ensure!(
            input.dtype().is_floating_point() || input.dtype().is_complex(),
            DType,
            "{} is not implemented for {}, which has no square roots\n  help: convert it to a floating-point type",
            aten::rms_norm::NAME,
            input.dtype()
        );
        Ok(scaled_by_root_mean_square(input, normalized_shape.len(), weight, eps)?.0)
    }

    fn _fused_rms_norm(
        input: &Tensor,
        normalized_shape: &[i64],
        weight: Option<&Tensor>,
        eps: Option<f64>,
    ) -> Result<(Tensor, Tensor)> {
        ensure!(
            input.dtype().is_floating_point() || input.dtype().is_complex(),
            DType,
            "{} is not implemented for {}, which has no square roots",
            aten::_fused_rms_norm::NAME,
            input.dtype()
        );
        scaled_by_root_mean_square(input, normalized_shape.len(), weight, eps)
            .map_err(|error| error.context(aten::_fused_rms_norm::NAME))
    }

    fn _fused_rms_norm_backward(
        grad_out: &Tensor,
        input: &Tensor,
        normalized_shape: &[i64],
        rstd: &Tensor,
        weight: Option<&Tensor>,
        output_mask: &[bool],
    ) -> Result<(Tensor, Tensor)> {
        const OPERATOR: &str = aten::_fused_rms_norm_backward::NAME;
        let &[of_input, of_weight] = output_mask else {
            bail!(Argument, "{OPERATOR}: a mask of {} gradients, expected 2", output_mask.len())
        };
        root_mean_square_grads(grad_out, input, normalized_shape.len(), rstd, weight, [of_input, of_weight])
            .map_err(|error| error.context(OPERATOR))
    }

    fn dropout(input: &Tensor, p: f64, train: bool) -> Result<Tensor> {
        ensure!(
            (0.0..=1.0).contains(&p),
            Argument,
            "{}: the probability {p} is not between 0 and 1",
            aten::dropout::NAME
        );
        if !train || p == 0.0 || input.numel() == 0 {
            return Ok(input.clone());
        }
        if p == 1.0 {
            return aten::mul_Scalar(input, 0.into());
        }
        aten::mul_Tensor(input, &kept(input, p)?)
    }

    fn dropout_(this: &mut Tensor, p: f64, train: bool) -> Result<&mut Tensor> {
        ensure!(
            (0.0..=1.0).contains(&p),
            Argument,
            "{}: the probability {p} is not between 0 and 1",
            aten::dropout_::NAME
        );
        if !train || p == 0.0 || this.numel() == 0 {
            return Ok(this);
        }
        if p == 1.0 {
            return aten::mul__Scalar(this, 0.into());
        }
        let mask = kept(this, p)?;
        aten::mul__Tensor(this, &mask)
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
            return super::nothing_normalised(input, weight, bias);
        }
        let channels = channels_of(aten::batch_norm::NAME, input, &[])?;
        let parameters = [running_mean, running_var, weight, bias];
        if let Some(other) = parameters.into_iter().flatten().find(|x| x.numel() != channels) {
            bail!(
                Shape,
                "{}: a parameter has sizes {:?}, expected one element for each of {channels} channels",
                aten::batch_norm::NAME,
                other.sizes()
            );
        }
        let (out, _, _) =
            aten::native_batch_norm(input, weight, bias, running_mean, running_var, training, momentum, eps)?;
        Ok(out)
    }

    fn instance_norm(
        input: &Tensor,
        weight: Option<&Tensor>,
        bias: Option<&Tensor>,
        running_mean: Option<&Tensor>,
        running_var: Option<&Tensor>,
        use_input_stats: bool,
        momentum: f64,
        eps: f64,
        cudnn_enabled: bool,
    ) -> Result<Tensor> {
        const OPERATOR: &str = aten::instance_norm::NAME;
        let &[batch, channels, ref rest @ ..] = input.sizes() else {
            bail!(Shape, "{OPERATOR}: sizes {:?} are not [batch, channels, ..]", input.sizes())
        };
        ensure!(
            use_input_stats || (running_mean.is_some() && running_var.is_some()),
            Argument,
            "{OPERATOR}: without the statistics of the input, running_mean and running_var are needed"
        );
        let each = |vector: Option<&Tensor>| vector.map(|vector| aten::repeat(vector, &[batch])).transpose();
        let (weight, bias) = (each(weight)?, each(bias)?);
        let (mean, var) = (each(running_mean)?, each(running_var)?);
        let flat = [&[1, numel(&[batch, channels])?], rest].concat();
        let out = aten::batch_norm(
            &aten::reshape(&aten::contiguous(input)?, &flat)?,
            weight.as_ref(),
            bias.as_ref(),
            mean.as_ref(),
            var.as_ref(),
            use_input_stats,
            momentum,
            eps,
            cudnn_enabled,
        )?;
        for (running, new) in [(running_mean, &mean), (running_var, &var)] {
            if let (true, Some(running), Some(new)) = (use_input_stats, running, new) {
                let new = aten::mean_dim(&aten::reshape(new, &[batch, channels])?, Some(&[0]))?;
                aten::copy_(&mut aten::detach(running)?, &aten::detach(&new)?)?;
            }
        }
        aten::reshape(&out, input.sizes())
    }

    fn _batch_norm_impl_index(
        input: &Tensor,
        weight: Option<&Tensor>,
        bias: Option<&Tensor>,
        running_mean: Option<&Tensor>,
        running_var: Option<&Tensor>,
        training: bool,
        momentum: f64,
        eps: f64,
        _cudnn_enabled: bool,
    ) -> Result<(Tensor, Tensor, Tensor, Tensor, i64)> {
        let (output, mean, root) =
            aten::native_batch_norm(input, weight, bias, running_mean, running_var, training, momentum, eps)?;
        Ok((output, mean, root, Tensor::empty(&[0], DType::UInt8, input.device())?, 0))
    }

    fn _batch_norm_impl_index_backward(
        impl_index: i64,
        input: &Tensor,
        grad_output: &Tensor,
        weight: Option<&Tensor>,
        running_mean: Option<&Tensor>,
        running_var: Option<&Tensor>,
        save_mean: Option<&Tensor>,
        save_var_transform: Option<&Tensor>,
        train: bool,
        eps: f64,
        output_mask: &[bool],
        _reserved_space: &Tensor,
    ) -> Result<(Tensor, Tensor, Tensor)> {
        const OPERATOR: &str = aten::_batch_norm_impl_index_backward::NAME;
        ensure!(impl_index == 0, Argument, "{OPERATOR}: no implementation is {impl_index}, expected 0");
        aten::native_batch_norm_backward(
            grad_output,
            input,
            weight,
            running_mean,
            running_var,
            save_mean,
            save_var_transform,
            train,
            eps,
            output_mask,
        )
    }
}

/// Factors that drop elements with probability `p`, and scale the others so that the mean stays the same.
fn kept(input: &Tensor, p: f64) -> Result<Tensor> {
    let mask = aten::empty_like::with(input).dtype(input.dtype().to_real()).call()?;
    let mut mask = dropout::bernoulli(mask, 1.0 - p)?;
    below_autograd(|| aten::div__Scalar(&mut mask, (1.0 - p).into()).map(drop))?;
    Ok(mask)
}

/// Operators with derivatives of their own.
#[torch_impl(aten, CompositeExplicitAutograd, FuncTorchBatchedDecomposition)]
fn native_group_norm(
    input: &Tensor,
    weight: Option<&Tensor>,
    bias: Option<&Tensor>,
    n: i64,
    c: i64,
    hx_w: i64,
    group: i64,
    eps: f64,
) -> Result<(Tensor, Tensor, Tensor)> {
    check_group_norm(aten::native_group_norm::NAME, input, [n, c, hx_w, group], [weight, bias])?;
    // 16-bit floats are rounded once, at the end.
    let wide = aten::to_dtype(input, loops::opmath_type(input.dtype()))?;
    let sizes = [n, c, hx_w];
    let size = (c / group).saturating_mul(hx_w);
    let groups = aten::reshape(&wide, &[n, group, size])?;
    // The input may have any number of dimensions.
    let has_channels = input.sizes().starts_with(&[n, c]);
    let channels = |tensor: &Tensor| aten::reshape(tensor, if has_channels { input.sizes() } else { &sizes });
    let (out, mean, rstd) = if weight.is_none() && bias.is_none() {
        let (out, mean, rstd) = aten::native_layer_norm(&groups, &[size], None, None, eps)?;
        (channels(&out)?, mean, rstd)
    } else {
        let (variance, mean) =
            aten::var_mean_correction::with(&groups).dim(&[2]).correction(0).keepdim(true).call()?;
        let rstd = aten::rsqrt(&aten::add_Scalar(&variance, eps.into())?)?;
        let x = channels(&wide)?;
        (scaled_and_shifted(&x, &mean, &rstd, [weight, bias])?, mean, rstd)
    };
    let out = aten::reshape(&out, input.sizes())?;
    let out = aten::contiguous::with(&aten::to_dtype(&out, input.dtype())?)
        .memory_format(input.suggest_memory_format())
        .call()?;
    let dtype = weight.or(bias).map_or(input.dtype(), Tensor::dtype);
    let noted = |notes: &Tensor| aten::to_dtype(&aten::reshape(notes, &[n, group])?, dtype);
    Ok((out, noted(&mean)?, noted(&rstd)?))
}

/// An input `[n, c, …]`, normalised by the mean and the reciprocal standard deviation of its groups, `[n, group, 1]`,
/// and weighted. As in PyTorch, both are one factor and one summand for each channel.
fn scaled_and_shifted(
    x: &Tensor,
    mean: &Tensor,
    rstd: &Tensor,
    [weight, bias]: [Option<&Tensor>; 2],
) -> Result<Tensor> {
    let (c, group) = (x.sizes()[1], mean.sizes()[1]);
    let of_groups = |parameter: &Tensor| aten::reshape(parameter, &[1, group, c / group]);
    let scale = match weight {
        Some(weight) => aten::mul_Tensor(rstd, &of_groups(weight)?)?,
        None => rstd.clone(),
    };
    let mut shift = aten::neg(&aten::mul_Tensor(mean, &scale)?)?;
    if let Some(bias) = bias {
        shift = aten::add_Tensor(&shift, &of_groups(bias)?)?;
    }
    let mut sizes = vec![1; x.dim()];
    sizes[..2].copy_from_slice(&x.sizes()[..2]);
    let of_channels =
        |tensor: &Tensor| aten::reshape(&aten::expand(tensor, &[x.sizes()[0], group, c / group])?, &sizes);
    aten::addcmul(&of_channels(&shift)?, x, &of_channels(&scale)?)
}

/// # Errors
/// Channels that cannot be divided into groups, sizes that do not fit the input; the errors of `check_parameters`.
pub(crate) fn check_group_norm(
    operator: &str,
    input: &Tensor,
    [items, channels, pixels, groups]: [i64; 4],
    parameters: [Option<&Tensor>; 2],
) -> Result<()> {
    ensure!(
        groups > 0 && channels % groups == 0,
        Shape,
        "{operator}: {channels} channels cannot be divided into {groups} groups"
    );
    check_parameters(operator, input, parameters)?;
    ensure!(
        items.saturating_mul(channels).saturating_mul(pixels) == input.numel() && items >= 0 && channels >= 0,
        Shape,
        "{operator}: {pixels} elements of a channel do not fit sizes {:?}",
        input.sizes()
    );
    Ok(())
}

/// # Errors
/// Parameters of two types, or of a type that is neither the input's nor the one that it is computed in.
fn check_parameters(operator: &str, input: &Tensor, parameters: [Option<&Tensor>; 2]) -> Result<()> {
    let dtypes: Vec<DType> = parameters.into_iter().flatten().map(Tensor::dtype).collect();
    let fits = |dtype: &DType| [input.dtype(), loops::opmath_type(input.dtype())].contains(dtype);
    ensure!(
        dtypes.iter().all(|dtype| fits(dtype) && *dtype == dtypes[0]),
        DType,
        "{operator}: parameters of {dtypes:?} do not fit an input of {}",
        input.dtype()
    );
    Ok(())
}

/// The result of `batch_norm` for an input without elements; it still depends on the parameters, so that they get
/// gradients.
fn nothing_normalised(input: &Tensor, weight: Option<&Tensor>, bias: Option<&Tensor>) -> Result<Tensor> {
    let mut out = aten::clone(input)?;
    if let Some(weight) = weight {
        out = aten::mul_Tensor(&out, &aten::select_int(weight, 0, 0)?)?;
    }
    if let Some(bias) = bias {
        out = aten::add_Tensor(&out, &aten::select_int(bias, 0, 0)?)?;
    }
    Ok(out)
}

fn is_half(dtype: DType) -> bool {
    matches!(dtype, DType::Float16 | DType::BFloat16)
}

/// The last `count` dimensions, or all if there are none to count.
fn last_dims(count: usize) -> Vec<i64> {
    (1..=count as i64).map(|back| -back).collect()
}

/// An input divided by its root mean square over the last `count` dimensions and weighted, and what it was multiplied
/// by.
fn scaled_by_root_mean_square(
    input: &Tensor,
    count: usize,
    weight: Option<&Tensor>,
    eps: Option<f64>,
) -> Result<(Tensor, Tensor)> {
    // 16-bit floats are squared and weighted as `float32`, since large ones would overflow.
    let wide = aten::to_dtype(input, loops::opmath_type(input.dtype()))?;
    let is_double = wide.dtype().to_real() == DType::Float64;
    let eps = eps.unwrap_or(if is_double { f64::EPSILON } else { f32::EPSILON.into() });
    let squares = aten::pow_Tensor_Scalar(&wide, 2.into())?;
    let mean = aten::mean_dim::call(&squares, Some(&last_dims(count)), true, None)?;
    let scale = aten::rsqrt(&aten::add_Scalar(&mean, eps.into())?)?;
    let mut out = aten::mul_Tensor(&wide, &scale)?;
    if let Some(weight) = weight {
        out = aten::mul_Tensor(&out, weight)?;
    }
    Ok((aten::to_dtype(&aten::contiguous(&out)?, input.dtype())?, scale))
}

/// The gradients of an input and a weight of [`scaled_by_root_mean_square`], if they are wanted.
fn root_mean_square_grads(
    grad: &Tensor,
    input: &Tensor,
    count: usize,
    scale: &Tensor,
    weight: Option<&Tensor>,
    [of_input, of_weight]: [bool; 2],
) -> Result<(Tensor, Tensor)> {
    let wide = |tensor: &Tensor| aten::to_dtype(tensor, loops::opmath_type(tensor.dtype()));
    let (grad, normal) = (wide(grad)?, aten::mul_Tensor(&wide(input)?, scale)?);
    let of_weight = match weight.filter(|_| of_weight) {
        None => Tensor::undefined(),
        Some(weight) => {
            let each = aten::mul_Tensor(&grad, &normal)?;
            let outer: Vec<i64> = (0..(input.dim().saturating_sub(count)) as i64).collect();
            let sum = if outer.is_empty() { each } else { aten::sum_dim_IntList(&each, Some(&outer))? };
            aten::to_dtype(&sum, weight.dtype())?
        }
    };
    if !of_input {
        return Ok((Tensor::undefined(), of_weight));
    }
    let of_normal = match weight {
        Some(weight) => aten::mul_Tensor(&grad, &wide(weight)?)?,
        None => grad,
    };
    let product = aten::mul_Tensor(&of_normal, &normal)?;
    let along = aten::mean_dim::call(&product, Some(&last_dims(count)), true, None)?;
    let across = aten::sub_Tensor(&of_normal, &aten::mul_Tensor(&normal, &along)?)?;
    Ok((aten::to_dtype(&aten::mul_Tensor(&across, scale)?, input.dtype())?, of_weight))
}
