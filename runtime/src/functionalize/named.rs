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
///
/// In an expanded dimension all indices are one element. An operator that may write there writes equal values, so only
/// index 0 is put back.
pub(super) fn as_strided_scatter(base: &Tensor, view: &Tensor, geometry: &Geometry) -> Result<Tensor> {
    let (mut view, mut sizes) = (view.clone(), Dims::from_slice(geometry.sizes()));
    for (dim, size) in sizes.iter_mut().enumerate() {
        if geometry.strides()[dim] == 0 && *size > 1 {
            *size = 1;
            view = call("aten::narrow", [(&view).into(), (dim as i64).into(), 0.into(), 1.into()])?;
        }
    }
    let geometry = Geometry::new(&sizes, geometry.strides(), geometry.offset())?;
    call("aten::as_strided_scatter", [base.into(), (&view).into()].into_iter().chain(places(&geometry)))
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

/// Writes elements to an input at the end of a functional program.
pub(super) fn write(to: &mut Tensor, from: &Tensor) -> Result<()> {
    call("aten::copy_", [to.into(), from.into()]).map(drop)
}
