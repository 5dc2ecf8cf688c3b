//! `rrelu` in training: the leaky ReLU with a random slope for each element that is not positive.

use torch_library::Element;
use torch_library::prelude::*;

use crate::aten;
use crate::below_autograd::below_autograd;
use crate::composite::collected;
use crate::loops::pointwise::unsupported;
use crate::loops::{self, match_opmath};
use crate::number::Number;

#[torch_impl(aten, CPU, Meta)]
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
        let slopes = Slopes::new(aten::rrelu_with_noise::NAME, this, noise, lower, upper)?;
        if !training {
            return slopes.fixed(this);
        }
        slopes.check_drawn(this)?;
        let out = this.empty_like(this.dtype(), MemoryFormat::Contiguous)?;
        slopes.draw(this, noise, &out, generator)?;
        Ok(out)
    }

    fn rrelu_with_noise_<'a>(
        this: &'a mut Tensor,
        noise: &mut Tensor,
        lower: Scalar,
        upper: Scalar,
        training: bool,
        generator: Option<&Generator>,
    ) -> Result<&'a mut Tensor> {
        let slopes = Slopes::new(aten::rrelu_with_noise_::NAME, this, noise, lower, upper)?;
        match training {
            true => {
                slopes.check_drawn(this)?;
                slopes.draw(this, noise, this, generator)?;
            }
            false => {
                let out = slopes.fixed(this)?;
                loops::assign(this, &out)?;
            }
        }
        Ok(this)
    }
}

/// The bounds of the slopes.
struct Slopes {
    operator: &'static str,
    lower: f64,
    upper: f64,
}

impl Slopes {
    fn new(
        operator: &'static str,
        this: &Tensor,
        noise: &Tensor,
        lower: Scalar,
        upper: Scalar,
    ) -> Result<Self> {
        ensure!(
            this.sizes() == noise.sizes(),
            Shape,
            "{operator}: noise of sizes {:?} for an input of {:?}, expected the same",
            noise.sizes(),
            this.sizes()
        );
        if !this.dtype().is_floating_point() {
            return Err(unsupported(operator, this.dtype()));
        }
        let number = |bound: Scalar| bound.to::<f64>().map_err(|error| error.context(operator));
        Ok(Slopes { operator, lower: number(lower)?, upper: number(upper)? })
    }

    /// # Errors
    /// A type for which PyTorch draws no slopes.
    fn check_drawn(&self, this: &Tensor) -> Result<()> {
        match this.dtype() {
            DType::Float16 => Err(unsupported(self.operator, DType::Float16)),
            _ => Ok(()),
        }
    }

    /// The leaky ReLU with the mean of the bounds as the slope of all elements.
    fn fixed(&self, this: &Tensor) -> Result<Tensor> {
        aten::leaky_relu::call(this, ((self.lower + self.upper) / 2.0).into())
    }

    /// Draws a slope for each element that is not positive, in row-major order, and writes it to `noise`, and 1 for the
    /// others.
    fn draw(&self, this: &Tensor, noise: &Tensor, out: &Tensor, generator: Option<&Generator>) -> Result<()> {
        let Slopes { operator, lower, upper } = *self;
        ensure!(
            lower <= upper && (upper - lower).is_finite(),
            Argument,
            "{operator}: there is no slope between {lower} and {upper}"
        );
        ensure!(
            noise.dtype() == this.dtype(),
            DType,
            "{operator}: noise of {} for an input of {}, expected the same type",
            noise.dtype(),
            this.dtype()
        );
        if !loops::has_elements(this) {
            return Ok(());
        }
        match_opmath!(this.dtype(), T: Float => {
            let elements = loops::elements::<T>(this)?;
            let is_drawn = |x: &T| *x <= T::ZERO;
            let count = elements.iter().filter(|x| is_drawn(x)).count() as i64;
            let mut drawn = Tensor::empty(&[count], DType::Float64, Device::CPU)?;
            below_autograd(|| aten::uniform_::call(&mut drawn, lower, upper, generator).map(drop))?;
            let mut drawn = drawn.to_vec::<f64>()?.into_iter();
            let slope = |x: &T| match is_drawn(x) {
                true => drawn.next().map_or(T::ONE, |slope| slope.cast()),
                false => T::ONE,
            };
            let slopes: Vec<T> = elements.iter().map(slope).collect();
            // Only the noise is rounded to the dtype.
            let results = collected(operator, this.numel(), |i| elements[i as usize] * slopes[i as usize])?;
            loops::assign(noise, &Tensor::from_vec(slopes, this.sizes())?)?;
            loops::assign(out, &Tensor::from_vec(results, this.sizes())?)
        }, else => Err(unsupported(operator, this.dtype())))
    }
}
