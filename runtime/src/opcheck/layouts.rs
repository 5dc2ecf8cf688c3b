//! The same elements in other memory layouts, which the result must not depend on.

use super::arguments::{self, copy_as};
use super::call::Outcome;
use super::compare::{after_call, difference};
use super::{Check, Session};
use crate::error::Result;
use crate::tensor::Tensor;
use crate::tensor::geometry::Geometry;
use crate::value::Value;

/// A name and a function that gives a tensor another layout; some of these change the elements.
type Layout = (&'static str, fn(&Tensor) -> Result<Tensor>);

const LAYOUTS: [Layout; 4] = [
    ("with gaps", with_gaps),
    ("at an offset", at_offset),
    ("transposed", transposed),
    ("expanded", expanded),
];

/// A gap of one element after each element.
fn with_gaps(tensor: &Tensor) -> Result<Tensor> {
    let dense = Geometry::contiguous(tensor.sizes())?;
    let strides: Vec<_> = dense.strides().iter().map(|stride| 2 * stride).collect();
    copy_as(tensor, tensor.sizes(), &strides, 0)
}

fn at_offset(tensor: &Tensor) -> Result<Tensor> {
    copy_as(tensor, tensor.sizes(), Geometry::contiguous(tensor.sizes())?.strides(), 3)
}

/// The first dimension is the contiguous one.
fn transposed(tensor: &Tensor) -> Result<Tensor> {
    let reversed: Vec<_> = tensor.sizes().iter().rev().copied().collect();
    let dense = Geometry::contiguous(&reversed)?;
    let strides: Vec<_> = dense.strides().iter().rev().copied().collect();
    copy_as(tensor, tensor.sizes(), &strides, 0)
}

/// Repeats the first row, in the memory of one row.
fn expanded(tensor: &Tensor) -> Result<Tensor> {
    let (sizes, mut strides) = (tensor.sizes(), tensor.strides().to_vec());
    if sizes.first().is_none_or(|size| *size == 0) {
        return copy_as(tensor, sizes, &strides, tensor.storage_offset());
    }
    strides[0] = 0;
    let rows = tensor.strided_view(sizes, &strides, tensor.storage_offset())?;
    let mut dense = Geometry::contiguous(sizes)?.strides().to_vec();
    dense[0] = 0;
    copy_as(&rows, sizes, &dense, 0)
}

fn dense(tensor: &Tensor) -> Result<Tensor> {
    copy_as(tensor, tensor.sizes(), Geometry::contiguous(tensor.sizes())?.strides(), 0)
}

impl Session<'_> {
    pub(super) fn layouts(&mut self, values: &[Value<'static>]) {
        if !self.wants(Check::Layouts) {
            return;
        }
        let Ok(schema) = self.operator.schema() else { return };
        let mut arguments: Vec<usize> =
            arguments::tensors(self.operator, values).iter().map(|argument| argument.position).collect();
        arguments.dedup();
        for argument in arguments {
            let (name, is_mutable) =
                (&schema.arguments[argument].name, schema.arguments[argument].is_mutable());
            for (layout, change) in
                LAYOUTS.into_iter().filter(|(layout, _)| !is_mutable || *layout != "expanded")
            {
                let laid_out =
                    arguments::map(
                        values,
                        |at, tensor| if at == argument { change(tensor) } else { dense(tensor) },
                    );
                let Ok(laid_out) = laid_out else { continue };
                self.layout(&laid_out, &format!("`{name}` {layout}"));
            }
        }
    }

    /// Compares a call with one whose tensors are all dense.
    fn layout(&mut self, laid_out: &[Value<'static>], what: &str) {
        let Ok(dense) = arguments::map(laid_out, |_, tensor| dense(tensor)) else { return };
        let Ok(copies) = arguments::copies(laid_out) else { return };
        let places = arguments::tensors(self.operator, &copies);
        let dense_places = arguments::tensors(self.operator, &dense);
        match (self.call(dense), self.call(copies)) {
            (Outcome::Returned(expected), Outcome::Returned(found)) => {
                let difference = difference(&found, &expected).or_else(|| after_call(&places, &dense_places));
                if let Some(difference) = difference {
                    self.fault(Check::Layouts, format!("with {what}: {difference}"));
                }
            }
            (Outcome::Returned(_), Outcome::Failed(error)) => {
                // An operator that returns a view may refuse a layout in which the view is impossible.
                let is_view = self.operator.schema().is_ok_and(|schema| {
                    schema.returns.iter().any(|ret| ret.alias.as_ref().is_some_and(|alias| !alias.is_write))
                });
                if !is_view {
                    self.fault(Check::Layouts, format!("with {what}: fails, but succeeds without: {error}"));
                }
            }
            _ => {}
        }
    }
}
