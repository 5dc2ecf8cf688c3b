//! Comparing and choosing.

use torch_library::prelude::*;
use torch_library::{match_dtype, result_type};

use super::loops::match_computing;
use crate::aten;
use crate::pointwise::Pointwise;

/// Writes the kernels of comparisons: for which types they are defined, and which sign they are.
macro_rules! comparisons {
    ($($name:ident $operator:literal $($class:ident)|+ => $sign:tt;)+) => {
        #[torch_impl(aten, CPU, Meta)]
        mod kernels {
            use super::*;

            $(
                fn $name(this: &Tensor, other: &Tensor) -> Result<Tensor> {
                    let call = Pointwise::promoting($operator, [this, other])?;
                    match_computing!(call.dtype, T: $($class)|+ => {
                        call.compute(None, DType::Bool, |[a, b]: [T; 2]| a $sign b)
                    }, else => Err(call.unsupported()))
                }
            )+
        }
    };
}

comparisons! {
    eq_Tensor "aten::eq.Tensor" Bool | Integer | Unsigned | Float | Complex => ==;
    ne_Tensor "aten::ne.Tensor" Bool | Integer | Unsigned | Float | Complex => !=;
    lt_Tensor "aten::lt.Tensor" Bool | Integer | Unsigned | Float => <;
    le_Tensor "aten::le.Tensor" Bool | Integer | Unsigned | Float => <=;
    gt_Tensor "aten::gt.Tensor" Bool | Integer | Unsigned | Float => >;
    ge_Tensor "aten::ge.Tensor" Bool | Integer | Unsigned | Float => >=;
}

#[torch_impl(aten, CPU, Meta)]
fn where_self(condition: &Tensor, this: &Tensor, other: &Tensor) -> Result<Tensor> {
    const OPERATOR: &str = "aten::where.self";
    ensure!(
        matches!(condition.dtype(), DType::Bool | DType::UInt8),
        DType,
        "{OPERATOR}: the condition is of {}, expected bool",
        condition.dtype()
    );
    let dtype = result_type([this.promotion_operand(), other.promotion_operand()]);
    let dtype = dtype.map_err(|error| error.context(OPERATOR))?;
    let call = Pointwise::with_dtype(OPERATOR, [condition, this, other], dtype)?.with_condition();
    match_dtype!(dtype, T => {
        call.compute(None, dtype, |[c, a, b]: [T; 3]| if c == T::default() { b } else { a })
    })
}
