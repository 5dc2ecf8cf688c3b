//! The frequencies of the elements of a transform, and their reordering.

use torch_library::prelude::*;

use super::existing_dim;
use crate::aten;

#[torch_impl(aten, CompositeImplicitAutograd)]
mod kernels {
    use super::*;

    fn fft_fftshift(this: &Tensor, dim: Option<&[i64]>) -> Result<Tensor> {
        shifted(aten::fft_fftshift::NAME, this, dim, |size| size / 2)
    }

    fn fft_ifftshift(this: &Tensor, dim: Option<&[i64]>) -> Result<Tensor> {
        shifted(aten::fft_ifftshift::NAME, this, dim, |size| size - size / 2)
    }
}

fn shifted(
    operator: &'static str,
    this: &Tensor,
    dim: Option<&[i64]>,
    shift: impl Fn(i64) -> i64,
) -> Result<Tensor> {
    let dims = match dim {
        None => (0..this.dim()).collect(),
        Some(dim) => dim.iter().map(|dim| existing_dim(operator, this, *dim)).collect::<Result<Vec<_>>>()?,
    };
    ensure!(!dims.is_empty(), Argument, "{operator}: no dimension to shift, expected at least one");
    let shifts: Vec<i64> = dims.iter().map(|dim| shift(this.sizes()[*dim])).collect();
    let dims: Vec<i64> = dims.into_iter().map(|dim| dim as i64).collect();
    aten::roll::call(this, &shifts, &dims)
}

#[torch_impl(aten, CompositeExplicitAutograd)]
mod series {
    use super::*;

    fn fft_fftfreq(
        n: i64,
        d: f64,
        dtype: Option<DType>,
        layout: Option<Layout>,
        device: Option<Device>,
        pin_memory: Option<bool>,
    ) -> Result<Tensor> {
        const OPERATOR: &str = aten::fft_fftfreq::NAME;
        ensure!(n >= 0, Argument, "{OPERATOR}: {n} frequencies, expected zero or more");
        let dtype = checked(OPERATOR, dtype)?;
        let series = |start: i64, end: i64| {
            aten::arange_start::call(start.into(), end.into(), Some(dtype), layout, device, pin_memory)
        };
        let numbers = aten::cat(&[series(0, n - n / 2)?, series(-(n / 2), 0)?])?;
        aten::mul_Scalar(&numbers, (n as f64 * d).recip().into())
    }

    fn fft_rfftfreq(
        n: i64,
        d: f64,
        dtype: Option<DType>,
        layout: Option<Layout>,
        device: Option<Device>,
        pin_memory: Option<bool>,
    ) -> Result<Tensor> {
        let dtype = checked(aten::fft_rfftfreq::NAME, dtype)?;
        let numbers = aten::arange::call((n / 2 + 1).into(), Some(dtype), layout, device, pin_memory)?;
        aten::mul_Scalar(&numbers, (n as f64 * d).recip().into())
    }
}

fn checked(operator: &str, dtype: Option<DType>) -> Result<DType> {
    let dtype = dtype.unwrap_or(DType::DEFAULT);
    ensure!(
        dtype.is_floating_point(),
        DType,
        "{operator}: frequencies of {dtype}, expected a floating-point type"
    );
    Ok(dtype)
}
