//! Functions of one operand, as compositions of other operators.

use torch_library::prelude::*;

use crate::aten;

#[torch_impl(aten, CompositeImplicitAutograd)]
mod implicit {
    use super::*;

    fn isreal(this: &Tensor) -> Result<Tensor> {
        match this.dtype().is_complex() {
            true => aten::eq_Scalar(&aten::imag(this)?, 0.into()),
            false => aten::ones_like::with(this).dtype(Some(DType::Bool)).call(),
        }
    }
}
