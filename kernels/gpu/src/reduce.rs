//! Reductions: `sum`, `mean`, `prod`, `amax`, `amin`, `all` and `any`. A workgroup reduces a row, or a single thread if rows are
//! interleaved; a few long rows are cut into parts, whose results are reduced in turn.

use torch_library::prelude::*;

use crate::arguments::on_meta;
use crate::backend::{GpuBackend, Tensors, index_of};
use crate::kernel::{KernelBuilder, computed};
use crate::layout::Layout;

/// The kernels of reductions, of rows with `elements` elements. Element `i` of a row is at `own_place(row) + place(i)`. `A` is the
/// type of the accumulator.
#[derive(Clone, Copy, Debug)]
pub struct Reduce {
    /// The fold of an operator, by its name, the type of the elements and the type of the accumulator; `None` if the language has no
    /// kernel for that.
    pub fold: fn(&str, DType, DType) -> Option<Fold>,
    /// A function `finish` that returns a total unchanged, for a part of a row.
    pub unfinished: &'static str,
    /// One thread for each row.
    pub by_thread: &'static str,
    /// One workgroup for each of the `parts` of a row: computes its total.
    pub by_group: &'static str,
    /// Writes the total, after `by_group`.
    pub write: &'static str,
}

/// A fold of a row.
#[derive(Clone, Copy, Debug)]
pub struct Fold {
    /// The functions `begin`, for the initial total (which may depend on an element), and `join`, which combines two totals.
    pub functions: &'static str,
    /// The function `finish`, which makes the result from the total of `length` elements.
    pub finish: &'static str,
}

/// Rows with at least this many elements are cut into parts if there are few rows.
const LONG: i64 = 1 << 14;

/// The approximate number of elements of a part.
const PART: i64 = 1 << 10;

/// Reduces the dimensions that are listed, or all.
pub fn reduction<B: GpuBackend>(operator: OperatorHandle, arguments: &[Value<'_>]) -> Result<Option<Tensor>> {
    let this = arguments.first().and_then(Value::as_tensor);
    let Some(this) = this.filter(|this| B::is_here(this) && B::computes(this.dtype())) else {
        return Ok(None);
    };
    if this.numel() == 0 {
        return Ok(None);
    }
    let (meta, name) = (on_meta(operator, arguments)?, operator.name());
    // The type of the accumulator; `all` and `any` use bools, whatever the type of the elements.
    let kind = match name {
        "all" | "any" => DType::Bool,
        "amax" | "amin" => computed(this.dtype()),
        _ => computed(meta.dtype()),
    };
    let is_ours = B::computes(meta.dtype()) && meta.is_contiguous(MemoryFormat::Contiguous);
    if !is_ours || (name == "mean" && !kind.is_floating_point()) {
        return Ok(None);
    }
    let Some(fold) = (B::REDUCE.fold)(name, this.dtype(), kind) else { return Ok(None) };
    let (kept, reduced) = dimensions(this, arguments.get(1));
    let length: i64 = reduced.iter().map(|at| this.sizes()[*at]).product();
    let Some((layout, own)) = Layout::rows(this, &kept, &reduced, &[this]) else { return Ok(None) };
    let result = B::unwritten(&meta, index_of(this))?;
    let rows = meta.numel();
    let whole = Rows { kind, layout: &layout, own, length };
    if rows <= 64 && length >= LONG {
        let parts = (length / PART).clamp(1, 256);
        let found = B::compact(&[rows, parts], kind, index_of(this))?;
        let unfinished = Fold { finish: B::REDUCE.unfinished, ..fold };
        whole.run::<B>(this, &found, parts, unfinished, length)?;
        let lines = Layout::rows(&found, &[0], &[1], &[&found]);
        let Some((layout, own)) = lines else { return Ok(None) };
        let rest = Rows { layout: &layout, own, length: parts, ..whole };
        rest.run::<B>(&found, &result, 1, fold, length)?;
    } else {
        whole.run::<B>(this, &result, 1, fold, length)?;
    }
    Ok(Some(result))
}

/// The dimensions that are kept, and those that are reduced, which an argument lists.
pub fn dimensions(this: &Tensor, listed: Option<&Value<'_>>) -> (Vec<usize>, Vec<usize>) {
    let listed: &[i64] = match listed {
        Some(Value::Ints(dims)) => dims,
        Some(Value::Int(dim)) => std::slice::from_ref(dim),
        _ => &[],
    };
    let dim = (this.dim() as i64).max(1);
    (0..this.dim())
        .partition(|at| !listed.is_empty() && listed.iter().all(|d| d.rem_euclid(dim) != *at as i64))
}

struct Rows<'a> {
    /// The type of the accumulator.
    kind: DType,
    layout: &'a Layout,
    /// The number of sizes that count rows.
    own: usize,
    length: i64,
}

impl Rows<'_> {
    /// Reduces each row in `parts` parts; the result is finished for `whole` elements.
    fn run<B: GpuBackend>(
        &self,
        this: &Tensor,
        result: &Tensor,
        parts: i64,
        fold: Fold,
        whole: i64,
    ) -> Result<()> {
        let Rows { kind, layout, own, length } = *self;
        let (sizes, strides) = (&layout.sizes, &layout.inputs[0].strides);
        let kernel = B::Builder::new("reduction")
            .type_named("A", kind)
            .type_named("R", result.dtype())
            .number("elements", length)
            .number("length", whole)
            .number("parts", parts)
            .places("own_place", &sizes[..own], &strides[..own])
            .places("place", &sizes[own..], &strides[own..])
            .input("x", this)
            .result("y", result)
            .with(fold.functions)
            .with(fold.finish);
        let rows = result.numel();
        // If rows are interleaved, neighbouring threads take neighbouring rows, so that they read neighbouring elements.
        let lies_beside = own > 0 && strides[own - 1] == 1 && strides.last() != Some(&1);
        match parts == 1 && (length <= 16 || (lies_beside && rows >= 512)) {
            true => kernel.threads(rows, B::REDUCE.by_thread),
            false => kernel.rows(rows, length / parts, B::REDUCE.by_group, B::REDUCE.write),
        }
    }
}
