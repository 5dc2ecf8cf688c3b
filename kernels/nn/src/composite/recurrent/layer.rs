//! A layer of a recurrent network, as exported programs call it.

use torch_library::prelude::*;

use crate::aten;

#[torch_impl(aten, CompositeImplicitAutograd)]
fn mkldnn_rnn_layer(
    input: &Tensor,
    weight0: &Tensor,
    weight1: &Tensor,
    weight2: &Tensor,
    weight3: &Tensor,
    hx_: &Tensor,
    cx_: &Tensor,
    reverse: bool,
    batch_sizes: &[i64],
    mode: i64,
    hidden_size: i64,
    num_layers: i64,
    has_biases: bool,
    bidirectional: bool,
    _batch_first: bool,
    train: bool,
) -> Result<(Tensor, Tensor, Tensor, Tensor)> {
    const OPERATOR: &str = aten::mkldnn_rnn_layer::NAME;
    ensure!(mode == 2, NotSupported, "{OPERATOR}: mode is {mode}, expected 2, for an LSTM");
    ensure!(
        num_layers == 1 && !bidirectional,
        NotSupported,
        "{OPERATOR}: {num_layers} layers, bidirectional: {bidirectional}, expected one layer in one direction"
    );
    let &[_, batch, _] = input.sizes() else {
        bail!(Shape, "{OPERATOR}: sizes {:?}, expected steps, a batch and numbers", input.sizes())
    };
    ensure!(
        batch_sizes.iter().all(|size| *size == batch),
        NotSupported,
        "{OPERATOR}: batch_sizes is {batch_sizes:?}, expected sequences of one length"
    );
    let states = [hx_, cx_].map(|state| aten::reshape(state, &[1, batch, hidden_size]));
    let [hidden, cell] = states.map(|state| state.map_err(|error| error.context(OPERATOR)));
    let weights = [weight0, weight1, weight2, weight3].map(Tensor::clone);
    let turned = |tensor: &Tensor| if reverse { aten::flip(tensor, &[0]) } else { Ok(tensor.clone()) };
    let (output, last_hidden, last_cell) = aten::lstm_input(
        &turned(input)?,
        &[hidden?, cell?],
        &weights[..if has_biases { 4 } else { 2 }],
        has_biases,
        1,
        0.0,
        train,
        false,
        false,
    )
    .map_err(|error| error.context(OPERATOR))?;
    Ok((
        turned(&output)?,
        aten::reshape(&last_hidden, hx_.sizes())?,
        aten::reshape(&last_cell, cx_.sizes())?,
        Tensor::empty(&[0], DType::UInt8, input.device())?,
    ))
}
