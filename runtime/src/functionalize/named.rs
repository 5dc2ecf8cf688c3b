//! The operators that functionalization itself calls, by name, because they are declared in crates above this one.

use crate::error::Result;
use crate::registry::call_for;
use crate::tensor::Tensor;
use crate::tensor::geometry::{Dims, Geometry};
use crate::value::Value;

fn call<'v>(name: &str, arguments: impl IntoIterator<Item = Value<'v>>) -> Result<Tensor> {
    call_for("functionalizing a program", name, arguments)
}

fn places(geometry: &Geometry) -> [Value<'_>; 3] {
    [geometry.sizes().into(), geometry.strides().into(), geometry.offset().into()]
}

/// A view with any geometry.
pub(super) fn as_strided(base: &Tensor, geometry: &Geometry) -> Result<Tensor> {
    call("aten::as_strided", std::iter::once(base.into()).chain(places(geometry)))
}

/// A copy of the base, with other elements where a view is.
pub(super) fn as_strided_scatter(base: &Tensor, view: &Tensor, geometry: &Geometry) -> Result<Tensor> {
    let view = once(view, geometry.strides())?;
    let geometry = Geometry::new(view.sizes(), geometry.strides(), geometry.offset())?;
    call("aten::as_strided_scatter", [base.into(), (&view).into()].into_iter().chain(places(&geometry)))
}

/// What is put back of elements that go to places with these strides.
///
/// In an expanded dimension all indices are one element. An operator that may write there writes equal values, so only
/// index 0 is put back.
fn once(elements: &Tensor, strides: &[i64]) -> Result<Tensor> {
    let sizes = Dims::from_slice(elements.sizes());
    let expanded = (0..sizes.len()).filter(|dim| strides[*dim] == 0 && sizes[*dim] > 1);
    expanded.into_iter().try_fold(elements.clone(), |elements, dim| {
        call("aten::narrow", [(&elements).into(), (dim as i64).into(), 0.into(), 1.into()])
    })
}

/// The elements of one tensor in the geometry and type of another.
pub(super) fn copy(like: &Tensor, from: &Tensor) -> Result<Tensor> {
    call("aten::copy", [like.into(), from.into()])
}

/// A copy for an operator to write to.
pub(super) fn clone(tensor: &Tensor) -> Result<Tensor> {
    call("aten::clone", [tensor.into()])
}

/// A view without a history.
pub(super) fn detach(tensor: &Tensor) -> Result<Tensor> {
    call("aten::detach", [tensor.into()])
}

/// Gives a tensor another geometry over its memory.
pub(super) fn move_to(tensor: &mut Tensor, geometry: &Geometry) -> Result<()> {
    call("aten::as_strided_", std::iter::once(tensor.into()).chain(places(geometry))).map(drop)
}

/// Gives an input other sizes, and larger memory if it needs that.
pub(super) fn resize(tensor: &mut Tensor, sizes: &[i64]) -> Result<()> {
    call("aten::resize_", [tensor.into(), sizes.into()]).map(drop)
}

/// Writes elements to an input at the end of a functional program.
pub(super) fn write(to: &Tensor, from: &Tensor) -> Result<()> {
    let (mut to, from) = (once(to, to.strides())?, once(from, to.strides())?);
    call("aten::copy_", [(&mut to).into(), (&from).into()]).map(drop)
}
