//! Products of matrices of floats of eight bits, through `f32`.
#![expect(unsafe_code, reason = "takes memory that it fills")]

use torch_library::prelude::*;

use crate::loops;

/// Writes the product of matrices of floats of eight bits, which is rounded once.
pub(super) fn multiply(operator: &str, out: &Tensor, a: &Tensor, b: &Tensor) -> Result<()> {
    if out.numel() == 0 || a.numel() == 0 {
        return super::multiply(operator, out, a, b); // without products, in any of the types
    }
    ensure!(out.dtype() != DType::Float8E8M0Fnu, DType, "{operator} is not implemented for {}", out.dtype());
    if !loops::has_elements(out) {
        return Ok(());
    }
    let [a, b] = [loops::copy(a, DType::Float32)?, loops::copy(b, DType::Float32)?];
    // SAFETY: `multiply` writes every element; after an error the tensor is dropped.
    let wide = unsafe { Tensor::uninit(out.sizes(), DType::Float32, out.device())? };
    super::multiply(operator, &wide, &a, &b)?;
    loops::assign(out, &wide)
}
