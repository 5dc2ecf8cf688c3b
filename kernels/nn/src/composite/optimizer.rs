//! `_foreach_*` operators: arithmetic on lists of tensors, one tensor after the other; and the fused steps of
//! optimisers whose learning rate is a tensor.

use torch_library::prelude::*;
use torch_library::{DispatchKeySet, OperatorHandle, Stack};

use crate::aten;
use crate::below_autograd::below_autograd;

mod scaler;

/// Made of operators with derivatives.
#[torch_impl(aten, CompositeImplicitAutograd)]
mod kernels {
    use super::*;

    fn _foreach_add__List(this: &mut [Tensor], other: &[Tensor], alpha: Scalar) -> Result<()> {
        check_lengths(aten::_foreach_add__List::NAME, this, &[other])?;
        this.iter_mut().zip(other).try_for_each(|(x, y)| aten::add__Tensor::call(x, y, alpha).map(drop))
    }

    fn _foreach_add__Scalar(this: &mut [Tensor], scalar: Scalar) -> Result<()> {
        this.iter_mut().try_for_each(|x| aten::add__Scalar(x, scalar).map(drop))
    }

    fn _foreach_sub__List(this: &mut [Tensor], other: &[Tensor], alpha: Scalar) -> Result<()> {
        check_lengths(aten::_foreach_sub__List::NAME, this, &[other])?;
        this.iter_mut().zip(other).try_for_each(|(x, y)| aten::sub__Tensor::call(x, y, alpha).map(drop))
    }

    fn _foreach_mul__List(this: &mut [Tensor], other: &[Tensor]) -> Result<()> {
        check_lengths(aten::_foreach_mul__List::NAME, this, &[other])?;
        this.iter_mut().zip(other).try_for_each(|(x, y)| aten::mul__Tensor(x, y).map(drop))
    }

    fn _foreach_mul__Scalar(this: &mut [Tensor], scalar: Scalar) -> Result<()> {
        this.iter_mut().try_for_each(|x| aten::mul__Scalar(x, scalar).map(drop))
    }

    fn _foreach_div__List(this: &mut [Tensor], other: &[Tensor]) -> Result<()> {
        check_lengths(aten::_foreach_div__List::NAME, this, &[other])?;
        this.iter_mut().zip(other).try_for_each(|(x, y)| aten::div__Tensor(x, y).map(drop))
    }

    fn _foreach_div__Scalar(this: &mut [Tensor], scalar: Scalar) -> Result<()> {
        this.iter_mut().try_for_each(|x| aten::div__Scalar(x, scalar).map(drop))
    }

    fn _foreach_addcmul__Scalar(
        this: &mut [Tensor],
        tensor1: &[Tensor],
        tensor2: &[Tensor],
        value: Scalar,
    ) -> Result<()> {
        check_lengths(aten::_foreach_addcmul__Scalar::NAME, this, &[tensor1, tensor2])?;
        let factors = tensor1.iter().zip(tensor2);
        this.iter_mut()
            .zip(factors)
            .try_for_each(|(x, (a, b))| aten::addcmul_::call(x, a, b, value).map(drop))
    }

    fn _foreach_addcdiv__Scalar(
        this: &mut [Tensor],
        tensor1: &[Tensor],
        tensor2: &[Tensor],
        value: Scalar,
    ) -> Result<()> {
        check_lengths(aten::_foreach_addcdiv__Scalar::NAME, this, &[tensor1, tensor2])?;
        let operands = tensor1.iter().zip(tensor2);
        this.iter_mut()
            .zip(operands)
            .try_for_each(|(x, (a, b))| aten::addcdiv_::call(x, a, b, value).map(drop))
    }

    fn _foreach_lerp__Scalar(this: &mut [Tensor], tensors1: &[Tensor], weight: Scalar) -> Result<()> {
        check_lengths(aten::_foreach_lerp__Scalar::NAME, this, &[tensors1])?;
        this.iter_mut().zip(tensors1).try_for_each(|(x, end)| aten::lerp__Scalar(x, end, weight).map(drop))
    }

    fn _foreach_addcmul__Tensor(
        this: &mut [Tensor],
        tensor1: &[Tensor],
        tensor2: &[Tensor],
        scalars: &Tensor,
    ) -> Result<()> {
        let scalars = one_for_each(aten::_foreach_addcmul__Tensor::NAME, this, scalars)?;
        aten::_foreach_addcmul__ScalarList(this, tensor1, tensor2, &scalars)
    }

    fn _foreach_addcdiv__Tensor(
        this: &mut [Tensor],
        tensor1: &[Tensor],
        tensor2: &[Tensor],
        scalars: &Tensor,
    ) -> Result<()> {
        let scalars = one_for_each(aten::_foreach_addcdiv__Tensor::NAME, this, scalars)?;
        aten::_foreach_addcdiv__ScalarList(this, tensor1, tensor2, &scalars)
    }

    fn _foreach_zero_(this: &mut [Tensor]) -> Result<()> {
        this.iter_mut().try_for_each(|x| aten::zero_(x).map(drop))
    }

    fn _foreach_sqrt(this: &[Tensor]) -> Result<Vec<Tensor>> {
        check_nonempty(aten::_foreach_sqrt::NAME, this)?;
        this.iter().map(aten::sqrt).collect()
    }

    fn _foreach_norm_Scalar(this: &[Tensor], ord: Scalar, dtype: Option<DType>) -> Result<Vec<Tensor>> {
        check_nonempty(aten::_foreach_norm_Scalar::NAME, this)?;
        this.iter().map(|x| aten::linalg_vector_norm::with(x).ord(ord).dtype(dtype).call()).collect()
    }

    fn _foreach_powsum_Scalar(this: &[Tensor], ord: Scalar, dtype: Option<DType>) -> Result<Vec<Tensor>> {
        check_nonempty(aten::_foreach_powsum_Scalar::NAME, this)?;
        this.iter().map(|x| aten::linalg__powsum::with(x).ord(ord).dtype(dtype).call()).collect()
    }

    fn _foreach_addcmul_Tensor(
        this: &[Tensor],
        tensor1: &[Tensor],
        tensor2: &[Tensor],
        scalars: &Tensor,
    ) -> Result<Vec<Tensor>> {
        let scalars = one_for_each(aten::_foreach_addcmul_Tensor::NAME, this, scalars)?;
        aten::_foreach_addcmul_ScalarList(this, tensor1, tensor2, &scalars)
    }

    fn _foreach_addcdiv_Tensor(
        this: &[Tensor],
        tensor1: &[Tensor],
        tensor2: &[Tensor],
        scalars: &Tensor,
    ) -> Result<Vec<Tensor>> {
        let scalars = one_for_each(aten::_foreach_addcdiv_Tensor::NAME, this, scalars)?;
        aten::_foreach_addcdiv_ScalarList(this, tensor1, tensor2, &scalars)
    }
}

/// The numbers in a vector, one for each tensor of a list.
///
/// # Errors
/// A tensor of other sizes, not contiguous, or not on the CPU, as in PyTorch.
fn one_for_each(operator: &str, this: &[Tensor], scalars: &Tensor) -> Result<Vec<Scalar>> {
    ensure!(
        scalars.sizes() == [this.len() as i64],
        Shape,
        "{operator}: numbers of sizes {:?} for {} tensors, expected a vector with one for each",
        scalars.sizes(),
        this.len()
    );
    ensure!(
        scalars.device() == Device::CPU && scalars.is_contiguous(MemoryFormat::Contiguous),
        Argument,
        "{operator}: numbers of strides {:?} on {}, expected contiguous ones on the CPU",
        scalars.strides(),
        scalars.device()
    );
    (0..scalars.numel()).map(|at| aten::select_int(scalars, 0, at)?.item()).collect()
}

fn check_nonempty(operator: &str, tensors: &[Tensor]) -> Result<()> {
    ensure!(!tensors.is_empty(), Argument, "{operator}: the list is empty, expected at least one tensor");
    Ok(())
}

fn check_lengths(operator: &str, this: &[Tensor], others: &[&[Tensor]]) -> Result<()> {
    for other in others {
        ensure!(
            other.len() == this.len(),
            Argument,
            "{operator}: lists of {} and {} tensors, expected one for each",
            this.len(),
            other.len()
        );
    }
    Ok(())
}

#[torch_impl(aten, CompositeExplicitAutograd)]
mod steps {
    use super::*;

    fn _fused_sgd__tensor_lr(
        this: &mut [Tensor],
        grads: &mut [Tensor],
        momentum_buffer_list: &mut [Tensor],
        weight_decay: f64,
        momentum: f64,
        lr: &Tensor,
        dampening: f64,
        nesterov: bool,
        maximize: bool,
        is_first_step: bool,
        grad_scale: Option<&Tensor>,
        found_inf: Option<&Tensor>,
    ) -> Result<()> {
        aten::_fused_sgd_::call(
            this,
            grads,
            momentum_buffer_list,
            weight_decay,
            momentum,
            rate(aten::_fused_sgd__tensor_lr::NAME, lr)?,
            dampening,
            nesterov,
            maximize,
            is_first_step,
            grad_scale,
            found_inf,
        )
    }

    fn _fused_adagrad__tensor_lr(
        this: &mut [Tensor],
        grads: &mut [Tensor],
        state_sums: &mut [Tensor],
        state_steps: &[Tensor],
        lr: &Tensor,
        lr_decay: f64,
        weight_decay: f64,
        eps: f64,
        maximize: bool,
        grad_scale: Option<&Tensor>,
        found_inf: Option<&Tensor>,
    ) -> Result<()> {
        aten::_fused_adagrad_::call(
            this,
            grads,
            state_sums,
            &mut state_steps.to_vec(),
            rate(aten::_fused_adagrad__tensor_lr::NAME, lr)?,
            lr_decay,
            weight_decay,
            eps,
            maximize,
            grad_scale,
            found_inf,
        )
    }
}

/// Steps of Adam and AdamW, by the operators that take the learning rate as a number.
macro_rules! adam_steps {
    ($($name:ident => $step:ident;)+) => {
        #[torch_impl(aten, CompositeExplicitAutograd)]
        mod adam {
            use super::*;

            $(
                fn $name(
                    this: &mut [Tensor],
                    grads: &mut [Tensor],
                    exp_avgs: &mut [Tensor],
                    exp_avg_sqs: &mut [Tensor],
                    max_exp_avg_sqs: &mut [Tensor],
                    state_steps: &[Tensor],
                    lr: &Tensor,
                    beta1: f64,
                    beta2: f64,
                    weight_decay: f64,
                    eps: f64,
                    amsgrad: bool,
                    maximize: bool,
                    grad_scale: Option<&Tensor>,
                    found_inf: Option<&Tensor>,
                ) -> Result<()> {
                    aten::$step::call(
                        this,
                        grads,
                        exp_avgs,
                        exp_avg_sqs,
                        max_exp_avg_sqs,
                        state_steps,
                        rate(aten::$name::NAME, lr)?,
                        beta1,
                        beta2,
                        weight_decay,
                        eps,
                        amsgrad,
                        maximize,
                        grad_scale,
                        found_inf,
                    )
                }
            )+
        }
    };
}

adam_steps! {
    _fused_adam__tensor_lr => _fused_adam_;
    _fused_adamw__tensor_lr => _fused_adamw_;
}

/// The learning rate in a tensor of one element.
fn rate(operator: &str, lr: &Tensor) -> Result<f64> {
    lr.item().and_then(Scalar::to).map_err(|error| error.context(operator))
}

/// Steps that return what their in-place forms write.
macro_rules! functional_steps {
    ($($name:ident => $step:ident;)+) => {
        #[torch_impl(aten, CompositeExplicitAutograd, boxed)]
        mod functional {
            use super::*;

            $(
                fn $name(_: OperatorHandle, _: DispatchKeySet, stack: &mut Stack<'_>) -> Result<()> {
                    on_copies(aten::$name::handle(), aten::$step::handle(), stack)
                }
            )+
        }
    };
}

functional_steps! {
    _fused_sgd => _fused_sgd_;
    _fused_sgd_tensor_lr => _fused_sgd__tensor_lr;
    _fused_adagrad => _fused_adagrad_;
    _fused_adagrad_tensor_lr => _fused_adagrad__tensor_lr;
    _fused_adam => _fused_adam_;
    _fused_adam_tensor_lr => _fused_adam__tensor_lr;
    _fused_adamw => _fused_adamw_;
    _fused_adamw_tensor_lr => _fused_adamw__tensor_lr;
}

/// Calls `step` with copies of the lists that it writes, and returns these.
fn on_copies(operator: OperatorHandle, step: OperatorHandle, stack: &mut Stack<'_>) -> Result<()> {
    let mut arguments = operator.take_arguments(stack)?;
    let mut copies = Vec::new();
    let written = step.schema()?.arguments.iter().zip(&mut arguments);
    for (_, value) in written.filter(|(argument, _)| argument.is_mutable()) {
        let copy: Vec<Tensor> =
            below_autograd(|| value.tensors().iter().map(aten::clone).collect::<Result<_>>())?;
        *value = Value::Tensors(copy.clone().into());
        copies.push(copy);
    }
    let mut inner: Stack<'_> = arguments.into_iter().collect();
    below_autograd(|| step.call_boxed(&mut inner))?;
    copies.into_iter().for_each(|copy| stack.push(copy));
    Ok(())
}
