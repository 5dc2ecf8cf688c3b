//! The gradients of a step of a recurrent network, as expressions that have derivatives themselves: from its operands,
//! and from what a fused step has kept.

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
        let kept = [input, forget, new, output];
        let (of_gates, of_cx) =
            of_lstm([grad_hy, grad_cy], &kept, cx, cy).map_err(|error| error.context(OPERATOR))?;
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
        let (of_input, of_hidden, of_hx) = of_gru(grad_hy, [&reset, &update, &new], hx, &hidden[2])?;
        let (of_input_bias, of_hidden_bias) =
            (of_bias(input_bias, &of_input)?, of_bias(hidden_bias, &of_hidden)?);
        Ok((of_input, of_hidden, of_hx, of_input_bias, of_hidden_bias))
    }
}

#[torch_impl(aten, CompositeImplicitAutograd)]
mod fused {
    use super::*;

    fn _thnn_fused_lstm_cell_backward_impl(
        grad_hy: Option<&Tensor>,
        grad_cy: Option<&Tensor>,
        cx: &Tensor,
        cy: &Tensor,
        workspace: &Tensor,
        has_bias: bool,
    ) -> Result<(Tensor, Tensor, Tensor)> {
        const OPERATOR: &str = aten::_thnn_fused_lstm_cell_backward_impl::NAME;
        if grad_hy.is_none() && grad_cy.is_none() {
            return Ok((Tensor::undefined(), Tensor::undefined(), Tensor::undefined()));
        }
        let kept = kept::<4>(OPERATOR, workspace, cx)?;
        let (of_gates, of_cx) = of_lstm([grad_hy, grad_cy], &kept, cx, cy)?;
        let of_bias = of_bias(has_bias.then_some(&of_gates), &of_gates)?;
        Ok((of_gates, of_cx, of_bias))
    }

    fn _thnn_fused_lstm_cell_backward(
        grad_hy: Option<&Tensor>,
        grad_cy: Option<&Tensor>,
        cx: &Tensor,
        cy: &Tensor,
        workspace: &Tensor,
        has_bias: bool,
    ) -> Result<Gradients> {
        let (of_gates, of_cx, of_bias) =
            aten::_thnn_fused_lstm_cell_backward_impl(grad_hy, grad_cy, cx, cy, workspace, has_bias)?;
        Ok((of_gates.clone(), of_gates, of_cx, of_bias.clone(), of_bias))
    }

    fn _thnn_fused_gru_cell_backward(
        grad_hy: &Tensor,
        workspace: &Tensor,
        has_bias: bool,
    ) -> Result<Gradients> {
        const OPERATOR: &str = aten::_thnn_fused_gru_cell_backward::NAME;
        let [reset, update, new, hx, hidden] = kept::<5>(OPERATOR, workspace, grad_hy)?;
        let (of_input, of_hidden, of_hx) = of_gru(grad_hy, [&reset, &update, &new], &hx, &hidden)?;
        let of_biases = [&of_input, &of_hidden].map(|gates| of_bias(has_bias.then_some(gates), gates));
        let [of_input_bias, of_hidden_bias] = of_biases;
        Ok((of_input, of_hidden, of_hx, of_input_bias?, of_hidden_bias?))
    }
}

/// The parts of what a fused step has kept, each of the sizes of a state.
fn kept<const N: usize>(operator: &str, workspace: &Tensor, state: &Tensor) -> Result<[Tensor; N]> {
    let parts = gates::<N>(workspace).map_err(|error| error.context(operator))?;
    ensure!(
        parts[0].sizes() == state.sizes(),
        Shape,
        "{operator}: a workspace of sizes {:?} is not {N} times a state of {:?}",
        workspace.sizes(),
        state.sizes()
    );
    Ok(parts)
}

/// The gradients of the gates of an LSTM, before their activations, and of `cx`.
///
/// # Errors
/// Neither gradient.
fn of_lstm(
    [grad_hy, grad_cy]: [Option<&Tensor>; 2],
    [input, forget, new, output]: &[Tensor; 4],
    cx: &Tensor,
    cy: &Tensor,
) -> Result<(Tensor, Tensor)> {
    let seen = aten::tanh(cy)?;
    let through = grad_hy.map(|grad| aten::tanh_backward(&aten::mul_Tensor(grad, output)?, &seen));
    let of_cy = match (through.transpose()?, grad_cy) {
        (Some(through), Some(grad)) => aten::add_Tensor(&through, grad)?,
        (Some(grad), None) => grad,
        (None, Some(grad)) => grad.clone(),
        (None, None) => bail!(Argument, "a gradient is missing: neither `grad_hy` nor `grad_cy` is given"),
    };
    let of_output = match grad_hy {
        Some(grad) => aten::sigmoid_backward(&aten::mul_Tensor(grad, &seen)?, output)?,
        None => aten::zeros_like(cx)?,
    };
    let of_gates = aten::cat::call(
        &[
            aten::sigmoid_backward(&aten::mul_Tensor(&of_cy, new)?, input)?,
            aten::sigmoid_backward(&aten::mul_Tensor(&of_cy, cx)?, forget)?,
            aten::tanh_backward(&aten::mul_Tensor(&of_cy, input)?, new)?,
            of_output,
        ],
        1,
    )?;
    Ok((of_gates, aten::mul_Tensor(&of_cy, forget)?))
}

/// The gradients of the gates of a GRU from the input and from the hidden state, before their activations, and of `hx`.
/// `hidden` is the part of the last gate that comes from the hidden state.
fn of_gru(
    grad_hy: &Tensor,
    [reset, update, new]: [&Tensor; 3],
    hx: &Tensor,
    hidden: &Tensor,
) -> Result<(Tensor, Tensor, Tensor)> {
    let of_hx = aten::mul_Tensor(grad_hy, update)?;
    let of_update = aten::mul_Tensor(grad_hy, &aten::sub_Tensor(hx, new)?)?;
    let of_update = aten::sigmoid_backward(&of_update, update)?;
    let of_new = aten::mul_Tensor(grad_hy, &aten::rsub_Scalar(update, 1.into())?)?;
    let of_new = aten::tanh_backward(&of_new, new)?;
    let of_reset = aten::sigmoid_backward(&aten::mul_Tensor(&of_new, hidden)?, reset)?;
    let of_hidden_new = aten::mul_Tensor(&of_new, reset)?;
    let of_input = aten::cat::call(&[of_reset.clone(), of_update.clone(), of_new], 1)?;
    let of_hidden = aten::cat::call(&[of_reset, of_update, of_hidden_new], 1)?;
    Ok((of_input, of_hidden, of_hx))
}

/// Gates with their bias.
pub(super) fn biased(gates: &Tensor, bias: Option<&Tensor>) -> Result<Tensor> {
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
