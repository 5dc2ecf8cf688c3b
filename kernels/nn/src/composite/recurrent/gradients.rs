//! The gradients of a step of a recurrent network, as expressions that have derivatives themselves.

use torch_library::prelude::*;

use super::gates;
use crate::aten;

/// The gradients of the gates from the input and from the hidden state, of the state, and of both biases.
type Gradients = (Tensor, Tensor, Tensor, Tensor, Tensor);

#[torch_impl(aten, CompositeImplicitAutograd)]
mod kernels {
    use super::*;

    fn _thnn_differentiable_lstm_cell_backward(
        grad_hy: Option<&Tensor>,
        grad_cy: Option<&Tensor>,
        input_gates: &Tensor,
        hidden_gates: &Tensor,
        input_bias: Option<&Tensor>,
        hidden_bias: Option<&Tensor>,
        cx: &Tensor,
        cy: &Tensor,
    ) -> Result<Gradients> {
        const OPERATOR: &str = aten::_thnn_differentiable_lstm_cell_backward::NAME;
        let both = aten::add_Tensor(&biased(input_gates, input_bias)?, &biased(hidden_gates, hidden_bias)?)?;
        let [input, forget, new, output] = gates::<4>(&both).map_err(|error| error.context(OPERATOR))?;
        let [input, forget, output] = [input, forget, output].map(|gate| aten::sigmoid(&gate));
        let (input, forget, new, output) = (input?, forget?, aten::tanh(&new)?, output?);
        let seen = aten::tanh(cy)?;
        let through = grad_hy.map(|grad| aten::tanh_backward(&aten::mul_Tensor(grad, &output)?, &seen));
        let of_cy = match (through.transpose()?, grad_cy) {
            (Some(through), Some(grad)) => aten::add_Tensor(&through, grad)?,
            (Some(grad), None) => grad,
            (None, Some(grad)) => grad.clone(),
            (None, None) => {
                bail!(Argument, "{OPERATOR}: a gradient is missing: neither `grad_hy` nor `grad_cy` is given")
            }
        };
        let of_output = match grad_hy {
            Some(grad) => aten::sigmoid_backward(&aten::mul_Tensor(grad, &seen)?, &output)?,
            None => aten::zeros_like(cx)?,
        };
        let of_gates = aten::cat::call(
            &[
                aten::sigmoid_backward(&aten::mul_Tensor(&of_cy, &new)?, &input)?,
                aten::sigmoid_backward(&aten::mul_Tensor(&of_cy, cx)?, &forget)?,
                aten::tanh_backward(&aten::mul_Tensor(&of_cy, &input)?, &new)?,
                of_output,
            ],
            1,
        )?;
        let of_cx = aten::mul_Tensor(&of_cy, &forget)?;
        let [of_input_bias, of_hidden_bias] = [input_bias, hidden_bias].map(|bias| of_bias(bias, &of_gates));
        Ok((of_gates.clone(), of_gates, of_cx, of_input_bias?, of_hidden_bias?))
    }

    fn _thnn_differentiable_gru_cell_backward(
        grad_hy: &Tensor,
        input_gates: &Tensor,
        hidden_gates: &Tensor,
        hx: &Tensor,
        input_bias: Option<&Tensor>,
        hidden_bias: Option<&Tensor>,
    ) -> Result<Gradients> {
        const OPERATOR: &str = aten::_thnn_differentiable_gru_cell_backward::NAME;
        let parts =
            |of: &Tensor, bias| gates::<3>(&biased(of, bias)?).map_err(|error| error.context(OPERATOR));
        let (input, hidden) = (parts(input_gates, input_bias)?, parts(hidden_gates, hidden_bias)?);
        let reset = aten::sigmoid(&aten::add_Tensor(&input[0], &hidden[0])?)?;
        let update = aten::sigmoid(&aten::add_Tensor(&input[1], &hidden[1])?)?;
        let new = aten::tanh(&aten::add_Tensor(&input[2], &aten::mul_Tensor(&reset, &hidden[2])?)?)?;
        let of_hx = aten::mul_Tensor(grad_hy, &update)?;
        let of_update = aten::mul_Tensor(grad_hy, &aten::sub_Tensor(hx, &new)?)?;
        let of_update = aten::sigmoid_backward(&of_update, &update)?;
        let of_new = aten::mul_Tensor(grad_hy, &aten::rsub_Scalar(&update, 1.into())?)?;
        let of_new = aten::tanh_backward(&of_new, &new)?;
        let of_reset = aten::sigmoid_backward(&aten::mul_Tensor(&of_new, &hidden[2])?, &reset)?;
        let of_hidden_new = aten::mul_Tensor(&of_new, &reset)?;
        let of_input = aten::cat::call(&[of_reset.clone(), of_update.clone(), of_new], 1)?;
        let of_hidden = aten::cat::call(&[of_reset, of_update, of_hidden_new], 1)?;
        let (of_input_bias, of_hidden_bias) =
            (of_bias(input_bias, &of_input)?, of_bias(hidden_bias, &of_hidden)?);
        Ok((of_input, of_hidden, of_hx, of_input_bias, of_hidden_bias))
    }
}

fn biased(gates: &Tensor, bias: Option<&Tensor>) -> Result<Tensor> {
    match bias {
        Some(bias) => aten::add_Tensor(gates, bias),
        None => Ok(gates.clone()),
    }
}

fn of_bias(bias: Option<&Tensor>, of_gates: &Tensor) -> Result<Tensor> {
    match bias {
        Some(_) => aten::sum_dim_IntList(of_gates, Some(&[0])),
        None => Ok(Tensor::undefined()),
    }
}
