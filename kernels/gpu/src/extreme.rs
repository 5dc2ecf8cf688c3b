//! The position of the largest or smallest element of a row: one workgroup for each row, whose threads compare in pairs.

use torch_library::prelude::*;

use crate::arguments::{Arguments, all_on_meta, on_meta};
use crate::backend::{GpuBackend, Tensors, index_of};
use crate::kernel::KernelBuilder;

/// The kernels for positions of extremes, of rows with `elements` elements, `inner` apart.
#[derive(Clone, Copy, Debug)]
pub struct Extreme {
    /// Whether elements of a type can be compared.
    pub compares: fn(DType) -> bool,
    /// A function that tells whether one number is beyond another, for the largest element.
    pub larger: &'static str,
    /// As `larger`, for the smallest element.
    pub smaller: &'static str,
    /// A function that picks the better of two elements: NaN is better than all numbers, and of equal elements the first.
    pub better: &'static str,
    /// Finds the best element and its position.
    pub search: &'static str,
    /// Writes the position to `index`.
    pub write: &'static str,
    /// Writes the position to `index` and the element to `y`.
    pub write_both: &'static str,
}

pub fn place_of_largest<B: GpuBackend>(
    operator: OperatorHandle,
    values: &[Value<'_>],
) -> Result<Option<Tensor>> {
    place::<B>(operator, values, B::EXTREME.larger)
}

pub fn place_of_smallest<B: GpuBackend>(
    operator: OperatorHandle,
    values: &[Value<'_>],
) -> Result<Option<Tensor>> {
    place::<B>(operator, values, B::EXTREME.smaller)
}

pub fn largest<B: GpuBackend>(operator: OperatorHandle, values: &[Value<'_>]) -> Result<Option<[Tensor; 2]>> {
    both::<B>(operator, values, B::EXTREME.larger)
}

pub fn smallest<B: GpuBackend>(
    operator: OperatorHandle,
    values: &[Value<'_>],
) -> Result<Option<[Tensor; 2]>> {
    both::<B>(operator, values, B::EXTREME.smaller)
}

/// Whether there is a kernel for a tensor.
fn is_ours<B: GpuBackend>(this: &Tensor) -> bool {
    B::is_here(this) && (B::EXTREME.compares)(this.dtype()) && this.numel() > 0
}

fn place<B: GpuBackend>(
    operator: OperatorHandle,
    values: &[Value<'_>],
    beyond: &str,
) -> Result<Option<Tensor>> {
    let arguments = Arguments::new(operator, values);
    let this = arguments.tensor(0)?;
    if !is_ours::<B>(this) {
        return Ok(None);
    }
    let meta = on_meta(operator, values)?;
    let places = B::unwritten(&meta, index_of(this))?;
    search::<B>(this, arguments.optional_int(1), beyond, None, &places)?;
    Ok(Some(places))
}

fn both<B: GpuBackend>(
    operator: OperatorHandle,
    values: &[Value<'_>],
    beyond: &str,
) -> Result<Option<[Tensor; 2]>> {
    let arguments = Arguments::new(operator, values);
    let this = arguments.tensor(0)?;
    if !is_ours::<B>(this) {
        return Ok(None);
    }
    let metas: [Tensor; 2] = all_on_meta(operator, values)?;
    let [found, places] =
        [B::unwritten(&metas[0], index_of(this))?, B::unwritten(&metas[1], index_of(this))?];
    search::<B>(this, Some(arguments.int(1)?), beyond, Some(&found), &places)?;
    Ok(Some([found, places]))
}

/// Searches along a dimension, or in the flattened tensor.
fn search<B: GpuBackend>(
    this: &Tensor,
    dim: Option<i64>,
    beyond: &str,
    found: Option<&Tensor>,
    places: &Tensor,
) -> Result<()> {
    let sizes = this.sizes();
    let (length, inner) = match dim {
        Some(dim) if !sizes.is_empty() => {
            let dim = dim.rem_euclid(sizes.len() as i64) as usize;
            (sizes[dim], sizes[dim + 1..].iter().product())
        }
        _ => (this.numel(), 1),
    };
    let kernel = B::Builder::new("extreme")
        .type_named("T", this.dtype())
        .number("elements", length)
        .number("inner", inner)
        .input("x", &B::contiguous(this)?)
        .result("index", places)
        .with(beyond)
        .with(B::EXTREME.better);
    let (kernel, write) = match found {
        Some(found) => (kernel.result("y", found), B::EXTREME.write_both),
        None => (kernel, B::EXTREME.write),
    };
    kernel.rows(this.numel() / length, length, B::EXTREME.search, write)
}
