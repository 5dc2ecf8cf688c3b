//! Kernels of comparisons, of `where` and of membership.

use torch_library::prelude::*;
use torch_library::{match_dtype, promote_types, result_type};

use crate::aten;
use crate::cpu::sorting::ranks::Sorted;
use crate::loops::Pointwise;
use crate::loops::pointwise::{common_device, rounded, unsupported};
use crate::loops::{self, match_opmath, opmath_type, opmath_type_with_float8};
use crate::number::Number;

/// Defines the kernels of comparisons. Each row gives the types that are computed in, and the operator.
macro_rules! comparisons {
    ($($name:ident $opmath:ident $($class:ident)|+ => $sign:tt;)+) => {
        #[torch_impl(aten, CPU, Meta)]
        mod kernels {
            use super::*;

            $(
                fn $name(output: Output<'_>, this: &Tensor, other: &Tensor) -> Result<Tensor> {
                    let call = Pointwise::promoting(output, [this, other])?;
                    if let Some(converted) = of_eight_bits(call.dtype, [this, other])? {
                        return $name(output, &converted[0], &converted[1]);
                    }
                    match_dtype!($opmath(call.dtype), T: $($class)|+ => {
                        call.compute(None, DType::Bool, |[a, b]: [T; 2]| a $sign b)
                    }, else => Err(call.unsupported()))
                }
            )+
        }
    };
}

/// The operands in the type that they are combined in, if it is one of eight bits and another operand has to be rounded
/// to it first.
pub(super) fn of_eight_bits(dtype: DType, inputs: [&Tensor; 2]) -> Result<Option<[Tensor; 2]>> {
    if !dtype.is_float8() || inputs.iter().all(|input| input.dtype() == dtype) {
        return Ok(None);
    }
    Ok(Some([loops::copy(inputs[0], dtype)?, loops::copy(inputs[1], dtype)?]))
}

comparisons! {
    eq_Tensor opmath_type_with_float8 Bool | Integer | Unsigned | Float | Complex => ==;
    ne_Tensor opmath_type_with_float8 Bool | Integer | Unsigned | Float | Complex => !=;
    lt_Tensor opmath_type Bool | Integer | Unsigned | Float => <;
    le_Tensor opmath_type Bool | Integer | Unsigned | Float => <=;
    gt_Tensor opmath_type Bool | Integer | Unsigned | Float => >;
    ge_Tensor opmath_type Bool | Integer | Unsigned | Float => >=;
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
    match_dtype!(dtype, T: Half => {
        // The condition was converted to 0 or 1, whose bits are compared in vectors.
        call.compute(None, dtype, |[c, a, b]: [T; 3]| if c.to_bits() == 0 { b } else { a })
    }, else => match_dtype!(dtype, T: Bool | Integer | Unsigned | Float | HalfComplex | Complex => {
        call.compute(None, dtype, |[c, a, b]: [T; 3]| if c == T::default() { b } else { a })
    }, else => call.compute(None, dtype, |[c, a, b]: [f32; 3]| if c == 0.0 { b } else { a })))
}

/// Whether each element is one of `test_elements`; NaN equals nothing.
#[torch_impl(aten, CPU)]
fn isin_Tensor_Tensor(
    elements: &Tensor,
    test_elements: &Tensor,
    _assume_unique: bool,
    invert: bool,
) -> Result<Tensor> {
    let _lease = loops::frozen([elements, test_elements])?;
    const OPERATOR: &str = aten::isin_Tensor_Tensor::NAME;
    let dtype =
        promote_types(elements.dtype(), test_elements.dtype()).map_err(|error| error.context(OPERATOR))?;
    let (elements, test_elements) = (&rounded(elements, dtype)?, &rounded(test_elements, dtype)?);
    let out =
        Tensor::empty(elements.sizes(), DType::Bool, common_device(OPERATOR, &[elements, test_elements])?)?;
    match_opmath!(dtype, T: Integer | Float => {
        let mut tests = loops::elements::<T>(test_elements)?;
        tests.retain(|x| !x.is_unordered());
        let mut tests: Vec<_> = tests.into_iter().map(T::rank).collect();
        tests.sort_unstable();
        tests.dedup();
        let is_in = |x: T| !x.is_unordered() && tests.binary_search(&x.rank()).is_ok();
        loops::map(&out, [elements], |[x]: [T; 1]| is_in(x) != invert)?;
    }, else => return Err(unsupported(OPERATOR, dtype)));
    Ok(out)
}
