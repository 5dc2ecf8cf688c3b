//! Complex numbers from pairs of real ones.

use torch_library::prelude::*;

use crate::aten;

#[torch_impl(aten, CompositeExplicitAutograd, FuncTorchBatchedDecomposition)]
mod kernels {
    use super::*;

    fn complex(real: &Tensor, imag: &Tensor) -> Result<Tensor> {
        check(aten::complex::NAME, [real, imag])?;
        let parts = aten::broadcast_tensors(&[real.clone(), imag.clone()])?;
        aten::view_as_complex(&aten::stack::with(&parts).dim(-1).call()?)
    }

    fn polar(abs: &Tensor, angle: &Tensor) -> Result<Tensor> {
        check(aten::polar::NAME, [abs, angle])?;
        aten::complex(
            &aten::mul_Tensor(abs, &aten::cos(angle)?)?,
            &aten::mul_Tensor(abs, &aten::sin(angle)?)?,
        )
    }
}

/// # Errors
/// Two dtypes, or one without complex numbers.
pub(crate) fn check(operator: &str, parts: [&Tensor; 2]) -> Result<()> {
    let allowed = [DType::Float16, DType::Float32, DType::Float64];
    let [dtype, other] = parts.map(Tensor::dtype);
    ensure!(
        dtype == other && allowed.contains(&dtype),
        DType,
        "{operator}: parts of {dtype} and {other}, expected one type: float16, float32 or float64"
    );
    Ok(())
}
