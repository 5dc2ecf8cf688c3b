//! Kernels of comparisons and of `where`.

use torch_library::prelude::*;
use torch_library::{match_dtype, result_type};

use crate::aten;
use crate::loops::Pointwise;
use crate::loops::match_opmath;

/// Defines the kernels of comparisons. Each row gives the supported dtypes and the operator.
macro_rules! comparisons {
    ($($name:ident $($class:ident)|+ => $sign:tt;)+) => {
        #[torch_impl(aten, CPU, Meta)]
        mod kernels {
            use super::*;

            $(
                fn $name(output: Output<'_>, this: &Tensor, other: &Tensor) -> Result<Tensor> {
                    let call = Pointwise::promoting(output, [this, other])?;
                    match_opmath!(call.dtype, T: $($class)|+ => {
                        call.compute(None, DType::Bool, |[a, b]: [T; 2]| a $sign b)
                    }, else => Err(call.unsupported()))
                }
            )+
        }
    };
}

comparisons! {
    eq_Tensor Bool | Integer | Unsigned | Float | Complex => ==;
    ne_Tensor Bool | Integer | Unsigned | Float | Complex => !=;
    lt_Tensor Bool | Integer | Unsigned | Float => <;
    le_Tensor Bool | Integer | Unsigned | Float => <=;
    gt_Tensor Bool | Integer | Unsigned | Float => >;
    ge_Tensor Bool | Integer | Unsigned | Float => >=;
}

#[torch_impl(aten, CPU, Meta)]
fn where_self(output: Output<'_>, condition: &Tensor, this: &Tensor, other: &Tensor) -> Result<Tensor> {
    let operator = output.operator();
    ensure!(
        matches!(condition.dtype(), DType::Bool | DType::UInt8),
        DType,
        "{operator}: the condition is of {}, expected bool",
        condition.dtype()
    );
    let dtype = result_type([this.promotion_operand(), other.promotion_operand()]);
    let dtype = dtype.map_err(|error| error.context(operator))?;
    let call = Pointwise::with_dtype(output, [condition, this, other], dtype)?.with_condition().exactly();
    match_dtype!(dtype, T => {
        call.compute(None, dtype, |[c, a, b]: [T; 3]| if c == T::default() { b } else { a })
    })
}
