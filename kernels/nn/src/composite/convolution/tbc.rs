//! Convolution of sequences with time before batch before channels, by that with time last, and its gradients.

use torch_library::prelude::*;

use crate::aten;

#[torch_impl(aten, CompositeImplicitAutograd)]
mod kernels {
    use super::*;

    fn conv_tbc(this: &Tensor, weight: &Tensor, bias: &Tensor, pad: i64) -> Result<Tensor> {
        const OPERATOR: &str = aten::conv_tbc::NAME;
        ensure!(
            this.dim() == 3 && weight.dim() == 3,
            Shape,
            "{OPERATOR}: sizes {:?} with a weight of {:?}, expected three dimensions of both",
            this.sizes(),
            weight.sizes()
        );
        let (sequences, weight) = (aten::permute(this, &[1, 2, 0])?, aten::permute(weight, &[2, 1, 0])?);
        let out = aten::conv1d::with(&sequences, &weight).bias(bias).padding(&[pad]).call();
        aten::contiguous(&aten::permute(&out.map_err(|error| error.context(OPERATOR))?, &[2, 0, 1])?)
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
}
