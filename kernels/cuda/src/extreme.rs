//! Where the largest or smallest element of a row is: a block for each row, whose threads compare in pairs.

use torch_library::prelude::*;
use torch_library_gpu::{Arguments, KernelBuilder, Tensors, all_on_meta, index_of, on_meta};
use torch_library_kernels::aten;

use crate::call::{Cuda, kernels};
use crate::kernel::Kernel;

kernels! {
    super::place_of_largest: argmax;
    super::place_of_smallest: argmin;
    super::largest: max_dim;
    super::smallest: min_dim;
}

fn place_of_largest(operator: OperatorHandle, values: &[Value<'_>]) -> Result<Option<Tensor>> {
    place(operator, values, ">")
}

fn place_of_smallest(operator: OperatorHandle, values: &[Value<'_>]) -> Result<Option<Tensor>> {
    place(operator, values, "<")
}

fn largest(operator: OperatorHandle, values: &[Value<'_>]) -> Result<Option<[Tensor; 2]>> {
    both(operator, values, ">")
}

fn smallest(operator: OperatorHandle, values: &[Value<'_>]) -> Result<Option<[Tensor; 2]>> {
    both(operator, values, "<")
}

fn place(operator: OperatorHandle, values: &[Value<'_>], better: &str) -> Result<Option<Tensor>> {
    let arguments = Arguments::new(operator, values);
    let this = arguments.tensor(0)?;
    if !Cuda::is_here(this) || this.numel() == 0 {
        return Ok(None);
    }
    let meta = on_meta(operator, values)?;
    let places = Cuda::unwritten(&meta, index_of(this))?;
    search(this, arguments.optional_int(1), better, None, &places)?;
    Ok(Some(places))
}

fn both(operator: OperatorHandle, values: &[Value<'_>], better: &str) -> Result<Option<[Tensor; 2]>> {
    let arguments = Arguments::new(operator, values);
    let this = arguments.tensor(0)?;
    if !Cuda::is_here(this) || this.numel() == 0 {
        return Ok(None);
    }
    let metas: [Tensor; 2] = all_on_meta(operator, values)?;
    let [found, places] =
        [Cuda::unwritten(&metas[0], index_of(this))?, Cuda::unwritten(&metas[1], index_of(this))?];
    search(this, Some(arguments.int(1)?), better, Some(&found), &places)?;
    Ok(Some([found, places]))
}

/// Along a dimension, or in the flat tensor.
fn search(
    this: &Tensor,
    dim: Option<i64>,
    better: &str,
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
    let kernel = Kernel::new("extreme")
        .type_named("T", this.dtype())
        .number("elements", length)
        .number("inner", inner)
        .input("x", &Cuda::contiguous(this)?)
        .result("index", places);
    let (kernel, write) = match found {
        Some(found) => (kernel.result("y", found), " p.y[row] = found[0];"),
        None => (kernel, ""),
    };
    let body = format!("{SEARCH}\n    if (thread == 0) {{ p.index[row] = places[0];{write} }}");
    kernel.with(&BETTER.replace("BETTER", better)).rows(this.numel() / length, length, &body, "")
}

/// What is no number is better than all that are; of equal ones the first is taken.
const BETTER: &str = "__device__ inline bool is_none(T a) { return a != a; }
__device__ inline bool is_better(T a, i64 i, T b, i64 j) {
    if (is_none(a) != is_none(b)) return is_none(a);
    if (is_none(a) || a == b) return i < j;
    return a BETTER b;
}";

/// A thread beyond the last element has that one.
const SEARCH: &str = "    __shared__ T found[MOST_THREADS];
    __shared__ i64 places[MOST_THREADS];
    i64 start = row / p.inner * p.elements * p.inner + row % p.inner;
    i64 best_at = min((i64)thread, p.elements - 1);
    T best = p.x[start + best_at * p.inner];
    for (i64 i = thread; i < p.elements; i += threads) {
        T value = p.x[start + i * p.inner];
        if (is_better(value, i, best, best_at)) { best = value; best_at = i; }
    }
    found[thread] = best;
    places[thread] = best_at;
    for (u32 half = threads / 2; half > 0; half /= 2) {
        __syncthreads();
        if (thread < half && is_better(found[thread + half], places[thread + half], found[thread], places[thread])) {
            found[thread] = found[thread + half];
            places[thread] = places[thread + half];
        }
    }
    __syncthreads();";
