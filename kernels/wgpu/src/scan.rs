//! Sums of all elements of a row up to each, of whole numbers: a thread goes through a row. Positions in language models
//! are made of these.

use torch_library::prelude::*;
use torch_library_kernels::aten;

use crate::call::{Arguments, index_of, is_here, is_small, kernels, on_meta, unwritten};
use crate::copy::{contiguous, laid_out};
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
        DType::Int64 => contiguous(this)?,
        _ => match of_type(this, DType::Int64)? {
            Some(x) => x,
            None => return Ok(None),
        },
    };
    let dim = dim.rem_euclid(this.dim() as i64) as usize;
    let (count, inner) = (this.sizes()[dim], this.sizes()[dim + 1..].iter().product());
    let like = Tensor::empty(x.sizes(), DType::Int64, Device::META)?;
    let result = unwritten(&like, index_of(this))?;
    Shader::new("cumsum")
        .number("elements", count)
        .number("inner", inner)
        .input_words("x", &x)
        .result_words("y", &result)
        .threads(
            x.numel() / count,
            "    let start = n / p.inner * p.elements * p.inner + n % p.inner;
    var sum = vec2(0u, 0u);
    for (var i = 0u; i < p.elements; i++) {
        let at = 2u * (start + i * p.inner);
        let low = sum.x + x(at);
        sum = vec2(low, sum.y + x(at + 1u) + select(0u, 1u, low < sum.x));
        set_y(at, sum.x);
        set_y(at + 1u, sum.y);
    }",
        )?;
    laid_out(result, &meta).map(Some)
}
