//! Views computed again: from their base after it was written to, or from a gradient that takes the base's place.

use super::arithmetic;
use crate::dtype::DType;
use crate::error::{Error, ErrorKind, Result};
use crate::key::{DispatchKey, DispatchKeySet};
use crate::tensor::Tensor;
use crate::tensor::geometry::Geometry;

/// The bits by which a view's elements may differ from those in its base's memory.
const BITS: DispatchKeySet = DispatchKeySet::from_keys(&[DispatchKey::Conjugate, DispatchKey::Negative]);

/// Where the elements of a tensor are in its storage, and how they are read.
///
/// It determines how a view follows from its base, whatever operators made the view. So no operator has to say how its
/// view is made again.
///
/// PyTorch: `ViewInfo::view_fn`, which is composed of a function for each operator.
pub(super) struct Form {
    geometry: Geometry,
    dtype: DType,
    bits: DispatchKeySet,
}

impl Form {
    pub(super) fn of(tensor: &Tensor) -> Self {
        Form { geometry: tensor.geometry().clone(), dtype: tensor.dtype(), bits: tensor.key_set() & BITS }
    }

    /// Checks that a view of this form can be computed from its base by operators that have derivatives.
    pub(super) fn check(&self, base: &Tensor) -> Result<()> {
        match Reading::of(base.dtype(), self.dtype) {
            Some(_) => Ok(()),
            None => Err(self.error(base.dtype())),
        }
    }

    /// The view of this form. `origin` is the offset of the base that the form's own offset is relative to.
    pub(super) fn view_of(&self, base: &Tensor, origin: i64) -> Result<Tensor> {
        let reading = Reading::of(base.dtype(), self.dtype).ok_or_else(|| self.error(base.dtype()))?;
        let (sizes, strides) = (self.geometry.sizes(), self.geometry.strides());
        // Saturating, because the numbers of a tensor without elements can be of any size.
        let (offset, moved) = (self.geometry.offset(), base.storage_offset().saturating_sub(origin));
        let twice = |number: i64| number.saturating_mul(2);
        let view = match reading {
            Reading::Same if base.key_set() & BITS == self.bits => {
                // An operator is called even if the geometry is the base's, since a view has a node of its own.
                return arithmetic::as_strided(base, sizes, strides, offset.saturating_add(moved));
            }
            Reading::Same => placed(base, sizes, strides, offset.saturating_add(moved))?,
            Reading::Parts => {
                // The parts are those in memory, which a conjugate does not have.
                let base = toggled(base, base.key_set().remove(DispatchKey::Conjugate))?;
                placed(
                    &arithmetic::view_as_real(&base)?,
                    sizes,
                    strides,
                    offset.saturating_add(twice(moved)),
                )?
            }
            Reading::Pairs => {
                let sizes = [sizes, &[2]].concat();
                let strides: Vec<i64> = strides.iter().copied().map(twice).chain([1]).collect();
                let pairs = placed(base, &sizes, &strides, twice(offset).saturating_add(moved))?;
                arithmetic::view_as_complex(&pairs)?
            }
        };
        toggled(&view, self.bits)
    }

    /// A tensor of this form, of the type and on the device of another, with elements that are still to be written.
    pub(super) fn empty(&self, like: &Tensor) -> Result<Tensor> {
        let memory = arithmetic::new_empty_strided(like, self.geometry.sizes(), self.geometry.strides())?;
        toggled(&memory, self.bits)
    }

    /// The offset of the tensor.
    pub(super) fn offset(&self) -> i64 {
        self.geometry.offset()
    }

    #[cold]
    fn error(&self, base: DType) -> Error {
        let message = format!(
            "a view of {base} as {} has no derivative, so autograd cannot follow writes to either of them\n  \
             help: write to a copy, or inside `no_grad`",
            self.dtype
        );
        Error::new(ErrorKind::Autograd, message)
    }
}

/// What the elements of a view are to those of its base.
enum Reading {
    Same,
    /// The real and imaginary parts.
    Parts,
    /// The numbers whose parts the elements of the base are.
    Pairs,
}

impl Reading {
    fn of(base: DType, view: DType) -> Option<Self> {
        match (base.is_complex(), view.is_complex()) {
            _ if base == view => Some(Reading::Same),
            (true, false) if base.to_real() == view => Some(Reading::Parts),
            (false, true) if base == view.to_real() => Some(Reading::Pairs),
            _ => None,
        }
    }
}

/// A tensor, or the view of it at another place.
fn placed(tensor: &Tensor, sizes: &[i64], strides: &[i64], offset: i64) -> Result<Tensor> {
    if (tensor.sizes(), tensor.strides(), tensor.storage_offset()) == (sizes, strides, offset) {
        return Ok(tensor.clone());
    }
    arithmetic::as_strided(tensor, sizes, strides, offset)
}

/// The view that reads the same memory with these bits.
fn toggled(tensor: &Tensor, bits: DispatchKeySet) -> Result<Tensor> {
    let mut tensor = tensor.clone();
    if tensor.key_set().has(DispatchKey::Conjugate) != bits.has(DispatchKey::Conjugate) {
        tensor = arithmetic::conj(&tensor)?;
    }
    if tensor.key_set().has(DispatchKey::Negative) != bits.has(DispatchKey::Negative) {
        tensor = arithmetic::neg_view(&tensor)?;
    }
    Ok(tensor)
}
