//! Dropout of elements or channels, in the plain form and in the form for `selu` (alpha dropout).

use torch_library::prelude::*;
use torch_library::vmap::{Level, Randomness};

use crate::aten;
use crate::below_autograd::below_autograd;

/// A kind of dropout.
#[derive(Clone, Copy)]
struct Dropout {
    operator: &'static str,
    p: f64,
    train: bool,
    of_channels: bool,
    /// Whether dropped elements get the negative limit of `selu`, so that the variance stays the same as well as the
    /// mean.
    is_alpha: bool,
}

/// Minus the limit of `selu` towards minus infinity.
const ALPHA: f64 = 1.758_099_340_847_376_7;

impl Dropout {
    /// The factor for each element and the number to add to it, or `None` if the input is not changed.
    fn noise(&self, input: &Tensor) -> Result<Option<(Tensor, Option<Tensor>)>> {
        let Dropout { operator, p, train, .. } = *self;
        ensure!((0.0..=1.0).contains(&p), Argument, "{operator}: the probability {p} is not between 0 and 1");
        if !train || p == 0.0 || input.numel() == 0 {
            return Ok(None);
        }
        if p == 1.0 {
            return Ok(Some((aten::new_zeros(input, &[])?, None)));
        }
        let mut noise = bernoulli(self.empty(input)?, 1.0 - p)?;
        below_autograd(|| {
            if !self.is_alpha {
                aten::div__Scalar(&mut noise, (1.0 - p).into())?;
                return Ok(Some((noise.clone(), None)));
            }
            let scale = 1.0 / ((ALPHA * ALPHA * p + 1.0) * (1.0 - p)).sqrt();
            let dropped = aten::mul_Scalar(&aten::add_Scalar(&noise, (-1).into())?, (ALPHA * scale).into())?;
            let shift = aten::add_Scalar(&dropped, (ALPHA * scale * p).into())?;
            aten::mul__Scalar(&mut noise, scale.into())?;
            Ok(Some((noise.clone(), Some(shift))))
        })
    }

    /// An uninitialised tensor for a random number per element, or per channel.
    fn empty(&self, input: &Tensor) -> Result<Tensor> {
        let real = Some(input.dtype().to_real());
        if !self.of_channels {
            return aten::empty_like::with(input).dtype(real).call();
        }
        let [batch, channels, rest @ ..] = input.sizes() else {
            bail!(Shape, "{}: sizes {:?} have no channels to drop", self.operator, input.sizes())
        };
        let sizes = [&[*batch, *channels], &vec![1; rest.len()][..]].concat();
        aten::new_empty::with(input, &sizes).dtype(real).call()
    }

    fn applied(&self, input: &Tensor) -> Result<Tensor> {
        let Some((factor, shift)) = self.noise(input)? else { return Ok(input.clone()) };
        let out = aten::mul_Tensor(input, &factor)?;
        shift.map_or(Ok(out.clone()), |shift| aten::add_Tensor(&out, &shift))
    }

    fn applied_in_place<'a>(&self, this: &'a mut Tensor) -> Result<&'a mut Tensor> {
        let Some((factor, shift)) = self.noise(this)? else { return Ok(this) };
        aten::mul__Tensor(this, &factor)?;
        match shift {
            Some(shift) => aten::add__Tensor(this, &shift),
            None => Ok(this),
        }
    }
}

/// Writes dropout operators, and their in-place variants.
macro_rules! dropping {
    ($($name:ident $in_place:ident: $of_channels:literal $is_alpha:literal;)+) => {
        #[torch_impl(aten, CompositeImplicitAutograd)]
        mod dropping {
            use super::*;

            $(
                fn $name(input: &Tensor, p: f64, train: bool) -> Result<Tensor> {
                    let operator = aten::$name::NAME;
                    let dropout = Dropout { operator, p, train, of_channels: $of_channels, is_alpha: $is_alpha };
                    dropout.applied(input)
                }

                fn $in_place(this: &mut Tensor, p: f64, train: bool) -> Result<&mut Tensor> {
                    let operator = aten::$in_place::NAME;
                    let dropout = Dropout { operator, p, train, of_channels: $of_channels, is_alpha: $is_alpha };
                    dropout.applied_in_place(this)
                }
            )+
        }
    };
}

dropping! {
    alpha_dropout alpha_dropout_: false true;
    feature_dropout feature_dropout_: true false;
    feature_alpha_dropout feature_alpha_dropout_: true true;
}

/// Draws ones with probability `p` into a new tensor. Where each example of a vmap has numbers of its own, a tensor
/// that the examples share cannot hold them, and only its sizes count.
pub(super) fn bernoulli(mut new: Tensor, p: f64) -> Result<Tensor> {
    let own = Level::innermost().filter(|level| level.randomness() == Randomness::Different);
    below_autograd(|| match own {
        Some(level) if !level.has(&new) => aten::bernoulli_p(&new, p),
        _ => aten::bernoulli__float::with(&mut new).p(p).call().map(|drawn| drawn.clone()),
    })
}

/// Operators with derivatives of their own.
#[torch_impl(aten, CompositeExplicitAutograd, FuncTorchBatchedDecomposition)]
mod derived {
    use super::*;

    fn native_dropout(input: &Tensor, p: f64, train: Option<bool>) -> Result<(Tensor, Tensor)> {
        const OPERATOR: &str = aten::native_dropout::NAME;
        let of_bools = || aten::empty_like::with(input).dtype(DType::Bool).call();
        if input.numel() == 0 {
            return Ok((aten::clone(input)?, aten::empty_like(input)?));
        }
        if train == Some(false) {
            return Ok((aten::clone(input)?, aten::ones_like::with(input).dtype(DType::Bool).call()?));
        }
        ensure!((0.0..=1.0).contains(&p), Argument, "{OPERATOR}: the probability {p} is not between 0 and 1");
        ensure!(
            input.dtype().is_differentiable(),
            DType,
            "{OPERATOR}: {} cannot be scaled, expected a floating-point type",
            input.dtype()
        );
        let mask = bernoulli(of_bools()?, 1.0 - p)?;
        let scale = if p == 1.0 { 0.0 } else { 1.0 / (1.0 - p) };
        Ok((aten::mul_Scalar(&aten::mul_Tensor(input, &mask)?, scale.into())?, mask))
    }
}

#[torch_impl(aten, CompositeExplicitAutograd, FuncTorchBatchedDecomposition)]
fn native_dropout_backward(grad_output: &Tensor, mask: &Tensor, scale: f64) -> Result<Tensor> {
    aten::mul_Scalar(&aten::mul_Tensor(grad_output, mask)?, scale.into())
}
