//! Where the largest or smallest element of a row is: a group of threads for each row, whose threads compare in pairs.

use torch_library::prelude::*;

use crate::arguments::{Arguments, all_on_meta, on_meta};
use crate::backend::{GpuBackend, Tensors, index_of};
use crate::kernel::KernelBuilder;

/// The places of extremes: a row of `elements`, `inner` apart.
#[derive(Clone, Copy, Debug)]
pub struct Extreme {
    /// Whether elements of a type can be compared.
    pub compares: fn(DType) -> bool,
    /// A function for which of two numbers lies beyond the other: the larger one.
    pub larger: &'static str,
    /// As `larger`: the smaller one.
    pub smaller: &'static str,
    /// A function for which of two elements is better by that. What is no number is better than all that are, and of equal ones the
    /// first.
    pub better: &'static str,
    /// Finds the best element and its place.
    pub search: &'static str,
    /// Writes the place to `index`.
    pub write: &'static str,
    /// Writes the place to `index` and the element to `y`.
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

/// Along a dimension, or in the flat tensor.
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
