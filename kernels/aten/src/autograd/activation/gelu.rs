//! The second derivative of `gelu`.

use std::f64::consts::{FRAC_1_SQRT_2, FRAC_2_SQRT_PI};

use torch_library::prelude::*;

use crate::aten;
use crate::prelude::*;

/// The second derivative of `gelu`.
pub(super) fn curvature(this: &Tensor, approximate: &str) -> Result<Tensor> {
    let one_minus = |x: &Tensor| aten::rsub_Scalar(x, Scalar::from(1));
    let square = this.mul(this)?;
    if approximate != "tanh" {
        let density = square.mul(-0.5)?.exp()?.mul(0.5 * FRAC_2_SQRT_PI * FRAC_1_SQRT_2)?;
        return density.mul(&aten::rsub_Scalar(&square, Scalar::from(2))?);
    }
    // With t = tanh(u) and u = a (x + b x³), the first derivative is (1 + t + x t') / 2.
    let (a, b) = (FRAC_2_SQRT_PI * FRAC_1_SQRT_2, 0.044715);
    let t = square.mul(this)?.mul(b)?.add(this)?.mul(a)?.tanh()?;
    let (first, second) = (square.mul(3.0 * a * b)?.add(a)?, this.mul(6.0 * a * b)?);
    let bend = second.sub(&first.mul(&first)?.mul(&t)?.mul(2)?)?;
    one_minus(&t.mul(&t)?)?.mul(&first.add(&this.mul(&bend)?.mul(0.5)?)?)
}
