//! The derivative of `clamp` with tensor bounds, where an element at a bound shares its gradient with the bound.

use torch_library::prelude::*;

use crate::aten;
use crate::prelude::*;

/// The gradient of the input: that of the result, halved at a bound, zero beyond it.
pub(super) fn input_grad(
    grad: &Tensor,
    this: &Tensor,
    min: Option<&Tensor>,
    max: Option<&Tensor>,
) -> Result<Tensor> {
    let beyond = match (min, max) {
        (Some(min), Some(max)) => either(&aten::lt_Tensor(this, min)?, &aten::gt_Tensor(this, max)?)?,
        (Some(min), None) => aten::lt_Tensor(this, min)?,
        (None, Some(max)) => aten::gt_Tensor(this, max)?,
        (None, None) => return Ok(grad.clone()),
    };
    let tie = match (min, max) {
        (Some(min), Some(max)) => {
            let tie = either(&aten::eq_Tensor(this, min)?, &aten::eq_Tensor(this, max)?)?;
            both(&tie, &aten::lt_Tensor(min, max)?)?
        }
        (Some(bound), None) | (None, Some(bound)) => aten::eq_Tensor(this, bound)?,
        (None, None) => return Ok(grad.clone()),
    };
    none_where(&beyond, &half_where(&tie, grad)?)
}

/// The gradient of the lower bound, which is nonzero where the bound is the result; if the upper bound is below it,
/// that one gets all of the gradient.
pub(super) fn min_grad(
    grad: &Tensor,
    this: &Tensor,
    min: Option<&Tensor>,
    max: Option<&Tensor>,
) -> Result<Option<Tensor>> {
    let Some(min) = min else { return Ok(None) };
    let tie = aten::eq_Tensor(this, min)?;
    let Some(max) = max else {
        return none_where(&aten::gt_Tensor(this, min)?, &half_where(&tie, grad)?).map(Some);
    };
    let whole = both(&aten::lt_Tensor(this, min)?, &aten::le_Tensor(min, max)?)?;
    shared(grad, &whole, &both(&tie, &aten::lt_Tensor(min, max)?)?).map(Some)
}

/// The gradient of the upper bound.
pub(super) fn max_grad(
    grad: &Tensor,
    this: &Tensor,
    min: Option<&Tensor>,
    max: Option<&Tensor>,
) -> Result<Option<Tensor>> {
    let Some(max) = max else { return Ok(None) };
    let tie = aten::eq_Tensor(this, max)?;
    let Some(min) = min else {
        return none_where(&aten::lt_Tensor(this, max)?, &half_where(&tie, grad)?).map(Some);
    };
    let whole = both(&aten::gt_Tensor(this, max)?, &aten::le_Tensor(min, max)?)?;
    let whole = either(&whole, &aten::gt_Tensor(min, max)?)?;
    shared(grad, &whole, &both(&tie, &aten::lt_Tensor(min, max)?)?).map(Some)
}

fn both(a: &Tensor, b: &Tensor) -> Result<Tensor> {
    a.mul(b)
}

fn either(a: &Tensor, b: &Tensor) -> Result<Tensor> {
    a.add(b)
}

fn half_where(tie: &Tensor, grad: &Tensor) -> Result<Tensor> {
    aten::where_self(tie, &grad.div(2)?, grad)
}

fn none_where(condition: &Tensor, grad: &Tensor) -> Result<Tensor> {
    aten::where_ScalarSelf(condition, Scalar::from(0), grad)
}

/// The whole gradient where `whole` is true, half of it where `half` is true, zero elsewhere.
fn shared(grad: &Tensor, whole: &Tensor, half: &Tensor) -> Result<Tensor> {
    let halves = aten::where_ScalarOther(half, &grad.div(2)?, Scalar::from(0))?;
    aten::where_self(whole, grad, &halves)
}
