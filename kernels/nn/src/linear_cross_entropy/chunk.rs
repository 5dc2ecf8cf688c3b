//! Some rows with their logits: their losses, and the gradients of these.

use torch_library::prelude::*;

use crate::aten;

/// What logits are compared with.
pub(super) enum Target {
    /// A class for each row.
    Classes(Tensor),
    /// The probability of each class times its weight, for each row.
    Probabilities(Tensor),
}

/// Some rows.
pub(super) struct Chunk {
    pub(super) input: Tensor,
    /// `[rows, C]`.
    pub(super) log_probabilities: Tensor,
    /// Classes have the sizes `[rows, 1]`.
    pub(super) target: Target,
    /// `[rows]`.
    pub(super) mass: Tensor,
}

impl Chunk {
    /// The loss of each row.
    pub(super) fn losses(&self) -> Result<Tensor> {
        let negative = match &self.target {
            Target::Classes(classes) => {
                let of_class = aten::gather(&self.log_probabilities, 1, classes)?;
                aten::mul_Tensor(&aten::squeeze_dim(&of_class, 1)?, &self.mass)?
            }
            Target::Probabilities(target) => {
                aten::sum_dim_IntList(&aten::mul_Tensor(&self.log_probabilities, target)?, Some(&[1]))?
            }
        };
        aten::neg(&negative)
    }

    /// The gradient of the logits: the softmax less the target. `scale` is that of the losses, one number or one for
    /// each row.
    pub(super) fn logits_gradient(&self, scale: &Tensor) -> Result<Tensor> {
        let mass = aten::unsqueeze(&self.mass, 1)?;
        let softmax = aten::mul_Tensor(&aten::exp(&self.log_probabilities)?, &mass)?;
        let gradient = match &self.target {
            Target::Classes(classes) => aten::scatter_add(&softmax, 1, classes, &aten::neg(&mass)?)?,
            Target::Probabilities(target) => aten::sub_Tensor(&softmax, target)?,
        };
        aten::mul_Tensor(&gradient, &aten::unsqueeze(scale, -1)?)
    }
}
