//! A step of an LSTM or GRU cell as one operator: when its kernel can be used, and the same step made of several
//! operators.

use torch_library::guard::GradMode;
use torch_library::prelude::*;

use super::gates;
use super::gradients::biased;
use crate::aten;

/// Whether the kernel for the CPU can be used: for plain tensors there, of which no gradient is wanted, since the
/// gradient of each operator of a step takes less time than computing the gates again.
pub(super) fn suits(tensors: [&Tensor; 3]) -> bool {
    let [input, hidden, cx] = tensors;
    let is_plain = |tensor: &Tensor| {
        tensor.dim() == 2
            && tensor.device() == Device::CPU
            && !tensor.is_wrapper()
            && tensor.dtype() == cx.dtype()
            && !(GradMode::is_enabled() && tensor.requires_grad())
    };
    tensors.into_iter().all(is_plain)
        && cx.dtype().is_floating_point()
        && !cx.dtype().is_float8()
        && input.sizes() == hidden.sizes()
        && input.sizes() == [cx.sizes()[0], cx.sizes()[1].saturating_mul(4)]
}

/// # Errors
/// Gates that are not matrices of the same sizes, or not of `parts` parts as large as `cx`; biases of other sizes;
/// several dtypes.
pub(crate) fn check_gates(
    operator: &str,
    parts: i64,
    [input, hidden, cx]: [&Tensor; 3],
    biases: [Option<&Tensor>; 2],
) -> Result<()> {
    let (&[batch, size], &[rows, columns]) = (cx.sizes(), input.sizes()) else {
        bail!(
            Shape,
            "{operator}: gates of sizes {:?} and a state of {:?}, expected matrices",
            input.sizes(),
            cx.sizes()
        )
    };
    ensure!(
        [rows, columns] == [batch, size.saturating_mul(parts)] && input.sizes() == hidden.sizes(),
        Shape,
        "{operator}: gates of sizes {:?} and {:?} are not {parts} times a state of {:?}",
        input.sizes(),
        hidden.sizes(),
        cx.sizes()
    );
    for bias in biases.into_iter().flatten() {
        ensure!(
            bias.sizes() == [columns],
            Shape,
            "{operator}: a bias of sizes {:?} for {columns} gates",
            bias.sizes()
        );
    }
    let others = [input, hidden].into_iter().chain(biases.into_iter().flatten());
    for other in others {
        ensure!(
            other.dtype() == cx.dtype(),
            DType,
            "{operator}: gates or a bias of {} and a state of {}, convert one to the other by `aten::to_dtype`",
            other.dtype(),
            cx.dtype()
        );
    }
    Ok(())
}

/// An operator with a derivative of its own.
#[torch_impl(aten, CompositeExplicitAutograd, FuncTorchBatchedDecomposition)]
fn _thnn_fused_lstm_cell(
    input_gates: &Tensor,
    hidden_gates: &Tensor,
    cx: &Tensor,
    input_bias: Option<&Tensor>,
    hidden_bias: Option<&Tensor>,
) -> Result<(Tensor, Tensor, Tensor)> {
    const OPERATOR: &str = aten::_thnn_fused_lstm_cell::NAME;
    let biases = [input_bias, hidden_bias];
    check_gates(OPERATOR, 4, [input_gates, hidden_gates, cx], biases)?;
    let mut all = aten::add_Tensor(input_gates, hidden_gates)?;
    for bias in biases.into_iter().flatten() {
        all = aten::add_Tensor(&all, bias)?;
    }
    let [input, forget, new, output] = gates::<4>(&all).map_err(|error| error.context(OPERATOR))?;
    let [input, forget, output] = [input, forget, output].map(|gate| aten::sigmoid(&gate));
    let (input, forget, new, output) = (input?, forget?, aten::tanh(&new)?, output?);
    let cy = aten::add_Tensor(&aten::mul_Tensor(&forget, cx)?, &aten::mul_Tensor(&input, &new)?)?;
    let hy = aten::mul_Tensor(&output, &aten::tanh(&cy)?)?;
    let workspace = aten::cat::with(&[input, forget, new, output]).dim(1).call()?;
    Ok((hy, cy, workspace))
}

/// An operator with a derivative of its own.
#[torch_impl(aten, CompositeExplicitAutograd, FuncTorchBatchedDecomposition)]
fn _thnn_fused_gru_cell(
    input_gates: &Tensor,
    hidden_gates: &Tensor,
    hx: &Tensor,
    input_bias: Option<&Tensor>,
    hidden_bias: Option<&Tensor>,
) -> Result<(Tensor, Tensor)> {
    const OPERATOR: &str = aten::_thnn_fused_gru_cell::NAME;
    check_gates(OPERATOR, 3, [input_gates, hidden_gates, hx], [input_bias, hidden_bias])?;
    let parts = |of: &Tensor, bias| gates::<3>(&biased(of, bias)?).map_err(|error| error.context(OPERATOR));
    let ([reset, update, new], hidden) = (parts(input_gates, input_bias)?, parts(hidden_gates, hidden_bias)?);
    let reset = aten::sigmoid(&aten::add_Tensor(&reset, &hidden[0])?)?;
    let update = aten::sigmoid(&aten::add_Tensor(&update, &hidden[1])?)?;
    let new = aten::tanh(&aten::add_Tensor(&new, &aten::mul_Tensor(&reset, &hidden[2])?)?)?;
    let hy = aten::add_Tensor(&new, &aten::mul_Tensor(&update, &aten::sub_Tensor(hx, &new)?)?)?;
    let workspace = aten::cat::with(&[reset, update, new, hx.clone(), hidden[2].clone()]).dim(1).call()?;
    Ok((hy, workspace))
}
