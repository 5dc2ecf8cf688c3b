//! Sums of all elements of a row up to each, of whole numbers: a thread goes through a short row, a workgroup through a
//! long one. Positions in language models are made of these.

use torch_library::prelude::*;
use torch_library_gpu::{Arguments, KernelBuilder, Tensors, index_of, on_meta};
use torch_library_kernels::aten;

use crate::call::{Wgpu, is_here, is_small, kernels};
use crate::pointwise::of_type;
use crate::shader::Shader;

kernels! {
    super::cumsum: cumsum;
}

fn cumsum(operator: OperatorHandle, values: &[Value<'_>]) -> Result<Option<Tensor>> {
    let arguments = Arguments::new(operator, values);
    let (this, dim) = (arguments.tensor(0)?, arguments.int(1)?);
    if !is_here(this) || !is_small(this) || this.dim() == 0 || this.numel() == 0 {
        return Ok(None);
    }
    let meta = on_meta(operator, values)?;
    if meta.dtype() != DType::Int64 {
        return Ok(None);
    }
    let x = match this.dtype() {
        DType::Int64 => Wgpu::contiguous(this)?,
        _ => match of_type(this, DType::Int64)? {
            Some(x) => x,
            None => return Ok(None),
        },
    };
    let dim = dim.rem_euclid(this.dim() as i64) as usize;
    let (count, inner) = (this.sizes()[dim], this.sizes()[dim + 1..].iter().product());
    let result = Wgpu::compact(x.sizes(), DType::Int64, index_of(this))?;
    let shader = Shader::new("cumsum")
        .number("elements", count)
        .number("inner", inner)
        .input_moved("x", &x)
        .result_moved("y", &result)
        .with(WIDE);
    let rows = x.numel() / count;
    match count < LONG {
        true => shader.threads(rows, SHORT_ROW)?,
        false => shader.with(SUMS).rows(rows, count, PART, WRITE_PART)?,
    }
    Wgpu::laid_out(result, &meta).map(Some)
}

/// From this length on a workgroup goes through a row: each thread sums its part, and again from where those before end.
const LONG: i64 = 256;

const WIDE: &str = "fn element(at: u32) -> vec2<u32> { return vec2(x(2u * at), x(2u * at + 1u)); }
fn sum64(a: vec2<u32>, b: vec2<u32>) -> vec2<u32> {
    let low = a.x + b.x;
    return vec2(low, a.y + b.y + select(0u, 1u, low < a.x));
}
fn put_sum(at: u32, sum: vec2<u32>) {
    set_y(2u * at, sum.x);
    set_y(2u * at + 1u, sum.y);
}";

const SHORT_ROW: &str = "    let start = n / p.inner * p.elements * p.inner + n % p.inner;
    var sum = vec2(0u, 0u);
    for (var i = 0u; i < p.elements; i++) {
        let at = start + i * p.inner;
        sum = sum64(sum, element(at));
        put_sum(at, sum);
    }";

const SUMS: &str = "var<workgroup> sums: array<vec2<u32>, THREADS>;";

const PART: &str = "    let start = row / p.inner * p.elements * p.inner + row % p.inner;
    let each = (p.elements + THREADS - 1u) / THREADS;
    let first = min(thread * each, p.elements);
    let end = min(first + each, p.elements);
    var mine = vec2(0u, 0u);
    for (var i = first; i < end; i++) { mine = sum64(mine, element(start + i * p.inner)); }
    sums[thread] = mine;
    workgroupBarrier();
    var sum = vec2(0u, 0u);
    for (var other = 0u; other < thread; other++) { sum = sum64(sum, sums[other]); }";

const WRITE_PART: &str = "    for (var i = first; i < end; i++) {
        let at = start + i * p.inner;
        sum = sum64(sum, element(at));
        put_sum(at, sum);
    }";
