//! Comparisons with scalars, and `where` with scalars.

use torch_library::prelude::*;

use crate::aten;

/// Defines kernels that compare with a scalar by comparing with a wrapped-number tensor.
macro_rules! with_number {
    ($($scalar:ident = $tensor:ident;)+) => {
        #[torch_impl(aten, CompositeExplicitAutograd)]
        mod explicit {
            use super::*;

            $(
                fn $scalar(this: &Tensor, other: Scalar) -> Result<Tensor> {
                    aten::$tensor(this, &Tensor::wrapped_number(other))
                }
            )+
        }
    };
}

with_number! {
    eq_Scalar = eq_Tensor;
    ne_Scalar = ne_Tensor;
    lt_Scalar = lt_Tensor;
    le_Scalar = le_Tensor;
    gt_Scalar = gt_Tensor;
    ge_Scalar = ge_Tensor;
}

#[torch_impl(aten, CompositeImplicitAutograd)]
mod implicit {
    use super::*;

    fn where_ScalarSelf(condition: &Tensor, this: Scalar, other: &Tensor) -> Result<Tensor> {
        aten::where_self(condition, &super::beside(other, this)?, other)
    }

    fn where_ScalarOther(condition: &Tensor, this: &Tensor, other: Scalar) -> Result<Tensor> {
        aten::where_self(condition, this, &super::beside(this, other)?)
    }

    fn where_Scalar(condition: &Tensor, this: Scalar, other: Scalar) -> Result<Tensor> {
        aten::where_self(condition, &Tensor::wrapped_number(this), &Tensor::wrapped_number(other))
    }
}

/// A scalar as a tensor of the dtype that it and `tensor` promote to; in a 16-bit dtype, a value that is too large
/// becomes infinite.
///
/// # Errors
/// Another dtype that cannot hold the value.
///
/// PyTorch: `at::scalar_tensor`.
fn beside(tensor: &Tensor, number: Scalar) -> Result<Tensor> {
    let operands = [tensor, &Tensor::wrapped_number(number)].map(Tensor::promotion_operand);
    let dtype = torch_library::result_type(operands)?;
    if matches!(dtype, DType::Float16 | DType::BFloat16) {
        let wide = Tensor::full(&[], number, DType::Float64, tensor.device())?;
        return aten::to_dtype(&wide, dtype);
    }
    Tensor::full(&[], number, dtype, tensor.device())
}
