//! The derivative of `rrelu_with_noise`, which writes its slopes to a second argument: this cannot be written as a
//! formula.

use torch_library::autograd::{Context, Function, apply};
use torch_library::guard::AutoDispatchBelowAutograd;
use torch_library::prelude::*;

use crate::aten;

/// A call of the operator; autograd does not see the noise as an input.
struct Drawn {
    noise: Tensor,
    lower: Scalar,
    upper: Scalar,
    training: bool,
    generator: Option<Generator>,
    is_in_place: bool,
}

impl Drawn {
    fn new(
        noise: &Tensor,
        [lower, upper]: [Scalar; 2],
        training: bool,
        generator: Option<&Generator>,
        is_in_place: bool,
    ) -> Result<Self> {
        ensure!(
            !noise.requires_grad(),
            Autograd,
            "{}: `noise` requires grad, but has no derivative\n  help: detach it",
            aten::rrelu_with_noise::NAME
        );
        Ok(Drawn { noise: noise.clone(), lower, upper, training, generator: generator.cloned(), is_in_place })
    }

    fn applied(self, this: &Tensor) -> Result<Tensor> {
        match apply(self, &[this])?.pop() {
            Some(result) => Ok(result),
            None => bail!(Internal, "one result was computed"),
        }
    }
}

impl Function for Drawn {
    fn name(&self) -> &'static str {
        if self.is_in_place { "RreluWithNoiseBackward1" } else { "RreluWithNoiseBackward0" }
    }

    fn forward(&self, context: &mut Context, inputs: &[&Tensor]) -> Result<Vec<Tensor>> {
        let Drawn { lower, upper, training, .. } = *self;
        let (mut noise, generator) = (self.noise.clone(), self.generator.as_ref());
        let _below = AutoDispatchBelowAutograd::new();
        if self.is_in_place {
            let mut this = inputs[0].clone();
            aten::rrelu_with_noise_::call(&mut this, &mut noise, lower, upper, training, generator)?;
            context.mark_dirty(&this);
            context.save_for_backward(&[&this, &noise]);
            return Ok(vec![this]);
        }
        let out = aten::rrelu_with_noise::call(inputs[0], &mut noise, lower, upper, training, generator)?;
        context.save_for_backward(&[inputs[0], &noise]);
        Ok(vec![out])
    }

    fn backward(&self, context: &Context, grads: Vec<Option<Tensor>>) -> Result<Vec<Option<Tensor>>> {
        let [this, noise] = context.saved() else { bail!(Internal, "two tensors were saved") };
        let of_input = |grad: Tensor| {
            let Drawn { lower, upper, training, is_in_place, .. } = *self;
            aten::rrelu_with_noise_backward(&grad, this, noise, lower, upper, training, is_in_place)
        };
        grads.into_iter().map(|grad| grad.map(of_input).transpose()).collect()
    }
}

#[torch_impl(aten, Autograd)]
mod kernels {
    use super::*;

    fn rrelu_with_noise(
        this: &Tensor,
        noise: &mut Tensor,
        lower: Scalar,
        upper: Scalar,
        training: bool,
        generator: Option<&Generator>,
    ) -> Result<Tensor> {
        Drawn::new(noise, [lower, upper], training, generator, false)?.applied(this)
    }

    fn rrelu_with_noise_<'a>(
        this: &'a mut Tensor,
        noise: &mut Tensor,
        lower: Scalar,
        upper: Scalar,
        training: bool,
        generator: Option<&Generator>,
    ) -> Result<&'a mut Tensor> {
        Drawn::new(noise, [lower, upper], training, generator, true)?.applied(this)?;
        Ok(this)
    }
}
