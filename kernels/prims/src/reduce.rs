//! Reductions, Fourier transforms and singular values.

use torch_library::prelude::*;
use torch_library_aten::aten;

use crate::ops::prims;

fn converted(tensor: Tensor, dtype: Option<DType>) -> Result<Tensor> {
    match dtype {
        Some(dtype) => aten::to_dtype(&tensor, dtype),
        None => Ok(tensor),
    }
}

#[torch_impl(prims, CompositeImplicitAutograd)]
mod reductions {
    use super::*;

    fn amax(inp: &Tensor, dims: Option<&[i64]>, output_dtype: Option<DType>) -> Result<Tensor> {
        converted(aten::amax::call(inp, dims.unwrap_or_default(), false)?, output_dtype)
    }

    fn amin(inp: &Tensor, dims: Option<&[i64]>, output_dtype: Option<DType>) -> Result<Tensor> {
        converted(aten::amin::call(inp, dims.unwrap_or_default(), false)?, output_dtype)
    }

    fn prod(inp: &Tensor, dims: Option<&[i64]>, output_dtype: Option<DType>) -> Result<Tensor> {
        let dtype = Some(output_dtype.unwrap_or(inp.dtype()));
        let Some(dims) = dims else { return aten::prod::call(inp, dtype) };
        let mut dims = dims.to_vec();
        dims.sort_unstable();
        let mut product = aten::_to_copy::with(inp).dtype(dtype).call()?;
        for dim in dims.into_iter().rev() {
            product = aten::prod_dim_int::call(&product, dim, false, dtype)?;
        }
        Ok(product)
    }

    fn sum(inp: &Tensor, dims: Option<&[i64]>, output_dtype: Option<DType>) -> Result<Tensor> {
        aten::sum_dim_IntList::call(inp, dims, false, Some(output_dtype.unwrap_or(inp.dtype())))
    }

    fn var(
        inp: &Tensor,
        dims: Option<&[i64]>,
        correction: Option<f64>,
        output_dtype: Option<DType>,
    ) -> Result<Tensor> {
        let correction = correction.map(Scalar::Float);
        converted(aten::var_correction::call(inp, dims, correction, false)?, output_dtype)
    }

    fn prepare_softmax_online(a: &Tensor, dim: i64) -> Result<(Tensor, Tensor)> {
        let maxima = aten::amax::call(a, &[dim], true)?;
        let exponentials = aten::exp(&aten::sub_Tensor(a, &maxima)?)?;
        let sums = aten::sum_dim_IntList::call(&exponentials, Some(&[dim]), true, None)?;
        Ok((maxima, sums))
    }
}

#[torch_impl(prims, CompositeImplicitAutograd)]
mod transforms {
    use super::*;

    /// No normalisation.
    const PLAIN: i64 = 0;

    fn fft_c2c(this: &Tensor, dim: &[i64], forward: bool) -> Result<Tensor> {
        aten::_fft_c2c(this, dim, PLAIN, forward)
    }

    fn fft_c2r(this: &Tensor, dim: &[i64], last_dim_size: i64) -> Result<Tensor> {
        aten::_fft_c2r(this, dim, PLAIN, last_dim_size)
    }

    fn fft_r2c(this: &Tensor, dim: &[i64], onesided: bool) -> Result<Tensor> {
        aten::_fft_r2c(this, dim, PLAIN, onesided)
    }

    fn svd(a: &Tensor, full_matrices: bool) -> Result<(Tensor, Tensor, Tensor)> {
        aten::linalg_svd::call(a, full_matrices, None)
    }
}
