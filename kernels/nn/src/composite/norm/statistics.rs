//! Batch and group normalisation under the names that exported programs use for them.

use torch_library::prelude::*;

use crate::arguments::check_groups;
use crate::aten;
use crate::loops::opmath_type;

/// The result, the mean, and the reciprocal standard deviation.
type Three = (Tensor, Tensor, Tensor);

/// An empty tensor for what a backend may save for the gradient.
fn reserve(input: &Tensor) -> Result<Tensor> {
    aten::new_empty::with(input, &[0]).dtype(DType::UInt8).call()
}

/// Operators with derivatives of their own.
#[torch_impl(aten, CompositeExplicitAutograd)]
mod derived {
    use super::*;

    fn _native_batch_norm_legit(
        input: &Tensor,
        weight: Option<&Tensor>,
        bias: Option<&Tensor>,
        running_mean: &mut Tensor,
        running_var: &mut Tensor,
        training: bool,
        momentum: f64,
        eps: f64,
    ) -> Result<Three> {
        let running = [Some(&*running_mean), Some(&*running_var)];
        aten::native_batch_norm(input, weight, bias, running[0], running[1], training, momentum, eps)
    }

    fn _native_batch_norm_legit_functional(
        input: &Tensor,
        weight: Option<&Tensor>,
        bias: Option<&Tensor>,
        running_mean: &Tensor,
        running_var: &Tensor,
        training: bool,
        momentum: f64,
        eps: f64,
    ) -> Result<(Tensor, Tensor, Tensor, Tensor, Tensor)> {
        let (mut mean, mut var) = (aten::clone(running_mean)?, aten::clone(running_var)?);
        let (out, save_mean, save_invstd) = aten::_native_batch_norm_legit(
            input, weight, bias, &mut mean, &mut var, training, momentum, eps,
        )?;
        Ok((out, save_mean, save_invstd, mean, var))
    }

    fn _batch_norm_with_update(
        input: &Tensor,
        weight: Option<&Tensor>,
        bias: Option<&Tensor>,
        running_mean: &mut Tensor,
        running_var: &mut Tensor,
        momentum: f64,
        eps: f64,
    ) -> Result<(Tensor, Tensor, Tensor, Tensor)> {
        let running = [Some(&*running_mean), Some(&*running_var)];
        let (out, save_mean, save_invstd) =
            aten::native_batch_norm(input, weight, bias, running[0], running[1], true, momentum, eps)?;
        Ok((out, save_mean, save_invstd, reserve(input)?))
    }

    fn _batch_norm_with_update_functional(
        input: &Tensor,
        weight: Option<&Tensor>,
        bias: Option<&Tensor>,
        running_mean: &Tensor,
        running_var: &Tensor,
        momentum: f64,
        eps: f64,
    ) -> Result<(Tensor, Tensor, Tensor, Tensor, Tensor, Tensor)> {
        let (mut mean, mut var) = (aten::clone(running_mean)?, aten::clone(running_var)?);
        let (out, save_mean, save_invstd, reserve) =
            aten::_batch_norm_with_update(input, weight, bias, &mut mean, &mut var, momentum, eps)?;
        Ok((out, save_mean, save_invstd, reserve, mean, var))
    }
}

/// Operators with derivatives of their own, which `vmap` decomposes.
#[torch_impl(aten, CompositeExplicitAutograd, FuncTorchBatchedDecomposition)]
mod batched {
    use super::*;

    fn _native_batch_norm_legit_no_stats(
        input: &Tensor,
        weight: Option<&Tensor>,
        bias: Option<&Tensor>,
        training: bool,
        momentum: f64,
        eps: f64,
    ) -> Result<Three> {
        aten::native_batch_norm(input, weight, bias, None, None, training, momentum, eps)
    }

    fn _native_batch_norm_legit_no_training(
        input: &Tensor,
        weight: Option<&Tensor>,
        bias: Option<&Tensor>,
        running_mean: &Tensor,
        running_var: &Tensor,
        momentum: f64,
        eps: f64,
    ) -> Result<Three> {
        let running = [Some(running_mean), Some(running_var)];
        aten::native_batch_norm(input, weight, bias, running[0], running[1], false, momentum, eps)
    }

    fn _batch_norm_no_update(
        input: &Tensor,
        weight: Option<&Tensor>,
        bias: Option<&Tensor>,
        running_mean: Option<&Tensor>,
        running_var: Option<&Tensor>,
        momentum: f64,
        eps: f64,
    ) -> Result<(Tensor, Tensor, Tensor, Tensor)> {
        let (out, save_mean, save_invstd) =
            aten::native_batch_norm(input, weight, bias, running_mean, running_var, false, momentum, eps)?;
        Ok((out, save_mean, save_invstd, reserve(input)?))
    }

    fn batch_norm_backward(
        grad_out: &Tensor,
        input: &Tensor,
        weight: &Tensor,
        running_mean: Option<&Tensor>,
        running_var: Option<&Tensor>,
        save_mean: Option<&Tensor>,
        save_var: Option<&Tensor>,
        update: bool,
        eps: f64,
        output_mask: &[bool],
        _reserve: &Tensor,
    ) -> Result<Three> {
        let weight = Some(weight).filter(|weight| weight.is_defined());
        aten::native_batch_norm_backward(
            grad_out,
            input,
            weight,
            running_mean,
            running_var,
            save_mean,
            save_var,
            update,
            eps,
            output_mask,
        )
    }

    fn native_group_norm_backward(
        grad_out: &Tensor,
        input: &Tensor,
        mean: &Tensor,
        rstd: &Tensor,
        weight: Option<&Tensor>,
        n: i64,
        c: i64,
        hx_w: i64,
        group: i64,
        output_mask: &[bool],
    ) -> Result<Three> {
        const OPERATOR: &str = aten::native_group_norm_backward::NAME;
        let &[of_input, of_weight, of_bias] = output_mask else {
            bail!(Argument, "{OPERATOR}: output_mask has {} values, expected three", output_mask.len())
        };
        check_groups(OPERATOR, [n, c, hx_w, group], [grad_out, input, mean, rstd], weight)?;
        let groups = Groups { sizes: [n, group, c / group, hx_w], rstd, mean };
        groups.gradients(grad_out, input, weight, [of_input, of_weight, of_bias])
    }
}

/// An input `[items, groups of channels, elements]`, and the statistics of the groups.
struct Groups<'a> {
    sizes: [i64; 4],
    mean: &'a Tensor,
    rstd: &'a Tensor,
}

impl Groups<'_> {
    fn gradients(
        &self,
        grad: &Tensor,
        input: &Tensor,
        weight: Option<&Tensor>,
        [of_input, of_weight, of_bias]: [bool; 3],
    ) -> Result<Three> {
        let dtype = opmath_type(input.dtype()); // 16-bit floats are rounded once, at the end
        let [items, groups, channels, _] = self.sizes;
        let wide = |tensor: &Tensor, sizes: &[i64]| aten::reshape(&aten::to_dtype(tensor, dtype)?, sizes);
        let (grad, x) = (wide(grad, &self.sizes)?, wide(input, &self.sizes)?);
        let (mean, rstd) =
            (wide(self.mean, &[items, groups, 1, 1])?, wide(self.rstd, &[items, groups, 1, 1])?);
        let x_hat = aten::mul_Tensor(&aten::sub_Tensor(&x, &mean)?, &rstd)?;
        let parameter = |grads: &Tensor| {
            let sums = aten::sum_dim_IntList(grads, Some(&[0, 3]))?;
            aten::to_dtype(
                &aten::reshape(&sums, &[groups * channels])?,
                weight.map_or(input.dtype(), Tensor::dtype),
            )
        };
        let through = |weighted: &Tensor| {
            let mean = |tensor: &Tensor| aten::mean_dim::with(tensor, Some(&[2, 3])).keepdim(true).call();
            let along = aten::mul_Tensor(&x_hat, &mean(&aten::mul_Tensor(weighted, &x_hat)?)?)?;
            let whole = aten::sub_Tensor(&aten::sub_Tensor(weighted, &mean(weighted)?)?, &along)?;
            let of_input = aten::reshape(&aten::mul_Tensor(&whole, &rstd)?, input.sizes())?;
            aten::contiguous::with(&aten::to_dtype(&of_input, input.dtype())?)
                .memory_format(input.suggest_memory_format())
                .call()
        };
        let weighted = match weight {
            Some(weight) => aten::mul_Tensor(&grad, &wide(weight, &[groups, channels, 1])?)?,
            None => grad.clone(),
        };
        let part = |is_wanted: bool, f: &dyn Fn() -> Result<Tensor>| {
            if is_wanted { f() } else { Ok(Tensor::undefined()) }
        };
        Ok((
            part(of_input, &|| through(&weighted))?,
            part(of_weight, &|| parameter(&aten::mul_Tensor(&grad, &x_hat)?))?,
            part(of_bias, &|| parameter(&grad))?,
        ))
    }
}
