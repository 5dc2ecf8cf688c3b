//! Where the largest or smallest element of a row is: a workgroup for each row, whose threads compare in pairs.

use torch_library::prelude::*;
use torch_library_gpu::{Arguments, KernelBuilder, Tensors, all_on_meta, index_of, on_meta};
use torch_library_kernels::aten;

use crate::call::{Wgpu, kernels};
use crate::shader::Shader;

kernels! {
    super::place_of_largest: argmax;
    super::place_of_smallest: argmin;
    super::largest: max_dim;
    super::smallest: min_dim;
}

fn place_of_largest(operator: OperatorHandle, values: &[Value<'_>]) -> Result<Option<Tensor>> {
    place(operator, values, 1.0)
}

fn place_of_smallest(operator: OperatorHandle, values: &[Value<'_>]) -> Result<Option<Tensor>> {
    place(operator, values, -1.0)
}

fn largest(operator: OperatorHandle, values: &[Value<'_>]) -> Result<Option<[Tensor; 2]>> {
    both(operator, values, 1.0)
}

fn smallest(operator: OperatorHandle, values: &[Value<'_>]) -> Result<Option<[Tensor; 2]>> {
    both(operator, values, -1.0)
}

fn place(operator: OperatorHandle, values: &[Value<'_>], sign: f64) -> Result<Option<Tensor>> {
    let arguments = Arguments::new(operator, values);
    let this = arguments.tensor(0)?;
    if !Wgpu::is_float(this) || this.numel() == 0 {
        return Ok(None);
    }
    let meta = on_meta(operator, values)?;
    let places = Wgpu::unwritten(&meta, index_of(this))?;
    search(this, arguments.optional_int(1), sign, None, &places)?;
    Ok(Some(places))
}

fn both(operator: OperatorHandle, values: &[Value<'_>], sign: f64) -> Result<Option<[Tensor; 2]>> {
    let arguments = Arguments::new(operator, values);
    let this = arguments.tensor(0)?;
    if !Wgpu::is_float(this) || this.numel() == 0 {
        return Ok(None);
    }
    let metas: [Tensor; 2] = all_on_meta(operator, values)?;
    let [found, places] =
        [Wgpu::unwritten(&metas[0], index_of(this))?, Wgpu::unwritten(&metas[1], index_of(this))?];
    search(this, Some(arguments.int(1)?), sign, Some(&found), &places)?;
    Ok(Some([found, places]))
}

/// Along a dimension, or in the flat tensor.
fn search(this: &Tensor, dim: Option<i64>, sign: f64, found: Option<&Tensor>, places: &Tensor) -> Result<()> {
    let sizes = this.sizes();
    let (count, inner) = match dim {
        Some(dim) if !sizes.is_empty() => {
            let dim = dim.rem_euclid(sizes.len() as i64) as usize;
            (sizes[dim], sizes[dim + 1..].iter().product())
        }
        _ => (this.numel(), 1),
    };
    let shader = Shader::new("extreme")
        .number("elements", count)
        .number("inner", inner)
        .float("sign", sign)
        .input("x", &Wgpu::contiguous(this)?)
        .result("index", places)
        .with(BETTER);
    let (shader, write) = match found {
        Some(found) => (shader.result("y", found), "set_y(row, p.sign * value);"),
        None => (shader, ""),
    };
    shader.rows(
        this.numel() / count,
        count,
        SEARCH,
        &format!("if (thread == 0u) {{ set_index(row, i32(index)); {write} }}"),
    )
}

/// What is no number is larger than all that are; of equal ones the first is taken.
const BETTER: &str = "var<workgroup> indices: array<u32, THREADS>;
fn is_better(a: f32, i: u32, b: f32, j: u32) -> bool {
    if (is_nan(a) != is_nan(b)) { return is_nan(a); }
    if (is_nan(a) || a == b) { return i < j; }
    return a > b;
}";

/// A thread beyond the last element has that one.
const SEARCH: &str = "    let start = row / p.inner * p.elements * p.inner + row % p.inner;
    var best = p.sign * x(start + min(thread, p.elements - 1u) * p.inner);
    var best_at = min(thread, p.elements - 1u);
    for (var i = thread; i < p.elements; i += THREADS) {
        let value = p.sign * x(start + i * p.inner);
        if (is_better(value, i, best, best_at)) { best = value; best_at = i; }
    }
    parts[thread] = best;
    indices[thread] = best_at;
    for (var half = THREADS / 2u; half > 0u; half = half / 2u) {
        workgroupBarrier();
        if (thread < half && is_better(parts[thread + half], indices[thread + half], parts[thread], indices[thread])) {
            parts[thread] = parts[thread + half];
            indices[thread] = indices[thread + half];
        }
    }
    workgroupBarrier();
    let value = parts[0];
    let index = indices[0];";
