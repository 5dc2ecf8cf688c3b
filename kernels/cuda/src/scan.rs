//! Sums of all elements of a row up to each: a thread goes through a short row, a block through a long one.

use torch_library::prelude::*;
use torch_library_gpu::{Arguments, KernelBuilder, Tensors, computed, index_of, on_meta};
use torch_library_kernels::aten;

use crate::call::{Cuda, kernels};
use crate::kernel::{Kernel, c_type};

kernels! {
    super::cumsum: cumsum;
}

fn cumsum(operator: OperatorHandle, values: &[Value<'_>]) -> Result<Option<Tensor>> {
    let arguments = Arguments::new(operator, values);
    let (this, dim) = (arguments.tensor(0)?, arguments.int(1)?);
    if !Cuda::is_here(this) || this.dim() == 0 || this.numel() == 0 {
        return Ok(None);
    }
    let meta = on_meta(operator, values)?;
    if c_type(meta.dtype()).is_none() {
        return Ok(None);
    }
    let dim = dim.rem_euclid(this.dim() as i64) as usize;
    let (length, inner) = (this.sizes()[dim], this.sizes()[dim + 1..].iter().product());
    let result = Cuda::compact(this.sizes(), meta.dtype(), index_of(this))?;
    let kernel = Kernel::new("cumsum")
        .type_named("T", computed(meta.dtype()))
        .type_named("R", meta.dtype())
        .number("elements", length)
        .number("inner", inner)
        .input("x", &Cuda::contiguous(this)?)
        .result("y", &result);
    let rows = this.numel() / length;
    match length < LONG {
        true => kernel.threads(rows, SHORT_ROW)?,
        false => kernel.rows(rows, length, LONG_ROW, "")?,
    }
    Cuda::laid_out(result, &meta).map(Some)
}

/// From this length on a block goes through a row: each thread sums its part, and again from where those before end.
const LONG: i64 = 256;

const SHORT_ROW: &str = "    i64 start = n / p.inner * p.elements * p.inner + n % p.inner;
    T sum = T(0);
    for (i64 i = 0; i < p.elements; i++) {
        sum += as<T>(p.x[start + i * p.inner]);
        p.y[start + i * p.inner] = as<R>(sum);
    }";

const LONG_ROW: &str = "    __shared__ T sums[MOST_THREADS];
    i64 start = row / p.inner * p.elements * p.inner + row % p.inner, each = (p.elements + threads - 1) / threads;
    i64 first = min(thread * each, p.elements), end = min(first + each, p.elements);
    T mine = T(0);
    for (i64 i = first; i < end; i++) mine += as<T>(p.x[start + i * p.inner]);
    sums[thread] = mine;
    __syncthreads();
    T sum = T(0);
    for (u32 other = 0; other < thread; other++) sum += sums[other];
    for (i64 i = first; i < end; i++) {
        sum += as<T>(p.x[start + i * p.inner]);
        p.y[start + i * p.inner] = as<R>(sum);
    }";
