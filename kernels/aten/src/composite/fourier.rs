//! Fourier transforms as users call them: resolves dimensions, sizes, dtypes and the normalisation.

use torch_library::geometry::wrap_dim;
use torch_library::prelude::*;

use crate::aten;

mod along;
mod frequencies;
mod signals;
mod windows;

use along::Along;

#[torch_impl(aten, CompositeImplicitAutograd)]
mod one_dimension {
    use super::*;

    fn fft_fft(this: &Tensor, n: Option<i64>, dim: i64, norm: Option<&str>) -> Result<Tensor> {
        Line { operator: aten::fft_fft::NAME, n, dim, norm, forward: true }.complex(this)
    }

    fn fft_ifft(this: &Tensor, n: Option<i64>, dim: i64, norm: Option<&str>) -> Result<Tensor> {
        Line { operator: aten::fft_ifft::NAME, n, dim, norm, forward: false }.complex(this)
    }

    fn fft_rfft(this: &Tensor, n: Option<i64>, dim: i64, norm: Option<&str>) -> Result<Tensor> {
        Line { operator: aten::fft_rfft::NAME, n, dim, norm, forward: true }.halves(this)
    }

    fn fft_ihfft(this: &Tensor, n: Option<i64>, dim: i64, norm: Option<&str>) -> Result<Tensor> {
        Line { operator: aten::fft_ihfft::NAME, n, dim, norm, forward: false }.halves(this)
    }

    fn fft_irfft(this: &Tensor, n: Option<i64>, dim: i64, norm: Option<&str>) -> Result<Tensor> {
        Line { operator: aten::fft_irfft::NAME, n, dim, norm, forward: false }.to_reals(this)
    }

    fn fft_hfft(this: &Tensor, n: Option<i64>, dim: i64, norm: Option<&str>) -> Result<Tensor> {
        Line { operator: aten::fft_hfft::NAME, n, dim, norm, forward: true }.to_reals(this)
    }
}

#[torch_impl(aten, CompositeImplicitAutograd)]
mod several_dimensions {
    use super::*;

    fn fft_fftn(this: &Tensor, s: Option<&[i64]>, dim: Option<&[i64]>, norm: Option<&str>) -> Result<Tensor> {
        all_complex(aten::fft_fftn::NAME, this, s, dim, norm, true)
    }

    fn fft_ifftn(
        this: &Tensor,
        s: Option<&[i64]>,
        dim: Option<&[i64]>,
        norm: Option<&str>,
    ) -> Result<Tensor> {
        all_complex(aten::fft_ifftn::NAME, this, s, dim, norm, false)
    }

    fn fft_rfftn(
        this: &Tensor,
        s: Option<&[i64]>,
        dim: Option<&[i64]>,
        norm: Option<&str>,
    ) -> Result<Tensor> {
        const OPERATOR: &str = aten::fft_rfftn::NAME;
        let x = promoted(OPERATOR, this, false)?;
        let along = Along::of(OPERATOR, &x, s, dim)?.of_halves()?;
        let mode = normalization(OPERATOR, norm, true)?;
        aten::_fft_r2c(&along.resized(&x)?, &along.dims, mode, true)
    }

    fn fft_irfftn(
        this: &Tensor,
        s: Option<&[i64]>,
        dim: Option<&[i64]>,
        norm: Option<&str>,
    ) -> Result<Tensor> {
        const OPERATOR: &str = aten::fft_irfftn::NAME;
        let (along, last) = Along::to_reals(OPERATOR, this, s, dim)?;
        let x = along.resized(&promoted(OPERATOR, this, true)?)?;
        aten::_fft_c2r(&x, &along.dims, normalization(OPERATOR, norm, false)?, last)
    }

    fn fft_hfftn(
        this: &Tensor,
        s: Option<&[i64]>,
        dim: Option<&[i64]>,
        norm: Option<&str>,
    ) -> Result<Tensor> {
        const OPERATOR: &str = aten::fft_hfftn::NAME;
        let (along, size) = Along::to_reals(OPERATOR, this, s, dim)?;
        let mode = normalization(OPERATOR, norm, true)?;
        let mut x = along.resized(&promoted(OPERATOR, this, true)?)?;
        let (last, others) = along.last_and_others()?;
        if !others.is_empty() {
            x = aten::_fft_c2c(&x, others, mode, true)?;
        }
        aten::_fft_c2r(&aten::conj(&x)?, &[last], mode, size)
    }

    fn fft_ihfftn(
        this: &Tensor,
        s: Option<&[i64]>,
        dim: Option<&[i64]>,
        norm: Option<&str>,
    ) -> Result<Tensor> {
        const OPERATOR: &str = aten::fft_ihfftn::NAME;
        let x = promoted(OPERATOR, this, false)?;
        let along = Along::of(OPERATOR, &x, s, dim)?.of_halves()?;
        let mode = normalization(OPERATOR, norm, false)?;
        let (last, others) = along.last_and_others()?;
        let half = aten::_fft_r2c(&along.resized(&x)?, &[last], mode, true)?;
        if others.is_empty() {
            return aten::conj(&half);
        }
        aten::_fft_c2c(&aten::conj_physical(&half)?, others, mode, false)
    }

    fn fft_fft2(this: &Tensor, s: Option<&[i64]>, dim: &[i64], norm: Option<&str>) -> Result<Tensor> {
        aten::fft_fftn::call(this, s, Some(dim), norm)
    }

    fn fft_ifft2(this: &Tensor, s: Option<&[i64]>, dim: &[i64], norm: Option<&str>) -> Result<Tensor> {
        aten::fft_ifftn::call(this, s, Some(dim), norm)
    }

    fn fft_rfft2(this: &Tensor, s: Option<&[i64]>, dim: &[i64], norm: Option<&str>) -> Result<Tensor> {
        aten::fft_rfftn::call(this, s, Some(dim), norm)
    }

    fn fft_irfft2(this: &Tensor, s: Option<&[i64]>, dim: &[i64], norm: Option<&str>) -> Result<Tensor> {
        aten::fft_irfftn::call(this, s, Some(dim), norm)
    }

    fn fft_hfft2(this: &Tensor, s: Option<&[i64]>, dim: &[i64], norm: Option<&str>) -> Result<Tensor> {
        aten::fft_hfftn::call(this, s, Some(dim), norm)
    }

    fn fft_ihfft2(this: &Tensor, s: Option<&[i64]>, dim: &[i64], norm: Option<&str>) -> Result<Tensor> {
        aten::fft_ihfftn::call(this, s, Some(dim), norm)
    }
}

/// A transform along one dimension.
struct Line<'a> {
    operator: &'static str,
    n: Option<i64>,
    dim: i64,
    norm: Option<&'a str>,
    forward: bool,
}

impl Line<'_> {
    /// A transform to all frequencies. Real input is transformed as such: half of the result is computed, the rest
    /// follows by symmetry.
    fn complex(&self, this: &Tensor) -> Result<Tensor> {
        if !this.dtype().is_complex() {
            return self.of_reals(this, false);
        }
        let (x, dim) = self.taken_from(&promoted(self.operator, this, true)?)?;
        aten::_fft_c2c(&x, &[dim], self.normalization()?, self.forward)
    }

    /// A one-sided transform of real input.
    fn halves(&self, this: &Tensor) -> Result<Tensor> {
        self.of_reals(this, true)
    }

    fn of_reals(&self, this: &Tensor, onesided: bool) -> Result<Tensor> {
        let (x, dim) = self.taken_from(&promoted(self.operator, this, false)?)?;
        let found = aten::_fft_r2c(&x, &[dim], self.normalization()?, onesided)?;
        if self.forward { Ok(found) } else { aten::conj(&found) }
    }

    /// A transform of one-sided frequencies to real output.
    fn to_reals(&self, this: &Tensor) -> Result<Tensor> {
        let x = promoted(self.operator, this, true)?;
        let at = existing_dim(self.operator, &x, self.dim)?;
        let size = self.n.unwrap_or(x.sizes()[at].saturating_sub(1).saturating_mul(2));
        check_count(self.operator, size)?;
        let x = if self.n.is_some() { along::resized(&x, &[at as i64], &[size / 2 + 1])? } else { x };
        let x = if self.forward { aten::conj(&x)? } else { x };
        aten::_fft_c2r(&x, &[at as i64], self.normalization()?, size)
    }

    /// The input, trimmed or padded to `n` elements along the dimension, and that dimension as a non-negative index.
    fn taken_from(&self, x: &Tensor) -> Result<(Tensor, i64)> {
        let at = existing_dim(self.operator, x, self.dim)?;
        check_count(self.operator, self.n.unwrap_or(x.sizes()[at]))?;
        let dim = at as i64;
        let x = match self.n {
            Some(n) => along::resized(x, &[dim], &[n])?,
            None => x.clone(),
        };
        Ok((x, dim))
    }

    fn normalization(&self) -> Result<i64> {
        normalization(self.operator, self.norm, self.forward)
    }
}

fn all_complex(
    operator: &'static str,
    this: &Tensor,
    s: Option<&[i64]>,
    dim: Option<&[i64]>,
    norm: Option<&str>,
    forward: bool,
) -> Result<Tensor> {
    let x = promoted(operator, this, true)?;
    let along = Along::of(operator, &x, s, dim)?;
    let mode = normalization(operator, norm, forward)?;
    aten::_fft_c2c(&along.resized(&x)?, &along.dims, mode, forward)
}

/// A dimension as a non-negative index; a tensor without dimensions has none.
fn existing_dim(operator: &str, x: &Tensor, dim: i64) -> Result<usize> {
    ensure!(x.dim() > 0, Shape, "{operator}: a tensor without dimensions has no dimension {dim}");
    wrap_dim(dim, x.dim()).map_err(|error| error.context(operator))
}

fn check_count(operator: &str, n: i64) -> Result<()> {
    ensure!(n >= 1, Shape, "{operator}: a transform of {n} numbers, expected at least one");
    Ok(())
}

/// A tensor converted to a floating-point dtype (the default one for integers), or to the complex dtype of that.
fn promoted(operator: &str, this: &Tensor, to_complex: bool) -> Result<Tensor> {
    let dtype = this.dtype();
    if dtype.is_complex() {
        ensure!(to_complex, DType, "{operator}: a tensor of {dtype}, expected real numbers");
        return Ok(this.clone());
    }
    let real = if dtype.is_floating_point() { dtype } else { DType::DEFAULT };
    ensure!(
        matches!(real, DType::Float32 | DType::Float64),
        DType,
        "{operator}: a tensor of {dtype}, expected float32, float64 or integers; convert it by `aten::to_dtype`"
    );
    let wanted = real.to_complex().filter(|_| to_complex).unwrap_or(real);
    if wanted == dtype { Ok(this.clone()) } else { aten::to_dtype(this, wanted) }
}

/// The normalisation mode that the kernel is passed.
fn normalization(operator: &str, norm: Option<&str>, forward: bool) -> Result<i64> {
    const NONE: i64 = 0;
    const BY_ROOT: i64 = 1;
    const BY_COUNT: i64 = 2;
    Ok(match norm {
        None | Some("backward") => [BY_COUNT, NONE][usize::from(forward)],
        Some("forward") => [NONE, BY_COUNT][usize::from(forward)],
        Some("ortho") => BY_ROOT,
        Some(other) => bail!(
            Argument,
            "{operator}: unknown norm {other:?}, expected \"backward\", \"forward\" or \"ortho\""
        ),
    })
}
