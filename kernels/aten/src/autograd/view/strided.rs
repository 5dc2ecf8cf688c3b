//! The derivative of `as_strided`, whose views may show elements several times, or overlap.

use torch_library::autograd::InputMetadata;
use torch_library::geometry::saturating_numel;
use torch_library::prelude::*;

use crate::aten;
use crate::composite::collected;
use crate::prelude::*;

/// What errors name.
const OPERATOR: &str = "the gradient of as_strided";

/// The gradient of the input of `as_strided`.
///
/// All gradients are summed at their positions in memory, and each element of the input takes the sum at its position;
/// if several elements of the input have the same position, they share it evenly.
pub(in crate::autograd) fn backward(
    grad: &Tensor,
    this: &InputMetadata,
    size: &[i64],
    stride: &[i64],
    offset: Option<i64>,
) -> Result<Tensor> {
    let own = places(this.sizes(), this.strides(), 0)?;
    let shown = places(size, stride, offset.unwrap_or(this.storage_offset()) - this.storage_offset())?;
    let lowest = own.iter().chain(&shown).copied().min().unwrap_or(0);
    let end = own.iter().chain(&shown).copied().max().map_or(0, |last| last + 1);
    let index = |places: &[i64]| {
        let count = places.len() as i64;
        Tensor::from_vec(collected(OPERATOR, count, |at| places[at as usize] - lowest)?, &[count])
    };
    let (own, shown) = (index(&own)?, index(&shown)?);

    let memory = aten::new_zeros(grad, &[end - lowest])?;
    let mut gathered = aten::index_add(&memory, 0, &shown, &grad.reshape(&[-1])?)?;
    if overlaps(this)? {
        let ones = aten::new_ones(grad, own.sizes())?;
        let how_many = aten::index_add(&memory, 0, &own, &ones)?;
        gathered = gathered.div(&how_many.clamp(1, None)?)?;
    }
    gathered.index_select(0, &own)?.reshape(this.sizes())
}

/// The gradient, laid out in memory like its tensor, within zeros that also cover the memory of a view.
pub(super) fn places_of(
    grad: &Tensor,
    this: &InputMetadata,
    size: &[i64],
    stride: &[i64],
    offset: Option<i64>,
) -> Result<Tensor> {
    let own = places(this.sizes(), this.strides(), this.storage_offset())?;
    let part = places(size, stride, offset.unwrap_or(this.storage_offset()))?;
    let end = own.iter().chain(&part).copied().max().unwrap_or(0) + 1;
    let memory = aten::new_zeros(grad, &[end.max(this.storage_offset())])?;
    let mut placed =
        aten::as_strided::call(&memory, this.sizes(), this.strides(), Some(this.storage_offset()))?;
    aten::copy_(&mut placed, grad)?;
    Ok(placed)
}

/// The position in memory of each element, in row-major order.
///
/// # Errors
/// There is no memory for them.
fn places(sizes: &[i64], strides: &[i64], offset: i64) -> Result<Vec<i64>> {
    let count = saturating_numel(sizes);
    let mut places = collected(OPERATOR, count, |_| offset)?;
    if count == 0 {
        return Ok(places);
    }
    let mut inner = places.len();
    for (size, stride) in sizes.iter().zip(strides) {
        inner /= *size as usize;
        for (slice, places) in (0..*size).cycle().zip(places.chunks_mut(inner)) {
            places.iter_mut().for_each(|place| *place += slice * stride);
        }
    }
    Ok(places)
}

/// Whether several elements have the same position in memory.
fn overlaps(this: &InputMetadata) -> Result<bool> {
    let mut places = places(this.sizes(), this.strides(), 0)?;
    let count = places.len();
    places.sort_unstable();
    places.dedup();
    Ok(places.len() < count)
}
