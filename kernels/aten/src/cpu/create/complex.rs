//! Complex numbers from pairs of real ones.

use num_complex::Complex;
use torch_library::prelude::*;

use crate::aten;
use crate::composite::create::complex::check;
use crate::functions::Circular;
use crate::loops::{Pointwise, Usually, function};

/// Kernels that compute the same as the composite ones, in one pass.
#[torch_impl(aten, CPU)]
mod kernels {
    use super::*;

    fn complex(real: &Tensor, imag: &Tensor) -> Result<Tensor> {
        check(aten::complex::NAME, [real, imag])?;
        let call = Pointwise::promoting(aten::complex::NAME, [real, imag])?;
        let dtype = complex_type(&call)?;
        match call.dtype {
            DType::Float64 => call.compute(None, dtype, |[re, im]: [f64; 2]| Complex::new(re, im)),
            _ => call.compute(None, dtype, |[re, im]: [f32; 2]| Complex::new(re, im)),
        }
    }

    fn polar(abs: &Tensor, angle: &Tensor) -> Result<Tensor> {
        check(aten::polar::NAME, [abs, angle])?;
        let call = Pointwise::promoting(aten::polar::NAME, [abs, angle])?;
        let dtype = complex_type(&call)?;
        macro_rules! compute {
            ($ty:ident) => {
                call.compute_elements(
                    None,
                    dtype,
                    Usually {
                        is_usual: |[_, angle]: [$ty; 2]| angle.is_moderate(),
                        fast: function!(|[abs, angle]: [$ty; 2]| -> Complex<$ty> {
                            Complex::new(abs * angle.cosine(), abs * angle.sine())
                        }),
                        any: |[abs, angle]: [$ty; 2]| Complex::new(abs * angle.cos(), abs * angle.sin()),
                    },
                )
            };
        }
        if call.dtype == DType::Float64 { compute!(f64) } else { compute!(f32) }
    }
}

/// The type of complex numbers whose parts have the opmath type.
fn complex_type(call: &Pointwise<'_, 2>) -> Result<DType> {
    call.dtype.to_complex().ok_or_else(|| call.unsupported())
}
