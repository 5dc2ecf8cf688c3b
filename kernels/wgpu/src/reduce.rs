//! `all` and `any`, by counting; and the reductions that can end fused chains of calls.

use torch_library::prelude::*;
use torch_library_kernels::aten;

use crate::call::{is_here, kernels};
use crate::fold::{self, Fold};
use crate::pointwise::of_type;
use torch_library_gpu::reduce::dimensions;
use torch_library_gpu::{Arguments, DIMS, on_meta};

kernels! {
    super::all_or_any: all all_dim all_dims any any_dim any_dims;
}

/// `all` and `any` of rows of bools, by counting the true ones, as long as float32 counts without gaps.
fn all_or_any(operator: OperatorHandle, values: &[Value<'_>]) -> Result<Option<Tensor>> {
    let this = Arguments::new(operator, values).tensor(0)?;
    let count = 1..=1 << 24;
    if !is_here(this) || this.dtype() != DType::Bool || !count.contains(&this.numel()) || this.dim() > DIMS {
        return Ok(None);
    }
    let meta = on_meta(operator, values)?;
    let dims = match values.get(1) {
        Some(Value::Ints(dims)) => dims.to_vec(),
        Some(Value::Int(dim)) => vec![*dim],
        _ => Vec::new(),
    };
    let Some(numbers) = of_type(this, DType::Float32)? else { return Ok(None) };
    let sums = aten::sum_dim_IntList::call(&numbers, Some(&dims), meta.dim() == this.dim(), None)?;
    let is_any = operator.name() == "any";
    let least = if is_any { 1 } else { this.numel() / meta.numel().max(1) };
    let found = aten::ge_Scalar(&sums, least.into())?;
    Ok((found.sizes() == meta.sizes()).then_some(found))
}

/// A call with a fold.
pub(crate) struct Known {
    pub(crate) fold: &'static Fold,
    /// The dimensions that are kept, and those that are reduced.
    pub(crate) kept: Vec<usize>,
    pub(crate) reduced: Vec<usize>,
    /// The number of elements of a row.
    pub(crate) count: i64,
    /// The result on `meta`.
    pub(crate) meta: Tensor,
}

/// The computation for these arguments, whose tensor may be on `meta`; `None` if there is no kernel for it.
pub(crate) fn known(operator: OperatorHandle, arguments: &[Value<'_>]) -> Result<Option<Known>> {
    let (Some(fold), Some(this)) = (fold::of(operator), arguments.first().and_then(Value::as_tensor)) else {
        return Ok(None);
    };
    let has_dtype =
        arguments.iter().any(|argument| matches!(argument, Value::DType(dtype) if *dtype != DType::Float32));
    if this.dtype() != DType::Float32 || this.dim() > DIMS || has_dtype || this.numel() == 0 {
        return Ok(None);
    }
    let meta = on_meta(operator, arguments)?;
    if !meta.is_contiguous(MemoryFormat::Contiguous) || meta.dtype() != DType::Float32 {
        return Ok(None);
    }
    let (kept, reduced) = dimensions(this, arguments.get(1));
    let count = reduced.iter().map(|at| this.sizes()[*at]).product();
    Ok(Some(Known { fold, kept, reduced, count, meta }))
}
