//! Cumulative sums along rows: a thread goes through a short row, a workgroup through a long one.

use torch_library::prelude::*;

use crate::arguments::{Arguments, on_meta};
use crate::backend::{GpuBackend, Tensors, index_of};
use crate::kernel::KernelBuilder;

/// The kernels of cumulative sums, of rows with `elements` elements, `inner` apart.
#[derive(Clone, Copy, Debug)]
pub struct Scan {
    /// Functions for sums of a type; `None` if the language has none for it.
    pub functions: fn(DType) -> Option<&'static str>,
    /// Whether a kernel reads elements of any type, and not only of the sums' type.
    pub converts: bool,
    /// One thread for each row.
    pub short_row: &'static str,
    /// One workgroup for each row: each thread sums its part, and adds up the sums of the threads before it.
    pub long_row: &'static str,
    /// Each thread writes its part, after `long_row`.
    pub write: &'static str,
}

/// Cumulative sums along a dimension, in the type of the result.
pub fn cumsum<B: GpuBackend>(operator: OperatorHandle, values: &[Value<'_>]) -> Result<Option<Tensor>> {
    let arguments = Arguments::new(operator, values);
    let (this, dim) = (arguments.tensor(0)?, arguments.int(1)?);
    if !B::is_here(this) || this.dim() == 0 || this.numel() == 0 {
        return Ok(None);
    }
    let (meta, text) = (on_meta(operator, values)?, B::SCAN);
    let Some(functions) = (text.functions)(meta.dtype()) else { return Ok(None) };
    let x = match text.converts || this.dtype() == meta.dtype() {
        true => Some(B::contiguous(this)?),
        false => B::converted(this, meta.dtype())?,
    };
    let Some(x) = x else { return Ok(None) };
    let dim = dim.rem_euclid(this.dim() as i64) as usize;
    let (length, inner) = (this.sizes()[dim], this.sizes()[dim + 1..].iter().product());
    let result = B::compact(this.sizes(), meta.dtype(), index_of(this))?;
    let kernel = B::Builder::new("cumsum")
        .of(meta.dtype())
        .number("elements", length)
        .number("inner", inner)
        .input_moved("x", &x)
        .result_moved("y", &result)
        .with(functions);
    let rows = this.numel() / length;
    match length < LONG {
        true => kernel.threads(rows, text.short_row)?,
        false => kernel.rows(rows, length, text.long_row, text.write)?,
    }
    B::laid_out(result, &meta).map(Some)
}

/// From this length on, a workgroup goes through a row.
const LONG: i64 = 256;
