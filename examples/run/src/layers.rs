//! Runs a function in the requested layers.

use torch_library::autocast::Autocast;
use torch_library::prelude::*;
use torch_library::{fake, guard};

use crate::arguments::Layer;
use crate::call::Call;

/// Runs a function that makes a call in these layers, the first of which is the outermost.
pub(crate) fn under(
    layers: &[Layer],
    device: Device,
    call: &Call<'_>,
    inputs: &[Tensor],
    run: &dyn Fn(&[Tensor]) -> Result<Vec<Tensor>>,
) -> Result<Vec<Tensor>> {
    let Some((layer, inner)) = layers.split_first() else { return run(inputs) };
    let inside = |inputs: &[Tensor]| under(inner, device, call, inputs, run);
    match layer {
        Layer::Inference => guard::inference_mode(|| inside(inputs)),
        Layer::Autograd => guard::enable_grad(|| inside(inputs)),
        Layer::Autocast => Autocast::on(device.kind).run(|| inside(inputs)),
        Layer::Functionalize => call.functionalized(inputs, inside),
        Layer::Fake => {
            let mode = fake::FakeMode::new();
            let inputs = inputs.iter().map(fake::to_fake).collect::<Result<Vec<_>>>()?;
            let outputs = inside(&inputs);
            drop(mode);
            outputs
        }
    }
}
