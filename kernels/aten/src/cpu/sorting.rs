//! Kernels of sorting, and of the largest and smallest elements.

use torch_library::geometry::{Dims, contiguous_strides, preserved_strides, wrap_dim};
use torch_library::prelude::*;

use super::scan::lanes::Lanes;
use crate::aten;
use crate::below_autograd::below_autograd;
use crate::loops::pointwise::unsupported;
use crate::loops::{self, match_opmath};

mod chosen;
pub mod ranks;
mod ties;

use ranks::Sorter;

#[torch_impl(aten, CPU, Meta)]
mod kernels {
    use super::*;

    fn sort_stable(
        this: &Tensor,
        stable: Option<bool>,
        dim: i64,
        descending: bool,
    ) -> Result<(Tensor, Tensor)> {
        let _lease = loops::frozen([this])?;
        let wanted = Wanted::All { stable: stable == Some(true) };
        if !is_unsigned(this.dtype()) {
            return ordered(aten::sort_stable::NAME, this, dim, wanted, descending);
        }
        let (_, indices) = ordered(aten::sort_stable::NAME, &signed(this)?, dim, wanted, descending)?;
        let values = Tensor::empty_strided(indices.sizes(), indices.strides(), this.dtype(), this.device())?;
        loops::assign(&values, &below_autograd(|| aten::gather(this, dim, &indices))?)?;
        Ok((values, indices))
    }

    fn topk(this: &Tensor, k: i64, dim: i64, largest: bool, sorted: bool) -> Result<(Tensor, Tensor)> {
        let _lease = loops::frozen([this])?;
        const OPERATOR: &str = aten::topk::NAME;
        check_numbers(OPERATOR, this)?;
        let wrapped = wrap_dim(dim, this.dim()).map_err(|error| error.context(OPERATOR))?;
        let size = this.sizes().get(wrapped).copied().unwrap_or(1);
        ensure!(
            (0..=size).contains(&k),
            Argument,
            "{OPERATOR}: k is {k}, dimension {dim} of sizes {:?} has {size} elements",
            this.sizes()
        );
        ordered(OPERATOR, this, dim, Wanted::First { count: k, sorted }, largest)
    }
}

/// # Errors
/// A boolean dtype, which PyTorch rejects here, too.
fn check_numbers(operator: &str, this: &Tensor) -> Result<()> {
    ensure!(
        this.dtype() != DType::Bool,
        DType,
        "{operator} is not implemented for bool\n  help: `aten::to_dtype(&x, DType::UInt8)` makes numbers of them"
    );
    Ok(())
}

/// Whether a dtype is one of the unsigned integers of several bytes, for which few kernels are compiled.
pub(super) fn is_unsigned(dtype: DType) -> bool {
    matches!(dtype, DType::UInt16 | DType::UInt32 | DType::UInt64)
}

/// Signed integers in the order of unsigned ones of several bytes; any other tensor as it is.
pub(super) fn signed(this: &Tensor) -> Result<Tensor> {
    if !is_unsigned(this.dtype()) {
        return Ok(this.clone());
    }
    let signed = loops::copy(this, DType::Int64)?;
    if this.dtype() == DType::UInt64 {
        loops::map(&signed, [&signed], |[x]: [i64; 1]| x ^ i64::MIN)?;
    }
    Ok(signed)
}

/// Which elements of a line are wanted, and in which order.
#[derive(Clone, Copy)]
enum Wanted {
    /// All in sorted order; with `stable`, equal elements keep their order.
    All { stable: bool },
    /// The first ones, perhaps in another order.
    First { count: i64, sorted: bool },
}

/// The elements along a dimension in sorted order, and their indices: all of them, with the strides of the tensor, or
/// the first ones, in row-major order.
fn ordered(
    operator: &'static str,
    this: &Tensor,
    dim: i64,
    wanted: Wanted,
    descending: bool,
) -> Result<(Tensor, Tensor)> {
    let lanes = Lanes::new(operator, this, dim)?;
    let mut sizes = Dims::from_slice(this.sizes());
    if let (Some(size), Wanted::First { count, .. }) = (sizes.get_mut(lanes.dim), wanted) {
        *size = count;
    }
    let strides = match wanted {
        Wanted::All { .. } => preserved_strides(&sizes, this.strides()),
        Wanted::First { .. } => contiguous_strides(&sizes),
    };
    let empty = |dtype| Tensor::empty_strided(&sizes, &strides, dtype, this.device());
    let (values, indices) = (empty(this.dtype())?, empty(DType::Int64)?);
    match_opmath!(this.dtype(), T: Bool | Integer | Float => {
        Sorter::<T>::check(operator, lanes.len(this))?;
        lanes.choose::<T, _>(&values, &indices, Sorter::default, |sorter, lane, indices| {
            match wanted {
                Wanted::All { stable } => sorter.all(lane, indices, descending, stable),
                Wanted::First { sorted, .. } => sorter.first(lane, indices, descending, sorted),
            }
        })?;
    }, else => return Err(unsupported(operator, this.dtype())));
    Ok((values, indices))
}
