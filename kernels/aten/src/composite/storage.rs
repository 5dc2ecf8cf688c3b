//! Resizing in place, tensors lifted into layers, and conversions of one element to a number.

use torch_library::geometry::{Geometry, strides_for};
use torch_library::prelude::*;
use torch_library::{Operand, result_type};

use crate::aten;
use crate::below_autograd::below_autograd;

#[torch_impl(aten, CompositeExplicitAutograd)]
mod explicit {
    use super::*;

    fn resize_<'t>(
        this: &'t mut Tensor,
        size: &[i64],
        memory_format: Option<MemoryFormat>,
    ) -> Result<&'t mut Tensor> {
        const OPERATOR: &str = aten::resize_::NAME;
        let strides = match memory_format {
            None if this.sizes() == size => return Ok(this),
            Some(MemoryFormat::Preserve) => {
                bail!(
                    Argument,
                    "{OPERATOR}: there is no memory format to preserve, name the one that is meant"
                )
            }
            format => strides_for(size, format.unwrap_or(MemoryFormat::Contiguous)),
        };
        let strides = strides.map_err(|error| error.context(OPERATOR))?;
        set_sizes(this, size, &strides).map_err(|error| error.context(OPERATOR))?;
        Ok(this)
    }

    fn resize_as_<'t>(
        this: &'t mut Tensor,
        the_template: &Tensor,
        memory_format: Option<MemoryFormat>,
    ) -> Result<&'t mut Tensor> {
        let format = match memory_format {
            Some(MemoryFormat::Preserve) => Some(the_template.suggest_memory_format()),
            other => other,
        };
        aten::resize_::call(this, the_template.sizes(), format)
    }

    fn resize(this: &Tensor, size: &[i64], memory_format: Option<MemoryFormat>) -> Result<Tensor> {
        let mut copy = aten::clone(this)?;
        below_autograd(|| aten::resize_::call(&mut copy, size, memory_format).map(drop))?;
        Ok(copy)
    }

    fn resize_as(
        this: &Tensor,
        the_template: &Tensor,
        memory_format: Option<MemoryFormat>,
    ) -> Result<Tensor> {
        let mut copy = aten::clone(this)?;
        below_autograd(|| aten::resize_as_::call(&mut copy, the_template, memory_format).map(drop))?;
        Ok(copy)
    }

    /// As in PyTorch, the tensor itself, although the schema declares no view. It takes the keys of the call, which it
    /// does not use, because a kernel with these may pass its argument on: layers do.
    fn lift(_: DispatchKeySet, this: &Tensor) -> Result<Tensor> {
        handed_on(this)
    }

    fn lift_fresh(this: &Tensor) -> Result<Tensor> {
        handed_on(this)
    }

    fn empty_permuted(
        size: &[i64],
        physical_layout: &[i64],
        dtype: Option<DType>,
        layout: Option<Layout>,
        device: Option<Device>,
        pin_memory: Option<bool>,
    ) -> Result<Tensor> {
        const OPERATOR: &str = aten::empty_permuted::NAME;
        let mut order = physical_layout.to_vec();
        order.sort_unstable();
        ensure!(
            order.len() == size.len() && order.iter().zip(0..).all(|(dim, at)| *dim == at),
            Argument,
            "{OPERATOR}: physical_layout is {physical_layout:?}, expected a permutation of {} dimensions",
            size.len()
        );
        let lying: Vec<i64> = physical_layout.iter().map(|dim| size[*dim as usize]).collect();
        let dense = strides_for(&lying, MemoryFormat::Contiguous).map_err(|error| error.context(OPERATOR))?;
        let mut strides = vec![0; size.len()];
        physical_layout.iter().zip(&dense).for_each(|(dim, stride)| strides[*dim as usize] = *stride);
        aten::empty_strided::call(size, &strides, dtype, layout, device, pin_memory)
    }

    fn _local_scalar_dense(this: &Tensor) -> Result<Scalar> {
        ensure!(
            this.numel() > 0,
            Shape,
            "{}: sizes {:?} have no first element",
            aten::_local_scalar_dense::NAME,
            this.sizes()
        );
        if this.numel() == 1 {
            this.item()
        } else {
            this.strided_view(&[], &[], this.storage_offset())?.item()
        }
    }
}

/// The tensor itself, or an alias if it requires a gradient, since the result gets an autograd node of its own.
fn handed_on(this: &Tensor) -> Result<Tensor> {
    if this.requires_grad() { aten::alias(this) } else { Ok(this.clone()) }
}

/// Sets the sizes and strides of a tensor, and grows its storage if it is too small; its contents are kept.
fn set_sizes(this: &mut Tensor, size: &[i64], strides: &[i64]) -> Result<()> {
    let offset = this.storage_offset();
    let (width, has) = (this.dtype().size(), this.storage().nbytes());
    let needed = Geometry::new(size, strides, offset)?.end()?;
    if needed.saturating_mul(width as i64) <= has as i64 {
        return this.set_geometry(size, strides, offset);
    }
    let old = this.strided_view(&[(has / width) as i64], &[1], 0)?;
    let memory = Tensor::empty(&[needed], this.dtype(), this.device())?;
    let mut start = memory.strided_view(old.sizes(), &[1], 0)?;
    below_autograd(|| aten::copy_(&mut start, &old).map(drop))?;
    drop(old);
    this.set_storage(memory.storage().clone(), size, strides, offset)
}

#[torch_impl(aten, CompositeImplicitAutograd)]
mod implicit {
    use super::*;

    fn data(this: &Tensor) -> Result<Tensor> {
        aten::detach(this)
    }

    fn to_dense(this: &Tensor, dtype: Option<DType>, _masked_grad: Option<bool>) -> Result<Tensor> {
        match dtype {
            Some(dtype) => aten::to_dtype(this, dtype),
            None => Ok(this.clone()),
        }
    }

    fn _to_cpu(tensors: &[Tensor]) -> Result<Vec<Tensor>> {
        let moved = |tensor: &Tensor| aten::to_dtype_layout::with(tensor).device(Device::CPU).call();
        tensors.iter().map(moved).collect()
    }

    fn item(this: &Tensor) -> Result<Scalar> {
        ensure!(
            this.numel() == 1,
            Shape,
            "{}: sizes {:?} have {} elements, expected exactly one",
            aten::item::NAME,
            this.sizes(),
            this.numel()
        );
        aten::_local_scalar_dense(this)
    }

    fn is_nonzero(this: &Tensor) -> Result<bool> {
        ensure!(
            this.numel() == 1,
            Shape,
            "{}: sizes {:?} have {} elements, only a single one is true or false",
            aten::is_nonzero::NAME,
            this.sizes(),
            this.numel()
        );
        is_true(aten::item(this)?)
    }

    fn can_cast(from_: DType, to: DType) -> Result<bool> {
        Ok(torch_library::can_cast(from_, to))
    }

    fn promote_types(type1: DType, type2: DType) -> Result<DType> {
        torch_library::promote_types(type1, type2).map_err(|error| error.context(aten::promote_types::NAME))
    }

    fn result_type_Tensor(tensor: &Tensor, other: &Tensor) -> Result<DType> {
        promoted(aten::result_type_Tensor::NAME, operand(tensor), operand(other))
    }

    fn result_type_Scalar(tensor: &Tensor, other: Scalar) -> Result<DType> {
        promoted(aten::result_type_Scalar::NAME, operand(tensor), Operand::Number(other.dtype()))
    }

    fn result_type_Scalar_Tensor(scalar: Scalar, tensor: &Tensor) -> Result<DType> {
        promoted(aten::result_type_Scalar_Tensor::NAME, Operand::Number(scalar.dtype()), operand(tensor))
    }

    fn result_type_Scalar_Scalar(scalar1: Scalar, scalar2: Scalar) -> Result<DType> {
        let [first, second] = [scalar1, scalar2].map(|scalar| Operand::Number(scalar.dtype()));
        promoted(aten::result_type_Scalar_Scalar::NAME, first, second)
    }
}

/// Whether a scalar is not zero.
pub(super) fn is_true(scalar: Scalar) -> Result<bool> {
    Ok(match scalar {
        Scalar::Complex(number) => number != Complex64::from(0.0),
        other => other.to::<f64>()? != 0.0,
    })
}

fn operand(tensor: &Tensor) -> Operand {
    if tensor.dim() == 0 { Operand::ZeroDim(tensor.dtype()) } else { Operand::Dimensioned(tensor.dtype()) }
}

fn promoted(operator: &str, first: Operand, second: Operand) -> Result<DType> {
    result_type([first, second]).map_err(|error| error.context(operator))
}
