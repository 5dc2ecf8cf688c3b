//! Internal operators, as compositions of operators.

use std::f64::consts::{FRAC_1_SQRT_2, FRAC_2_SQRT_PI};

use torch_library::geometry::wrap_dim;
use torch_library::prelude::*;

use crate::aten;
use crate::prelude::*;
use crate::unseen::unseen;

#[torch_impl(aten, CompositeExplicitAutograd)]
mod explicit {
    use super::*;

    fn _cummax_helper(this: &Tensor, values: &mut Tensor, indices: &mut Tensor, dim: i64) -> Result<()> {
        write_both(aten::_cummax_helper::NAME, this, [values, indices], aten::cummax(this, dim)?)
    }

    fn _cummin_helper(this: &Tensor, values: &mut Tensor, indices: &mut Tensor, dim: i64) -> Result<()> {
        write_both(aten::_cummin_helper::NAME, this, [values, indices], aten::cummin(this, dim)?)
    }
}

/// Writes results to tensors of the same sizes and dtypes.
fn write_both(
    operator: &str,
    this: &Tensor,
    targets: [&mut Tensor; 2],
    results: (Tensor, Tensor),
) -> Result<()> {
    for (target, result) in targets.into_iter().zip([results.0, results.1]) {
        ensure!(
            target.sizes() == this.sizes() && target.dtype() == result.dtype(),
            Argument,
            "{operator}: a result of {} and sizes {:?} cannot be written to a tensor of {} and sizes {:?}",
            result.dtype(),
            this.sizes(),
            target.dtype(),
            target.sizes()
        );
        target.check_no_internal_overlap()?;
        unseen(|| aten::copy_(target, &result).map(drop))?;
    }
    Ok(())
}

/// Zero where a sum is not positive, or not a number.
fn positive(operator: &str, sum: &Tensor) -> Result<Tensor> {
    let types = [DType::Float32, DType::Float64, DType::Int8, DType::Int32, DType::Int64];
    ensure!(types.contains(&sum.dtype()), DType, "{operator} is not implemented for {}", sum.dtype());
    aten::where_self(&aten::gt_Scalar(sum, 0.into())?, sum, &aten::zeros_like(sum)?)
}

#[torch_impl(aten, CompositeImplicitAutograd)]
mod implicit {
    use super::*;

    fn _stack(tensors: &[Tensor], dim: i64) -> Result<Tensor> {
        aten::stack::call(tensors, dim)
    }

    fn _logcumsumexp(this: &Tensor, dim: i64) -> Result<Tensor> {
        aten::logcumsumexp(this, dim)
    }

    fn _add_relu_Tensor(this: &Tensor, other: &Tensor, alpha: Scalar) -> Result<Tensor> {
        positive(aten::_add_relu_Tensor::NAME, &aten::add_Tensor::call(this, other, alpha)?)
    }

    fn _add_relu_Scalar(this: &Tensor, other: Scalar, alpha: Scalar) -> Result<Tensor> {
        positive(aten::_add_relu_Scalar::NAME, &aten::add_Scalar::call(this, other, alpha)?)
    }

    fn _compute_linear_combination(input: &Tensor, coefficients: &Tensor) -> Result<Tensor> {
        const OPERATOR: &str = aten::_compute_linear_combination::NAME;
        let ([rows, columns], [count, rest @ ..]) = (coefficients.sizes(), input.sizes()) else {
            bail!(
                Shape,
                "{OPERATOR}: coefficients of sizes {:?} for slices of {:?}, expected a matrix",
                coefficients.sizes(),
                input.sizes()
            )
        };
        ensure!(columns == count, Shape, "{OPERATOR}: {columns} coefficients for {count} slices");
        ensure!(input.numel() > 0, Shape, "{OPERATOR}: sizes {:?} have no elements", input.sizes());
        let slices = aten::reshape(input, &[*count, -1])?;
        let sums = aten::mm(coefficients, &slices).map_err(|error| error.context(OPERATOR))?;
        aten::reshape(&sums, &[&[*rows], rest].concat())
    }

    fn _cholesky_solve_helper(this: &Tensor, a: &Tensor, upper: bool) -> Result<Tensor> {
        let batch = |tensor: &Tensor| tensor.sizes()[..tensor.dim().saturating_sub(2)].to_vec();
        ensure!(
            batch(this) == batch(a),
            Shape,
            "{}: sizes {:?} and {:?} are not of one batch",
            aten::_cholesky_solve_helper::NAME,
            this.sizes(),
            a.sizes()
        );
        aten::cholesky_solve::call(this, a, upper)
    }

    fn _lazy_clone(this: &Tensor) -> Result<Tensor> {
        aten::clone(this)
    }

    fn _reshape_copy(this: &Tensor, size: &[i64]) -> Result<Tensor> {
        let copy = aten::clone::with(this).memory_format(Some(MemoryFormat::Contiguous)).call()?;
        let error = |error: Error| error.context(aten::_reshape_copy::NAME);
        aten::_unsafe_view(&copy, aten::reshape(this, size).map_err(error)?.sizes())
    }

    fn _reshape_from_tensor(this: &Tensor, shape: &Tensor) -> Result<Tensor> {
        ensure!(
            shape.dim() == 1 && shape.dtype() == DType::Int64,
            Argument,
            "{}: a shape of {} and sizes {:?}, expected a vector of int64",
            aten::_reshape_from_tensor::NAME,
            shape.dtype(),
            shape.sizes()
        );
        aten::reshape(this, &shape.to_vec::<i64>()?)
    }

    fn _shape_as_tensor(this: &Tensor) -> Result<Tensor> {
        Tensor::from_vec(this.sizes().to_vec(), &[this.dim() as i64])
    }

    fn _dim_arange(like: &Tensor, dim: i64) -> Result<Tensor> {
        let size = like.size(dim).map_err(|error| error.context(aten::_dim_arange::NAME))?;
        aten::arange::with(size.into()).dtype(Some(DType::Int64)).device(Some(like.device())).call()
    }

    fn _pad_circular(this: &Tensor, pad: &[i64]) -> Result<Tensor> {
        aten::pad::call(this, pad, "circular", None)
    }

    fn _pad_enum(this: &Tensor, pad: &[i64], mode: i64, value: Option<f64>) -> Result<Tensor> {
        let mode = match mode {
            0 => "reflect",
            1 => "replicate",
            2 => "circular",
            3 => "constant",
            _ => bail!(Argument, "{}: mode is {mode}, expected 0 to 3", aten::_pad_enum::NAME),
        };
        aten::pad::call(this, pad, mode, value)
    }

    fn flatten_dense_tensors(tensors: &[Tensor]) -> Result<Tensor> {
        let lines = tensors.iter().map(|tensor| aten::reshape(tensor, &[-1])).collect::<Result<Vec<_>>>()?;
        aten::cat(&lines).map_err(|error| error.context(aten::flatten_dense_tensors::NAME))
    }

    fn unflatten_dense_tensors(flat: &Tensor, tensors: &[Tensor]) -> Result<Vec<Tensor>> {
        let mut start = 0;
        let part = |like: &Tensor| {
            let count = like.numel();
            if count == 0 {
                return aten::new_empty(flat, like.sizes());
            }
            let line = aten::narrow(flat, 0, start, count)
                .map_err(|error| error.context(aten::unflatten_dense_tensors::NAME))?;
            start += count;
            aten::view(&line, like.sizes())
        };
        tensors.iter().map(part).collect()
    }

    fn infinitely_differentiable_gelu_backward(grad: &Tensor, this: &Tensor) -> Result<Tensor> {
        let below = aten::add_Scalar(&aten::erf(&this.mul(FRAC_1_SQRT_2)?)?, 1.into())?.mul(0.5)?;
        let density = aten::exp(&this.mul(this)?.mul(-0.5)?)?.mul(0.5 * FRAC_1_SQRT_2 * FRAC_2_SQRT_PI)?;
        grad.mul(&below.add(&this.mul(&density)?)?)
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

    fn conv_tbc_backward(
        this: &Tensor,
        input: &Tensor,
        weight: &Tensor,
        bias: &Tensor,
        pad: i64,
    ) -> Result<(Tensor, Tensor, Tensor)> {
        const OPERATOR: &str = aten::conv_tbc_backward::NAME;
        ensure!(
            [this, input, weight].iter().all(|tensor| tensor.dim() == 3) && bias.dim() == 1,
            Shape,
            "{OPERATOR}: sizes {:?}, {:?} and {:?} with a bias of {:?}, expected three dimensions and one",
            this.sizes(),
            input.sizes(),
            weight.sizes(),
            bias.sizes()
        );
        let [grad, sequences] = [this, input].map(|tensor| aten::permute(tensor, &[1, 2, 0]));
        let weight = aten::permute(weight, &[2, 1, 0])?;
        let (of_input, of_weight, of_bias) = aten::convolution_backward(
            &grad?,
            &sequences?,
            &weight,
            Some(bias.sizes()),
            &[1],
            &[pad],
            &[1],
            false,
            &[0],
            1,
            &[true; 3],
        )
        .map_err(|error| error.context(OPERATOR))?;
        let turned = |tensor: &Tensor, dims: &[i64]| aten::contiguous(&aten::permute(tensor, dims)?);
        Ok((turned(&of_input, &[2, 0, 1])?, turned(&of_weight, &[2, 1, 0])?, of_bias))
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
